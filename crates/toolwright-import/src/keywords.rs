//! Finds the subschemas of a schema of any draft. The compiler declares the keywords of 2020-12
//! ([`toolwright_codegen::internal::keyword`]); this module adds the few others that hold schemas.

use toolwright::pointer::escaped;

use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::{Expected, expected};

/// The entries of an object in written order.
pub(super) type Entries = Vec<(String, Json)>;

/// Other keywords with one schema: `contentSchema` of 2020-12 asserts nothing, the rest are from older drafts.
const ONE: [&str; 3] = ["contentSchema", "additionalItems", "extends"];

/// Keywords of older drafts with named schemas. The values of `dependencies` may also be lists of names.
const NAMED: [&str; 2] = ["definitions", "dependencies"];

/// The way in which a keyword contains schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    Several,
    Named,
}

impl Holds {
    fn of(keyword: &str, value: &Json) -> Option<Self> {
        match expected(keyword) {
            // Before 2020-12, `items` could be a list of schemas.
            Some(Expected::Schema) if keyword == "items" && matches!(value, Json::Array(_)) => {
                Some(Self::Several)
            }
            Some(Expected::Schema) => Some(Self::One),
            Some(Expected::Schemas) => Some(Self::Several),
            Some(Expected::Named | Expected::Patterns) => Some(Self::Named),
            None if ONE.contains(&keyword) => Some(Self::One),
            None if NAMED.contains(&keyword) => Some(Self::Named),
            _ => None,
        }
    }
}

/// The number of steps from a schema through a keyword to its direct subschemas: one, or two if the keyword holds several.
/// `None` if the keyword holds no schema.
pub(super) fn parts_at(keyword: &str, value: &Json) -> Option<usize> {
    Some(match Holds::of(keyword, value)? {
        Holds::One => 1,
        Holds::Several | Holds::Named => 2,
    })
}

/// Returns whether a keyword holds schemas by names.
pub(super) fn holds_named(keyword: &str, value: &Json) -> bool {
    Holds::of(keyword, value) == Some(Holds::Named) && matches!(value, Json::Object(_))
}

/// Returns whether a keyword holds values, in which nothing is a schema.
pub(super) fn holds_values(keyword: &str) -> bool {
    ["const", "default", "enum", "examples"].contains(&keyword)
}

/// Rebuilds the value of a keyword: `visit` maps each direct subschema, given with its JSON Pointer.
pub(super) fn each_part(
    keyword: &str,
    value: Json,
    pointer: &str,
    visit: &mut dyn FnMut(Json, &str) -> Json,
) -> Json {
    let here = joined(pointer, keyword);
    match (Holds::of(keyword, &value), value) {
        (Some(Holds::Several), Json::Array(items)) => {
            let numbered = (0..).zip(items);
            Json::Array(
                numbered.map(|(n, item): (u32, _)| visit(item, &format!("{here}/{n}"))).collect(),
            )
        }
        (Some(Holds::Named), Json::Object(entries)) => {
            let mut part = |(name, value): (String, Json)| {
                let is_names = keyword == "dependencies" && matches!(value, Json::Array(_));
                let part = joined(&here, &name);
                (name, if is_names { value } else { visit(value, &part) })
            };
            Json::Object(entries.into_iter().map(&mut part).collect())
        }
        (Some(Holds::One), value) => visit(value, &here),
        (_, value) => value,
    }
}

/// Does the same as [`each_part`] for a borrowed value.
pub(super) fn mapped_parts(
    keyword: &str,
    value: &Json,
    pointer: &str,
    visit: &mut dyn FnMut(&Json, &str) -> Json,
) -> Json {
    let here = joined(pointer, keyword);
    match (Holds::of(keyword, value), value) {
        (Some(Holds::Several), Json::Array(items)) => {
            let parts = items.iter().enumerate();
            Json::Array(parts.map(|(n, item)| visit(item, &format!("{here}/{n}"))).collect())
        }
        (Some(Holds::Named), Json::Object(entries)) => {
            let parts = entries.iter().map(|(name, value)| {
                let is_names = keyword == "dependencies" && matches!(value, Json::Array(_));
                let part = joined(&here, name);
                (name.clone(), if is_names { value.clone() } else { visit(value, &part) })
            });
            Json::Object(parts.collect())
        }
        (Some(Holds::One), value) => visit(value, &here),
        (_, value) => value.clone(),
    }
}

/// Rebuilds a schema bottom-up: `visit` maps each subschema after those inside it, and the schema itself last.
pub(super) fn rebuild(
    schema: Json,
    pointer: &str,
    visit: &mut dyn FnMut(Json, &str) -> Json,
) -> Json {
    let rebuilt = with_parts(schema, pointer, &mut |part, at| rebuild(part, at, visit));
    visit(rebuilt, pointer)
}

/// Rebuilds a schema: `visit` maps each direct subschema, given with its JSON Pointer.
pub(super) fn with_parts(
    schema: Json,
    pointer: &str,
    visit: &mut dyn FnMut(Json, &str) -> Json,
) -> Json {
    let Json::Object(entries) = schema else { return schema };
    let rebuilt = entries.into_iter().map(|(keyword, value)| {
        let value = each_part(&keyword, value, pointer, visit);
        (keyword, value)
    });
    Json::Object(rebuilt.collect())
}

/// Appends a step to a JSON Pointer.
pub(super) fn joined(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", escaped(step))
}

/// Removes an entry and returns its value.
pub(super) fn take(entries: &mut Entries, key: &str) -> Option<Json> {
    let index = entries.iter().position(|(name, _)| name == key)?;
    Some(entries.remove(index).1)
}
