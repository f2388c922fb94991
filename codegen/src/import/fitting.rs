//! Whether the value of a keyword is of the kind that the keyword asks for (2020-12 validation, 6 to 9).
//! Never looks at what the value means.

use crate::schema::Json;
use crate::schema::read::keywords::{Expected, expected};

/// The value, where it is such, or what is left of it; `None` where it cannot mean anything.
pub(super) fn fitting(key: &str, value: Json) -> Option<Json> {
    let is_fit = match expected(key) {
        None => is_annotation_of(key, &value),
        Some(Expected::Text | Expected::Pattern | Expected::Reference) => {
            matches!(value, Json::String(_))
        }
        Some(Expected::Number) => matches!(value, Json::Number(_)),
        Some(Expected::Positive) => number(&value).is_some_and(|number| number > 0.0),
        Some(Expected::Count) => {
            number(&value).is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
        }
        Some(Expected::Boolean) => matches!(value, Json::Boolean(_)),
        Some(Expected::Schemas) => matches!(&value, Json::Array(items) if !items.is_empty()),
        Some(Expected::Named | Expected::Patterns) => matches!(value, Json::Object(_)),
        Some(Expected::NamesByName) => are_names_by_name(&value),
        // Whoever asks has seen to what fits of a list.
        Some(Expected::Names | Expected::Values | Expected::Types) => false,
        Some(Expected::Schema | Expected::Value) => true,
    };
    is_fit.then_some(value)
}

fn is_annotation_of(key: &str, value: &Json) -> bool {
    match key {
        "title" | "description" | "$comment" | "contentEncoding" | "contentMediaType" => {
            matches!(value, Json::String(_))
        }
        "deprecated" | "readOnly" | "writeOnly" => matches!(value, Json::Boolean(_)),
        // What a schema is called says nothing once its references have been followed.
        "$schema" | "$anchor" => false,
        _ => true,
    }
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
