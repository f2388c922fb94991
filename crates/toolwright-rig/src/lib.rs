//! Adapts tools of [rig](https://docs.rs/rig-core), both ways: an implementation of rig's `Tool` becomes a `FunctionTool`, which
//! can be registered like any other ([`tool`]), and tools of a registry become rig's ([`dynamic_tools`]). It does not use rig's
//! agents and clients.

#![warn(missing_debug_implementations)]

mod dynamic;

use std::sync::Arc;

use rig_core::tool::{ErasedTool, ToolContext, ToolErrorKind, ToolExecutionError, ToolOutput};
use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::FunctionTool;

pub use dynamic::dynamic_tools;

/// Converts a tool of rig to a `FunctionTool`, for
/// [`Registry::register_tool`](toolwright_runtime::Registry::register_tool) and
/// [`register_tools`](toolwright_runtime::Registry::register_tools).
///
/// It has the tool's name, description and schema. Arguments are checked against the schema, which rig itself leaves to
/// the tool. If the schema cannot be enforced, registering the tool fails.
///
/// The result is the JSON that the tool returns, or its text as a string; content of several parts, such as images, is
/// serialized as rig does. An error becomes a failure of the nearest kind, with rig's message for the model; the error's
/// own text is shown to operators only. After a timeout or an error of the network, the call may have taken effect, and is not made
/// again. Each call has its own `ToolContext`, which [`with_context`] can fill.
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

/// Like [`tool`], with a function that puts values into the context of each call: data that must not come from the
/// model, such as the current user.
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
    let message = error.model_output().render();
    let mut failure = ToolFailure::new(kind, message, recovery).with_detail(error.message());
    failure.code = error.code().map(|code| code.to_owned().into());
    match failure.kind {
        // Rig cannot tell whether the tool took effect.
        FailureKind::Timeout | FailureKind::Unavailable => {
            failure.with_possible_effect(ToolAnnotations::UNKNOWN)
        }
        _ => failure,
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
