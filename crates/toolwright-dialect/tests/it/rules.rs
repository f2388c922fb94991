//! The rule book with the one rule that needs a validator: some providers refuse an invalid JSON Schema.

use serde_json::Value;
use toolwright_dialect::Dialect;

pub(super) use toolwright_model_stage::rules::{broken_words, inner, kinds};

/// Returns each broken rule with its place.
pub(super) fn broken(dialect: &Dialect, wire: &Value) -> Vec<String> {
    let mut faults = toolwright_model_stage::rules::broken(dialect, wire);
    let has_draft = |schema: &Value| {
        let draft = schema["$schema"].as_str().unwrap_or_default();
        draft.is_empty() || draft.contains("2020-12")
    };
    if dialect.to_toml().contains("metaschema = ")
        && !(has_draft(wire) && jsonschema::draft202012::meta::is_valid(wire))
    {
        faults.push("is not a JSON Schema of draft 2020-12".to_owned());
    }
    faults
}
