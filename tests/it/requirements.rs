//! Requirements that only running code can prove: events (G29), injected fields and reshaped tools (G21), names that mean something
//! in Rust (G13), agents as tools (G22), declared errors, registration (G24), the worked examples (G32). Never tests what the compiler
//! refuses: its own package does.

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
