//! Hands tools to programs that use [async-openai](https://docs.rs/async-openai) themselves. [`chat`] is for Chat Completions,
//! [`responses`] for Responses. Each has three functions: `tools` returns the tools for a request, `call` reads a call of the model,
//! and `answer` returns its result for the next request.
//!
//! ```
//! use async_openai::types::chat::{ChatCompletionMessageToolCall, FunctionCall};
//! use toolwright::{Payload, described};
//! use toolwright_async_openai::chat;
//! use toolwright_dialect::{Dialect, Policy, ProjectedTools};
//! use toolwright_runtime::{Registry, Runtime};
//!
//! described! {
//!     struct Numbers {
//!         a: i64,
//!         b: i64,
//!     }
//!
//!     struct Sum {
//!         sum: i64,
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new();
//! registry.tool("math.add", "Add two numbers.", async |Numbers { a, b }: Numbers| Sum { sum: a + b })?;
//! let dialect = Dialect::find("openai-chat-strict")?;
//! let tools = ProjectedTools::of(registry.specs(), dialect, &Policy::default());
//! let request = tools.request();
//! let runtime = Runtime::new(registry);
//!
//! // These go into `CreateChatCompletionRequestArgs::tools`.
//! let sent = chat::tools(&request)?;
//! assert_eq!(sent.len(), 1);
//!
//! // The answer of the model has such calls.
//! let function = FunctionCall { name: "math_add".to_owned(), arguments: r#"{"a":2,"b":40}"#.to_owned() };
//! let theirs = ChatCompletionMessageToolCall { id: "call_1".to_owned(), function }.into();
//! let result = match chat::call(&request, &theirs) {
//!     Ok(call) => runtime.call(call).await,
//!     Err(refused) => *refused,
//! };
//! assert_eq!(result.outcome, Ok(Payload::new(r#"{"sum":42}"#)));
//!
//! // This goes into the messages of the next request.
//! let message = chat::answer(&result);
//! assert_eq!(message.tool_call_id, "call_1");
//! # Ok(())
//! # }
//! ```
//!
//! # What is lost
//!
//! The arguments of calls stay the text that the model wrote, so duplicate keys and large numbers reach the codec of the tool.
//!
//! | part | with async-openai |
//! |---|---|
//! | numbers in schemas | beyond 64 bits they are rounded |
//! | failed results | the APIs of OpenAI do not mark them; the model reads their text |
//! | issues of arguments | those of a tool's codec have their places in the canonical arguments, which differ from those on the wire where a projection changes values |
//! | corrections, limits, searches for tools, final answers | left to the program; `ModelPlanner` of `toolwright-model` has them |
//! | `defer_loading`, `output_schema` and `allowed_callers` of tools | not set |
//! | streamed calls | async-openai sends pieces: put them together before [`chat::call`] |

#![warn(missing_debug_implementations)]

pub mod chat;
pub mod responses;

use serde_json::Value;
use toolwright::ToolResult;
use toolwright_dialect::{Finding, PlacedTool, Request};

/// Returns the tools of a request in another form.
fn converted<T>(
    request: &Request<'_>,
    convert: impl Fn(&PlacedTool<'_>, Option<Value>) -> T,
) -> Result<Vec<T>, Finding> {
    if let Some(error) = request.error() {
        return Err(error.clone());
    }
    let tools = request.tools.iter().map(|tool| {
        let schema = tool.projection.wire_schema.as_deref();
        // A projection writes valid JSON.
        convert(tool, schema.and_then(|schema| serde_json::from_str(schema).ok()))
    });
    Ok(tools.collect())
}

/// Returns the text of a result for the model.
fn text(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(payload) => payload.as_str().to_owned(),
        Err(failure) => failure.for_model(),
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
