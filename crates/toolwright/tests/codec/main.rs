//! Tests of codecs, values and bridges through the public API, as generated code uses it.
//!
//! The types are written by hand in the form of generated ones; the compiler is not part of these tests.

mod bridges;
mod decoding;
mod encoding;
mod grammar;
mod macros;
mod model;
mod properties;
mod sentences;
mod values;
