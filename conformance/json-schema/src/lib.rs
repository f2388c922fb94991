//! Tests the promise of the compiler on generated code: a codec accepts a payload if and only if its schema does. The build
//! script compiles the schemas, this crate has the generated code and judges the instances, and the tests and
//! `docs/conformance.md` show the results. It is not published.

#[allow(
    clippy::similar_names,
    clippy::disallowed_names,
    clippy::semicolon_if_nothing_returned,
    reason = "the schemas choose the names, and the printer the line breaks"
)]
#[allow(missing_docs, reason = "most schemas of the corpora have no descriptions")]
pub mod generated {
    //! All accepted schemas, compiled: a module for each file of the corpora.

    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}
pub mod judge;
pub mod record;
pub mod table;
pub mod tools;

pub use judge::{Judged, judge};
pub use record::Record;

/// The record of the build script.
///
/// # Panics
///
/// Does not panic, as the build script wrote the record with the same types.
pub fn record() -> Record {
    let text = include_str!(concat!(env!("OUT_DIR"), "/record.json"));
    serde_json::from_str(text).expect("the build script wrote it")
}
