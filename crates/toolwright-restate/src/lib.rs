//! Runs toolwright toolsets and agents on [Restate](https://restate.dev).
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

pub use call::ApprovalKey;
pub use client::{Runs, RunsError};
pub use ingress::{Ingress, IngressError};
pub use journal::Line;
pub use runs::{RunState, RunStatus, Start};
pub use toolset::RestateToolset;
pub use worker::{Worker, WorkerError};
