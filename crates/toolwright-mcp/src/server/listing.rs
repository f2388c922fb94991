//! Specs in the words of `tools/list`. Never answers a call: see `answer`.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use toolwright::{ToolSpec, spec};

use super::serve::ServeError;

/// One tool as clients see it.
pub(crate) fn tool(spec: &'static ToolSpec) -> Result<Tool, ServeError> {
    let args = object(spec, spec.args_schema())?;
    let mut tool = Tool::new_with_raw(spec.name(), Some(spec.description().into()), Arc::new(args));
    tool.title = spec.title().map(str::to_owned);
    tool.annotations = annotations(spec.annotations());
    tool.output_schema = output_schema(spec)?.map(Arc::new);
    Ok(tool)
}

/// The result's schema, where it describes an object. Clients of the older revisions drop the whole
/// list for one output schema of another root, so such a result is given as text alone.
pub(crate) fn output_schema(spec: &'static ToolSpec) -> Result<Option<JsonObject>, ServeError> {
    let schema =
        serde_json::from_str(spec.result_schema()).map_err(|cause| refused(spec, cause))?;
    Ok(match schema {
        serde_json::Value::Object(schema) if is_object_schema(&schema) => Some(schema),
        _ => None,
    })
}

fn is_object_schema(schema: &JsonObject) -> bool {
    schema.get("type").and_then(serde_json::Value::as_str) == Some("object")
}

fn object(spec: &ToolSpec, schema: &str) -> Result<JsonObject, ServeError> {
    serde_json::from_str(schema).map_err(|cause| refused(spec, cause))
}

fn refused(spec: &ToolSpec, cause: serde_json::Error) -> ServeError {
    ServeError::Schema { tool: spec.name().to_owned(), cause }
}

fn annotations(of: spec::ToolAnnotations) -> Option<ToolAnnotations> {
    let said = of != spec::ToolAnnotations::UNKNOWN;
    said.then(|| {
        ToolAnnotations::from_raw(None, of.read_only, of.destructive, of.idempotent, of.open_world)
    })
}
