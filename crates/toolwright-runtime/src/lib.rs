//! Runs toolwright tools: a registry of tools, toolsets and agents, the run loop of an agent, hooks, approvals,
//! sessions, and the events of all. Never reads a schema file, and never talks to a model itself: that is a
//! [`Planner`]'s.
//!
//! Providers register first, agents after them, and a [`Runtime`] is made of the whole:
//!
//! ```text
//! let mut registry = Registry::new();
//! todos_tools::register(&mut registry, todos)?;
//! planner_session_planner_agent::register(&mut registry, planner)?;
//! let runtime = Runtime::new(registry);
//! let outcome = runtime.run(RunRequest::new("session_planner", input)).await?;
//! ```

mod agent;
pub mod approval;
mod batch;
pub mod builtin;
mod delegate;
mod dispatch;
mod event;
pub mod execute;
mod handles;
mod hooks;
mod lifecycle;
mod planner;
mod policy;
mod registry;
#[cfg(all(feature = "remote", unix))]
pub mod remote;
mod request;
mod run;
mod runtime;
mod script;
pub mod session;
mod sink;
mod state;
mod stop;
mod telemetry;
pub mod toolset;
mod wire;
mod words;

pub use agent::{Agent, AgentSpec, Policy};
pub use approval::{Answer, ApprovalRequest, Approver, ResumeError, Verdict};
pub use event::{Event, EventKind, Origin, ToolInfo};
pub use execute::Execute;
pub use handles::Handles;
pub use hooks::{Hook, Hooks};
pub use planner::{Exchange, Planner, Step, StepRecord, Turn};
pub use registry::Registry;
pub use request::{CallRequest, RunEnd, RunError, RunOutcome, RunRequest};
pub use runtime::{Runtime, RuntimeBuilder};
pub use script::Script;
pub use session::{Catalog, Definition, Session};
pub use sink::{Background, Collector, EventSender, EventSink, channel};
pub use state::SuspendedRun;
pub use toolset::{FunctionTool, ToolEntry, ToolSpecRef, Toolset, per_run, per_step};
pub use words::fill;
