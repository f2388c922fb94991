//! Whether the value of a keyword is of the kind that the keyword asks for (2020-12 validation, 6 to 9).
//! Never looks at what the value means.

use crate::schema::Json;

/// The value, where it is such, or what is left of it; `None` where it cannot mean anything.
pub(super) fn fitting(key: &str, value: Json) -> Option<Json> {
    let is_fit = match key {
        "title" | "description" | "format" | "pattern" | "$comment" | "$ref"
        | "contentEncoding" | "contentMediaType" => matches!(value, Json::String(_)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            matches!(value, Json::Number(_))
        }
        "multipleOf" => number(&value).is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => {
            number(&value).is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
        }
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => {
            matches!(value, Json::Boolean(_))
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            matches!(&value, Json::Array(items) if !items.is_empty())
        }
        "properties" | "patternProperties" | "dependentSchemas" => {
            matches!(value, Json::Object(_))
        }
        "dependentRequired" => are_names_by_name(&value),
        "required" | "enum" => false,
        _ => true,
    };
    is_fit.then_some(value)
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn are_names_by_name(value: &Json) -> bool {
    let is_name = |name: &Json| matches!(name, Json::String(_));
    let are_names = |names: &Json| matches!(names, Json::Array(names) if names.iter().all(is_name));
    matches!(value, Json::Object(entries) if entries.iter().all(|(_, names)| are_names(names)))
}
