//! Tests of the macros for codecs, with every kind of type.

use toolwright::codec::{
    Decode, DomainType, Encode, Items, Length, Pattern, Properties, Range, Validator, from_json,
    from_json_by, to_json,
};
use toolwright::format::{Date, Format};
use toolwright::{Integer, Map, Nullable, Value};

static WORD: Pattern = Pattern::new("^[a-z]+$", "^[a-z]+$");
static AT_LEAST_TWO: Validator = Validator::new(r#"{"minProperties":2}"#, &["minProperties"]);
static ANY_OF: Validator =
    Validator::new(r#"{"anyOf":[{"type":"string"},{"type":"string","maxLength":2}]}"#, &["anyOf"]);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Color {
    Red,
    Green,
}
toolwright::string_enum!(Color { Red = "red", Green = "gre\"en" });

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Low,
    High,
}
toolwright::integer_enum!(Level { Low = 1, High = -2 });

#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Quoted,
    One,
    OneInWords,
    Yes,
}
toolwright::constants!(Answer { Quoted = r#""\"yes\"""#, One = "1", OneInWords = r#""1""#, Yes = "true" });

#[derive(Debug, PartialEq)]
struct Title(String);
toolwright::newtype!(Title: String = string(Length::ANY.at_most(5).matching(&WORD)));

#[derive(Debug, PartialEq)]
struct Always;
toolwright::constant!(Always = "true");

#[derive(Debug, PartialEq)]
struct Everything {
    any: Value,
    nothing: (),
    flag: bool,
    text: String,
    mail: String,
    day: Date,
    small: i64,
    big: Integer,
    ratio: f64,
    exact: toolwright::value::Number,
    list: Vec<Vec<Title>>,
    pair: (String, Option<i64>),
    by_name: Map<Color>,
    perhaps: Option<Level>,
    three: Option<Nullable<String>>,
    inner: Option<Box<Everything>>,
    input: Option<()>,
    object: Option<bool>,
    r#type: Option<String>,
    rest: Map<i64>,
}
toolwright::object!(Everything {
    "kind" => constant("\"everything\""),
    required "any" => any: value(),
    required "nothing" => nothing: null(),
    required "flag" => flag: boolean(),
    required "text" => text: string(Length::ANY),
    required "mail" => mail: formatted(Format::Email, Length::ANY),
    required "day" => day: formatted_as(Length::ANY),
    required "small" => small: integer(Range::<i64>::ANY.at_least(0)),
    required "big" => big: big_integer(Range::<i128>::ANY),
    required "ratio" => ratio: number(Range::<f64>::ANY.below(1.0)),
    required "exact" => exact: exact_number(Range::ANY),
    required "list" => list: list(Items::ANY.at_most(2), list(Items::ANY, Title)),
    required "pair" => pair: tuple(a: string(Length::ANY), b: nullable(integer(Range::<i64>::ANY))),
    required "by_name" => by_name: map(Properties::ANY, Color),
    required "perhaps" => perhaps: nullable(Level),
    optional "three" => three: or_null(string(Length::ANY)),
    optional "inner" => inner: boxed(Everything),
    optional "input" => input: null(),
    optional "object" => object: boolean(),
    optional_escaped "ty\"pe" => r#type: string(Length::ANY),
    _ => rest: integer(Range::<i64>::ANY)
});

#[derive(Debug, PartialEq)]
struct EmptyObject {}
toolwright::object!(EmptyObject {});

#[derive(Debug, PartialEq)]
struct Two {
    a: Option<bool>,
    b: Option<bool>,
}
toolwright::object!(Two checked(AT_LEAST_TWO) {
    optional "a" => a: boolean(),
    optional "b" => b: boolean(),
});

#[derive(Debug, PartialEq)]
struct Circle {
    radius: i64,
}
toolwright::object!(Circle { "kind" => constant("\"circle\""), required "radius" => radius: integer(Range::<i64>::ANY), });
#[derive(Debug, PartialEq)]
struct Escaped {
    depth: Option<i64>,
}
toolwright::object!(Escaped {
    "ki\"nd" => constant("1"),
    optional_escaped "de\\pth" => depth: integer(Range::ANY.at_most(9)),
});

#[derive(Debug, PartialEq)]
struct Dot {}
toolwright::object!(Dot { "kind" => constant("\"dot\""), });
#[derive(Debug, PartialEq)]
enum Figure {
    Circle(Circle),
    Dot(Box<Dot>),
}
toolwright::tagged!(Figure by "kind" { "circle" => Circle: Circle, "dot" => Dot: boxed(Dot) });

#[derive(Debug, PartialEq)]
enum Id {
    Null(()),
    String(String),
    Integer(i64),
}
toolwright::mixed!(Id {
    Null: null(),
    String: string(Length::ANY),
    Integer: integer(Range::<i64>::ANY)
});

#[derive(Debug, PartialEq)]
enum Words {
    Short(String),
    Long(String),
}
toolwright::overlapping!(Words checked(ANY_OF) by "anyOf" {
    1 => Short: string(Length::ANY.at_most(2)),
    0 => Long: string(Length::ANY),
});

static KEY: Pattern = Pattern::new("^[a-z]+$", "^[a-z]+$");

#[derive(Debug, PartialEq)]
struct Payment {
    card: Option<String>,
    address: Option<String>,
    total: i64,
    rest: Map<bool>,
}
toolwright::object!(Payment within(
    Properties::ANY
        .at_least(2)
        .at_most(3)
        .named(Length::ANY.at_most(7).matching(&KEY))
        .dependent(&[("card", &["address"]), ("tip", &["address"])])
) {
    "kind" => constant("1"),
    optional "card" => card: string(Length::ANY),
    optional "address" => address: string(Length::ANY),
    default(0) "total" => total: integer(Range::<i64>::ANY),
    _ => rest: boolean()
});

#[derive(Debug, PartialEq)]
struct Flags(Map<bool>);
toolwright::newtype!(Flags: Map<bool> = map(Properties::ANY.at_least(1).named(Length::ANY.at_most(2)), boolean()));

fn round_trip<T: Decode + Encode>(json: &str) {
    let value: T = from_json(json.as_bytes()).unwrap_or_else(|issues| panic!("{json}: {issues}"));
    assert_eq!(to_json(&value).as_deref(), Ok(json));
}

fn issues<T: Decode>(json: &str) -> String {
    match from_json::<T>(json.as_bytes()) {
        Ok(_) => "none".to_owned(),
        Err(issues) => issues.to_string(),
    }
}

const EVERYTHING: &str = r#"{"kind":"everything","any":[1.50],"nothing":null,"flag":true,"text":"a","mail":"a@b.example","day":"2026-11-23","small":1,"big":123456789012345678901234567890,"ratio":0.5,"exact":1.50,"list":[["a","b"],[]],"pair":["a",null],"by_name":{"x":"red"},"perhaps":null"#;

#[test]
fn every_type_survives_a_round_trip() {
    round_trip::<Everything>(&format!("{EVERYTHING}}}"));
    let more = r#","three":null,"input":null,"object":false,"ty\"pe":"t","other":3}"#;
    round_trip::<Everything>(&format!("{EVERYTHING}{more}"));
    let inner = format!("{EVERYTHING},\"inner\":{EVERYTHING}}}}}");
    round_trip::<Everything>(&inner);
    round_trip::<EmptyObject>("{}");
    round_trip::<Always>("true");
    round_trip::<Two>(r#"{"a":true,"b":false}"#);
    for json in [r#"{"kind":"circle","radius":2}"#, r#"{"kind":"dot"}"#] {
        round_trip::<Figure>(json);
    }
    for json in ["null", "\"a\"", "7"] {
        round_trip::<Id>(json);
    }
    for json in ["\"red\"", r#""gre\"en""#] {
        round_trip::<Color>(json);
    }
    assert_eq!(from_json(b"\"ab\""), Ok(Words::Short("ab".into())));
    assert_eq!(from_json(b"\"abc\""), Ok(Words::Long("abc".into())));
}

#[test]
fn keys_are_escaped_in_json_and_not_in_issues() {
    round_trip::<Escaped>(r#"{"ki\"nd":1}"#);
    round_trip::<Escaped>(r#"{"ki\"nd":1,"de\\pth":9}"#);
    let issues = to_json(&Escaped { depth: Some(10) }).unwrap_err();
    assert_eq!(issues.to_string(), "`/de\\pth`: found 10, expected at most 9");
}

#[test]
fn every_issue_of_an_object_is_found_in_one_pass() {
    let json = r#"{"kind":"other","radius":"x","color":1}"#;
    assert_eq!(
        issues::<Circle>(json),
        "`/kind`: found \"other\", expected \"circle\"\n`/radius`: found the string \"x\", expected an integer\n`/color`: unknown key `color`, expected only `kind`, `radius`"
    );
    for (found, expected) in [
        (issues::<Circle>(r#"{"radius":1}"#), "`/kind`: is missing"),
        (issues::<Dot>("{}"), "`/kind`: is missing"),
        (issues::<Two>(r#"{"a":true}"#), "the payload: has 1 key, at least 2 required"),
        (issues::<EmptyObject>(r#"{"a":true}"#), "`/a`: unknown key `a`, no key is allowed here"),
        (
            issues::<Figure>(r#"{"kind":"x"}"#),
            "`/kind`: found \"x\", expected one of \"circle\", \"dot\"",
        ),
        (issues::<Level>("3"), "the payload: found 3, expected one of 1, -2"),
        (
            to_json(&Title("WRONG!".into())).unwrap_err().to_string(),
            "the payload: has 6 characters, at most 5 allowed\nthe payload: found \"WRONG!\", expected a match of `^[a-z]+$`",
        ),
        (
            "blue".parse::<Color>().unwrap_err().to_string(),
            "the payload: found \"blue\", expected one of \"red\", \"gre\\\"en\"",
        ),
        (
            Level::try_from(7).unwrap_err().to_string(),
            "the payload: found 7, expected one of 1, -2",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn limits_of_keys_are_checked_when_reading_and_writing() {
    round_trip::<Payment>(r#"{"kind":1,"address":"a","total":1}"#);
    round_trip::<Flags>(r#"{"ab":true}"#);
    let of_two = "the payload: has 4 keys, at most 3 allowed";
    for (json, expected) in [
        (r#"{"kind":1}"#, "the payload: has 1 key, at least 2 required"),
        (r#"{"kind":1,"card":"c","tip":true}"#, "`/address`: is missing"),
        (r#"{"kind":1,"\u0063ard":"c"}"#, "`/address`: is missing"),
        (
            r#"{"kind":1,"Not mine":true}"#,
            "`/Not mine`: the key is not allowed: has 8 characters, at most 7 allowed; found \"Not mine\", expected a match of `^[a-z]+$`",
        ),
        (r#"{"kind":1,"total":0,"a":true,"b":true}"#, of_two),
    ] {
        assert_eq!(issues::<Payment>(json), expected, "{json}");
    }
    assert_eq!(issues::<Flags>("{}"), "the payload: has 0 keys, at least 1 required");
    let paid = |card: Option<&str>, rest: &[&str]| Payment {
        card: card.map(str::to_owned),
        address: None,
        total: 0,
        rest: rest.iter().map(|key| ((*key).to_owned(), true)).collect(),
    };
    for (value, expected) in [
        (paid(Some("c"), &[]), "`/address`: is missing"),
        (paid(None, &["a", "b"]), of_two),
        (
            paid(None, &["A"]),
            "`/A`: the key is not allowed: found \"A\", expected a match of `^[a-z]+$`",
        ),
    ] {
        assert_eq!(to_json(&value).unwrap_err().to_string(), expected);
    }
}

#[derive(Debug, PartialEq)]
struct Path((String, Option<i64>, Option<Nullable<bool>>, Vec<Title>));
toolwright::newtype!(Path: (String, Option<i64>, Option<Nullable<bool>>, Vec<Title>) = open_tuple(
    Items::ANY.at_least(1).at_most(5),
    [from: string(Length::ANY)],
    [steps: integer(Range::ANY.at_least(0)), back: or_null(boolean())],
    rest: Title,
));

#[derive(Debug, PartialEq)]
struct Pair((Option<i64>, Option<i64>));
toolwright::newtype!(Pair: (Option<i64>, Option<i64>) = open_tuple(Items::ANY.at_most(2), [], [a: integer(Range::ANY), b: integer(Range::ANY)]));

#[test]
fn an_array_may_end_before_its_optional_items() {
    for json in [r#"["a"]"#, r#"["a",1]"#, r#"["a",1,null]"#, r#"["a",1,true,"b","c"]"#] {
        round_trip::<Path>(json);
    }
    for json in ["[]", "[1]", "[1,2]"] {
        round_trip::<Pair>(json);
    }
    let ends = |steps, back, rest: &[&str]| {
        Path(("a".into(), steps, back, rest.iter().map(|text| Title((*text).to_owned())).collect()))
    };
    for (found, expected) in [
        (issues::<Path>("[]"), "the payload: has 0 items, at least 1 required"),
        (
            issues::<Path>(r#"["a",1,true,"b","c","d"]"#),
            "the payload: has 6 items, at most 5 allowed",
        ),
        (
            issues::<Path>(r#"[1,-1,2,"B"]"#),
            "`/0`: found the number 1, expected a string\n`/1`: found -1, expected at least 0\n`/2`: found the number 2, expected a boolean or null\n`/3`: found \"B\", expected a match of `^[a-z]+$`",
        ),
        (issues::<Pair>("[1,2,3]"), "the payload: has 3 items, at most 2 allowed"),
        (
            to_json(&ends(None, Some(Nullable::Null), &["b"])).unwrap_err().to_string(),
            "`/1`: is missing",
        ),
        (to_json(&ends(Some(1), None, &["b"])).unwrap_err().to_string(), "`/2`: is missing"),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_newtype_has_its_limits_as_a_constant() {
    let Title(title) = Title("a".into());
    assert_eq!((Title::LIMITS.minimum(), Title::LIMITS.maximum()), (0, Some(5)));
    assert_eq!((Title::LIMITS.pattern(), title.len()), (Some("^[a-z]+$"), 1));
    assert_eq!((Flags::LIMITS.minimum(), Flags::LIMITS.maximum()), (1, None));
}

#[test]
fn enums_can_be_listed_and_parsed() {
    assert_eq!(Color::ALL, [Color::Red, Color::Green]);
    assert_eq!("red".parse(), Ok(Color::Red));
    assert_eq!(Color::try_from("gre\"en"), Ok(Color::Green));
    assert_eq!(format!("{:>4}", Color::Red), " red");
    assert_eq!(Level::try_from(-2), Ok(Level::High));
    assert_eq!(
        (Level::High.to_string().parse(), Level::try_from("1")),
        (Ok(Level::High), Ok(Level::Low))
    );
    assert!(Level::try_from("low").is_err());
    assert_eq!(
        Answer::ALL.iter().map(Answer::to_string).collect::<Vec<_>>(),
        ["\"yes\"", "1", "1", "true"]
    );
    assert_eq!(
        (Answer::try_from("\"yes\""), "true".parse()),
        (Ok(Answer::Quoted), Ok(Answer::Yes))
    );
    // A text is parsed as a string first.
    assert_eq!(Answer::try_from("1"), Ok(Answer::OneInWords));
    let refused = Answer::try_from("no").unwrap_err().to_string();
    assert_eq!(refused, r#"the payload: found "no", expected one of "\"yes\"", 1, "1", true"#);
}

static EVEN: Validator = Validator::new(r#"{"multipleOf":2}"#, &["multipleOf"]);

/// Half of an even number; a hundred is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Half(i64);

impl DomainType for Half {
    type Json = i64;

    fn from_json(json: i64) -> Result<Self, String> {
        assert_eq!(json % 2, 0, "the schema refuses odd numbers");
        if json < 200 { Ok(Self(json / 2)) } else { Err("is too much".to_owned()) }
    }

    fn to_json(&self) -> i64 {
        self.0 * 2
    }
}

#[derive(Debug, PartialEq)]
struct Halves {
    one: Half,
    maybe: Option<Half>,
    known: Option<Nullable<Half>>,
    list: Vec<Half>,
}
toolwright::object!(Halves {
    required "one" => one: converted(checked(EVEN, integer(Range::ANY.at_least(0)))),
    required "maybe" => maybe: nullable(converted(integer(Range::ANY))),
    optional "known" => known: or_null(converted(integer(Range::ANY))),
    required "list" => list: list(Items::ANY.unique(), converted(checked(EVEN, integer(Range::ANY)))),
});

#[test]
fn domain_types_are_converted_where_the_schema_accepts_the_value() {
    let json = r#"{"one":2,"maybe":4,"known":null,"list":[6,8]}"#;
    let value: Halves = from_json(json.as_bytes()).unwrap();
    let known = Some(Nullable::Null);
    let expected =
        Halves { one: Half(1), maybe: Some(Half(2)), known, list: vec![Half(3), Half(4)] };
    assert_eq!(value, expected);
    assert_eq!(to_json(&value).unwrap(), json);
    assert_eq!(
        issues::<Halves>(r#"{"one":3,"maybe":200,"known":"a","list":[2,-1,200]}"#),
        "`/one`: found 3, expected a multiple of 2\n\
         `/maybe`: is too much\n\
         `/known`: found the string \"a\", expected an integer or null\n\
         `/list/1`: found -1, expected a multiple of 2\n\
         `/list/2`: is too much"
    );
    let negative = Halves { one: Half(-1), maybe: None, known: None, list: vec![Half(1), Half(1)] };
    assert_eq!(
        to_json(&negative).unwrap_err().to_string(),
        "`/one`: found -2, expected at least 0\n`/list`: the items 0 and 1 are equal, expected unique items"
    );
}

/// A text with all values would be in the issue of every item.
#[test]
fn an_issue_lists_twenty_values_of_an_enum() {
    let texts: &'static [&'static str] =
        (0..5_000).map(|n| &*n.to_string().leak()).collect::<Vec<_>>().leak();
    let numbers: &'static [(i64, ())] = (0..5_000).map(|n| (n, ())).collect::<Vec<_>>().leak();
    let found = [
        from_json_by(b"-1", |input| input.one_of(texts, &[()])).unwrap_err(),
        from_json_by(b"-1", |input| input.integer_variant(numbers)).unwrap_err(),
        from_json_by(b"-1", |input| input.variant(texts, &[()])).unwrap_err(),
    ];
    for (invalid, [first, last]) in
        found.iter().zip([["0", "19"], ["0", "19"], ["\"0\"", "\"19\""]])
    {
        let message = invalid.to_string();
        assert!(message.contains(&format!("expected one of {first}, ")), "{message}");
        assert!(message.ends_with(&format!(", {last} and 4980 more")), "{message}");
    }
}
