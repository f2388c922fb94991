//! Tests of the checked formats and their types through the public API.
//!
//! `suite` has the rows of the official suite; `rows` adds cases that the suite does not have.

mod conversions;
mod date_times;
mod properties;
mod rows;
mod suite;
mod types;
