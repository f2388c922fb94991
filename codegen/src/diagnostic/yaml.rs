//! Mistakes in YAML itself. Never about keys that mean something.

use super::{among, at, given, mistakes, times};
use crate::source::Span;

mistakes! {
    /// A file is not YAML.
    ///
    /// The message is the parser's, at the place where it could not go on. Most often a bracket or a quote is not
    /// closed, a text without quotes has `: ` in it, or a line is indented with a tab or by too little. The file's own
    /// mistakes are shown when it can be read; until then nobody is blamed for naming what it may declare.
    Error "yaml-syntax" yaml_syntax(span: Span, info: &str, is_colon_in_text: bool) {
        let finding = at(span, format!("this is not YAML: {info}"));
        if is_colon_in_text {
            finding.help("put the text in quotes: it has `: ` in it")
        } else {
            finding
        }
    }

    /// A file has a second document after `---`.
    ///
    /// One file is one document. Put the second into a file of its own: all files of a folder form one project.
    Error "yaml-documents" yaml_documents(span: Span) {
        at(span, "a second document in one file").help("put it into a file of its own")
    }

    /// A value has a YAML tag, such as `!!str` or `!include`.
    ///
    /// Tags change what a value is in ways that differ between YAML readers, so none is accepted.
    Error "yaml-tag" yaml_tag(span: Span) {
        at(span, "a YAML tag on this value")
            .help("write the value without a tag; put it in quotes if it is a string")
    }

    /// A number cannot be written in JSON.
    ///
    /// `.inf`, `.nan` and hexadecimal numbers of more than 128 bits have no JSON form, so no payload could hold them.
    Error "yaml-number" yaml_number(span: Span, message: String) {
        at(span, message)
    }

    /// A merge key, `<<`.
    ///
    /// Merge keys left YAML with version 1.2. To share a schema, name a type and refer to it with `$ref`.
    Error "yaml-merge-key" yaml_merge_key(span: Span) {
        at(span, "a merge key `<<`").help("write the keys out, or name a type and use `$ref`")
    }

    /// A key is not a string.
    ///
    /// Keys are names. A number, `true`, `null`, a list or a mapping as a key is put in quotes or written out.
    Error "yaml-key" yaml_key(span: Span, text: &str) {
        at(span, "a key that is not a string").help(format!("put it in quotes: \"{text}\""))
    }

    /// An alias stands inside the value it stands for.
    ///
    /// Such a value has no end. For a type that holds itself, name the type and use `$ref`.
    Error "yaml-alias" yaml_alias(span: Span) {
        at(span, "an alias inside the value it stands for")
            .help("for a type that holds itself, name it under `types` and use `$ref`")
    }

    /// A file is deeper, or holds or copies more values, than any schema does.
    ///
    /// How deep values nest, how many a list, a mapping and a file may hold and how many its aliases may copy is limited:
    /// a few lines of aliases of aliases could otherwise fill the memory.
    Error "yaml-budget" yaml_budget(span: Span, message: String) {
        at(span, message).help("split the file, or say it with types and `$ref`")
    }

    /// One mapping has a key twice.
    ///
    /// YAML readers differ in which of the two they take, so neither is. The first is read on, for other mistakes.
    Error "duplicate-key" duplicate_key(key: &str, places: Vec<Span>) {
        let message = format!("the key `{key}` stands here {}", times(places.len()));
        among(given(places), message).help("keep one of them")
    }
}

/// A key that is longer than any name.
pub(crate) fn yaml_key_length(span: Span, limit: usize) -> super::Diagnostic {
    super::Diagnostic { message: format!("a key of more than {limit} bytes"), ..yaml_key(span, "") }
        .help("give it a shorter name")
}

/// A key that cannot even be put in quotes.
pub(crate) fn yaml_key_kind(span: Span) -> super::Diagnostic {
    super::Diagnostic {
        message: "a key that is a list, a mapping or an alias".to_owned(),
        ..yaml_key(span, "")
    }
    .help("write the key out")
}
