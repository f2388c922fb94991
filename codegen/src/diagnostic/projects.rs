//! What can be wrong with where a project's things are: what `toolwright.toml` says, and which folder is which.

use super::{at, mistakes, nowhere};
use crate::source::Span;

mistakes! {
    /// `toolwright.toml` does not say what it should.
    ///
    /// It has a table `[project]` with `schema` and `out`, and a table `[crates]` that says how generated crates find
    /// the crates of toolwright: by a path or by a version. Unknown keys are errors.
    Error "bad-config" bad_config(span: Span, message: String) {
        at(span, message)
    }

    /// The output folder holds the schema.
    ///
    /// What is generated is written beside the old tree and exchanged with it, and files that do not belong there are
    /// strays; a schema in that folder would be one.
    Error "overlapping-folders" overlapping_folders(out: &str, schema: &str) {
        nowhere(format!("output folder {out} holds the schema {schema}"))
            .help("generate into a folder of its own, such as gen")
    }
}

/// A crate in `toolwright.toml` that has both a path and a version, or neither.
pub(crate) fn bad_crate(span: Span) -> super::Diagnostic {
    bad_config(
        span,
        "a crate is found by either a path or a version; expected exactly one of the two"
            .to_owned(),
    )
    .help("write { path = \"crates/toolwright\" } or { version = \"0.1\" }")
}
