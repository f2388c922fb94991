//! Runs toolwright tools: a registry of tools, toolsets and agents, the run loop of an agent, hooks, approvals,
//! sessions and events. The runtime reads no schema files and calls no model: a [`Planner`] calls the model.
//!
//! # Call a tool
//!
//! A generated crate has a function that registers its tools: `todos_tools::register(&mut registry, todos)?`. A small tool
//! needs no schema file: it is an async function, and its schemas come from the types of its argument and result.
//!
//! ```
//! use toolwright::{Payload, ToolCall, described};
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
//! registry.tool("add", "Add two numbers.", |Numbers { a, b }| async move { Sum { sum: a + b } })?;
//!
//! let runtime = Runtime::new(registry);
//! let result = runtime.call(ToolCall::new("add", Payload::new(r#"{"a":2,"b":40}"#))).await;
//! assert_eq!(result.outcome?.as_str(), r#"{"sum":42}"#);
//!
//! let result = runtime.call(ToolCall::new("add", Payload::new(r#"{"a":2}"#))).await;
//! let failure = result.outcome.unwrap_err();
//! assert_eq!(failure.message, "the arguments of `add` are not valid: `/b`: is missing");
//! # Ok(())
//! # }
//! ```
//!
//! # Write a tool
//!
//! A [`ToolSpec`](toolwright::ToolSpec) holds everything beyond the name and the description: hints, limits, approval. The
//! function may return any error; a [`ToolFailure`](toolwright::ToolFailure) also tells the model how to recover.
//!
//! ```
//! use toolwright::spec::CallLimits;
//! use toolwright::{FailureKind, Recovery, ToolFailure, ToolSpec, described};
//! use toolwright_runtime::{FunctionTool, Registry};
//!
//! described! {
//!     struct Disk {
//!         name: String,
//!     }
//! }
//!
//! let limits = CallLimits { sequential: true, ..CallLimits::UNLIMITED };
//! let mount = FunctionTool::new(ToolSpec::new("mount").with_limits(limits), async |disk: Disk| {
//!     if disk.name == "sda" {
//!         return Ok(disk);
//!     }
//!     let words = format!("there is no disk `{}`, there is `sda`", disk.name);
//!     Err(ToolFailure::new(FailureKind::DomainRejection, words, Recovery::Replan))
//! });
//!
//! let registry = Registry::new();
//! registry.register_tool(mount)?;
//! # Ok::<(), toolwright::RegistrationError>(())
//! ```
//!
//! With the feature `schemars` the arguments may be any type that derives `Deserialize` and `JsonSchema`; a result that
//! derives `Serialize` and `JsonSchema` is returned as `Json(result)`.
//!
//! With the feature `macros` the attribute `#[tool]` turns a function into a tool: its parameters become the properties of the
//! arguments, and its doc comment becomes the description. `#[toolset]` does the same for the methods of a service.
//!
#![cfg_attr(feature = "macros", doc = "```")]
#![cfg_attr(not(feature = "macros"), doc = "```ignore")]
//! use toolwright_runtime::{Registry, tool};
//!
//! /// Add two numbers.
//! #[tool(annotations(read_only_hint = true))]
//! async fn add(a: i64, b: i64) -> Result<i64, &'static str> {
//!     a.checked_add(b).ok_or("too much")
//! }
//!
//! let registry = Registry::new();
//! registry.register_tool(add_tool())?;
//! # Ok::<(), toolwright::RegistrationError>(())
//! ```
//!
//! # Run an agent
//!
//! An [`Agent`] lists the tools it may use. Its [`Planner`], usually the client of a model, decides each step; here it is a
//! [`Script`]. A run finishes, fails, or waits for answers. A waiting run can be exported, stored and resumed in another
//! process.
//!
//! ```
//! use toolwright::{Payload, ToolCall, described};
//! use toolwright_runtime::{Agent, Registry, ResumeRequest, RunRequest, Runtime, Script};
//!
//! described! {
//!     struct Disk {
//!         name: String,
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let planner = Script::new()
//!     .call([ToolCall::new("wipe", Payload::new(r#"{"name":"sda"}"#))])
//!     .finish(Payload::new(r#""done""#));
//!
//! let registry = Registry::new();
//! registry.tool("wipe", "Wipe a disk.", async |disk: Disk| disk)?;
//! registry.register_agent(Agent::new("janitor", "lab").with_tools(["wipe"]), planner.into())?;
//! let runtime = Runtime::new(registry);
//!
//! let request = RunRequest::new("janitor", Payload::new("{}")).with_approval_of(["wipe"]);
//! let outcome = runtime.run(request).await?;
//! let waiting = outcome.suspended().expect("`wipe` needs an approval");
//! let questions = waiting.pending();
//! assert_eq!(questions[0].args.as_str(), r#"{"name":"sda"}"#);
//!
//! let answers = questions.iter().map(|question| question.approve());
//! let outcome = runtime.resume(ResumeRequest::new(waiting, answers)).await?;
//! assert_eq!(outcome.result()?.as_str(), r#""done""#);
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

mod agent;
pub mod approval;
mod caught;
mod debug;
pub mod execute;
mod hooks;
mod host;
mod registry;
#[cfg(all(feature = "remote", unix))]
pub mod remote;
mod run;
pub mod suspended;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tools;
pub mod watch;
pub mod wire;

pub use agent::{
    Agent, AgentSpec, CallRecord, ModelEvent, ModelUsage, PastRun, PlannedCall, Planner, Policy,
    Script, Step, StepRecord, Turn,
};
pub use approval::{Answer, ApprovalRequest, Approver, ResumeError, Verdict};
pub use execute::ExecutionService;
pub use hooks::{Hook, Hooks};
pub use host::{
    CallEnd, CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest, Runtime,
    RuntimeBuilder, Session, SessionRequest,
};
pub use registry::{Catalog, Registry};
pub use run::{Journal, SuspendedCall, SuspendedRun};
pub use suspended::{SealKey, SuspendedRunStore};
pub use tools::{FunctionTool, Handles, Source, ToolEntry, ToolSpecRef, Toolset, ToolsetError};
#[cfg(feature = "macros")]
pub use toolwright_macros::{tool, toolset};
pub use watch::{Background, Collector, Event, EventKind, EventSender, EventSink};

/// The crates that the code of `#[tool]` and `#[toolset]` uses. Thanks to these, users need not depend on them.
#[cfg(feature = "macros")]
pub use {schemars, serde, toolwright};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
