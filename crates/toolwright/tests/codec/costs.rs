//! Tests that codecs take steps for work that grows faster than a payload, as the validator does, and stop when none are left.

use toolwright::codec::{
    Decode, Items, Kind, Length, Pattern, Properties, Range, Reader, from_json_within,
};
use toolwright::pattern::translate;
use toolwright::schema::Schema;
use toolwright::{InvalidPayload, Issue, Map, Value};

static LARGE: Pattern = Pattern::new(ECMA, "[a-z]{2000}\\!").with_steps_per_byte(STEPS);
const ECMA: &str = "[a-z]{2000}!";
const STEPS: u64 = 500;
const MATCHING: Length = Length::ANY.matching(&LARGE);

/// A string with a large pattern.
struct Text;

impl Decode for Text {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.string(MATCHING).map(|_| Self)
    }
}

/// A short string with a large pattern.
struct Short;

impl Decode for Short {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.string(MATCHING.at_most(10)).map(|_| Self)
    }
}

/// An object whose keys have a large pattern.
struct Keys;

impl Decode for Keys {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let map: Option<Map<Value>> = input.map(Properties::ANY.named(MATCHING), Reader::value);
        map.map(|_| Self)
    }
}

/// A list of unique lists and integers.
struct List;

impl Decode for List {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        match input.kind(&[Kind::Array, Kind::Integer])? {
            Kind::Array => input.array(Items::ANY.unique(), Self::decode).map(|_| Self),
            _ => input.integer(Range::<i64>::ANY).map(|_| Self),
        }
    }
}

/// An object whose key `a` requires two others.
struct Dependent;

impl Decode for Dependent {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let limits = Properties::ANY.dependent(&[("a", &["b", "c"]), ("d", &["b", "e", "f"])]);
        let map: Option<Map<Value>> = input.map(limits, Reader::value);
        map.map(|_| Self)
    }
}

/// A list of such objects.
struct Dependents;

impl Decode for Dependents {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.array(Items::ANY, Dependent::decode).map(|_| Self)
    }
}

/// Returns the steps that a type takes to decode a payload, and the codes of its issues with a limit of steps.
fn decoded<T: Decode>(payload: &str, limit: u64) -> (u64, Vec<&'static str>) {
    let mut left = limit;
    let invalid = from_json_within::<T>(payload.as_bytes(), &mut left).err();
    let issues = invalid.iter().flat_map(InvalidPayload::issues);
    (limit - left, issues.map(Issue::code).collect())
}

fn validated(schema: &str, payload: &str) -> u64 {
    let (schema, mut left) = (Schema::new(schema).expect("a schema"), u64::MAX);
    let _ = schema.check_within(payload.as_bytes(), &mut left);
    u64::MAX - left
}

#[test]
fn a_translated_pattern_takes_the_steps_of_the_validator() {
    assert_eq!(translate(ECMA).unwrap().steps_per_byte(), STEPS);
    let text = "a".repeat(5_000);
    let (steps, issues) = decoded::<Text>(&format!("\"{text}\""), u64::MAX);
    assert_eq!((steps, issues), (5_000 * STEPS, vec!["pattern"]));
    let schema = format!(r#"{{"pattern":"{ECMA}"}}"#);
    assert!(validated(&schema, &format!("\"{text}\"")) >= steps);
    let (steps, issues) = decoded::<Text>(&format!("\"{text}\""), 1_000_000);
    assert_eq!((steps, issues), (1_000_000, vec!["too_costly"]));
}

#[test]
fn the_pattern_of_a_text_that_is_too_long_takes_few_steps() {
    let decode = |length| decoded::<Short>(&format!("\"{}\"", "a".repeat(length)), u64::MAX);
    assert_eq!(decode(1_000), (1_000 * STEPS, vec!["too_long", "pattern"]));
    assert_eq!(decode(5_000), (0, vec!["too_long"]));
}

#[test]
fn patterns_of_keys_share_the_steps_of_a_payload() {
    let keys: Vec<String> = (0..9).map(|n| format!("\"{n}{}\":1", "a".repeat(99))).collect();
    let payload = format!("{{{}}}", keys.join(","));
    assert_eq!(decoded::<Keys>(&payload, u64::MAX).0, 900 * STEPS);
    let (steps, issues) = decoded::<Keys>(&payload, 300 * STEPS);
    assert_eq!(steps, 300 * STEPS);
    assert_eq!(issues, ["schema", "schema", "schema", "too_costly"]);
}

#[test]
fn unique_items_take_steps_at_each_level() {
    let nested = |depth: usize| {
        let numbers: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        format!("{}{}{}", "[".repeat(depth), numbers.join(","), "]".repeat(depth))
    };
    let [one, ten] = [1, 10].map(|depth| decoded::<List>(&nested(depth), u64::MAX));
    assert!(ten.0 > 9 * one.0 && one.0 > 4_000, "{} and {} steps", one.0, ten.0);
    assert!(validated(r#"{"uniqueItems":true}"#, &nested(1)) >= one.0);
    let (steps, issues) = decoded::<List>(&nested(10), 20_000);
    assert!(steps == 20_000 && issues == ["too_costly"], "{steps} steps, {issues:?}");
}

#[test]
fn each_name_that_a_property_requires_takes_a_step() {
    let decode = |payload: &str| decoded::<Dependent>(payload, u64::MAX);
    assert_eq!(decode("{}"), (2, vec![]));
    assert_eq!(decode(r#"{"a":1}"#), (4, vec!["missing", "missing"]));
    assert_eq!(decode(r#"{"a":1,"b":1,"c":1}"#), (4, vec![]));
    // The key that both require is missing once, also in an object with many keys.
    let more: Vec<String> = (0..100).map(|n| format!(",\"k{n}\":1")).collect();
    let more = more.concat();
    let four = (7, vec!["missing"; 4]);
    assert_eq!(decode(r#"{"a":1,"d":1}"#), four);
    assert_eq!(decode(&format!(r#"{{"a":1,"d":1{more}}}"#)), four);
    assert_eq!(decode(&format!(r#"{{"a":1,"b":1,"c":1{more}}}"#)), (4, vec![]));
    let many = format!("[{}]", vec![r#"{"a":1,"b":1,"c":1}"#; 1_000].join(","));
    assert_eq!(decoded::<Dependents>(&many, 3_000), (3_000, vec!["too_costly"]));
}
