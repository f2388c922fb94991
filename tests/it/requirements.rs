//! Tests requirements that need running code: events (G29), injected fields and reshaped tools (G21), names with a meaning in
//! Rust (G13), agents as tools (G22), declared errors, registration (G24) and the examples (G32). The compiler's package tests
//! what the compiler refuses.

mod errors;
mod events;
mod examples;
mod injection;
mod names;
mod newtypes;
mod provenance;
mod registration;

use std::error::Error;

type Tested = Result<(), Box<dyn Error>>;
