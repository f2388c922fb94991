//! Generates valid and slightly wrong payloads from published schemas, and compares the verdicts of codecs and schemas on
//! them. It supports the keywords that the compiler publishes.

use std::sync::LazyLock;

use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_assert_ne, proptest};
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};

use crate::codecs::{self, meaning};
use crate::judge::{MISJUDGED, Published};

/// The depth below which only required parts are generated.
const DEPTH: usize = 4;

/// A source of choices, made from bytes. When they run out, every choice is the first one. So a shorter tape gives a simpler
/// value, and proptest shrinks values by shrinking tapes.
struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    /// A number below a limit; zero if the limit is zero.
    fn below(&mut self, limit: usize) -> usize {
        let byte = self.0.next().copied().map_or(0, usize::from);
        byte.checked_rem(limit).unwrap_or(0)
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }
}

/// Generates values that a schema accepts.
struct Sampler<'a, 'b> {
    root: &'a Value,
    tape: &'a mut Tape<'b>,
}

impl Sampler<'_, '_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(target) = schema["$ref"].as_str() {
            let root = self.root;
            let target =
                root.pointer(target.trim_start_matches('#')).expect("references lead somewhere");
            return self.value(target, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        for choices in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[choices].as_array() {
                return self.one_of(choices, depth);
            }
        }
        match schema["enum"].as_array() {
            Some(values) => self.tape.pick(values).clone(),
            None => self.typed(schema, depth),
        }
    }

    /// A random choice; below the maximum depth `null` or the first one, to end recursion.
    fn one_of(&mut self, choices: &[Value], depth: usize) -> Value {
        let null = choices.iter().find(|choice| choice["type"] == "null");
        let smallest = null.or(choices.first()).filter(|_| depth > DEPTH);
        let choice = smallest.unwrap_or_else(|| self.tape.pick(choices));
        self.value(choice, depth)
    }

    fn typed(&mut self, schema: &Value, depth: usize) -> Value {
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            Value::String(kind) => vec![kind],
            _ => vec!["null", "boolean", "string", "integer", "number", "array", "object"],
        };
        match *self.tape.pick(&kinds) {
            "boolean" => json!(self.tape.flip()),
            "string" => Value::String(self.string(schema)),
            "integer" => json!(self.integer(schema)),
            "number" => self.number(schema),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => Value::Null,
        }
    }

    /// A string of a valid length. For a pattern, one of the schema's examples.
    fn string(&mut self, schema: &Value) -> String {
        if let (Some(_), Some(examples)) = (schema.get("pattern"), schema["examples"].as_array()) {
            return self.tape.pick(examples).as_str().expect("a string").to_owned();
        }
        let shortest = count(schema, "minLength").unwrap_or(0);
        let longest = count(schema, "maxLength").unwrap_or(shortest + 4);
        let length = shortest + self.tape.below(longest - shortest + 1);
        (0..length)
            .map(|_| *self.tape.pick(&['a', 'Z', '0', ' ', '"', '\\', '\n', 'é', '\u{2028}', '🦀']))
            .collect()
    }

    /// An integer near the lower bound, or near the upper one if there is no lower bound.
    fn integer(&mut self, schema: &Value) -> i64 {
        let least = whole(schema, "minimum", f64::ceil);
        let above = whole(schema, "exclusiveMinimum", f64::floor).map(|bound| bound + 1);
        let greatest = whole(schema, "maximum", f64::floor);
        let below = whole(schema, "exclusiveMaximum", f64::ceil).map(|bound| bound - 1);
        let least = least.max(above);
        let greatest = [greatest, below].into_iter().flatten().min();
        let high = greatest.unwrap_or_else(|| least.unwrap_or(-3).saturating_add(99));
        let low = least.unwrap_or_else(|| high.saturating_sub(99)).max(high.saturating_sub(99));
        let span = usize::try_from(high - low).unwrap_or_default();
        low + i64::try_from(self.tape.below(span + 1)).unwrap_or_default()
    }

    /// A number inside the bounds.
    fn number(&mut self, schema: &Value) -> Value {
        let all = |keywords: [&str; 2]| {
            keywords.map(|keyword| bound(schema, keyword)).into_iter().flatten()
        };
        let low = all(["minimum", "exclusiveMinimum"]).fold(-8.0, f64::max);
        let high = all(["maximum", "exclusiveMaximum"]).fold(low + 16.0, f64::min);
        json!(low + (high - low) * self.tape.pick(&[0.5, 0.25, 0.75, 0.125]))
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let fewest = count(schema, "minItems").unwrap_or(0);
        let most = count(schema, "maxItems").unwrap_or(fewest + 3).min(fewest + 3);
        let more = if depth > DEPTH { 0 } else { self.tape.below(most - fewest + 1) };
        let items = schema.get("items").cloned().unwrap_or(json!({}));
        (0..fewest + more).map(|_| self.value(&items, depth + 1)).collect()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut object = Map::new();
        for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
            let must = required.contains(&json!(key));
            if must || (depth <= DEPTH && self.tape.flip()) {
                object.insert(key.clone(), self.value(schema, depth + 1));
            }
        }
        let rest = schema.get("additionalProperties").cloned().unwrap_or(json!({}));
        let undescribed = required.iter().filter_map(Value::as_str);
        let mut keys: Vec<String> =
            undescribed.filter(|key| !object.contains_key(*key)).map(str::to_owned).collect();
        if rest != json!(false) && depth <= DEPTH {
            keys.extend((0..self.tape.below(3)).map(|number| format!("more ~/{number}")));
        }
        for key in keys {
            object.insert(key, self.value(&rest, depth + 1));
        }
        Value::Object(object)
    }
}

