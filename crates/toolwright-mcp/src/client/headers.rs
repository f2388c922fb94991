//! Validates `x-mcp-header`, which marks arguments that a client repeats in HTTP headers (2026-07-28, server/tools). A
//! tool with an invalid mark must not be used. rmcp sends the headers.

use std::collections::BTreeSet;

use serde_json::Value;

const KEYWORD: &str = "x-mcp-header";

/// The types whose values can be in a header.
const HEADER_TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// Checks the marks in the argument schema of a tool.
///
/// # Errors
///
/// Returns the first mistake.
pub(super) fn check(schema: &str) -> Result<(), String> {
    // Most schemas have no marks. The keyword may be written with escapes.
    if !schema.contains(KEYWORD) && !schema.contains('\\') {
        return Ok(());
    }
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    collect_headers(&schema, &mut names)?;
    if names.len() == count_marks(&schema) {
        return Ok(());
    }
    Err(format!("found `{KEYWORD}` outside the properties of the arguments"))
}

/// Collects the headers of the properties that every call can have.
fn collect_headers(schema: &Value, names: &mut BTreeSet<String>) -> Result<(), String> {
    for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(header) = schema.get(KEYWORD) {
            let header = header.as_str().filter(|header| is_token(header));
            let header = header.ok_or_else(|| {
                format!("`{KEYWORD}` of `{property}` is not the name of a header")
            })?;
            if !schema["type"].as_str().is_some_and(|word| HEADER_TYPES.contains(&word)) {
                return Err(format!(
                    "`{property}` has `{KEYWORD}`, expected one of the types {}",
                    HEADER_TYPES.join(", ")
                ));
            }
            if !names.insert(header.to_ascii_lowercase()) {
                return Err(format!("two properties have the same header `{header}`"));
            }
        }
        collect_headers(schema, names)?;
    }
    Ok(())
}

/// Counts the marks anywhere in a schema.
fn count_marks(schema: &Value) -> usize {
    match schema {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                usize::from(key == KEYWORD && value.is_string()) + count_marks(value)
            })
            .sum(),
        Value::Array(items) => items.iter().map(count_marks).sum(),
        _ => 0,
    }
}

/// Returns whether a text is a token, as names of headers must be (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_one_property_of_a_simple_type_may_have_a_header() {
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

    #[test]
    fn a_mark_that_is_written_with_escapes_is_a_mark() {
        let schema = r#"{"properties":{"a":{"type":"number","x\u002dmcp-header":"A"}}}"#;
        check(schema).expect_err("a number cannot be in a header");
    }
}
