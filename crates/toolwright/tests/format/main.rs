//! Tests of the checked formats and their types through the public API.
//!
//! The official suite's rows come first; `rows` adds what the suite leaves open.

mod conversions;
mod moments;
mod properties;
mod rows;
mod suite;
mod types;
