//! Runs toolwright tools: a registry of tools and agents, the run loop of an agent, the events of
//! both. Never reads a schema file, and never talks to a model itself: that is a [`Planner`]'s.
//!
//! Providers register first, agents after them, and a [`Runtime`] is made of the whole:
//!
//! ```text
//! let mut registry = Registry::new();
//! todos_tools::registration::register(&mut registry, todos)?;
//! planner_session_planner_agent::registration::register(&mut registry, planner)?;
//! let runtime = Runtime::new(registry);
//! let outcome = runtime.run(RunRequest::new("session_planner", input)).await?;
//! ```

mod agent;
mod batch;
mod clock;
mod delegate;
mod dispatch;
mod event;
mod planner;
mod policy;
mod registry;
mod run;
mod runtime;
mod sink;

pub use agent::{AgentSpec, Policy};
pub use event::{Event, EventKind, Origin, ToolInfo};
pub use planner::{Exchange, Planner, Step, StepRecord, Turn};
pub use registry::Registry;
pub use runtime::{CallRequest, RunError, RunOutcome, RunRequest, Runtime};
pub use sink::{Collector, EventSender, EventSink, channel};
