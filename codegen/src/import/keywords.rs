//! The keywords of JSON Schema as an importer needs them: which there are, and where further schemas
//! stand. Never what a keyword asserts.

use crate::schema::Json;

/// The entries of an object in written order.
pub(super) type Entries = Vec<(String, Json)>;

/// Keywords of 2020-12 that say something to people only.
pub(super) const ANNOTATIONS: [&str; 8] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
];

/// Keywords of 2020-12 that hold a schema.
const ONE: [&str; 13] = [
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "additionalItems",
    "extends",
];

/// Keywords that hold a list of schemas; `items` does so before 2020-12.
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];

/// Keywords that hold schemas by name; the values of `dependencies` may also be lists of names.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"];

/// Keywords of 2020-12 without schemas in them (core, 8; validation, 6 to 9).
const LEAVES: [&str; 34] = [
    "type",
    "enum",
    "const",
    "required",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "contentEncoding",
    "contentMediaType",
    "$ref",
    "$dynamicRef",
    "$dynamicAnchor",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
];

/// Keywords of older drafts that hold schemas, and are none in 2020-12.
const GONE: [&str; 4] = ["definitions", "dependencies", "additionalItems", "extends"];

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

/// Whether 2020-12 has a keyword of this name.
pub(super) fn is_known(keyword: &str) -> bool {
    let holders = [&ONE[..], &LIST[..], &NAMED[..]].concat();
    LEAVES.contains(&keyword) || (holders.contains(&keyword) && !GONE.contains(&keyword))
}

/// Rebuilds the value of a keyword from the schemas right under it, each visited with its JSON Pointer.
pub(super) fn each_part(
    keyword: &str,
    value: Json,
    pointer: &str,
    visit: &mut dyn FnMut(Json, &str) -> Json,
) -> Json {
    let here = joined(pointer, keyword);
    match value {
        Json::Array(items) if LIST.contains(&keyword) => {
            let numbered = (0..).zip(items);
            Json::Array(
                numbered.map(|(n, item): (u32, _)| visit(item, &format!("{here}/{n}"))).collect(),
            )
        }
        Json::Object(entries) if NAMED.contains(&keyword) => {
            let mut part = |(name, value): (String, Json)| {
                let is_names = keyword == "dependencies" && matches!(value, Json::Array(_));
                let part = joined(&here, &name);
                (name, if is_names { value } else { visit(value, &part) })
            };
            Json::Object(entries.into_iter().map(&mut part).collect())
        }
        value if ONE.contains(&keyword) => visit(value, &here),
        value => value,
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

/// A pointer and a step below it (RFC 6901, 3).
pub(super) fn joined(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Takes an entry out.
pub(super) fn take(entries: &mut Entries, key: &str) -> Option<Json> {
    let index = entries.iter().position(|(name, _)| name == key)?;
    Some(entries.remove(index).1)
}
