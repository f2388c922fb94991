//! Mistakes in the form of what is written: keys and values of the language. Never about what a name stands for.

use super::{among, at, given, mistakes, times};
use crate::prose::{advice, is_there_already};
use crate::source::{Span, Spanned};

mistakes! {
    /// A file says nothing.
    ///
    /// Every file of the schema folder is part of the project; one that is empty or has only comments is most likely
    /// not yet written.
    Error "empty-file" empty_file(span: Span) {
        at(span, "this file says nothing").help("begin with `toolwright: 1`, or remove the file")
    }

    /// A key that does not exist in this place.
    ///
    /// No key is ignored: a slip of the finger would change what is generated without a word. Where one key is near
    /// enough to be meant, what stands behind the slip is checked as if it stood there. `toolwright schema` prints
    /// the JSON Schema with which editors complete keys.
    Error "unknown-key" unknown_key(key: &Spanned<String>, free: &[&str]) {
        let advice = if free.is_empty() {
            "all keys of this place are there already; remove this one".to_owned()
        } else {
            advice(&key.value, free.iter().copied(), "keys that may stand here")
        };
        at(key.span, format!("unknown key `{}`", key.value)).help(advice)
    }

    /// A key that has to be there is not.
    ///
    /// The place is where its mapping begins. A tool has a `description`, a toolset its `tools`, an MCP server a
    /// `version` and `toolsets`, a file the language version: `toolwright: 1`.
    Error "missing-key" missing_key(span: Span, key: &str) {
        at(Span { end: span.start.saturating_add(1).min(span.end), ..span }, format!("`{key}` is missing"))
            .labelled("in what begins here")
    }

    /// A value of another kind than its place takes.
    ///
    /// YAML decides what a bare word is: `5` and `1.0` are numbers, `true` is a boolean, and all of them are strings
    /// in quotes.
    Error "wrong-kind" wrong_kind(span: Span, expected: &str, found: &str) {
        at(span, format!("expected {expected}, found {found}"))
    }

    /// A key with nothing, or an empty string, behind it.
    ///
    /// An empty text says nothing to a model or a person. Leave the key out where it may be left out.
    Error "empty-value" empty_value(span: Span, message: String) {
        at(span, message).help("give the key a value, or leave the key out")
    }

    /// A list or mapping that has to hold something is empty.
    ///
    /// A toolset without tools and an MCP server without toolsets would be crates with nothing in them.
    Error "empty-list" empty_list(span: Span, expected: &str) {
        at(span, format!("expected at least one {expected}, found none"))
    }

    /// The file is written in a version of the language that is not known.
    ///
    /// There is one version, 1: `toolwright: 1`.
    Error "unknown-version" unknown_version(span: Span, found: &str) {
        at(span, format!("expected the language version 1, found {found}"))
            .help("write `toolwright: 1`; a newer language needs a newer toolwright")
    }

    /// A word for what a caller can do about an error that does not exist.
    ///
    /// They are `correct_call`, `retry`, `replan` and `finish`; they tell a model how to go on.
    Error "unknown-recovery" unknown_recovery(span: Span, word: &str, known: &[&str]) {
        at(span, format!("unknown recovery `{word}`"))
            .help(advice(word, known.iter().copied(), "recoveries"))
    }

    /// A word where one of a few is expected, and it is another.
    ///
    /// HTTP methods are written in capitals, as on the wire; everything else in small letters.
    Error "unknown-word" unknown_word(span: Span, what: &'static str, word: &str, known: &[&str]) {
        let plural = match what {
            "HTTP method" => "HTTP methods",
            "query style" => "query styles",
            "kind of content" => "kinds of content",
            _ => "kinds of answers",
        };
        at(span, format!("unknown {what} `{word}`"))
            .help(advice(word, known.iter().copied(), plural))
    }

    /// One list has the same entry several times.
    ///
    /// Lists of the language are sets in an order of your choice: tags, aliases, names of toolsets and tools. So is
    /// `required` in a schema.
    Error "repeated-item" repeated_item(item: &str, places: Vec<Span>) {
        let message = format!("`{item}` stands in this list {}", times(places.len()));
        among(given(places), message).help("keep one of them")
    }
}

/// A number or a boolean where a string is expected.
pub(crate) fn unquoted(span: Span, expected: &str, found: &str) -> super::Diagnostic {
    wrong_kind(span, expected, found).help("put it in quotes")
}

/// Reports `true` in place of a mapping whose keys are all optional.
pub(crate) fn empty_mapping(span: Span) -> super::Diagnostic {
    wrong_kind(span, "a mapping", "the boolean true")
        .help("write `{}`, which leaves every key at its default")
}

/// Reports a misspelling of a key that is also present.
pub(crate) fn slip_beside(key: &Spanned<String>, near: &str) -> super::Diagnostic {
    unknown_key(key, &[]).help(is_there_already(near))
}

/// A type's bare name where only a schema may stand.
pub(crate) fn bare_name(span: Span, name: &str) -> super::Diagnostic {
    wrong_kind(span, "a schema", &format!("the string `{name}`"))
        .help(format!("to refer to a type, write `{{ $ref: {name} }}`"))
}
