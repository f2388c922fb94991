//! Benchmarks that compare toolwright with similar libraries.

pub mod check;
pub mod codecs;
pub mod compile;
pub mod report;
pub mod rounds;
pub mod runtime;

/// The modules that are generated from this package's `schema/`.
#[allow(missing_docs, reason = "some properties of the schemas have no description")]
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
