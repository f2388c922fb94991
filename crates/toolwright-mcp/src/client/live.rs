//! The tools a server has now, as far as they can be read: one that cannot be read loses no other. Never compares them
//! with ours: see [`super::drift`].

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::Value;
use toolwright::spec::ToolAnnotations;

use super::digest;
use super::listing::Listing;

/// Every tool by its name, in the order in which the server lists them.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub(super) tools: Vec<LiveTool>,
    positions: BTreeMap<String, usize>,
}

/// A tool of a server.
#[derive(Debug)]
pub(super) struct LiveTool {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) annotations: ToolAnnotations,
    /// The schemas as they were written.
    pub(super) input: Option<Schema>,
    pub(super) output: Option<Schema>,
    /// The digest of its schemas.
    pub(super) digest: String,
    /// The digest of all that a model or a host is told of it.
    pub(super) pin: String,
}

/// A schema, as text and as a value.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) text: String,
    pub(super) value: Value,
}

#[derive(Deserialize)]
struct WrittenList<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenTool<'a> {
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
struct WrittenAnnotations {
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

impl Live {
    pub(super) fn read(listing: &Listing) -> Self {
        let mut live = Self::default();
        let list = serde_json::from_str::<WrittenList<'_>>(&listing.json);
        for tool in list.map(|list| list.tools).unwrap_or_default() {
            match read(tool) {
                Ok(tool) if live.positions.contains_key(&tool.name) => {
                    tracing::warn!(
                        tool = tool.name,
                        "an MCP server lists a tool twice; the first counts"
                    );
                }
                Ok(tool) => {
                    live.positions.insert(tool.name.clone(), live.tools.len());
                    live.tools.push(tool);
                }
                Err(why) => tracing::warn!("an MCP server lists what is no tool: {why}"),
            }
        }
        live
    }

    pub(super) fn get(&self, name: &str) -> Option<&LiveTool> {
        self.positions.get(name).map(|position| &self.tools[*position])
    }
}

/// A tool as a server writes it.
pub(super) fn read(tool: &RawValue) -> Result<LiveTool, String> {
    let written: WrittenTool<'_> =
        serde_json::from_str(tool.get()).map_err(|error| error.to_string())?;
    let (input, output) = (schema(written.input_schema)?, schema(written.output_schema)?);
    let annotations = schema(written.annotations)?;
    let said: WrittenAnnotations = match written.annotations {
        Some(json) => serde_json::from_str(json.get()).map_err(|error| error.to_string())?,
        None => WrittenAnnotations::default(),
    };
    let value = |schema: &Option<Schema>| schema.as_ref().map(|schema| schema.value.clone());
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let (args, result) = (value(&input), value(&output));
    let pin = digest::of_parts([
        ("annotations", value(&annotations).as_ref()),
        ("description", text(&written.description).as_ref()),
        ("inputSchema", args.as_ref()),
        ("name", Some(&Value::String(written.name.clone()))),
        ("outputSchema", result.as_ref()),
        ("title", text(&written.title).as_ref()),
    ]);
    Ok(LiveTool {
        digest: digest::of(args.as_ref(), result.as_ref()),
        pin,
        name: written.name,
        title: written.title.or(said.title),
        description: written.description.unwrap_or_default(),
        annotations: ToolAnnotations {
            read_only: said.read_only_hint,
            destructive: said.destructive_hint,
            idempotent: said.idempotent_hint,
            open_world: said.open_world_hint,
        },
        input,
        output,
    })
}

fn schema(written: Option<&RawValue>) -> Result<Option<Schema>, String> {
    let Some(written) = written else { return Ok(None) };
    let text = written.get().to_owned();
    let value =
        text.parse::<Value>().map_err(|issues| format!("a part of it cannot be read: {issues}"))?;
    Ok(Some(Schema { text, value }))
}
