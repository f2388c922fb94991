//! Random changes of random schemas: no value contradicts a class, and each witness shows what it is said to show.

use fastrand::Rng;
use toolwright::Value;
use toolwright::schema::Schema;
use toolwright_codegen::internal::Style;
use toolwright_codegen::internal::schema::{published, read_values};
use toolwright_codegen::internal::values::values;

use crate::classes::{Change, Classes};
use crate::finding::Finding;
use crate::schemas::{Budget, Side, compare};
use crate::tools::highest;

const CHANGES: u64 = 2_000;
const CHANGES_OF_KEYS: u64 = 1_000;
const VALUES: usize = 200;

/// A schema that is easy to change. It becomes JSON text.
#[derive(Clone, Debug)]
enum Made {
    Any,
    Null,
    Boolean,
    Text {
        least: Option<u8>,
        most: Option<u8>,
        pattern: Option<&'static str>,
        format: bool,
    },
    Integer {
        least: Option<i8>,
        most: Option<i8>,
        is_number: bool,
        multiple: Option<u8>,
    },
    Enum(Vec<&'static str>),
    List {
        items: Box<Made>,
        least: Option<u8>,
        most: Option<u8>,
        unique: bool,
    },
    Tuple(Vec<Made>, bool),
    Object {
        properties: Vec<(&'static str, Made, bool)>,
        rest: Further,
        more: More,
        least: Option<u8>,
    },
    Nullable(Box<Made>),
    Union(Vec<(&'static str, Made)>, More),
    Overlapping(Vec<Made>),
    Not(Box<Made>),
}

/// Keywords about keys that depend on others.
#[derive(Clone, Debug)]
enum More {
    None,
    /// `patternProperties` for keys that begin with `b` or `f`.
    Pattern(Box<Made>),
    /// `unevaluatedProperties`
    Unevaluated(Box<Made>),
}

#[derive(Clone, Debug)]
enum Further {
    Closed,
    Silent,
    Declared,
    Typed(Box<Made>),
}

const NAMES: [&str; 4] = ["a", "b", "c", "further"];
const WORDS: [&str; 5] = ["x", "y", "zz", "", "aaa"];
const PATTERNS: [&str; 3] = ["^a*$", "^[a-z]+$", "0"];

fn limit(random: &mut Rng) -> Option<u8> {
    random.bool().then(|| random.u8(0..4))
}

fn end(random: &mut Rng) -> Option<i8> {
    random.bool().then(|| random.i8(-3..4))
}

fn further(random: &mut Rng, depth: u8) -> Further {
    match random.u8(0..5) {
        0 | 1 => Further::Closed,
        2 => Further::Silent,
        3 => Further::Declared,
        _ => Further::Typed(Box::new(made(random, depth + 1))),
    }
}

fn more(random: &mut Rng, depth: u8) -> More {
    match random.u8(0..8) {
        0 => More::Pattern(Box::new(made(random, depth + 1))),
        1 => More::Unevaluated(Box::new(made(random, depth + 1))),
        _ => More::None,
    }
}

/// Returns a `minProperties`, or usually none.
fn least_keys(random: &mut Rng) -> Option<u8> {
    (random.u8(0..4) == 0).then(|| random.u8(1..3))
}

fn object(random: &mut Rng, depth: u8) -> Made {
    let count = random.usize(0..4);
    let mut names = NAMES;
    random.shuffle(&mut names);
    let properties = names.into_iter().take(count);
    let properties =
        properties.map(|name| (name, made(random, depth + 1), random.bool())).collect();
    let (rest, more, least) = (further(random, depth), more(random, depth), least_keys(random));
    Made::Object { properties, rest, more, least }
}

fn made(random: &mut Rng, depth: u8) -> Made {
    let kinds = if depth > 2 { 6 } else { 13 };
    let several =
        |random: &mut Rng| (0..random.usize(1..4)).map(|_| made(random, depth + 1)).collect();
    match random.u8(0..kinds) {
        0 => Made::Boolean,
        1 | 2 => Made::Text {
            least: limit(random),
            most: limit(random),
            pattern: random.bool().then(|| PATTERNS[random.usize(0..3)]),
            format: random.u8(0..5) == 0,
        },
        3 => Made::Integer {
            least: end(random),
            most: end(random),
            is_number: random.bool(),
            multiple: (random.u8(0..5) == 0).then(|| random.u8(1..3)),
        },
        4 => Made::Enum(WORDS[..random.usize(1..5)].to_vec()),
        5 => [Made::Null, Made::Any][random.usize(0..2)].clone(),
        6 => Made::List {
            items: Box::new(made(random, depth + 1)),
            least: limit(random),
            most: limit(random),
            unique: random.u8(0..4) == 0,
        },
        7 => Made::Tuple(several(random), random.bool()),
        8 | 9 => object(random, depth),
        10 => Made::Nullable(Box::new(made(random, depth + 1))),
        11 => {
            let variants = WORDS[..random.usize(2..4)].iter();
            let variants = variants.map(|word| (*word, object(random, depth + 1))).collect();
            Made::Union(variants, more(random, depth))
        }
        _ if random.bool() => Made::Overlapping(several(random)),
        _ => Made::Not(Box::new(made(random, depth + 1))),
    }
}

/// Changes one part.
fn changed(random: &mut Rng, old: &Made, depth: u8) -> Made {
    let mut new = old.clone();
    if random.u8(0..6) == 0 {
        return made(random, depth);
    }
    match &mut new {
        Made::Any | Made::Null | Made::Boolean => return made(random, depth),
        Made::Text { least, most, pattern, format } => match random.u8(0..4) {
            0 => *least = limit(random),
            1 => *most = limit(random),
            2 => *pattern = random.bool().then(|| PATTERNS[random.usize(0..3)]),
            _ => *format = !*format,
        },
        Made::Integer { least, most, is_number, multiple } => match random.u8(0..4) {
            0 => *least = end(random),
            1 => *most = end(random),
            2 => *is_number = !*is_number,
            _ => *multiple = random.bool().then(|| random.u8(1..3)),
        },
        Made::Enum(words) => *words = WORDS[random.usize(0..2)..random.usize(2..5)].to_vec(),
        Made::List { items, least, most, unique } => match random.u8(0..4) {
            0 => *least = limit(random),
            1 => *most = limit(random),
            2 => *unique = !*unique,
            _ => **items = changed(random, items, depth + 1),
        },
        Made::Tuple(places, is_open) => match random.u8(0..3) {
            0 => *is_open = !*is_open,
            1 => places.push(made(random, depth + 1)),
            _ => places[0] = changed(random, &places[0].clone(), depth + 1),
        },
        Made::Object { properties, rest, more: keys, least } => match random.u8(0..8) {
            7 if !properties.is_empty() => (properties[0].1, properties[0].2) = (Made::Any, true),
            6 => *least = least_keys(random),
            5 => *keys = more(random, depth),
            0 => *rest = further(random, depth),
            1 if !properties.is_empty() => drop(properties.pop()),
            2 if !properties.is_empty() => properties[0].2 = !properties[0].2,
            3 if !properties.is_empty() => {
                properties[0].1 = changed(random, &properties[0].1.clone(), depth + 1);
            }
            _ => {
                let is_free = |name: &&&str| properties.iter().all(|(known, ..)| known != *name);
                if let Some(name) = NAMES.iter().find(is_free) {
                    properties.push((name, made(random, depth + 1), random.bool()));
                }
            }
        },
        Made::Nullable(inner) if random.bool() => return (**inner).clone(),
        Made::Nullable(inner) | Made::Not(inner) => **inner = changed(random, inner, depth + 1),
        Made::Union(variants, keys) => match random.u8(0..3) {
            0 if variants.len() > 2 => drop(variants.pop()),
            1 => *keys = more(random, depth),
            _ => variants[0].1 = changed(random, &variants[0].1.clone(), 3),
        },
        Made::Overlapping(members) => members[0] = changed(random, &members[0].clone(), depth + 1),
    }
    new
}

/// Returns an object or a choice between two, beside keywords about keys that depend on others, and the same with two changes.
fn change_of_keys(random: &mut Rng) -> [Made; 2] {
    let schema = Box::new(made(random, 3));
    let keys = if random.bool() { More::Pattern(schema) } else { More::Unevaluated(schema) };
    let mut old = if random.bool() {
        Made::Union(["x", "y"].map(|word| (word, object(random, 2))).to_vec(), More::None)
    } else {
        object(random, 2)
    };
    if let Made::Object { more, .. } | Made::Union(_, more) = &mut old {
        *more = keys;
    }
    let new = changed(random, &old, 2);
    let new = changed(random, &new, 2);
    [old, new]
}

/// Returns the schema as JSON. If `closed`, objects that say nothing of further keys have none: those are without a meaning.
fn text(schema: &Made, closed: bool, tag: Option<&str>) -> String {
    let entry = |key: &str, value: Option<String>| value.map(|value| format!("\"{key}\":{value}"));
    let number = |limit: &Option<u8>| limit.map(|limit| limit.to_string());
    let of = |schema: &Made| text(schema, closed, None);
    let list = |schemas: &[Made]| schemas.iter().map(of).collect::<Vec<_>>().join(",");
    let further_keys = |more: &More| match more {
        More::None => None,
        More::Pattern(schema) => {
            entry("patternProperties", Some(format!("{{\"^[bf]\":{}}}", of(schema))))
        }
        More::Unevaluated(schema) => entry("unevaluatedProperties", Some(of(schema))),
    };
    let parts: Vec<Option<String>> = match schema {
        Made::Any => Vec::new(),
        Made::Null => vec![Some("\"type\":\"null\"".to_owned())],
        Made::Boolean => vec![Some("\"type\":\"boolean\"".to_owned())],
        Made::Text { least, most, pattern, format } => vec![
            Some("\"type\":\"string\"".to_owned()),
            entry("minLength", number(least)),
            entry("maxLength", number(most)),
            entry("pattern", pattern.map(|pattern| format!("\"{pattern}\""))),
            entry("format", format.then(|| "\"date\"".to_owned())),
        ],
        Made::Integer { least, most, is_number, multiple } => vec![
            Some(format!("\"type\":\"{}\"", if *is_number { "number" } else { "integer" })),
            entry("minimum", least.map(|least| least.to_string())),
            entry("maximum", most.map(|most| most.to_string())),
            entry("multipleOf", number(multiple)),
        ],
        Made::Enum(words) => vec![entry("enum", Some(format!("{words:?}")))],
        Made::List { items, least, most, unique } => vec![
            Some("\"type\":\"array\"".to_owned()),
            entry("items", Some(of(items))),
            entry("minItems", number(least)),
            entry("maxItems", number(most)),
            entry("uniqueItems", unique.then(|| "true".to_owned())),
        ],
        Made::Tuple(places, is_open) => vec![
            Some("\"type\":\"array\"".to_owned()),
            entry("prefixItems", Some(format!("[{}]", list(places)))),
            entry("items", (!is_open).then(|| "false".to_owned())),
        ],
        Made::Object { properties, rest, more, least } => {
            // One of any value is only required, unless nothing else is allowed.
            let is_described = |(_, schema, required): &&(&str, Made, bool)| {
                !required || !matches!(schema, Made::Any) || matches!(rest, Further::Closed)
            };
            let mut entries: Vec<String> = properties
                .iter()
                .filter(is_described)
                .map(|(name, schema, _)| format!("\"{name}\":{}", of(schema)))
                .collect();
            let mut required: Vec<&str> = properties
                .iter()
                .filter(|(.., required)| *required)
                .map(|(name, ..)| *name)
                .collect();
            if let Some(tag) = tag {
                entries.push(format!("\"tag\":{{\"const\":\"{tag}\"}}"));
                required.push("tag");
            }
            let rest = match rest {
                Further::Closed => Some("false".to_owned()),
                Further::Silent => closed.then(|| "false".to_owned()),
                Further::Declared => Some("true".to_owned()),
                Further::Typed(schema) => Some(of(schema)),
            };
            vec![
                Some("\"type\":\"object\"".to_owned()),
                Some(format!("\"properties\":{{{}}}", entries.join(","))),
                entry("required", Some(format!("{required:?}"))),
                entry("additionalProperties", rest),
                entry("minProperties", number(least)),
                further_keys(more),
            ]
        }
        Made::Nullable(inner) => {
            vec![Some(format!("\"anyOf\":[{},{{\"type\":\"null\"}}]", of(inner)))]
        }
        Made::Union(variants, more) => {
            let variants = variants.iter().map(|(tag, variant)| text(variant, closed, Some(tag)));
            let variants = variants.collect::<Vec<_>>().join(",");
            vec![Some(format!("\"oneOf\":[{variants}]")), further_keys(more)]
        }
        Made::Overlapping(members) => vec![Some(format!("\"anyOf\":[{}]", list(members)))],
        Made::Not(inner) => vec![Some(format!("\"not\":{}", text(inner, false, None)))],
    };
    format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// Returns whether a schema accepts a value.
fn accepts(schema: &Schema, value: &str) -> bool {
    schema.check(value.as_bytes()).is_ok()
}

/// Returns the place that a witness is a value of, as a schema in one version.
fn place(text: &str, pointer: Option<&String>, other: Option<&String>) -> Option<Schema> {
    let is_property = |pointer: &&String| {
        let (_, name) = pointer.rsplit_once("/properties/").unwrap_or_default();
        !name.is_empty() && !name.contains('/')
    };
    // A property that is new or gone: the witness is a value of the object.
    let is_alone = pointer.is_some() != other.is_some();
    let property = pointer.or(other).filter(|pointer| is_alone && is_property(pointer));
    let pointer = match (property, pointer) {
        (Some(property), _) => property.rsplit_once("/properties/")?.0,
        (None, Some(pointer)) => pointer.as_str(),
        // What has no schema accepts everything.
        (None, None) => return Schema::new("{}").ok(),
    };
    let root: Value = text.parse().ok()?;
    let pointer = pointer.trim_start_matches("/args").trim_start_matches("/result");
    Schema::new(&root.pointer(pointer)?.to_string()).ok()
}

#[test]
fn no_value_contradicts_a_class_and_witnesses_show_what_they_are_said_to() {
    let (mut wrong, mut compared, mut witnesses) = (Vec::new(), 0, 0);
    let json = |text: &str| text.parse::<Value>().expect("JSON");
    for seed in 0..CHANGES + CHANGES_OF_KEYS {
        let random = &mut Rng::with_seed(seed);
        let [old, new] = if seed < CHANGES {
            let old = made(random, 0);
            let new = changed(random, &old, 0);
            [old, new]
        } else {
            change_of_keys(random)
        };
        let [was, is] = [&old, &new].map(|schema| text(schema, false, None));
        // Some schemas are refused, such as those that accept nothing.
        let Ok((schemas, nodes)) = read_values(&[json(&was), json(&is)]) else { continue };
        compared += 1;
        // As a lock has them.
        let [was, is] = [0, 1].map(|side| published(&schemas, nodes[side], Style::Compact));
        let (schemas, nodes) = read_values(&[json(&was), json(&is)]).unwrap();
        let schemas = schemas.without_annotations();
        let all = values(&schemas, &[Some(nodes[0]), Some(nodes[1])], &mut u64::MAX.clone());
        let closed = [&old, &new].map(|schema| Schema::new(&text(schema, true, None)).unwrap());
        let open = [&was, &is].map(|schema| Schema::new(schema).unwrap());
        let step = all.len().div_ceil(VALUES).max(1);
        let args = compare("t", Side::Args, &was, &is, &Budget::default()).unwrap();
        let result = compare("t", Side::Result, &was, &is, &Budget::default()).unwrap();
        let (args_classes, result_classes) = (highest(&args), highest(&result));
        for value in all.iter().step_by(step) {
            let described = [accepts(&closed[0], value), accepts(&closed[1], value)];
            let accepted = [accepts(&open[0], value), accepts(&open[1], value)];
            let Classes { caller, model, .. } = args_classes;
            let lost = described[0] && !accepted[1];
            let gained = described[1] && !accepted[0];
            let differs = described[0] != described[1];
            let contradicts = lost && (caller < Change::Major || model < Change::Major)
                || differs && (caller < Change::Minor || model < Change::Patch)
                || gained && result_classes.reader < Change::Major
                || lost && result_classes.implementer < Change::Major
                || differs && result_classes.reader < Change::Minor;
            if contradicts {
                wrong.push(format!(
                    "{seed}: {value}\n  {was}\n  {is}\n  {args_classes:?}\n  {result_classes:?}"
                ));
                break;
            }
        }
        for Finding { rule, at, witness, .. } in args.iter().chain(&result) {
            let Some(witness) = witness else { continue };
            let places = (
                place(&was, at.old.as_ref(), at.new.as_ref()),
                place(&is, at.new.as_ref(), at.old.as_ref()),
            );
            let (Some(old), Some(new)) = places else { continue };
            witnesses += 1;
            if accepts(&old, witness) == accepts(&new, witness) {
                wrong.push(format!(
                    "{seed}: {} {at:?} is not shown by {witness}\n  {was}\n  {is}",
                    rule.id
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
    assert!(compared > CHANGES / 2 && witnesses > CHANGES / 4, "{compared} {witnesses}");
}
