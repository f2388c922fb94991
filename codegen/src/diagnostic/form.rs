//! Mistakes in keys and values of the language.

use super::{among, at, mistakes, repeated, times};
use crate::prose::{advice, keep_one};
use crate::source::{Span, Spanned};

mistakes! {
    /// A file has no content.
    ///
    /// Every file of the schema folder is part of the project; one that is empty or has only comments is most likely
    /// not yet written.
    Error "empty-file" empty_file(span: Span) {
        at(span, "this file has no content").help("begin with `toolwright: 1`, or remove the file")
    }

    /// A key is unknown in its place.
    ///
    /// No key is ignored: otherwise a typo would silently change what is generated. If a known key is similar, the value is
    /// checked as if it had that key. `toolwright schema` prints the JSON Schema with which editors complete keys.
    Error "unknown-key" unknown_key(key: &Spanned<String>, free: &[&str]) {
        let advice = if free.is_empty() {
            "all keys that are allowed here are already present; remove this one".to_owned()
        } else {
            advice(&key.value, free.iter().copied(), "keys that are allowed here")
        };
        at(key.span, format!("unknown key `{}`", key.value)).help(advice)
    }

    /// A required key is missing.
    ///
    /// The finding points to the beginning of the mapping. A tool needs a `description`, a toolset its `tools`, an MCP server
    /// a `version` and `toolsets`, a file the language version: `toolwright: 1`.
    Error "missing-key" missing_key(span: Span, key: &str) {
        at(Span { end: span.start.saturating_add(1).min(span.end), ..span }, format!("`{key}` is missing"))
            .labelled("in the mapping that begins here")
    }

    /// A value has the wrong kind.
    ///
    /// YAML decides the kind of a value without quotes: `5` and `1.0` are numbers, `true` is a boolean. In quotes, all of
    /// them are strings.
    Error "wrong-kind" wrong_kind(span: Span, expected: &str, found: &str) {
        at(span, format!("expected {expected}, found {found}"))
    }

    /// A key has no value, or an empty string.
    ///
    /// An empty text is of no use to a model or a person. If the key is optional, leave it out.
    Error "empty-value" empty_value(span: Span, message: String) {
        at(span, message).help("give the key a value, or leave the key out")
    }

    /// A list or mapping is empty, but needs at least one entry.
    ///
    /// A toolset without tools and an MCP server without toolsets would be crates with nothing in them.
    Error "empty-list" empty_list(span: Span, expected: &str) {
        at(span, format!("expected at least one {expected}, found none"))
    }

    /// A file has an unknown language version.
    ///
    /// There is one version, 1: `toolwright: 1`.
    Error "unknown-version" unknown_version(span: Span, found: &str) {
        at(span, format!("expected the language version 1, found {found}"))
            .help("write `toolwright: 1`; a newer language needs a newer toolwright")
    }

    /// The `recovery` of an error is unknown.
    ///
    /// A recovery tells a model what to do about an error: `correct_call`, `retry`, `replan` or `finish`.
    Error "unknown-recovery" unknown_recovery(span: Span, word: &str, known: &[&str]) {
        at(span, format!("unknown recovery `{word}`"))
            .help(advice(word, known.iter().copied(), "recoveries"))
    }

    /// A value is none of the few words that are allowed.
    ///
    /// HTTP methods are written in capitals, as on the wire; all others in lower case.
    Error "unknown-word" unknown_word(span: Span, noun: &str, plural: &str, word: &str, known: &[&str]) {
        at(span, format!("unknown {noun} `{word}`"))
            .help(advice(word, known.iter().copied(), plural))
    }

    /// One list has the same entry several times.
    ///
    /// Lists of tags, aliases, toolsets and tools, and `required` in a schema, are sets: each entry appears once, in any
    /// order.
    Error "repeated-item" repeated_item(item: &str, places: Vec<Span>) {
        let message = format!("`{item}` appears in this list {}", times(places.len()));
        among(repeated(places), message).help("keep one of them")
    }
}

/// Reports a number or a boolean in place of a string.
pub(crate) fn unquoted(span: Span, expected: &str, found: &str) -> super::Diagnostic {
    wrong_kind(span, expected, found).help("put it in quotes")
}

/// Reports `true` in place of a mapping whose keys are all optional.
pub(crate) fn empty_mapping(span: Span) -> super::Diagnostic {
    wrong_kind(span, "a mapping", "the boolean true")
        .help("write `{}`, which leaves every key at its default")
}

/// Reports a misspelling of a key that is also present.
pub(crate) fn misspelling_beside(key: &Spanned<String>, near: &str) -> super::Diagnostic {
    unknown_key(key, &[]).help(keep_one(near))
}

/// Reports the name of a type in place of a schema.
pub(crate) fn bare_name(span: Span, name: &str) -> super::Diagnostic {
    wrong_kind(span, "a schema", &format!("the string `{name}`"))
        .help(format!("to refer to a type, write `{{ $ref: {name} }}`"))
}
