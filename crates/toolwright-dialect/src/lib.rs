//! Provider dialects: projects the schema of a tool to what each model provider accepts, and converts the values that its
//! model sends back to what the tool accepts.
//!
//! Providers accept different subsets of JSON Schema. [`project`] fits a published schema to a [`Dialect`], lists each [`Loss`],
//! and makes a plan: [`Projection::decode`] turns what a model sent into what the tool's own codec expects, and
//! [`Projection::encode`] does the opposite for histories. [`place`] puts the tools of a request together; [`ProjectedTools`] does both
//! for the tools of a registry, and [`Request::decode_call`] reads the calls of a model.
//!
//! *Canonical* names, schemas and values are those of the tool as it is published; those *on the wire* are what the provider gets
//! and what its model sends.
//!
//! Dialects are data with dates and sources: see [`Dialect::evidence`]. This crate sends no requests.

#![warn(missing_debug_implementations)]

mod canonical;
mod guard;
mod listed;
mod loss;
mod names;
mod numbers;
mod place;
mod plan;
mod policy;
mod project;
mod projected;
mod row;
mod sentence;
mod transforms;
mod wire;

pub use loss::{Class, Loss, LossKind};
pub use names::{wire_call_ids, wire_name};
pub use numbers::Numbers;
pub use place::{Finding, PlacedTool, Projections, Request, place};
pub use policy::{Absent, Level, Policy, Unroll};
pub use project::{
    CannotSay, Decoded, Projection, ReadSubject, Subject, WireIssue, WireIssues, project,
};
pub use projected::ProjectedTools;
pub use row::{Confidence, Dialect, DialectError, Limits, Tokens};
pub use transforms::Transform;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
