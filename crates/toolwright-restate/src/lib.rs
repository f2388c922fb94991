//! Runs toolwright toolsets and agents on [Restate](https://restate.dev), an engine for durable execution: on many machines, and so
//! that a run outlasts the death of its process.
//!
//! - [`Worker`] serves the toolsets and agents of a runtime to a Restate server.
//! - [`RestateToolset`] is a toolset whose tools run in workers.
//! - [`Runs`] starts the runs of agents in workers, and answers, cancels and reads them.
//!
//! # Names
//!
//! | ours | Restate's |
//! |---|---|
//! | a toolset that all runs share | the service `tools.<toolset>` |
//! | a toolset with an instance for each run | the virtual object `tools.<toolset>`, keyed by the run id of its calls |
//! | a tool | a handler, with the schemas of its arguments and result |
//! | an agent | the workflow `agent.<agent>`, keyed by the id of the run, with the handlers `start`, `answer`, `cancel`, `state` and `log` |
//! | the run id of the calls of a run | `<agent>.<id of the run>` |
//! | the id of a call | the idempotency key `<run>.<call>`, or `<run>.<outer call>-<call>` if a tool makes it on behalf of another call |
//!
//! [`names`] encodes characters that Restate does not allow. Bodies are the arguments and results themselves, so that any client of
//! Restate can make calls. The digest of a tool's definition is in the metadata of its handler; a caller whose tool has another
//! definition is refused, and so is every call once the toolset lists another definition than when the worker began.
//!
//! # What happens once
//!
//! A worker may die at any moment, and so may its connection to the server. Then Restate makes its calls and runs again, in this or
//! another worker of the same deployment:
//!
//! - A tool that is read-only or idempotent runs again. Any other tool that had begun fails, and the failure says that it may have had
//!   its effect.
//! - A run goes on after the last effect that was recorded. An effect of the run itself (a step of the planner, a hook, a call of a
//!   read-only or idempotent tool in its own process) that was interrupted happens again. A call of a [`RestateToolset`] waits for the
//!   same invocation.
//!
//! A run that Restate was asked to cancel ends after the current effects are recorded, and its calls in other workers are cancelled.
//!
//! # Security
//!
//! Whoever reaches the ingress can call all tools and answer all questions, and whoever reaches a worker can pretend to be the server.
//! Keep both in a network of the host's processes, or use `Worker::with_identity_key` (the feature `identity`) and a proxy with authentication. Arguments,
//! results and answers are stored by the server in plain text.

#![warn(missing_debug_implementations)]

mod call;
mod client;
mod control;
mod ingress;
mod journal;
pub mod names;
mod runs;
mod service;
mod tools;
mod toolset;
mod worker;

pub use client::{Runs, RunsError};
pub use ingress::{Ingress, IngressError};
pub use journal::Line;
pub use runs::{RunState, RunStatus, Start};
pub use toolset::RestateToolset;
pub use toolwright_runtime::approval::ApprovalKey;
pub use worker::{Worker, WorkerError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
