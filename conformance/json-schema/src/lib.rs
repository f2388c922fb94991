//! What the compiler promises, proved on code it generated: a payload passes the generated codec if and only if it is
//! valid under its schema. The build script compiles the schemas, this crate holds what came out and judges the
//! instances, the tests and `docs/conformance.md` tell the result. No part of what users install.

#[allow(
    clippy::similar_names,
    clippy::disallowed_names,
    clippy::semicolon_if_nothing_returned,
    reason = "names are the schemas' to choose, line breaks the printer's"
)]
#[allow(missing_docs, reason = "its schemas describe only what their words are about")]
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

/// What the build script recorded.
///
/// # Panics
///
/// Never: the build script wrote the record with the types it is read by.
pub fn record() -> Record {
    let text = include_str!(concat!(env!("OUT_DIR"), "/record.json"));
    serde_json::from_str(text).expect("the build script wrote it")
}
