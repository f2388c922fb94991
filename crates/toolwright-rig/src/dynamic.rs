//! Converts tools of toolwright to rig's.

use std::sync::Arc;

use rig_core::message::ToolName;
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolResult};
use toolwright_dialect::{Finding, ProjectedTools};

/// Converts tools to rig's dynamic tools. `run` runs a call, for example with
/// [`Runtime::call`](toolwright_runtime::Runtime::call), which also checks its arguments.
///
/// The dialect of the tools is that of the model behind rig, in its plain form, such as `openai-chat`: rig does not ask the provider
/// to enforce a schema. The result is a text with the JSON of the payload, so no number changes. A failure becomes an error of
/// the same kind, with a text for the model; the detail is the error's own message, for operators.
///
/// Rig parses the arguments of calls before: of two equal keys the last one wins, numbers beyond 64 bits are rounded, and its agents
/// answer arguments that are not an object themselves. Issues of arguments have their places in the canonical arguments.
///
/// # Errors
///
/// The finding for which the tools cannot be sent together, such as two names that are equal on the wire.
///
/// ```
/// use toolwright::described;
/// use toolwright_dialect::{Dialect, Policy, ProjectedTools};
/// use toolwright_runtime::{Registry, Runtime};
///
/// described! {
///     struct Numbers {
///         a: i64,
///         b: i64,
///     }
///
///     struct Sum {
///         sum: i64,
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// registry.tool("add", "Add two numbers.", async |Numbers { a, b }: Numbers| Sum { sum: a + b })?;
/// let dialect = Dialect::find("openai-chat")?;
/// let tools = ProjectedTools::of(registry.specs(), dialect, &Policy::default());
///
/// let runtime = Runtime::new(registry);
/// let tools = toolwright_rig::dynamic_tools(tools, move |call| {
///     let runtime = runtime.clone();
///     async move { runtime.call(call).await }
/// })?;
/// let output = tools[0].execute(serde_json::json!({ "a": 2, "b": 40 })).await?;
/// assert_eq!(output.as_text(), Some(r#"{"sum":42}"#));
/// # Ok(())
/// # }
/// ```
pub fn dynamic_tools<R>(
    tools: ProjectedTools,
    run: impl Fn(ToolCall) -> R + Send + Sync + 'static,
) -> Result<Vec<DynamicTool>, Finding>
where
    R: Future<Output = ToolResult> + Send + 'static,
{
    let (tools, run) = (Arc::new(tools), Arc::new(run));
    let request = tools.request();
    if let Some(error) = request.error() {
        return Err(error.clone());
    }
    let converted = request.tools.iter().filter_map(|placed| {
        let projection = placed.projection;
        // No name on the wire is empty.
        let name = ToolName::new(&projection.wire_name).ok()?;
        let (wire_name, tools, run) = (name.to_string(), Arc::clone(&tools), Arc::clone(&run));
        let call = move |args: Value| {
            let call = ToolCall::new(&wire_name, Payload::new(args.to_string()));
            let decoded = tools.request().decode_call(call).map(|call| run(call));
            let answered = async move {
                let result = match decoded {
                    Ok(running) => running.await,
                    Err(refused) => *refused,
                };
                output(result)
            };
            Box::pin(answered) as _
        };
        let schema = projection.wire_schema.as_deref();
        let schema = schema.and_then(|schema| serde_json::from_str(schema).ok());
        let schema = schema.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
        Some(DynamicTool::new(name, &projection.description, schema, call))
    });
    Ok(converted.collect())
}

fn output(result: ToolResult) -> Result<ToolOutput, ToolExecutionError> {
    match result.outcome {
        Ok(payload) => Ok(ToolOutput::text(payload.as_str())),
        Err(failure) => Err(error(failure)),
    }
}

fn error(failure: ToolFailure) -> ToolExecutionError {
    let kind = match failure.kind {
        FailureKind::InvalidCall => ToolErrorKind::InvalidArgs,
        FailureKind::NotFound => ToolErrorKind::NotFound,
        FailureKind::Denied => ToolErrorKind::PermissionDenied,
        FailureKind::Unavailable => ToolErrorKind::Network,
        FailureKind::RateLimited => ToolErrorKind::RateLimited,
        FailureKind::Timeout => ToolErrorKind::Timeout,
        FailureKind::Cancelled => ToolErrorKind::Cancelled,
        FailureKind::DomainRejection | FailureKind::MalformedResult | FailureKind::Internal => {
            ToolErrorKind::Other
        }
    };
    let for_model = failure.for_model();
    let error = ToolExecutionError::new(kind, failure.detail.unwrap_or(failure.message))
        .with_model_feedback(for_model)
        .with_retryable(failure.recovery == Recovery::Retry);
    match failure.code {
        Some(code) => error.with_code(code),
        None => error,
    }
}
