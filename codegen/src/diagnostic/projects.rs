//! What can be wrong with where a project's things are: what `toolwright.toml` says, and which folder is which.

use super::{Diagnostic, at, mistakes, nowhere};
use crate::source::Span;

mistakes! {
    /// `toolwright.toml` does not say what it should.
    ///
    /// It has a table `[project]` with `schema` and `out`; `[rust]` with `integers`, `derive`, `types` and `dependencies`;
    /// `[package]` with what generated manifests say: `prefix`, `version`, `rust-version`, `license`, `repository` and `publish`,
    /// each as in a manifest; and `[crates]`, which says how generated crates find the crates of toolwright: by a path, by a
    /// version, in git or by the workspace, as a manifest says it. `derive` lists macros that every generated struct and enum
    /// derives, `[rust.types."service.Type"]` those of one type, or by `type` and `traits` a type of yours in its place, and
    /// `[rust.dependencies]` says where the crates of these macros and types are. Unknown keys are errors.
    Error "bad-config" bad_config(span: Span, message: String) {
        at(span, message)
    }

    /// The output folder holds the schema, or the whole project.
    ///
    /// What is generated is written beside the old tree and exchanged with it, and files that do not belong there are
    /// strays; a schema in that folder would be one.
    Error "overlapping-folders" overlapping_folders(span: Option<Span>, out: &str, held: &str) {
        folder(span, format!("output folder {out} holds {held}"))
    }

    /// The output folder is kept for something else, or is inside such a folder.
    ///
    /// A `toolwright.toml` that somebody sent must not write into `.git`, whose hooks and configuration are run, nor into
    /// `.hg`, `.jj` and `.svn`. `.toolwright` has the records of earlier runs.
    Error "kept-folder" kept_folder(span: Option<Span>, out: &str, kept: &str) {
        folder(span, format!("output folder {out} is in `{kept}`, which is not for output"))
    }
}

/// The words of a finding about the output folder, at its place if `toolwright.toml` names it.
fn folder(span: Option<Span>, message: String) -> Diagnostic {
    Diagnostic { span, ..nowhere(message) }.help("generate into a folder of its own, such as gen")
}
