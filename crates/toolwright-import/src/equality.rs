//! Decides whether two schemas, each with the types of its own file, are equal apart from the names of types. A comparison
//! that takes too many steps or gets too deep returns `false`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::keywords::{Entries, holds_named, holds_values};
use toolwright::Value;
use toolwright_codegen::internal::Json;

/// The maximum number of steps of one comparison.
const MAX_STEPS: usize = 200_000;

/// The maximum depth of a comparison. Following the name of a type counts too.
pub(super) const MAX_DEPTH: usize = 256;

/// Keywords whose lists are compared as sets.
const SETS: [&str; 2] = ["required", "type"];

/// The side of the first schema.
pub(super) const OLD: usize = 0;

/// The side of the second schema.
pub(super) const NEW: usize = 1;

/// The types that the two compared schemas refer to, and the results of earlier comparisons.
pub(super) struct Equality<'a> {
    /// The types of the first schema, and those of the second.
    types: [&'a Entries; 2],
    /// Their places in these lists, by name.
    places: [BTreeMap<&'a str, usize>; 2],
    /// The pairs of types that were compared, by their places, and true for those that are equal.
    known: RefCell<BTreeMap<[usize; 2], bool>>,
}

/// The name of the type that a schema refers to by `$ref`.
pub(super) fn type_name(schema: &Json) -> Option<&str> {
    match schema.get("$ref") {
        Some(Json::String(name)) if !name.starts_with('#') => Some(name),
        _ => None,
    }
}

/// The name of the type that a schema refers to, if it has no other keyword.
pub(super) fn only_type_name(schema: &Json) -> Option<&str> {
    match schema {
        Json::Object(entries) if entries.len() == 1 => type_name(schema),
        _ => None,
    }
}

/// The value of `args` or `result` as a schema: the name of a type becomes a `$ref`.
pub(super) fn as_schema(value: &Json) -> Json {
    match value {
        Json::String(_) => Json::Object(vec![("$ref".to_owned(), value.clone())]),
        schema => schema.clone(),
    }
}

/// The schema of a named type.
pub(super) fn type_body<'a>(types: &'a Entries, name: &str) -> Option<&'a Json> {
    types.iter().find(|(known, _)| known == name).map(|(_, body)| body)
}

impl<'a> Equality<'a> {
    pub(super) fn of(old: &'a Entries, new: &'a Entries) -> Self {
        let places = [old, new].map(|types| {
            // Of two types with one name, the first counts.
            types
                .iter()
                .enumerate()
                .rev()
                .map(|(place, (name, _))| (name.as_str(), place))
                .collect()
        });
        Self { types: [old, new], places, known: RefCell::default() }
    }

    /// Returns whether two schemas are equal, apart from the names and order of their types.
    pub(super) fn holds(&self, old: &Json, new: &Json) -> bool {
        let (steps, depth) = (MAX_STEPS, 0);
        let mut comparison =
            Comparison { types: self, compared: Vec::new(), open: 0, steps, depth, gave_up: false };
        comparison.schemas(old, new)
    }

    /// The schema of a named type of one side.
    pub(super) fn body(&self, side: usize, name: &str) -> Option<&'a Json> {
        let place = *self.places[side].get(name)?;
        Some(&self.types[side][place].1)
    }
}

struct Comparison<'a> {
    types: &'a Equality<'a>,
    /// Pairs of types that are equal if all types are whose comparison has begun.
    compared: Vec<[usize; 2]>,
    /// The number of pairs of types that are being compared inside each other.
    open: usize,
    steps: usize,
    depth: usize,
    /// True if the comparison took too many steps or got too deep.
    gave_up: bool,
}

