//! Which keywords there are, what stands behind each, and which of them the form of a schema turns
//! into a type. Never what one of them means.

use super::SchemaReader;
use super::scalar::{is_enumeration, is_typed_bound};
use crate::diagnostic::schemas;
use crate::schema::{Kind, TUPLE};
use crate::source::Spanned;
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
    /// `type` with one word, or one and `null`
    Typed(Kind),
    /// `type` with several words
    Kinds,
    /// `allOf` with one member
    Wrapper,
    /// None of them.
    Anything,
}

/// The expected type of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// Schemas by regular expression.
    Patterns,
    /// A whole number that is not negative.
    Count,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// `true` or `false`.
    Boolean,
    /// A string.
    Text,
    /// A regular expression.
    Pattern,
    /// A list of different strings.
    Names,
    /// Lists of different strings by name.
    NamesByName,
    /// A list of values.
    Values,
    /// Any value.
    Value,
    /// The name of a type, or a list of such names.
    Types,
    /// A reference to a schema.
    Reference,
}

/// Every keyword that asserts something, what stands behind it, and the kinds of values it is about;
/// none means all. (2020-12 core, 10 and 11; validation, 6.)
const ASSERTIONS: [(&str, Expected, &[Kind]); 40] = [
    ("$ref", Expected::Reference, &[]),
    ("allOf", Expected::Schemas, &[]),
    ("anyOf", Expected::Schemas, &[]),
    ("oneOf", Expected::Schemas, &[]),
    ("not", Expected::Schema, &[]),
    ("if", Expected::Schema, &[]),
    ("then", Expected::Schema, &[]),
    ("else", Expected::Schema, &[]),
    ("const", Expected::Value, &[]),
    ("enum", Expected::Values, &[]),
    ("type", Expected::Types, &[]),
    ("properties", Expected::Named, &[Kind::Object]),
    ("patternProperties", Expected::Patterns, &[Kind::Object]),
    ("additionalProperties", Expected::Schema, &[Kind::Object]),
    ("propertyNames", Expected::Schema, &[Kind::Object]),
    ("unevaluatedProperties", Expected::Schema, &[Kind::Object]),
    ("dependentSchemas", Expected::Named, &[Kind::Object]),
    ("dependentRequired", Expected::NamesByName, &[Kind::Object]),
    ("required", Expected::Names, &[Kind::Object]),
    ("minProperties", Expected::Count, &[Kind::Object]),
    ("maxProperties", Expected::Count, &[Kind::Object]),
    ("items", Expected::Schema, &[Kind::Array]),
    ("prefixItems", Expected::Schemas, &[Kind::Array]),
    ("contains", Expected::Schema, &[Kind::Array]),
    ("minContains", Expected::Count, &[Kind::Array]),
    ("maxContains", Expected::Count, &[Kind::Array]),
    ("unevaluatedItems", Expected::Schema, &[Kind::Array]),
    ("uniqueItems", Expected::Boolean, &[Kind::Array]),
    ("minItems", Expected::Count, &[Kind::Array]),
    ("maxItems", Expected::Count, &[Kind::Array]),
    ("minLength", Expected::Count, &[Kind::String]),
    ("maxLength", Expected::Count, &[Kind::String]),
    ("pattern", Expected::Pattern, &[Kind::String]),
    ("format", Expected::Text, &[Kind::String]),
    ("minimum", Expected::Number, &[Kind::Integer, Kind::Number]),
    ("maximum", Expected::Number, &[Kind::Integer, Kind::Number]),
    ("exclusiveMinimum", Expected::Number, &[Kind::Integer, Kind::Number]),
    ("exclusiveMaximum", Expected::Number, &[Kind::Integer, Kind::Number]),
    ("multipleOf", Expected::Positive, &[Kind::Integer, Kind::Number]),
    // Asserts nothing by itself, but `#/$defs/X` leads there.
    ("$defs", Expected::Named, &[]),
];

