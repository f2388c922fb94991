//! The runtime at work on tools and agents written by hand, against the contract alone.

mod agents;
mod events;
mod failures;
mod planners;
mod policy;
mod registry;
mod steps;
mod tools;
