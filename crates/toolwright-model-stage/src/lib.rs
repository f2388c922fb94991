//! A server on loopback that plays a language model from a script, for tests. It speaks the APIs of five providers.
//!
//! See the [README](https://docs.rs/crate/toolwright-model-stage) for an example. [`Script`] lists the answers of
//! the model, [`Stage`] serves them, and [`rules`] has the rules by which a twin refuses requests.

#![warn(missing_debug_implementations)]

pub mod event_stream;
mod reply;
mod request;
pub mod rules;
mod stage;
mod twin;
mod wire;

pub use reply::{Pieces, Reply, Script};
pub use request::{Api, ReceivedRequest};
pub use stage::Stage;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
