//! The form of a schema: the keyword that decides what the schema is, and the keywords that become a type.

use toolwright::value::Kind;

use super::SchemaReader;
use super::scalar::{is_enumeration, is_typed_bound, kinds_of_format};
use crate::diagnostic::schemas;
use crate::schema::keyword::{is_supported, is_unsupported, supported};
use crate::schema::{DOUBLE, Keyword, MAX_TUPLE, number};
use crate::source::Spanned;
use crate::yaml::{Entry, Node, Value};

/// The form of a schema, by its deciding keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `$ref`
    Reference,
    /// `anyOf` or `oneOf`
    Choice(Keyword),
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

impl Form {
    /// Returns the form of a schema, by its keywords and the kinds in its `type`.
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
            _ if has("anyOf") => Self::Choice(Keyword::AnyOf),
            _ if has("oneOf") => Self::Choice(Keyword::OneOf),
            (Some(kind), _) => Self::Typed(kind),
            (None, Some(_)) => Self::Kinds,
            (None, None) if members("allOf") == 1 => Self::Wrapper,
            (None, None) => Self::Anything,
        }
    }

    /// Returns the keywords that it turns into a type. This depends on `text`, because no type can express some combinations
    /// of keywords.
    pub(super) fn typed_keywords(self, text: &Node) -> &'static [Keyword] {
        use Keyword::{
            AdditionalProperties, AllOf, AnyOf, Const, Enum, ExclusiveMaximum, ExclusiveMinimum,
            Format, Items, MaxItems, MaxLength, Maximum, MinItems, MinLength, Minimum, OneOf,
            Pattern, PatternProperties, PrefixItems, Properties, Ref, Required, Type, UniqueItems,
        };
        match self {
            Self::Reference => &[Ref],
            Self::Choice(AnyOf) => &[AnyOf],
            Self::Choice(_) => &[OneOf],
            Self::Constant => &[Const, Type],
            Self::Enumeration => &[Enum, Type],
            Self::Wrapper => &[AllOf],
            Self::Kinds | Self::Typed(Kind::Null | Kind::Boolean) => &[Type],
            Self::Typed(Kind::String) => &[Type, MinLength, MaxLength, Pattern, Format],
            Self::Typed(Kind::Integer | Kind::Number) => {
                &[Type, Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, Format]
            }
            Self::Typed(Kind::Array) if is_tuple(text) => {
                &[Type, PrefixItems, Items, MinItems, MaxItems]
            }
            Self::Typed(Kind::Array) if text.get("prefixItems").is_some() => {
                &[Type, MinItems, MaxItems, UniqueItems]
            }
            Self::Typed(Kind::Array) => &[Type, Items, MinItems, MaxItems, UniqueItems],
            Self::Typed(Kind::Object) if only_pattern(text).is_some() => {
                &[Type, Required, PatternProperties, AdditionalProperties]
            }
            Self::Typed(Kind::Object) if text.get("patternProperties").is_some() => {
                &[Type, Properties, Required]
            }
            Self::Typed(Kind::Object) => &[Type, Properties, Required, AdditionalProperties],
            Self::Anything => &[],
        }
    }

    /// Returns whether it turns a keyword with this value into a part of a type.
    pub(super) fn covers(self, text: &Node, keyword: Keyword, value: &Node) -> bool {
        let is_wide = match (self, &value.value) {
            (Self::Typed(kind @ (Kind::Integer | Kind::Number)), Value::Number(number)) => {
                !is_typed_bound(number, keyword.word(), kind == Kind::Integer)
            }
            _ => false,
        };
        let is_of_other_kind = match self {
            // The type of a number cannot express that only integers are allowed.
            Self::Typed(Kind::Number) if keyword == Keyword::Format => {
                value.as_str() != Some(DOUBLE)
            }
            Self::Typed(kind) if keyword == Keyword::Format => {
                value.as_str() == Some(DOUBLE) || !kinds_of_format(value).contains(&kind)
            }
            _ => false,
        };
        self.typed_keywords(text).contains(&keyword) && !is_wide && !is_of_other_kind
    }
}

/// Returns whether an array becomes a tuple: it has schemas for its first items, not too many for a tuple of Rust, and no
/// `uniqueItems`, which only lists check.
pub(super) fn is_tuple(text: &Node) -> bool {
    let Some(places) = places(text) else { return false };
    let rest = usize::from(!is_closed_tuple(text));
    let reaches_all = greatest(text).is_none_or(|greatest| greatest >= places);
    places > 0 && places + rest <= MAX_TUPLE && reaches_all && text.get("uniqueItems").is_none()
}

/// Returns the only pattern of a map: an object whose keys all have to match that pattern.
pub(super) fn only_pattern(text: &Node) -> Option<&Entry> {
    let is_closed = matches!(
        text.get("additionalProperties").map(|node| &node.value),
        Some(Value::Boolean(false))
    );
    let has = |keyword: &str| text.get(keyword).is_some();
    match text.get("patternProperties")?.entries()? {
        [only] if is_closed && !has("properties") && !has("propertyNames") => Some(only),
        _ => None,
    }
}

/// Returns whether no items are allowed after the first ones.
pub(super) fn is_closed_tuple(text: &Node) -> bool {
    let items = text.get("items").map(|node| &node.value);
    matches!(items, Some(Value::Boolean(false)))
        || greatest(text).is_some_and(|greatest| Some(greatest) == places(text))
}

fn places(text: &Node) -> Option<usize> {
    match text.get("prefixItems").map(|node| &node.value) {
        Some(Value::Sequence(places)) => Some(places.len()),
        _ => None,
    }
}

fn greatest(text: &Node) -> Option<usize> {
    match text.get("maxItems").map(|node| &node.value) {
        Some(Value::Number(count)) => number::count(count).and_then(|count| count.try_into().ok()),
        _ => None,
    }
}

impl SchemaReader<'_> {
    /// Reports an unknown or unsupported keyword; returns whether the keyword is supported.
    pub(super) fn check_keyword(&mut self, key: &Spanned<String>, beside: &[Entry]) -> bool {
        let word = key.value.as_str();
        if is_unsupported(word) {
            self.report.add(schemas::unsupported_keyword(key));
        } else if !is_supported(word) {
            self.unknown_keyword(key, beside);
        } else {
            return true;
        }
        false
    }

    /// Reads the kinds in `type`; returns `None` if it is missing or wrong.
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
        // `type: null` can only mean the string, which needs quotes in YAML.
        let word = if matches!(node.value, Value::Null) { Some("null") } else { node.as_str() };
        let Some(word) = word else {
            self.expected("the name of a type", node);
            return None;
        };
        let known = Kind::from_name(word);
        if known.is_none() {
            let known = Kind::ALL.map(Kind::as_str);
            self.report.add(schemas::unknown_type_word(node.span, word, &known));
        }
        known
    }

    fn unknown_keyword(&mut self, key: &Spanned<String>, beside: &[Entry]) {
        let known: Vec<&str> = supported().collect();
        let beside: Vec<&str> = beside.iter().map(|entry| entry.key.value.as_str()).collect();
        self.report.add(schemas::unknown_keyword(key, &known, &beside));
    }
}
