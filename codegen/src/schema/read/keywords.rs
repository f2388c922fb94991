//! Which keywords there are, and which may stand together. Never what one of them means.

use super::SchemaReader;
use crate::diagnostic::Diagnostic;
use crate::nearest;
use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Node, Value};

/// What a schema is, by its deciding keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `$ref`
    Reference,
    /// `anyOf` or `oneOf`
    Choice(&'static str),
    /// `const`
    Constant,
    /// `enum`
    Enumeration,
    /// `type`
    Typed(Kind),
    /// None of them.
    Anything,
}

/// A word of `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    String,
    Integer,
    Number,
    Array,
    Object,
}

/// Words of `type` and what they mean.
pub(super) const KINDS: [(&str, Kind); 7] = [
    ("null", Kind::Null),
    ("boolean", Kind::Boolean),
    ("string", Kind::String),
    ("integer", Kind::Integer),
    ("number", Kind::Number),
    ("array", Kind::Array),
    ("object", Kind::Object),
];

/// Keywords that assert nothing here, whatever they stand beside.
const ANNOTATIONS: [&str; 11] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "$comment",
    "$schema",
    "$defs",
];

/// Keywords that assert something, and are honoured in the right form.
const ASSERTIONS: [&str; 19] = [
    "$ref",
    "anyOf",
    "oneOf",
    "const",
    "enum",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// Keywords of 2020-12 that are not honoured yet.
const UNSUPPORTED: [&str; 28] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "multipleOf",
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$recursiveRef",
];

impl Form {
    /// The form of a schema whose `type` has been read.
    pub(super) fn of(text: &Node, kind: Option<Kind>) -> Self {
        let has = |keyword: &str| text.get(keyword).is_some();
        match kind {
            _ if has("$ref") => Self::Reference,
            _ if has("anyOf") => Self::Choice("anyOf"),
            _ if has("oneOf") => Self::Choice("oneOf"),
            _ if has("const") => Self::Constant,
            _ if has("enum") => Self::Enumeration,
            Some(kind) => Self::Typed(kind),
            None => Self::Anything,
        }
    }

    /// The keywords that mean something in it.
    fn assertions(self) -> &'static [&'static str] {
        match self {
            Self::Reference => &["$ref"],
            Self::Choice("anyOf") => &["anyOf"],
            Self::Choice(_) => &["oneOf"],
            Self::Constant => &["const", "type"],
            Self::Enumeration => &["enum", "type"],
            Self::Typed(kind) => kind.assertions(),
            // A wrong `type` has been reported as such.
            Self::Anything => &["type"],
        }
    }

    fn name(self) -> String {
        match self {
            Self::Reference => "`$ref`".to_owned(),
            Self::Choice(keyword) => format!("`{keyword}`"),
            Self::Constant => "`const`".to_owned(),
            Self::Enumeration => "`enum`".to_owned(),
            Self::Typed(kind) => format!("`type: {}`", kind.word()),
            Self::Anything => "no `type`".to_owned(),
        }
    }
}

impl Kind {
    fn assertions(self) -> &'static [&'static str] {
        match self {
            Self::Null | Self::Boolean => &["type"],
            Self::String => &["type", "minLength", "maxLength", "pattern"],
            Self::Integer | Self::Number => {
                &["type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
            }
            Self::Array => &["type", "items", "minItems", "maxItems"],
            Self::Object => &["type", "properties", "required", "additionalProperties"],
        }
    }

    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

impl SchemaReader<'_> {
    /// Reports keywords that do not exist or are not honoured.
    pub(super) fn check_keywords(&mut self, entries: &[Entry], is_root: bool) {
        for Entry { key, .. } in entries {
            let word = key.value.as_str();
            if UNSUPPORTED.contains(&word) {
                self.unsupported(key.span, &format!("`{word}` is not supported yet"));
            } else if ["$defs", "$schema"].contains(&word) && !is_root {
                self.unsupported(
                    key.span,
                    &format!("`{word}` is only supported at the root of a schema"),
                );
            } else if !ANNOTATIONS.contains(&word) && !ASSERTIONS.contains(&word) {
                self.unknown_keyword(key);
            }
        }
    }

    /// Reports keywords that mean nothing, or something not honoured, in a schema's form.
    pub(super) fn check_form(&mut self, form: Form, text: &Node) {
        let allowed = form.assertions();
        for Entry { key, .. } in text.entries().unwrap_or_default() {
            let word = key.value.as_str();
            if !ASSERTIONS.contains(&word) || allowed.contains(&word) {
                continue;
            }
            let finding = match form {
                Form::Typed(kind) => {
                    let message = format!("`{word}` has no effect on `type: {}`", kind.word());
                    Diagnostic::error("no-effect", key.span, message).help("remove one of the two")
                }
                Form::Anything => {
                    let message = format!("`{word}` without a `type` is not supported yet");
                    Diagnostic::error("missing-type", key.span, message)
                        .help(format!("write the `type` that `{word}` is about beside it"))
                }
                _ => {
                    let message = format!("`{word}` beside {} is not supported yet", form.name());
                    Diagnostic::error("unsupported-combination", key.span, message)
                }
            };
            self.report.add(finding);
        }
    }

    /// The kind that `type` names, and whether `null` is named beside it.
    pub(super) fn kind(&mut self, text: &Node) -> (Option<Kind>, bool) {
        let Some(node) = text.get("type") else { return (None, false) };
        let Value::Sequence(words) = &node.value else { return (self.word(node), false) };
        let kinds: Vec<Kind> = words.iter().filter_map(|word| self.word(word)).collect();
        match kinds.as_slice() {
            _ if kinds.len() < words.len() => (None, false),
            [kind] => (Some(*kind), false),
            [kind, Kind::Null] | [Kind::Null, kind] if *kind != Kind::Null => (Some(*kind), true),
            _ => {
                let message = "this list of types is not supported yet";
                let finding = Diagnostic::error("unsupported-type-list", node.span, message)
                    .help("one type, or one type and \"null\", may stand here");
                self.report.add(finding);
                (None, false)
            }
        }
    }

    fn word(&mut self, node: &Node) -> Option<Kind> {
        // `type: null` cannot mean anything but the string, which YAML wants in quotes.
        let word = if matches!(node.value, Value::Null) { Some("null") } else { node.as_str() };
        let Some(word) = word else {
            self.expected("the name of a type", node);
            return None;
        };
        let known = KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind);
        if known.is_none() {
            let advice = nearest::advice(word, KINDS.map(|(word, _)| word), "types");
            let message = format!("unknown type `{word}`");
            self.report
                .add(Diagnostic::error("unknown-type-word", node.span, message).help(advice));
        }
        known
    }

    /// Reports something of 2020-12 that is not honoured.
    pub(super) fn unsupported(&mut self, span: Span, message: &str) {
        self.report.add(Diagnostic::error("unsupported-keyword", span, message));
    }

    fn unknown_keyword(&mut self, key: &Spanned<String>) {
        let message = format!("unknown keyword `{}`", key.value);
        let known = ASSERTIONS.into_iter().chain(ANNOTATIONS);
        let advice = match key.value.as_str() {
            "definitions" => "since 2019-09 this is `$defs`".to_owned(),
            "nullable" => "write `type: [T, \"null\"]`".to_owned(),
            word => nearest::advice(word, known, "keywords that are supported"),
        };
        self.report.add(Diagnostic::error("unknown-keyword", key.span, message).help(advice));
    }
}
