//! Toolsets that many agents need. Each is used only after it is registered, and each run has its own instance. Toolsets that
//! reach outside of the program are behind features.
//!
//! | toolset | tools | feature |
//! |---|---|---|
//! | [`scratchpad`] | `write_note`, `read_note`, `list_notes`, `delete_note` | |
//! | [`todo_list`] | `write_todos`, `read_todos` | |
//! | `files::Files` | `read_file`, `list_files`, `search_files`, `write_file` | `files` |
//! | `shell::Shell` | `run_program` | `shell` (on Unix) |
//! | `fetch::Fetch` | `fetch_url` | `fetch`; `tls` for `https` |
//!
//! ```
//! use toolwright::{Payload, ToolCall};
//! use toolwright_builtins::{scratchpad, todo_list};
//! use toolwright_runtime::{Agent, Registry, RunRequest, Runtime, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new();
//! registry.register_toolset("notes", scratchpad())?;
//! registry.register_toolset("todos", todo_list())?;
//! let note = ToolCall::new("write_note", Payload::new(r#"{"key":"door","text":"it is green"}"#));
//! let read = ToolCall::new("read_note", Payload::new(r#"{"key":"door"}"#));
//! let planner = Script::new().call([note]).call([read]).finish(Payload::new("{}"));
//! let agent = Agent::new("clerk", "office").with_toolsets(["notes", "todos"]);
//! registry.register_agent(agent, planner.into())?;
//!
//! let request = RunRequest::new("clerk", Payload::new("{}"));
//! let outcome = Runtime::new(registry).run(request).await?;
//! let last = outcome.calls().last().map(|record| record.result.outcome.clone());
//! assert_eq!(last.unwrap()?.as_str(), r#"{"text":"it is green"}"#);
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(feature = "files")]
pub mod files;
mod scratchpad;
#[cfg(all(feature = "shell", unix))]
pub mod shell;
mod stateful;
mod todos;

#[cfg(any(feature = "fetch", all(feature = "shell", unix)))]
use std::time::Duration;

#[cfg(any(feature = "fetch", all(feature = "shell", unix)))]
use toolwright::spec::CallLimits;
use toolwright::spec::ToolAnnotations;
use toolwright::untrusted::line;
use toolwright::{FailureKind, Recovery, ToolFailure};

pub use scratchpad::scratchpad;
pub use todos::todo_list;

/// The annotations of a tool that changes nothing and uses no other system.
const READS: ToolAnnotations = ToolAnnotations {
    read_only: Some(true),
    destructive: Some(false),
    idempotent: Some(true),
    open_world: Some(false),
};

/// The annotations of a tool that may replace data and uses no other system.
const CHANGES: ToolAnnotations =
    ToolAnnotations { read_only: Some(false), destructive: Some(true), ..READS };

/// The failure of a valid call that the tool refuses, with a message for the model.
fn rejected(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan)
}

/// Returns a path or a key of a call as it is shown in failures: on one line, without hidden characters.
fn shown(name: &str) -> String {
    line(name, 4096)
}

/// The limits of a tool that ends its calls itself after this time. The runtime ends them a second later, so that they fail with the
/// tool's own message.
#[cfg(any(feature = "fetch", all(feature = "shell", unix)))]
fn ended_after(time: Duration) -> CallLimits {
    let timeout = Some(time.saturating_add(Duration::from_secs(1)));
    CallLimits { timeout, ..CallLimits::UNLIMITED }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