impl Comparison<'_> {
    fn schemas(&mut self, old: &Json, new: &Json) -> bool {
        if self.steps == 0 || self.depth == MAX_DEPTH {
            self.gave_up = true;
            return false;
        }
        self.steps -= 1;
        self.depth += 1;
        let are_same = match (type_name(old), type_name(new)) {
            (Some(a), Some(b)) => self.named(a, b) && self.objects(old, new, "$ref"),
            (Some(_), None) => {
                let body = only_type_name(old).and_then(|name| self.types.body(OLD, name));
                body.is_some_and(|body| !refers_to_root(new) && self.schemas(body, new))
            }
            (None, Some(_)) => {
                let body = only_type_name(new).and_then(|name| self.types.body(NEW, name));
                body.is_some_and(|body| !refers_to_root(old) && self.schemas(old, body))
            }
            (None, None) => self.values(old, new),
        };
        self.depth -= 1;
        are_same
    }

    fn named(&mut self, old: &str, new: &str) -> bool {
        let [olds, news] = &self.types.places;
        let (Some(&old), Some(&new)) = (olds.get(old), news.get(new)) else { return false };
        let pair = [old, new];
        if let Some(known) = self.types.known.borrow().get(&pair) {
            return *known;
        }
        // While they are compared, they count as equal.
        self.types.known.borrow_mut().insert(pair, true);
        self.compared.push(pair);
        self.open += 1;
        let [olds, news] = self.types.types;
        let are_equal = self.schemas(&olds[old].1, &news[new].1);
        self.open -= 1;
        if !are_equal {
            // Nothing is known of the pairs that were equal under that condition.
            let mut known = self.types.known.borrow_mut();
            for pair in self.compared.drain(..) {
                known.remove(&pair);
            }
            if !self.gave_up {
                known.insert(pair, false);
            }
        } else if self.open == 0 {
            self.compared.clear();
        }
        are_equal
    }

    fn values(&mut self, old: &Json, new: &Json) -> bool {
        match (old, new) {
            (Json::Object(_), Json::Object(_)) => self.objects(old, new, ""),
            (Json::Array(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.schemas(a, b))
            }
            _ => is_same_scalar(old, new),
        }
    }

    /// Returns whether two objects have the same entries, except for one key.
    fn objects(&mut self, old: &Json, new: &Json, except: &str) -> bool {
        let (Json::Object(old), Json::Object(new)) = (old, new) else { return false };
        old.len() == new.len()
            && pairs(old, new)
                .filter(|(key, _, _)| *key != except)
                .all(|(key, old, new)| new.is_some_and(|new| self.keywords(key, old, new)))
    }

    /// Returns whether the values of a keyword are equal.
    fn keywords(&mut self, key: &str, old: &Json, new: &Json) -> bool {
        if holds_values(key) {
            return is_same_value(old, new);
        }
        if holds_named(key, old)
            && let (Json::Object(old), Json::Object(new)) = (old, new)
        {
            return old.len() == new.len()
                && pairs(old, new)
                    .all(|(_, old, new)| new.is_some_and(|new| self.schemas(old, new)));
        }
        (SETS.contains(&key) && is_same_set(old, new)) || self.schemas(old, new)
    }
}

/// Returns whether a schema refers to its root by `#`, which means another schema once it is a type.
fn refers_to_root(schema: &Json) -> bool {
    match schema {
        Json::Array(items) => items.iter().any(refers_to_root),
        Json::Object(entries) => entries.iter().any(|(key, value)| match value {
            Json::String(target) => key == "$ref" && target.starts_with('#'),
            value => refers_to_root(value),
        }),
        _ => false,
    }
}

fn is_same_set(old: &Json, new: &Json) -> bool {
    let (Json::Array(old), Json::Array(new)) = (old, new) else { return false };
    let set = |items: &[Json]| items.iter().map(Json::to_string).collect::<BTreeSet<_>>();
    old.len() == new.len() && set(old) == set(new)
}

/// Returns whether two values are equal. The order of keys and the spelling of numbers do not matter.
pub(super) fn is_same_value(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_value(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && pairs(a, b).all(|(_, a, b)| b.is_some_and(|b| is_same_value(a, b)))
        }
        _ => is_same_scalar(a, b),
    }
}

/// The entries of an object, each with the value that another has under its key.
fn pairs<'a>(
    entries: &'a Entries,
    others: &'a Entries,
) -> impl Iterator<Item = (&'a str, &'a Json, Option<&'a Json>)> {
    let mut by_key: Option<BTreeMap<&str, &Json>> = None;
    entries.iter().enumerate().map(move |(at, (key, value))| {
        // The order is usually the same.
        let other = match others.get(at) {
            Some((other, value)) if other == key => Some(value),
            _ => {
                let by_key = by_key.get_or_insert_with(|| {
                    others.iter().map(|(key, value)| (key.as_str(), value)).collect()
                });
                by_key.get(key.as_str()).copied()
            }
        };
        (key.as_str(), value, other)
    })
}

