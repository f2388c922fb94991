//! The runtime at work on tools and agents written by hand, against the contract alone.

mod agents;
mod approvals;
mod combinators;
mod events;
mod execution;
mod failures;
mod functions;
mod hooks;
mod interleavings;
mod journal;
mod lifecycle;
mod nested;
mod planners;
mod policy;
mod registry;
mod remote;
mod resolution;
mod sessions;
mod spans;
mod state;
mod steps;
mod tasks;
mod tools;
mod toys;
mod typed;
