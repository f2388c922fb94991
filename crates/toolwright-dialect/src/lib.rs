//! Provider dialects: the schema of a tool as each provider accepts it, and the way back for the values that its model sends.
//!
//! Providers take different parts of JSON Schema. [`project`] fits a published schema to a [`Dialect`], lists each [`Loss`],
//! and makes a plan: [`Projection::decode`] turns what a model sent into what the tool's own codec expects, and
//! [`Projection::encode`] does the opposite for histories. [`place`] puts the tools of a request together.
//!
//! Dialects are data with dates and sources, see [`Dialect::evidence`]. Nothing here talks to a provider.

#![warn(missing_debug_implementations)]

mod canonical;
mod guard;
mod loss;
mod names;
mod numbers;
mod place;
mod plan;
mod policy;
mod project;
mod row;
mod sentence;

pub use loss::{Class, Loss, LossKind};
pub use names::{wire_call_ids, wire_name};
pub use numbers::Numbers;
pub use place::{Finding, Placed, Projections, Request, place};
pub use policy::{Absent, Level, Policy, Unroll};
pub use project::{CannotSay, Decoded, Projection, Subject, WireIssue, WireIssues, project};
pub use row::{Confidence, Dialect, DialectError, Limits, Tokens};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
