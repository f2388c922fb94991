//! Toolsets in other processes, over [NATS](https://nats.io).
//!
//! Workers [`serve`] a toolset, and a [`NatsToolset`] sends its calls to them.

#![cfg(unix)]
#![warn(missing_debug_implementations)]

mod discovery;
mod error;
mod failure;
mod message;
mod options;
mod subjects;
mod toolset;
mod worker;

pub use async_nats;
pub use error::NatsError;
pub use options::NatsOptions;
pub use subjects::{token, toolset};
pub use toolset::NatsToolset;
pub use worker::{Worker, serve};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