fn is_same_scalar(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let number = |text: &str| text.parse::<Value>().ok()?.as_number().cloned();
            a == b || number(a).is_some_and(|a| number(b) == Some(a))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text;

    fn types(text: &str) -> Entries {
        match json_text::read(text) {
            Ok(Json::Object(entries)) => entries,
            other => panic!("expected types, found {other:?}"),
        }
    }

    #[test]
    fn equality_ignores_the_names_and_order_of_types() {
        let old = r#"{"Tree": {"type": "object", "properties": {"left": {"$ref": "Tree"}}}, "Name": {"type": "string"},
            "Loop": {"$ref": "Loop"}, "Whole": {"properties": {"a": {"$ref": "\u0023"}}}}"#;
        let new = r#"{"Node": {"properties": {"left": {"$ref": "Node"}}, "type": "object"},
            "Other": {"type": "object", "properties": {"left": {"$ref": "Label"}}}, "Label": {"type": "string"}}"#;
        let (old, new) = (types(old), types(new));
        let cases = [
            (r#"{"$ref": "Tree"}"#, r#"{"$ref": "Node"}"#, true),
            (r#"{"$ref": "Tree"}"#, r#"{"$ref": "Other"}"#, false),
            (r#"{"$ref": "Name"}"#, r#"{"type": "string"}"#, true),
            (r#"{"type": "string"}"#, r#"{"$ref": "Label"}"#, true),
            (r#"{"$ref": "Name", "title": "x"}"#, r#"{"$ref": "Label"}"#, false),
            (r#"{"$ref": "Name", "title": "x"}"#, r#"{"title": "x", "$ref": "Label"}"#, true),
            (r#"{"type": ["null", "string"]}"#, r#"{"type": ["string", "null"]}"#, true),
            (r#"{"enum": ["a", "b"]}"#, r#"{"enum": ["b", "a"]}"#, false),
            (r#"{"maximum": 1.0}"#, r#"{"maximum": 1}"#, true),
            (r#"{"maximum": 12345678901234567890}"#, r#"{"maximum": 12345678901234567891}"#, false),
            (r#"{"maximum": 0.1}"#, r#"{"maximum": 0.10000000000000000001}"#, false),
            (r#"{"maximum": 1e400}"#, r#"{"maximum": 2e400}"#, false),
            (r#"{"maximum": 1e400}"#, r#"{"maximum": 10e399}"#, true),
            (r#"{"const": {"type": ["a", "b"]}}"#, r#"{"const": {"type": ["b", "a"]}}"#, false),
            (r#"{"const": {"a": 1, "b": 2}}"#, r#"{"const": {"b": 2, "a": 1.0}}"#, true),
            (r#"{"enum": [{"$ref": "Tree"}]}"#, r#"{"enum": [{"$ref": "Node"}]}"#, false),
            (r#"{"default": {"$ref": "Name"}}"#, r#"{"default": {"type": "string"}}"#, false),
            (
                r#"{"properties": {"default": {"$ref": "Name"}, "type": {"$ref": "Tree"}}}"#,
                r#"{"properties": {"default": {"$ref": "Label"}, "type": {"$ref": "Node"}}}"#,
                true,
            ),
            (
                r#"{"properties": {"const": {"type": ["null", "string"]}}}"#,
                r#"{"properties": {"const": {"type": ["string", "null"]}}}"#,
                true,
            ),
            (r#"{"$ref": "Missing"}"#, r#"{"$ref": "Label"}"#, false),
            (r#"{"$ref": "Loop"}"#, r#"{"type": "string"}"#, false),
            (r#"{"$ref": "Whole"}"#, r#"{"properties": {"a": {"$ref": "\u0023"}}}"#, false),
        ];
        for (a, b, expected) in cases {
            let [a, b] = [a, b].map(|text| json_text::read(text).expect("JSON"));
            assert_eq!(Equality::of(&old, &new).holds(&a, &b), expected, "{a} {b}");
        }
    }

    /// Many schemas may refer to one type, and each of them is compared.
    #[test]
    fn types_are_compared_once() {
        let old = r#"{"Part": {"type": "string"}, "Whole": {"properties": {"a": {"$ref": "Part"}, "b": {"maximum": 1}}},
            "Loop": {"properties": {"next": {"$ref": "Loop"}, "part": {"$ref": "Part"}}}}"#;
        let (old, new) = (types(old), types(&old.replace("maximum", "minimum")));
        let equality = Equality::of(&old, &new);
        let reference =
            |name: &str| json_text::read(&format!(r#"{{"$ref": "{name}"}}"#)).expect("JSON");
        let [part, whole, circle] = ["Part", "Whole", "Loop"].map(reference);
        assert!(!equality.holds(&whole, &whole));
        // That `Part` is equal depended on the rest of `Whole`.
        assert_eq!(*equality.known.borrow(), BTreeMap::from([([1, 1], false)]));
        assert!(equality.holds(&circle, &circle) && equality.holds(&part, &part));
        let known = BTreeMap::from([([0, 0], true), ([1, 1], false), ([2, 2], true)]);
        assert_eq!(*equality.known.borrow(), known);
    }
}
