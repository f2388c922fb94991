//! Mistakes in files and folders, found before any schema is parsed.

use std::ops::Range;

use super::{at, mistakes, nowhere};
use crate::source::Span;

mistakes! {
    /// There is nothing at the path of the schema.
    ///
    /// The path is given on the command line or in `toolwright.toml`; by default it is `schema` beside that file.
    Error "missing-schema" missing_schema(path: &str) {
        nowhere(format!("there is no schema at {path}"))
            .help("name a folder of YAML files, or write the first one there; `toolwright init` starts a new project")
    }

    /// A schema folder contains no schema.
    ///
    /// Schemas are the files whose names end in `.yaml` or `.yml`, at any depth; hidden files and folders do not count.
    Error "empty-schema" empty_schema(path: &str) {
        nowhere(format!("folder {path} contains no schema: expected at least one .yaml or .yml file"))
            .help("write the first schema file there, or name another folder")
    }

    /// A schema folder contains a symlink to another folder.
    ///
    /// Links to folders are not followed, because they could lead in a circle. They are not skipped either, because that
    /// would hide their schemas.
    Error "linked-folder" linked_folder(span: Span) {
        at(span, "this is a symlink to a folder, which is not followed")
            .help("name the folder it leads to on the command line, or move it here")
    }

    /// A schema file, a schema folder or `toolwright.toml` is a symlink that leads out of the project.
    ///
    /// Findings quote the text of their file. With such a link, a project from somebody else could print any file of yours,
    /// for instance into the log of a build.
    Error "linked-out" linked_out(span: Span) {
        at(span, "this is a symlink that leads out of the project, so it is not read")
            .help("put a copy here, or name the file or folder it leads to")
    }

    /// Something with the name of a schema file is not a regular file.
    ///
    /// Sockets, pipes and devices could keep a reader waiting forever, so only regular files are read.
    Error "not-a-file" not_a_file(span: Span) {
        at(span, "this is not a regular file")
    }

    /// A schema file is too large.
    ///
    /// The limit is 4 MiB for a file and 64 MiB for all files of a project. Split a file that is too large: all files of a
    /// folder form one project. Data and long texts belong elsewhere.
    Error "too-large" too_large(span: Span, limit: u64) {
        at(span, format!("this file is larger than {} MiB, the most a schema file may have", limit >> 20))
    }

    /// A schema would need too much memory or time, or too much generated code.
    ///
    /// Some things grow faster than the schema itself: names of nested types, uses of toolsets, properties that tools with `bind`
    /// take over, checks of examples against patterns. The message says which limit is exceeded.
    Error "over-budget" over_budget(span: Span, message: String, advice: &str) {
        at(span, message).help(advice)
    }

    /// There are too many findings to show them all.
    ///
    /// The first 2,000 are shown, errors before warnings. Correct these, and check again.
    Warning "too-many-findings" too_many_findings(left_out: usize) {
        nowhere(format!("{left_out} more findings are not shown"))
            .help("correct those that are shown, and check again")
    }

    /// A schema file is not UTF-8.
    ///
    /// YAML files are Unicode text. An editor can save the file as UTF-8. The rest of the project is still
    /// checked; unknown names are not reported while a file cannot be read.
    Error "not-utf8" not_utf8(span: Span, offset: usize) {
        at(span, format!("this file is not UTF-8: the byte at offset {offset} begins no character"))
            .help("save the file as UTF-8")
    }
}

/// Reports the file that makes the project too large.
pub(crate) fn project_too_large(span: Span, limit: u64) -> super::Diagnostic {
    let limit = limit >> 20;
    super::Diagnostic {
        message: format!(
            "with this file the schema is larger than {limit} MiB, the most a project may have"
        ),
        ..too_large(span, 0)
    }
}

/// Returns a range of bytes in a file as a span. Files of 4 GiB or more are never read.
pub(crate) fn span(source: crate::source::SourceId, range: Range<usize>) -> Span {
    let offset = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { source, start: offset(range.start), end: offset(range.end) }
}
