//! Decides whether two schemas, each with the types of its own file, are equal apart from the names of types. A comparison
//! that takes too many steps or gets too deep returns `false`.

use std::collections::BTreeSet;

use super::keywords::Entries;
use toolwright_codegen::internal::Json;

/// The maximum number of steps of one comparison.
const MAX_STEPS: usize = 200_000;

/// The maximum depth of a comparison. Following the name of a type counts too.
pub(super) const MAX_DEPTH: usize = 256;

/// Keywords whose lists are compared as sets.
const SETS: [&str; 2] = ["required", "type"];

/// The types that the two compared schemas refer to.
pub(super) struct Equality<'a> {
    /// The types of the first schema.
    pub(super) old: &'a Entries,
    /// The types of the second schema.
    pub(super) new: &'a Entries,
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

impl Equality<'_> {
    /// Returns whether two schemas are equal, apart from the names and order of their types.
    pub(super) fn holds(&self, old: &Json, new: &Json) -> bool {
        let mut comparison =
            Comparison { types: self, compared: BTreeSet::new(), steps: MAX_STEPS, depth: 0 };
        comparison.schemas(old, new)
    }
}

struct Comparison<'a> {
    types: &'a Equality<'a>,
    /// Pairs of types whose comparison has begun. They need no second comparison.
    compared: BTreeSet<(String, String)>,
    steps: usize,
    depth: usize,
}

impl Comparison<'_> {
    fn schemas(&mut self, old: &Json, new: &Json) -> bool {
        if self.steps == 0 || self.depth == MAX_DEPTH {
            return false;
        }
        self.steps -= 1;
        self.depth += 1;
        let are_same = match (type_name(old), type_name(new)) {
            (Some(a), Some(b)) => self.named(a, b) && self.objects(old, new, "$ref"),
            (Some(_), None) => {
                let body = only_type_name(old).and_then(|name| type_body(self.types.old, name));
                body.is_some_and(|body| !refers_to_root(new) && self.schemas(body, new))
            }
            (None, Some(_)) => {
                let body = only_type_name(new).and_then(|name| type_body(self.types.new, name));
                body.is_some_and(|body| !refers_to_root(old) && self.schemas(old, body))
            }
            (None, None) => self.values(old, new),
        };
        self.depth -= 1;
        are_same
    }

    fn named(&mut self, old: &str, new: &str) -> bool {
        if !self.compared.insert((old.to_owned(), new.to_owned())) {
            return true;
        }
        let bodies = (type_body(self.types.old, old), type_body(self.types.new, new));
        matches!(bodies, (Some(old), Some(new)) if self.schemas(old, new))
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
            && old.iter().filter(|(key, _)| key != except).all(|(key, old)| {
                let new = new.iter().find(|(other, _)| other == key);
                new.is_some_and(|(_, new)| {
                    (SETS.contains(&key.as_str()) && is_same_set(old, new))
                        || self.schemas(old, new)
                })
            })
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
            // The order is usually the same.
            let same_index = |at: usize, key: &str| b.get(at).filter(|(other, _)| other == key);
            let other = |at: usize, key: &str| {
                same_index(at, key).or_else(|| b.iter().find(|(other, _)| other == key))
            };
            a.len() == b.len()
                && a.iter()
                    .enumerate()
                    .all(|(at, (key, a))| other(at, key).is_some_and(|(_, b)| is_same_value(a, b)))
        }
        _ => is_same_scalar(a, b),
    }
}

fn is_same_scalar(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let is_double = |text: &str| text.contains(['.', 'e']);
            a == b
                || ((is_double(a) || is_double(b))
                    && a.parse::<f64>().ok() == b.parse::<f64>().ok())
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
            (r#"{"$ref": "Missing"}"#, r#"{"$ref": "Label"}"#, false),
            (r#"{"$ref": "Loop"}"#, r#"{"type": "string"}"#, false),
            (r#"{"$ref": "Whole"}"#, r#"{"properties": {"a": {"$ref": "\u0023"}}}"#, false),
        ];
        for (a, b, expected) in cases {
            let [a, b] = [a, b].map(|text| json_text::read(text).expect("JSON"));
            assert_eq!(Equality { old: &old, new: &new }.holds(&a, &b), expected, "{a} {b}");
        }
    }
}
