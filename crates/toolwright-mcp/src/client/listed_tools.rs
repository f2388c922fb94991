//! Parses the tool list of a server. A malformed tool is skipped with a warning.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::Value;
use toolwright::digests::{self, ListedDigests};
use toolwright::spec::ToolAnnotations;
use toolwright::untrusted::line;

use super::error::MAX_SERVER_TEXT;
use super::listing::Listing;

/// The tools that a server lists, in its order.
#[derive(Debug, Default)]
pub(super) struct ListedTools {
    pub(super) tools: Vec<ListedTool>,
    /// The index in `tools` of each name.
    positions: BTreeMap<String, usize>,
}

/// A tool that a server lists.
#[derive(Debug)]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) annotations: ToolAnnotations,
    pub(super) input: Option<Schema>,
    pub(super) output: Option<Schema>,
    pub(super) digests: ListedDigests,
}

/// A schema, as the server wrote it and as a value.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) text: String,
    pub(super) value: Value,
}

#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTool<'a> {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(default, borrow)]
    output_schema: Option<&'a RawValue>,
    #[serde(default, borrow)]
    annotations: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAnnotations {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    read_only_hint: Option<bool>,
    #[serde(default)]
    destructive_hint: Option<bool>,
    #[serde(default)]
    idempotent_hint: Option<bool>,
    #[serde(default)]
    open_world_hint: Option<bool>,
}

impl ListedTools {
    pub(super) fn parse(listing: &Listing) -> Self {
        let mut listed = Self::default();
        let list = serde_json::from_str::<RawList<'_>>(&listing.json);
        for tool in list.map(|list| list.tools).unwrap_or_default() {
            match parse_tool(tool) {
                Ok(tool) if listed.positions.contains_key(&tool.name) => {
                    tracing::warn!(
                        tool = line(&tool.name, MAX_SERVER_TEXT),
                        "an MCP server lists a tool twice; the second is ignored"
                    );
                }
                Ok(tool) => {
                    listed.positions.insert(tool.name.clone(), listed.tools.len());
                    listed.tools.push(tool);
                }
                Err(reason) => {
                    let reason = line(&reason, MAX_SERVER_TEXT);
                    tracing::warn!("an MCP server lists a malformed tool: {reason}");
                }
            }
        }
        listed
    }

    pub(super) fn get(&self, name: &str) -> Option<&ListedTool> {
        self.positions.get(name).map(|position| &self.tools[*position])
    }
}

/// Parses one tool of a list.
pub(super) fn parse_tool(tool: &RawValue) -> Result<ListedTool, String> {
    let value = tool.get().parse().map_err(|issues| format!("invalid JSON: {issues}"))?;
    let raw: RawTool<'_> = serde_json::from_str(tool.get()).map_err(|error| error.to_string())?;
    let (input, output) = (parse_value(raw.input_schema)?, parse_value(raw.output_schema)?);
    let annotations: RawAnnotations = match raw.annotations {
        Some(json) => serde_json::from_str(json.get()).map_err(|error| error.to_string())?,
        None => RawAnnotations::default(),
    };
    Ok(ListedTool {
        digests: digests::listed(&value),
        name: raw.name,
        title: raw.title.or(annotations.title),
        description: raw.description.unwrap_or_default(),
        annotations: ToolAnnotations {
            read_only: annotations.read_only_hint,
            destructive: annotations.destructive_hint,
            idempotent: annotations.idempotent_hint,
            open_world: annotations.open_world_hint,
        },
        input,
        output,
    })
}

fn parse_value(raw: Option<&RawValue>) -> Result<Option<Schema>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let text = raw.get().to_owned();
    let value = text.parse::<Value>().map_err(|issues| format!("invalid JSON: {issues}"))?;
    Ok(Some(Schema { text, value }))
}
