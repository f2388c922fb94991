//! Validates `x-mcp-header`, which marks arguments that a client repeats in HTTP headers (2026-07-28, server/tools). A
//! tool with an invalid mark must not be used. rmcp sends the headers, for which it keeps the schemas of marked tools.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolwright::untrusted::MAX_TOOLS;

const KEYWORD: &str = "x-mcp-header";

/// The types whose values can be in a header.
const HEADER_TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// The maximum number of bytes of all names and marks that rmcp keeps for a connection.
const MAX_MARKED_BYTES: usize = 4 << 20;

/// The tools with marks that a server has listed on a connection, whatever it lists now: rmcp keeps them until the connection ends.
#[derive(Debug, Default)]
pub(super) struct MarkedTools {
    /// The bytes of each by name.
    tools: HashMap<String, usize>,
    bytes: usize,
}

impl MarkedTools {
    /// Returns the tools of a page that rmcp needs: those that have marks or had them earlier, with no other part than the marks.
    ///
    /// # Errors
    ///
    /// If the server has listed too many.
    pub(super) fn of_page(&mut self, page: &RawValue) -> Result<Vec<Tool>, String> {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Listed<'a> {
            name: String,
            #[serde(borrow, rename = "inputSchema")]
            schema: &'a RawValue,
        }
        let mut tools = Vec::new();
        let page = serde_json::from_str::<Page<'_>>(page.get());
        for tool in page.map(|page| page.tools).unwrap_or_default() {
            let Ok(Listed { name, schema }) = serde_json::from_str(tool.get()) else { continue };
            let marks = marks(schema.get());
            if marks.is_empty() && !self.tools.contains_key(&name) {
                continue;
            }
            let bytes = name.len() + Value::from(marks.clone()).to_string().len();
            self.bytes += bytes;
            self.bytes -= self.tools.insert(name.clone(), bytes).unwrap_or_default();
            if self.tools.len() > MAX_TOOLS || self.bytes > MAX_MARKED_BYTES {
                return Err(format!(
                    "the server has listed more than {MAX_TOOLS} tools with `{KEYWORD}`, or more than {MAX_MARKED_BYTES} \
                     bytes of them"
                ));
            }
            tools.push(Tool::new(name, "", Arc::new(marks)));
        }
        Ok(tools)
    }
}

/// Returns the schema of the marked arguments. Empty if there are none, or if a mark is invalid.
fn marks(schema: &str) -> Map<String, Value> {
    if !may_have_marks(schema) || check(schema).is_err() {
        return Map::new();
    }
    let schema = serde_json::from_str(schema).unwrap_or_default();
    marked_properties(&schema)
}

/// Returns a schema of those properties that have a mark, or a property with one.
fn marked_properties(schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let marked: Map<String, Value> = properties
        .filter_map(|(name, schema)| {
            let mut kept = marked_properties(schema);
            if let Some(mark) = schema.get(KEYWORD) {
                kept.insert(KEYWORD.to_owned(), mark.clone());
                kept.insert("type".to_owned(), schema["type"].clone());
            }
            (!kept.is_empty()).then(|| (name.clone(), kept.into()))
        })
        .collect();
    let marked = (!marked.is_empty()).then(|| ("properties".to_owned(), marked.into()));
    marked.into_iter().collect()
}

/// Returns false for most schemas. The keyword may be written with escapes.
fn may_have_marks(schema: &str) -> bool {
    schema.contains(KEYWORD) || schema.contains('\\')
}

/// Checks the marks in the argument schema of a tool.
///
/// # Errors
///
/// Returns the first mistake.
pub(super) fn check(schema: &str) -> Result<(), String> {
    if !may_have_marks(schema) {
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

    fn page(tools: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(&json!({ "tools": tools })).unwrap()
    }

    #[test]
    fn only_the_marks_of_tools_are_kept_for_headers() {
        let schema = json!({
            "type": "object", "description": "-".repeat(1000), "required": ["a"],
            "properties": {
                "a": { "type": "string", "x-mcp-header": "A", "description": "long" },
                "b": { "properties": { "c": { "type": "integer", "x-mcp-header": "C" }, "d": {} } },
                "e": { "type": "string" },
            },
        });
        let tool =
            |schema: &Value| json!([{ "name": "x", "inputSchema": schema }, 5, { "name": "y" }]);
        let mut tools = MarkedTools::default();
        let listed = tools.of_page(&page(&tool(&json!({ "type": "object" })))).unwrap();
        assert!(listed.is_empty(), "it has no marks");
        let listed = tools.of_page(&page(&tool(&schema))).unwrap();
        let expected = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "A" },
            "b": { "properties": { "c": { "type": "integer", "x-mcp-header": "C" } } },
        } });
        assert_eq!((listed.len(), json!(*listed[0].input_schema)), (1, expected));
        // Otherwise rmcp would send the old headers.
        let listed = tools.of_page(&page(&tool(&json!({ "type": "object" })))).unwrap();
        assert_eq!((listed.len(), json!(*listed[0].input_schema)), (1, json!({})));
    }

    #[test]
    fn a_server_cannot_list_new_tools_with_marks_forever() {
        let tool = |name: String, header: String| {
            let a = json!({ "type": "string", "x-mcp-header": header });
            json!({ "name": name, "inputSchema": { "properties": { "a": a } } })
        };
        let mut tools = MarkedTools::default();
        let few = |round: usize| (0..100).map(move |at| tool(format!("{round}-{at}"), "A".into()));
        let lists = (0..).take_while(|round| tools.of_page(&page(&few(*round).collect())).is_ok());
        assert_eq!(lists.count(), MAX_TOOLS / 100);
        let mut tools = MarkedTools::default();
        let lists = (0..).take_while(|round| {
            let tool = tool(round.to_string(), "a".repeat(100_000));
            tools.of_page(&page(&json!([tool, tool]))).is_ok()
        });
        assert_eq!(lists.count(), MAX_MARKED_BYTES / 100_000);
    }

    #[test]
    fn a_mark_that_is_written_with_escapes_is_a_mark() {
        let schema = r#"{"properties":{"a":{"type":"number","x\u002dmcp-header":"A"}}}"#;
        check(schema).expect_err("a number cannot be in a header");
    }
}
