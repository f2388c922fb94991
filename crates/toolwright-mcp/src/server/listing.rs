//! Specs in the words of `tools/list`. Never answers a call: see `answer`.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, ProtocolVersion, Tool, ToolAnnotations};
use serde_json::{Value, json};
use toolwright::{ToolSpec, spec};

use super::error::ServeError;
use super::wrapping::wrapped_schema;

/// The key of `_meta` under which a tool's provenance stands: a name under a domain of the project's.
const PROVENANCE: &str = "io.github.toolwright/tool";

/// What clients see differs by what their revision of the protocol allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Before 2026-07-28: results are objects.
    Older,
    /// From 2026-07-28 on: results are what they are.
    Newer,
}

/// One tool as clients see it.
pub(crate) struct Listed {
    older: Tool,
    newer: Tool,
    form: Form,
}

/// How a result is given beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Not at all: nothing is known about it.
    Text,
    /// As it is.
    Object,
    /// As it is, and wrapped for older clients.
    Wrapped,
}

impl Era {
    /// The era of a request; one that names no version comes from before there were names.
    pub(crate) fn of(version: Option<&ProtocolVersion>) -> Self {
        let newer = version.is_some_and(|version| *version >= ProtocolVersion::V_2026_07_28);
        if newer { Self::Newer } else { Self::Older }
    }
}

impl Listed {
    pub(crate) fn new(spec: &ToolSpec) -> Result<Self, ServeError> {
        let mut newer = described(spec)?;
        let output = output_schema(spec)?;
        let form = match &output {
            None => Form::Text,
            Some(schema) if is_object_schema(schema) => Form::Object,
            Some(_) => Form::Wrapped,
        };
        let mut older = newer.clone();
        older.output_schema = output.clone().map(|schema| {
            Arc::new(if form == Form::Wrapped { wrapped_schema(schema) } else { schema })
        });
        newer.output_schema = output.map(Arc::new);
        Ok(Self { older, newer, form })
    }

    pub(crate) fn of(&self, era: Era) -> &Tool {
        match era {
            Era::Older => &self.older,
            Era::Newer => &self.newer,
        }
    }

    /// Whether results are given as structured content, and whether wrapped.
    pub(crate) fn structures(&self, era: Era) -> Option<bool> {
        match self.form {
            Form::Text => None,
            Form::Object => Some(false),
            Form::Wrapped => Some(era == Era::Older),
        }
    }
}

/// All but the output schema.
fn described(spec: &ToolSpec) -> Result<Tool, ServeError> {
    let Value::Object(args) = parsed(spec, spec.args_schema())? else {
        return Err(ServeError::Schema { tool: spec.name().to_owned(), cause: None });
    };
    let description = Some(spec.description()).filter(|said| !said.is_empty());
    let description = description.map(|said| said.to_owned().into());
    let mut tool = Tool::new_with_raw(spec.name().to_owned(), description, Arc::new(args));
    tool.title = spec.title().map(str::to_owned);
    tool.annotations = annotations(spec.annotations());
    tool.meta = Some(MetaObject(provenance(spec)));
    Ok(tool)
}

/// The result's schema, unless it says nothing.
fn output_schema(spec: &ToolSpec) -> Result<Option<JsonObject>, ServeError> {
    match parsed(spec, spec.result_schema())? {
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

fn parsed(spec: &ToolSpec, schema: &str) -> Result<Value, ServeError> {
    serde_json::from_str(schema)
        .map_err(|cause| ServeError::Schema { tool: spec.name().to_owned(), cause: Some(cause) })
}

fn provenance(spec: &ToolSpec) -> JsonObject {
    let mut told = JsonObject::new();
    told.insert("service".to_owned(), json!(spec.service()));
    told.insert("toolset".to_owned(), json!(spec.toolset()));
    let tags: Vec<_> = spec.tags().collect();
    if !tags.is_empty() {
        told.insert("tags".to_owned(), json!(tags));
    }
    JsonObject::from_iter([(PROVENANCE.to_owned(), Value::Object(told))])
}

fn annotations(of: spec::ToolAnnotations) -> Option<ToolAnnotations> {
    let said = of != spec::ToolAnnotations::UNKNOWN;
    said.then(|| {
        ToolAnnotations::from_raw(None, of.read_only, of.destructive, of.idempotent, of.open_world)
    })
}
