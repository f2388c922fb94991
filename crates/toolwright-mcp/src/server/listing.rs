//! Converts specs into entries of `tools/list`.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, ProtocolVersion, Tool, ToolAnnotations};
use serde_json::{Value, json};
use toolwright::{ToolSpec, spec};

use super::error::ServeError;
use super::wrapping::wrapped_schema;
use crate::json::value;

/// The key in a tool's `_meta` that holds its provenance.
const PROVENANCE: &str = "io.github.toolwright/tool";

/// The key in a tool's `_meta` that holds the digest of what models read of it, as in `toolwright.lock`.
const DIGEST: &str = "io.github.toolwright/digest";

/// The era of a client's protocol revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Before 2026-07-28: structured results must be objects.
    Older,
    /// From 2026-07-28 on: structured results are any JSON value.
    Newer,
}

/// The entry of a tool in the list, for each era.
pub(crate) struct Listed {
    older: Tool,
    newer: Tool,
    structured: Structured,
}

/// How the structured content of a tool is made from its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Structured {
    /// There is none, because the result has no schema.
    None,
    /// It is the result.
    Same,
    /// It is the result, wrapped in an object for older clients.
    Wrapped,
}

impl Era {
    /// Returns the era of a request. A request without a version is of the older era.
    pub(crate) fn of(version: Option<&ProtocolVersion>) -> Self {
        let newer = version.is_some_and(|version| *version >= ProtocolVersion::V_2026_07_28);
        if newer { Self::Newer } else { Self::Older }
    }
}

impl Listed {
    pub(crate) fn new(spec: &ToolSpec) -> Result<Self, ServeError> {
        let mut newer = without_output_schema(spec)?;
        let output = output_schema(spec)?;
        let structured = match &output {
            None => Structured::None,
            Some(schema) if is_object_schema(schema) => Structured::Same,
            Some(_) => Structured::Wrapped,
        };
        let mut older = newer.clone();
        older.output_schema = output.clone().map(|schema| {
            let wraps = structured == Structured::Wrapped;
            Arc::new(if wraps { wrapped_schema(schema) } else { schema })
        });
        newer.output_schema = output.map(Arc::new);
        Ok(Self { older, newer, structured })
    }

    pub(crate) fn of(&self, era: Era) -> &Tool {
        match era {
            Era::Older => &self.older,
            Era::Newer => &self.newer,
        }
    }

    /// Returns whether structured content is wrapped, or `None` if the tool has none.
    pub(crate) fn structured(&self, era: Era) -> Option<bool> {
        match self.structured {
            Structured::None => None,
            Structured::Same => Some(false),
            Structured::Wrapped => Some(era == Era::Older),
        }
    }
}

/// Converts a spec into an entry, without its output schema.
fn without_output_schema(spec: &ToolSpec) -> Result<Tool, ServeError> {
    let Value::Object(args) = parse_schema(spec, spec.args_schema())? else {
        return Err(ServeError::Schema { tool: spec.name().to_owned(), cause: None });
    };
    let description = Some(spec.description()).filter(|text| !text.is_empty());
    let description = description.map(|text| text.to_owned().into());
    let mut tool = Tool::new_with_raw(spec.name().to_owned(), description, Arc::new(args));
    tool.title = spec.title().map(str::to_owned);
    tool.annotations = annotations(spec.annotations());
    tool.meta = (!spec.toolset().is_empty()).then(|| MetaObject(provenance(spec)));
    Ok(tool)
}

/// Returns the result schema, or `None` if it accepts everything.
fn output_schema(spec: &ToolSpec) -> Result<Option<JsonObject>, ServeError> {
    match parse_schema(spec, spec.result_schema())? {
        Value::Bool(true) => Ok(None),
        Value::Bool(false) => Ok(Some(JsonObject::from_iter([("not".to_owned(), json!({}))]))),
        Value::Object(schema) if schema.is_empty() => Ok(None),
        Value::Object(schema) => Ok(Some(schema)),
        _ => Err(ServeError::Schema { tool: spec.name().to_owned(), cause: None }),
    }
}

fn is_object_schema(schema: &JsonObject) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

fn parse_schema(spec: &ToolSpec, schema: &str) -> Result<Value, ServeError> {
    value(schema)
        .map_err(|cause| ServeError::Schema { tool: spec.name().to_owned(), cause: Some(cause) })
}

fn provenance(spec: &ToolSpec) -> JsonObject {
    let mut provenance = JsonObject::new();
    provenance.insert("service".to_owned(), json!(spec.service()));
    provenance.insert("toolset".to_owned(), json!(spec.toolset()));
    let tags: Vec<_> = spec.tags().collect();
    if !tags.is_empty() {
        provenance.insert("tags".to_owned(), json!(tags));
    }
    let digest = format!("sha256:{}", toolwright::digests::model(spec));
    JsonObject::from_iter([
        (PROVENANCE.to_owned(), Value::Object(provenance)),
        (DIGEST.to_owned(), Value::String(digest)),
    ])
}

fn annotations(of: spec::ToolAnnotations) -> Option<ToolAnnotations> {
    let known = of != spec::ToolAnnotations::UNKNOWN;
    known.then(|| {
        ToolAnnotations::from_raw(None, of.read_only, of.destructive, of.idempotent, of.open_world)
    })
}
