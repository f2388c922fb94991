//! Takes tools of [rig](https://docs.rs/rig-core) over as they are: what implements rig's `Tool` becomes a `FunctionTool`,
//! to be registered beside all others. Never talks to a model: rig's agents and clients are not used.

#![warn(missing_debug_implementations)]

use std::sync::Arc;

use rig_core::tool::{ErasedTool, ToolContext, ToolErrorKind, ToolExecutionError, ToolOutput};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::FunctionTool;

/// A tool of rig as a tool of ours, for
/// [`Registry::register_tool`](toolwright_runtime::Registry::register_tool) and
/// [`register_tools`](toolwright_runtime::Registry::register_tools).
///
/// Name and description are the tool's, and the schema that it publishes is what arguments are held against, which rig
/// itself leaves to the tool. A schema that cannot be enforced is refused when the tool is registered.
///
/// The result is the JSON that the tool returns, or its text as a string; content of several parts, such as images, is
/// the JSON that rig writes of it. An error is a failure of the kind that rig gives it. The model is told what rig tells
/// it, operators the error's own text. Every call has a `ToolContext` of its own; [`with_context`] fills it.
///
/// ```
/// use rig_core::tool::{Tool, ToolContext};
/// use toolwright::{Payload, ToolCall};
/// use toolwright_runtime::{Registry, Runtime};
///
/// struct Add;
///
/// #[derive(serde::Deserialize)]
/// struct Numbers {
///     a: i64,
///     b: i64,
/// }
///
/// impl Tool for Add {
///     const NAME: &'static str = "add";
///     type Args = Numbers;
///     type Output = i64;
///     type Error = std::convert::Infallible;
///
///     fn description(&self) -> String {
///         "Add two numbers.".to_owned()
///     }
///
///     fn parameters(&self) -> serde_json::Value {
///         serde_json::json!({
///             "type": "object",
///             "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
///             "required": ["a", "b"],
///         })
///     }
///
///     async fn call(&self, _: &mut ToolContext, args: Numbers) -> Result<i64, Self::Error> {
///         Ok(args.a + args.b)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// registry.register_tool(toolwright_rig::tool(Add))?;
///
/// let runtime = Runtime::new(registry);
/// let result = runtime.call(ToolCall::new("add", Payload::new(r#"{"a":2,"b":40}"#))).await;
/// assert_eq!(result.outcome?.as_str(), "42");
/// # Ok(())
/// # }
/// ```
pub fn tool(tool: impl ErasedTool + 'static) -> FunctionTool {
    with_context(tool, |_, _| {})
}

/// The same as [`tool`], with a function that puts values into the context of each call: rig's tools take from it what
/// models must not say, such as who is asking.
pub fn with_context(
    tool: impl ErasedTool + 'static,
    fill: impl Fn(&ToolCall, &mut ToolContext) + Send + Sync + 'static,
) -> FunctionTool {
    let mut spec = ToolSpec::new(tool.name());
    spec.set_description(tool.description());
    spec.set_args_schema(tool.parameters().to_string());
    let tool = Arc::new(tool);
    FunctionTool::untyped(spec, move |call| {
        let tool = Arc::clone(&tool);
        let mut context = ToolContext::new();
        fill(&call, &mut context);
        async move {
            let result = tool.execute(call.args().as_str().to_owned(), &mut context).await;
            match result.into_result() {
                Ok(output) => payload(&output),
                Err(error) => Err(failure(&error, &call)),
            }
        }
    })
}

fn payload(output: &ToolOutput) -> Result<Payload, ToolFailure> {
    let written = match (output.as_json(), output.as_text()) {
        (Some(value), _) => serde_json::to_string(value),
        (None, Some(text)) => serde_json::to_string(text),
        (None, None) => serde_json::to_string(output),
    };
    written.map(Payload::new).map_err(|error| ToolFailure::internal(&error))
}

fn failure(error: &ToolExecutionError, call: &ToolCall) -> ToolFailure {
    let (kind, recovery) = match error.kind() {
        ToolErrorKind::InvalidArgs => (FailureKind::InvalidCall, Recovery::correct(call)),
        ToolErrorKind::Timeout => (FailureKind::Timeout, Recovery::Replan),
        ToolErrorKind::Cancelled => (FailureKind::Cancelled, Recovery::Replan),
        ToolErrorKind::NotFound => (FailureKind::DomainRejection, Recovery::Replan),
        ToolErrorKind::PermissionDenied => (FailureKind::Denied, Recovery::Replan),
        ToolErrorKind::RateLimited => (FailureKind::RateLimited, Recovery::Replan),
        ToolErrorKind::Network => (FailureKind::Unavailable, Recovery::Replan),
        ToolErrorKind::Provider | ToolErrorKind::Other => (FailureKind::Internal, Recovery::Replan),
    };
    let recovery = if error.retryable() == Some(true) { Recovery::Retry } else { recovery };
    let told = error.model_output().render();
    let mut failure = ToolFailure::new(kind, told, recovery).with_detail(error.message());
    failure.code = error.code().map(|code| code.to_owned().into());
    failure
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