/// Keywords that assert nothing, whatever they stand beside.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$anchor",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Keywords of 2020-12 that are not honoured: all are about schemas that lie elsewhere or change what
/// others mean.
const UNSUPPORTED: [&str; 5] =
    ["$id", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$recursiveRef"];

/// Whether a keyword is honoured.
pub fn is_honoured(word: &str) -> bool {
    assertion(word).is_some() || is_annotation(word)
}

/// Whether a keyword is one of 2020-12, and not honoured all the same.
pub fn is_unsupported(word: &str) -> bool {
    UNSUPPORTED.contains(&word)
}

/// Whether a keyword asserts nothing.
pub fn is_annotation(word: &str) -> bool {
    ANNOTATIONS.contains(&word)
}

/// What has to stand behind a keyword that asserts something.
pub fn expected(word: &str) -> Option<Expected> {
    assertion(word).map(|(_, expected, _)| expected)
}

/// What has to stand behind a keyword, and the kinds of values it is about.
pub(super) fn assertion(word: &str) -> Option<(&'static str, Expected, &'static [Kind])> {
    ASSERTIONS.into_iter().find(|(keyword, ..)| *keyword == word)
}

impl Form {
    /// The form of a schema, by its keywords and the kinds that its `type` names.
    pub(super) fn of(text: &Node, kinds: Option<&[Kind]>) -> Self {
        let has = |keyword: &str| text.get(keyword).is_some();
        let members = |keyword: &str| match text.get(keyword).map(|node| &node.value) {
            Some(Value::Sequence(members)) => members.len(),
            _ => 0,
        };
        let one_kind = kinds.and_then(|kinds| match kinds {
            [kind] | [Kind::Null, kind] | [kind, Kind::Null] => Some(*kind),
            _ => None,
        });
        match (one_kind, kinds) {
            _ if has("const") => Self::Constant,
            _ if text.get("enum").is_some_and(is_enumeration) => Self::Enumeration,
            _ if has("$ref") => Self::Reference,
            (Some(kind), _) if has("properties") || kind != Kind::Object => Self::Typed(kind),
            _ if has("anyOf") => Self::Choice("anyOf"),
            _ if has("oneOf") => Self::Choice("oneOf"),
            (Some(kind), _) => Self::Typed(kind),
            (None, Some(_)) => Self::Kinds,
            (None, None) if members("allOf") == 1 => Self::Wrapper,
            (None, None) => Self::Anything,
        }
    }

    /// The keywords that it turns into a type. `text` decides where two keywords make one thing that no
    /// type can say.
    pub(super) fn typed_keywords(self, text: &Node) -> &'static [&'static str] {
        match self {
            Self::Reference => &["$ref"],
            Self::Choice("anyOf") => &["anyOf"],
            Self::Choice(_) => &["oneOf"],
            Self::Constant => &["const", "type"],
            Self::Enumeration => &["enum", "type"],
            Self::Wrapper => &["allOf"],
            Self::Kinds | Self::Typed(Kind::Null | Kind::Boolean) => &["type"],
            Self::Typed(Kind::String) => &["type", "minLength", "maxLength", "pattern", "format"],
            Self::Typed(Kind::Integer | Kind::Number) => {
                &["type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
            }
            Self::Typed(Kind::Array) if is_tuple(text) => {
                &["type", "prefixItems", "items", "minItems", "maxItems"]
            }
            Self::Typed(Kind::Array) if text.get("prefixItems").is_some() => {
                &["type", "minItems", "maxItems", "uniqueItems"]
            }
            Self::Typed(Kind::Array) => &["type", "items", "minItems", "maxItems", "uniqueItems"],
            Self::Typed(Kind::Object) if text.get("patternProperties").is_some() => {
                &["type", "properties", "required"]
            }
            Self::Typed(Kind::Object) => {
                &["type", "properties", "required", "additionalProperties"]
            }
            Self::Anything => &[],
        }
    }

    /// Whether it turns a keyword into a part of a type, for this value.
    pub(super) fn types(self, text: &Node, keyword: &str, value: &Node) -> bool {
        let is_wide = match (self, &value.value) {
            (Self::Typed(kind @ (Kind::Integer | Kind::Number)), Value::Number(number)) => {
                !is_typed_bound(number, keyword, kind == Kind::Integer)
            }
            _ => false,
        };
        self.typed_keywords(text).contains(&keyword) && !is_wide
    }
}

/// Whether an array has a schema for each of its places, and neither fewer nor more of them. Equal items are told by
/// lists only.
pub(super) fn is_tuple(text: &Node) -> bool {
    let Some(Value::Sequence(places)) = text.get("prefixItems").map(|node| &node.value) else {
        return false;
    };
    let count = |keyword: &str| match text.get(keyword).map(|node| &node.value) {
        Some(Value::Number(count)) => count.parse::<usize>().ok(),
        _ => None,
    };
    let closed = match text.get("items").map(|node| &node.value) {
        Some(Value::Boolean(false)) => count("maxItems").is_none_or(|most| most >= places.len()),
        None => count("maxItems") == Some(places.len()),
        Some(_) => false,
    };
    let plain = (1..=TUPLE).contains(&places.len()) && text.get("uniqueItems").is_none();
    plain && closed && count("minItems") == Some(places.len())
}

impl SchemaReader<'_> {
    /// Reports a keyword that does not exist or is not honoured; whether it is fine.
    pub(super) fn check_keyword(&mut self, key: &Spanned<String>, beside: &[Entry]) -> bool {
        let word = key.value.as_str();
        if is_unsupported(word) {
            self.report.add(schemas::unsupported_keyword(key));
        } else if !is_honoured(word) {
            self.unknown_keyword(key, beside);
        } else {
            return true;
        }
        false
    }

    /// The kinds that `type` names; nothing where there is none, or none that is right.
    pub(super) fn kinds(&mut self, text: &Node) -> Option<Vec<Kind>> {
        let node = text.get("type")?;
        let Value::Sequence(words) = &node.value else {
            return self.word(node).map(|kind| vec![kind]);
        };
        let mut kinds: Vec<Kind> = words.iter().filter_map(|word| self.word(word)).collect();
        let count = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        if words.is_empty() || kinds.len() < count {
            self.report.add(schemas::bad_type_list(node.span));
        }
        (kinds.len() == words.len() && !kinds.is_empty()).then_some(kinds)
    }

    fn word(&mut self, node: &Node) -> Option<Kind> {
        // `type: null` cannot mean anything but the string, which YAML wants in quotes.
        let word = if matches!(node.value, Value::Null) { Some("null") } else { node.as_str() };
        let Some(word) = word else {
            self.expected("the name of a type", node);
            return None;
        };
        let known = Kind::ALL.into_iter().find(|kind| kind.word() == word);
        if known.is_none() {
            let known = Kind::ALL.map(Kind::word);
            self.report.add(schemas::unknown_type_word(node.span, word, &known));
        }
        known
    }

    fn unknown_keyword(&mut self, key: &Spanned<String>, beside: &[Entry]) {
        let known = ASSERTIONS.iter().map(|(keyword, ..)| *keyword).chain(ANNOTATIONS);
        let known = known.filter(|word| !beside.iter().any(|entry| entry.key.value == *word));
        self.report.add(schemas::unknown_keyword(key, &known.collect::<Vec<_>>()));
    }
}
