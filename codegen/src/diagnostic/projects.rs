//! Mistakes in `toolwright.toml` and in the choice of the output folder.

use super::{Diagnostic, at, mistakes, nowhere};
use crate::source::Span;

mistakes! {
    /// `toolwright.toml` has a mistake.
    ///
    /// It has a table `[project]` with `schema` and `out`; `[rust]` with `integers`, `derive`, `types` and `dependencies`;
    /// `[package]` with the `prefix` of package names and, as in a manifest, `version`, `rust-version`, `license`,
    /// `repository` and `publish`; and `[crates]` with the locations of toolwright's crates, as in a manifest: by a path, by a
    /// version, in git or by the workspace. `derive` lists macros that every generated struct and enum derives;
    /// `[rust.types."service.Type"]` lists those of one type, or replaces it by `type` with your own type, whose `traits` are
    /// listed, too; `[rust.dependencies]` locates the crates of these macros and types. Unknown keys are errors.
    ///
    /// `[dialects]` has the model providers that the tools are held to. `targets` lists them, as `toolwright dialects list` names
    /// them; `strict` is `never`, `prefer` or `require`; `files` are dialects of your own; `emit = true` also generates what each
    /// target gets. `[dialects.policy]` says of each loss, `widened`, `unnamed_keys`, `absent` or `refused`, whether to `allow` it,
    /// to `warn` of it or to `deny` it. `[dialects.tools.NAME]` does so for one tool, and says `because`.
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