/// Keywords that decide the whole value, in the order in which the sampler looks for them.
const FORMS: [&str; 5] = ["$ref", "const", "anyOf", "oneOf", "enum"];

/// Keywords that the sampler follows if there is none of [`FORMS`].
const LIMITS: [&str; 13] = [
    "additionalProperties",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
];

/// Keywords that the sampler may ignore.
const IGNORED: [&str; 12] = [
    "$defs",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "type",
    "writeOnly",
];

/// Returns whether the sampler supports every keyword of a published schema.
fn is_sampled(root: &Value) -> bool {
    is_followed(root, root)
}

/// Returns whether each schema is a constant or has a constant property, so that a value matches only one of them.
fn are_told_apart(root: &Value, schemas: &[Value]) -> bool {
    schemas.iter().all(|schema| {
        let target = schema["$ref"].as_str().and_then(|target| root.pointer(&target[1..]));
        let schema = target.unwrap_or(schema);
        let mut properties = schema["properties"].as_object().into_iter().flatten();
        schema.get("const").is_some() || properties.any(|(_, value)| value.get("const").is_some())
    })
}

fn is_followed(root: &Value, schema: &Value) -> bool {
    let Some(entries) = schema.as_object() else { return *schema != json!(false) };
    let relevant = || entries.keys().map(String::as_str).filter(|word| !IGNORED.contains(word));
    let by_keywords = match relevant().find(|word| FORMS.contains(word)) {
        Some(_) => relevant().count() == 1,
        None => relevant().all(|word| LIMITS.contains(&word)),
    };
    let has_examples = !entries.contains_key("pattern") || entries.contains_key("examples");
    let inside = entries.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties" | "$defs", Value::Object(schemas)) => {
            schemas.values().all(|schema| is_followed(root, schema))
        }
        ("oneOf", Value::Array(schemas)) if !are_told_apart(root, schemas) => false,
        ("anyOf" | "oneOf", Value::Array(schemas)) => {
            schemas.iter().all(|schema| is_followed(root, schema))
        }
        ("items" | "additionalProperties", Value::Object(_)) => is_followed(root, value),
        _ => true,
    });
    by_keywords && has_examples && inside
}

fn count(schema: &Value, keyword: &str) -> Option<usize> {
    whole(schema, keyword, f64::floor).and_then(|count| usize::try_from(count).ok())
}

/// A bound as an integer. A fraction is rounded.
fn whole(schema: &Value, keyword: &str, round: fn(f64) -> f64) -> Option<i64> {
    let number = schema.get(keyword)?;
    number.as_i64().or_else(|| format!("{:.0}", round(number.as_f64()?)).parse().ok())
}

