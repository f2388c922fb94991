//! A server on loopback that plays a language model from a script, for tests. It speaks the APIs of five providers.
//!
//! See the [README](https://docs.rs/crate/toolwright-model-stage) for an example. [`Script`] lists the answers of
//! the model, [`Stage`] serves them, and [`rules`] has the rules by which a twin refuses requests. `Stage::record` (feature
//! `record`) writes real answers into a file, and [`Script::replay`] plays them.

#![warn(missing_debug_implementations)]

mod cassette;
pub mod event_stream;
#[cfg(feature = "record")]
mod record;
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
