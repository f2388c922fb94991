//! Compares toolwright with its peers side by side. Never a test: nothing fails when a figure is bad.

pub mod check;
pub mod codecs;
pub mod compile;
pub mod report;
pub mod rounds;
pub mod runtime;

/// What the compiler makes of this package's `schema/`.
#[allow(missing_docs, reason = "its schemas describe only what their words are about")]
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
