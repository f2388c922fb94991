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

#![warn(missing_debug_implementations)]

mod agent;
pub mod approval;
mod debug;
pub mod execute;
mod hooks;
mod host;
mod registry;
#[cfg(all(feature = "remote", unix))]
pub mod remote;
mod run;
pub mod tools;
pub mod watch;
mod wire;

pub use agent::{Agent, AgentSpec, Exchange, Planner, Policy, Script, Step, Turn};
pub use approval::{Answer, ApprovalRequest, Approver, ResumeError, Verdict};
pub use execute::Execute;
pub use hooks::{Hook, Hooks};
pub use host::{
    CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest, Runtime, RuntimeBuilder,
    Session, SessionError, SessionRequest,
};
pub use registry::{Catalog, CatalogError, Registry};
pub use run::{Journal, SuspendedRun};
pub use tools::{FunctionTool, Handles, ToolEntry, ToolSpecRef, Toolset, per_run, per_step};
pub use watch::{Background, Collector, Event, EventKind, EventSender, EventSink};
