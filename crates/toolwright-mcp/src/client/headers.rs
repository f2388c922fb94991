//! `x-mcp-header`: arguments that a tool wants repeated in headers of an HTTP request (2026-07-28, server/tools). A tool
//! that asks for what cannot be sent is not to be used. Never sends a header: rmcp does.

use std::collections::BTreeSet;

use serde_json::Value;

const KEYWORD: &str = "x-mcp-header";

/// The types whose values can stand in a header.
const PLAIN: [&str; 3] = ["string", "integer", "boolean"];

/// Judges what a tool's schema says about headers.
///
/// # Errors
///
/// The first thing that cannot be.
pub(super) fn check(schema: &str) -> Result<(), String> {
    // Most speak of none.
    if !schema.contains(KEYWORD) {
        return Ok(());
    }
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    reached(&schema, &mut names)?;
    if names.len() == stated(&schema) {
        return Ok(());
    }
    Err(format!("`{KEYWORD}` stands where no property of the arguments is"))
}

/// Walks the properties that every call can have, and notes the headers they are repeated in.
fn reached(schema: &Value, names: &mut BTreeSet<String>) -> Result<(), String> {
    for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(header) = schema.get(KEYWORD) {
            let header = header.as_str().filter(|header| is_token(header));
            let header = header
                .ok_or_else(|| format!("`{KEYWORD}` of `{property}` is not a header's name"))?;
            if !schema["type"].as_str().is_some_and(|word| PLAIN.contains(&word)) {
                return Err(format!(
                    "`{property}` stands in a header and is no {}",
                    PLAIN.join(", ")
                ));
            }
            if !names.insert(header.to_ascii_lowercase()) {
                return Err(format!("two properties stand in the header `{header}`"));
            }
        }
        reached(schema, names)?;
    }
    Ok(())
}

/// How often a schema speaks of headers, wherever that is.
fn stated(schema: &Value) -> usize {
    match schema {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| usize::from(key == KEYWORD && value.is_string()) + stated(value))
            .sum(),
        Value::Array(items) => items.iter().map(stated).sum(),
        _ => 0,
    }
}

/// A token of RFC 9110, 5.6.2, which names of headers are.
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_header_repeats_one_plain_property() {
        let string = |header: &str| json!({ "type": "string", "x-mcp-header": header });
        let of = |properties: Value| json!({ "type": "object", "properties": properties });
        for (schema, is_usable) in [
            (of(json!({ "a": { "type": "string" } })), true),
            (
                of(
                    json!({ "a": string("Region"), "b": { "type": "integer", "x-mcp-header": "B" } }),
                ),
                true,
            ),
            (of(json!({ "a": of(json!({ "b": string("Region") })) })), true),
            (of(json!({ "x-mcp-header": { "type": "string" } })), true),
            (of(json!({ "a": string("") })), false),
            (of(json!({ "a": string("My Region") })), false),
            (of(json!({ "a": string("Région") })), false),
            (of(json!({ "a": { "type": "string", "x-mcp-header": 1 } })), false),
            (of(json!({ "a": { "type": "number", "x-mcp-header": "A" } })), false),
            (of(json!({ "a": string("Region"), "b": string("region") })), false),
            (of(json!({ "a": { "type": "array", "items": string("Region") } })), false),
        ] {
            assert_eq!(check(&schema.to_string()).is_ok(), is_usable, "{schema}");
        }
    }
}
