//! What generated HTTP clients of services are made of: a table of operations, and the client that sends one. Never
//! knows an API: addresses and credentials come at run time, the rest from generated tables.

#![warn(missing_debug_implementations)]

mod answer;
mod builder;
mod client;
mod credentials;
mod failure;
pub mod operation;
mod request;
mod value;

pub use builder::{BuildError, ClientBuilder};
pub use client::Client;
pub use credentials::Credentials;
pub use operation::Operation;
