//! Mistakes in `toolwright.toml` and in the choice of the output folder.

use super::{Diagnostic, at, mistakes, nowhere};
use crate::source::Span;

mistakes! {
    /// `toolwright.toml` has a mistake.
    ///
    /// `toolwright explain configuration` lists its tables and keys. Unknown keys are errors.
    Error "bad-config" bad_config(span: Span, message: String) {
        at(span, message)
    }

    /// The output folder contains the schema, or the whole project.
    ///
    /// The generated tree replaces the output folder, in which all other files count as strays. A schema in that folder
    /// would be one.
    Error "overlapping-folders" overlapping_folders(span: Option<Span>, out: &str, content: &str) {
        folder(span, format!("output folder {out} contains {content}"))
    }

    /// The output folder is reserved for something else, or is inside such a folder.
    ///
    /// A `toolwright.toml` from somebody else must not write into `.git`, because git runs the hooks there, nor into `.hg`,
    /// `.jj` or `.svn`. `.toolwright` contains the records of earlier runs.
    Error "kept-folder" reserved_folder(span: Option<Span>, out: &str, reserved: &str) {
        folder(span, format!("output folder {out} is in `{reserved}`, which is not for output"))
    }
}

/// Returns a finding about the output folder, at `out` in `toolwright.toml` if it is set there.
fn folder(span: Option<Span>, message: String) -> Diagnostic {
    Diagnostic { span, ..nowhere(message) }.help("generate into a folder of its own, such as gen")
}
