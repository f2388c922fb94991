//! Finds the subschemas of a schema of any draft. The compiler declares the keywords of 2020-12
//! ([`toolwright_codegen::internal::keyword`]); this adds the few others that hold schemas.

use toolwright::pointer::escaped;

use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::{Expected, expected};

/// The entries of an object in written order.
pub(super) type Entries = Vec<(String, Json)>;

/// What holds a schema beside what the reader knows: `contentSchema` asserts nothing, the others are of older drafts.
const ONE: [&str; 3] = ["contentSchema", "additionalItems", "extends"];

/// What holds schemas by name in older drafts; the values of `dependencies` may also be lists of names.
const NAMED: [&str; 2] = ["definitions", "dependencies"];

/// Keywords that draft-06 brought.
pub(super) const SINCE_6: [&str; 3] = ["const", "contains", "propertyNames"];

/// Keywords that draft-07 brought.
pub(super) const SINCE_7: [&str; 3] = ["if", "then", "else"];

/// Keywords that 2019-09 and 2020-12 brought: they mean nothing to an older schema.
pub(super) const SINCE_2019: [&str; 10] = [
    "prefixItems",
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "$dynamicRef",
    "$dynamicAnchor",
];

/// How a keyword holds schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    Several,
    Named,
}

impl Holds {
    fn of(keyword: &str, value: &Json) -> Option<Self> {
        match expected(keyword) {
            // A list of schemas before 2020-12.
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

/// How many steps lead from a schema through one of its keywords to a schema right under it; `None` where there is none.
pub(super) fn parts_at(keyword: &str, value: &Json) -> Option<usize> {
    Some(match Holds::of(keyword, value)? {
        Holds::One => 1,
        Holds::Several | Holds::Named => 2,
    })
}

/// Rebuilds the value of a keyword from the schemas right under it, each visited with its JSON Pointer.
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

/// Rebuilds a schema from its leaves up; what is visited has been rebuilt below.
pub(super) fn rebuild(
    schema: Json,
    pointer: &str,
    visit: &mut dyn FnMut(Json, &str) -> Json,
) -> Json {
    let Json::Object(entries) = schema else { return visit(schema, pointer) };
    let rebuilt = entries.into_iter().map(|(keyword, value)| {
        let value = each_part(&keyword, value, pointer, &mut |part, at| rebuild(part, at, visit));
        (keyword, value)
    });
    let rebuilt = Json::Object(rebuilt.collect());
    visit(rebuilt, pointer)
}

/// A pointer and a step below it.
pub(super) fn joined(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", escaped(step))
}

/// Takes an entry out.
pub(super) fn take(entries: &mut Entries, key: &str) -> Option<Json> {
    let index = entries.iter().position(|(name, _)| name == key)?;
    Some(entries.remove(index).1)
}
