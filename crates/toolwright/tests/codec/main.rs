//! Tests of codecs, values and bridges through the public API, as generated code uses it.
//!
//! The types are handwritten in the form of generated ones, so that the tests do not need the compiler.

mod bridges;
mod costs;
mod decoding;
mod encoding;
mod grammar;
mod macros;
mod model;
mod properties;
mod sentences;
mod values;