fn bound(schema: &Value, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

/// Makes one random change in a value.
fn disturb(value: &mut Value, tape: &mut Tape<'_>) {
    let mut places = Vec::new();
    list_places(value, String::new(), &mut places);
    let pointer: &String = tape.pick(&places);
    let place = value.pointer_mut(pointer).expect("the place was listed");
    let odd = tape.pick(&odd_values()).clone();
    match place {
        Value::Object(object) if tape.flip() => {
            let keys: Vec<String> = object.keys().cloned().collect();
            match keys.first() {
                Some(_) if tape.flip() => drop(object.remove::<String>(tape.pick(&keys))),
                _ => drop(object.insert("other".to_owned(), odd)),
            }
        }
        Value::Array(items) if tape.flip() => {
            if tape.flip() {
                items.pop();
            } else {
                items.extend([odd.clone(), odd]);
            }
        }
        Value::String(text) if tape.flip() => text.push_str("🦀é\n"),
        place => *place = odd,
    }
}

fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.0),
        json!(0.5),
        json!(1e30),
        json!(u64::MAX),
        json!(""),
        json!("a"),
        json!([]),
        json!([null]),
        json!({}),
        json!({ "a": 1 }),
    ]
}

/// Adds the JSON Pointers of a value and of all values in it.
fn list_places(value: &Value, here: String, places: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                list_places(item, format!("{here}/{index}"), places);
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                list_places(value, format!("{here}/{}", escaped(key)), places);
            }
        }
        _ => {}
    }
    places.push(here);
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn codecs_and_schemas_accept_values_made_from_the_published_schema(bytes in tape()) {
        // Some schemas have numbers that `serde_json` rounds, so `accepts` may return `None`.
        for (pair, side) in codecs::sides().filter(|(pair, _)| !MISJUDGED.contains(&pair.spec.toolset())) {
            let Some(schema) = side.schema(pair.spec).filter(is_sampled) else { continue };
            let payload = sample(&schema, &mut Tape(bytes.iter())).to_string();
            let place = format!("{} {side}: {payload}", pair.spec.name());
            prop_assert_ne!(PUBLISHED.accepts(pair.spec, side, &payload), Some(false), "{}", place);
            prop_assert_eq!(side.check(pair.spec, &payload), Ok(()), "{}", place);
            let again = pair.reencode(side, &payload);
            if schema.to_string().contains("\"default\"") {
                // The tests in `codecs` check which defaults are filled in.
                let again = again.expect(&place);
                let twice = pair.reencode(side, &again);
                prop_assert_eq!(twice.as_ref(), Ok(&again), "{}", place);
                continue;
            }
            prop_assert_eq!(again.map(|text| meaning(&text)), Ok(meaning(&payload)), "{}", place);
        }
    }

    #[test]
    fn codecs_and_schemas_agree_on_slightly_wrong_values(bytes in tape(), changes in tape()) {
        for (pair, side) in codecs::sides() {
            let Some(schema) = side.schema(pair.spec) else { continue };
            let payload = disturbed(&schema, &bytes, &changes);
            let accepted = side.check(pair.spec, &payload);
            let verdict = PUBLISHED.accepts(pair.spec, side, &payload);
            let place = format!("{} {side}: {payload}\n{accepted:?}", pair.spec.name());
            prop_assert_ne!(verdict, Some(accepted.is_err()), "{}", place);
        }
    }
}

/// The schemas of all cases, compiled once.
static PUBLISHED: LazyLock<Published> =
    LazyLock::new(|| Published::of(codecs::tools().map(|pair| pair.spec)));

pub(crate) fn tape() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

/// A valid payload, with up to two changes.
pub(crate) fn disturbed(schema: &Value, bytes: &[u8], changes: &[u8]) -> String {
    let mut value = sample(schema, &mut Tape(bytes.iter()));
    let mut choices = Tape(changes.iter());
    for _ in 0..choices.below(3) {
        disturb(&mut value, &mut choices);
    }
    value.to_string()
}

fn sample(schema: &Value, tape: &mut Tape<'_>) -> Value {
    Sampler { root: schema, tape }.value(schema, 0)
}
