//! Mistakes in the YAML itself.

use super::{among, at, mistakes, repeated, times};
use crate::source::Span;

mistakes! {
    /// A file is not YAML.
    ///
    /// The message is the parser's, at the place where it stopped. Most often a bracket or a quote is not closed, a text
    /// without quotes contains `: `, or a line is indented with a tab or by too little. Other mistakes in the file are shown
    /// once it can be parsed; until then unknown names are not reported.
    Error "yaml-syntax" yaml_syntax(span: Span, info: &str, is_colon_in_text: bool) {
        let finding = at(span, format!("this is not YAML: {info}"));
        if is_colon_in_text {
            finding.help("put the text in quotes: it contains `: `")
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
    /// Merge keys are not part of YAML 1.2. To share a schema, name a type and refer to it with `$ref`.
    Error "yaml-merge-key" yaml_merge_key(span: Span) {
        at(span, "a merge key `<<`").help("write the keys out, or name a type and use `$ref`")
    }

    /// A key is not a string.
    ///
    /// Keys are names. Put a number, `true` or `null` in quotes; a list or a mapping cannot be a key.
    Error "yaml-key" yaml_key(span: Span, text: &str) {
        at(span, "a key that is not a string").help(format!("put it in quotes: \"{text}\""))
    }

    /// An alias is inside the value that it refers to.
    ///
    /// Such a value would be infinite. For a type that contains itself, name the type and use `$ref`.
    Error "yaml-alias" yaml_alias(span: Span) {
        at(span, "an alias inside the value that it refers to")
            .help("for a type that contains itself, name it under `types` and use `$ref`")
    }

    /// A file has too many values, or they are nested too deeply.
    ///
    /// The depth of nesting is limited, and so are the numbers of values in a list, in a mapping, in a file, and of values that
    /// aliases copy: otherwise a few lines of aliases of aliases could fill the memory.
    Error "yaml-budget" yaml_budget(span: Span, message: String) {
        at(span, message).help("split the file, or use types and `$ref`")
    }

    /// A mapping has the same key several times.
    ///
    /// YAML readers do not agree on which value counts, so this is an error. Only the first value is checked for other
    /// mistakes.
    Error "duplicate-key" duplicate_key(key: &str, places: Vec<Span>) {
        let message = format!("the key `{key}` appears here {}", times(places.len()));
        among(repeated(places), message).help("keep one of them")
    }
}

/// Reports a key that is too long.
pub(crate) fn yaml_key_length(span: Span, limit: usize) -> super::Diagnostic {
    super::Diagnostic { message: format!("a key of more than {limit} bytes"), ..yaml_key(span, "") }
        .help("give it a shorter name")
}

/// Reports a key that is a list, a mapping or an alias.
pub(crate) fn yaml_key_kind(span: Span) -> super::Diagnostic {
    super::Diagnostic {
        message: "a key that is a list, a mapping or an alias".to_owned(),
        ..yaml_key(span, "")
    }
    .help("write the key out")
}
