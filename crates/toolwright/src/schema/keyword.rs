//! The compiled keywords of schemas, with references resolved.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Schema;
use super::document::{Content, Document};
use crate::format::Format;
use crate::json::BYTES_PER_STEP;
use crate::pattern::Pattern;
use crate::value::{Decimal, Kind, Number, STEPS_PER_VALUE, Value};

/// The index of a node in its schema.
pub(super) type NodeId = usize;

/// The maximum number of references that are followed to find the kind of a schema.
const MAX_CHAIN: usize = 64;

/// A compiled schema. A value fits it if it fits all keywords.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) keywords: Vec<Keyword>,
    /// Its resource: the innermost schema with an `$id` that contains it, or the root.
    pub(super) resource: usize,
    /// The number of schemas that refer to it. With one use, it is evaluated only once for each value.
    pub(super) uses: usize,
}

/// A keyword that accepts or refuses a value.
#[derive(Debug)]
pub(super) enum Keyword {
    /// `false`
    Never,
    Type(Vec<Kind>),
    Enum(Constants),
    Const(Constants),
    Minimum(Bound),
    Maximum(Bound),
    MultipleOf(Divisor),
    MinLength(u64),
    MaxLength(u64),
    /// The pattern and its text.
    Pattern(Pattern, String),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    PrefixItems(Vec<NodeId>),
    /// The schema of every item from this index on.
    Items(usize, NodeId),
    Contains(Contains),
    MinProperties(u64),
    MaxProperties(u64),
    Required(Keys),
    PropertyNames(NodeId),
    Properties(Properties),
    DependentRequired(BTreeMap<String, Keys>),
    DependentSchemas(BTreeMap<String, NodeId>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId, Excerpt),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    /// The target, unless an outer resource has the anchor.
    DynamicRef(NodeId, String),
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// Required keys.
#[derive(Debug)]
pub(super) struct Keys {
    /// In the order of the schema.
    pub(super) declared: Vec<String>,
    sorted: BTreeSet<String>,
}

impl Keys {
    pub(super) fn new(declared: Vec<String>) -> Self {
        Self { sorted: declared.iter().cloned().collect(), declared }
    }

    /// Returns the keys that an object does not have, in the order of the schema.
    pub(super) fn missing<'k>(
        &'k self,
        document: &Document<'_>,
        object: usize,
    ) -> impl Iterator<Item = &'k str> {
        // Hashing the other keys, which may be long, would be repeated for each schema with required keys.
        let keys = document.children(object).map(|entry| document.key(entry));
        let there: HashSet<&str> = keys.filter(|key| self.sorted.contains(*key)).collect();
        let missing: Vec<&str> =
            self.declared.iter().map(String::as_str).filter(|name| !there.contains(name)).collect();
        missing.into_iter()
    }

    /// Returns true if an object has all of them.
    pub(super) fn are_in(&self, document: &Document<'_>, object: usize) -> bool {
        let is_named = |entry: &usize| self.sorted.contains(document.key(*entry));
        // Keys of an object are unique.
        document.children(object).filter(is_named).count() == self.sorted.len()
    }
}

/// The text of a schema for messages, and true if the schema accepts everything.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) is_anything: bool,
}

/// `contains` with its limits.
#[derive(Debug)]
pub(super) struct Contains {
    pub(super) schema: NodeId,
    pub(super) minimum: u64,
    pub(super) maximum: Option<u64>,
    /// True if items that fit count as evaluated, since 2020-12.
    pub(super) evaluates: bool,
    pub(super) excerpt: String,
}

/// `properties`, `patternProperties` and `additionalProperties` of one schema, which depend on each other.
#[derive(Debug, Default)]
pub(super) struct Properties {
    /// Sorted by key.
    pub(super) named: Vec<(String, NodeId)>,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    pub(super) additional: Option<NodeId>,
}

impl Keyword {
    /// Returns true if it visits the items of an array or the entries of an object.
    pub(super) fn visits_children(&self) -> bool {
        matches!(
            self,
            Self::PrefixItems(_)
                | Self::Items(..)
                | Self::Contains(_)
                | Self::Properties(_)
                | Self::PropertyNames(_)
                | Self::DependentSchemas(_)
                | Self::UnevaluatedItems(_)
                | Self::UnevaluatedProperties(_)
        )
    }

    /// Its name in a schema; for several keywords in one variant, that of the first.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Never => "false",
            Self::Type(_) => "type",
            Self::Enum(_) => "enum",
            Self::Const(_) => "const",
            Self::Minimum(bound) => {
                if bound.exclusive {
                    "exclusiveMinimum"
                } else {
                    "minimum"
                }
            }
            Self::Maximum(bound) => {
                if bound.exclusive {
                    "exclusiveMaximum"
                } else {
                    "maximum"
                }
            }
            Self::MultipleOf(_) => "multipleOf",
            Self::MinLength(_) => "minLength",
            Self::MaxLength(_) => "maxLength",
            Self::Pattern(..) => "pattern",
            Self::Format(_) => "format",
            Self::MinItems(_) => "minItems",
            Self::MaxItems(_) => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::PrefixItems(_) => "prefixItems",
            Self::Items(..) => "items",
            Self::Contains(_) => "contains",
            Self::MinProperties(_) => "minProperties",
            Self::MaxProperties(_) => "maxProperties",
            Self::Required(_) => "required",
            Self::PropertyNames(_) => "propertyNames",
            Self::Properties(_) => "properties",
            Self::DependentRequired(_) => "dependentRequired",
            Self::DependentSchemas(_) => "dependentSchemas",
            Self::AllOf(_) => "allOf",
            Self::AnyOf(_) => "anyOf",
            Self::OneOf(_) => "oneOf",
            Self::Not(..) => "not",
            Self::If { .. } => "if",
            Self::Ref(_) => "$ref",
            Self::DynamicRef(..) => "$dynamicRef",
            Self::UnevaluatedItems(_) => "unevaluatedItems",
            Self::UnevaluatedProperties(_) => "unevaluatedProperties",
        }
    }
}

impl Properties {
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn named(&self, key: &str) -> Option<NodeId> {
        let place = self.named.binary_search_by(|(name, _)| name.as_str().cmp(key)).ok()?;
        Some(self.named[place].1)
    }
}

/// One end of a range.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) number: Number,
    pub(super) exclusive: bool,
    small: Option<i64>,
    exact: Decimal<'static>,
}

impl Bound {
    pub(super) fn new(number: &Number, exclusive: bool) -> Self {
        let (number, exact) = (number.clone(), Decimal::of(number.as_str()).into_owned());
        Self { small: small(number.as_str()), number, exclusive, exact }
    }

    /// Compares a number, given as JSON, with the bound.
    pub(super) fn compare(&self, number: &str) -> Ordering {
        match (small(number), self.small) {
            (Some(number), Some(bound)) => number.cmp(&bound),
            _ => Decimal::of(number).cmp(&self.exact),
        }
    }
}

/// The divisor of `multipleOf`.
#[derive(Debug)]
pub(super) struct Divisor {
    pub(super) number: Number,
    pub(super) exact: Decimal<'static>,
}

/// Parses an integer of at most 18 characters without decimal point and exponent.
fn small(number: &str) -> Option<i64> {
    if number.len() > 18 { None } else { number.parse().ok() }
}

/// The values of an `enum`, or that of a `const`.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// All values as JSON, in order.
    pub(super) texts: Vec<String>,
    strings: HashSet<String>,
    numbers: HashSet<Decimal<'static>>,
    /// The canonical texts of arrays, objects, booleans and null: numbers are equal by value, and objects in any order (2020-12 core,
    /// section 4.2.2).
    others: HashSet<String>,
}

impl Constants {
    pub(super) fn new(values: &[Value]) -> Self {
        let mut constants = Self::default();
        for value in values {
            constants.texts.push(value.to_string());
            match value {
                Value::String(text) => {
                    constants.strings.insert(text.clone());
                }
                Value::Number(number) => {
                    constants.numbers.insert(Decimal::of(number.as_str()).into_owned());
                }
                other => {
                    constants.others.insert(other.to_canonical());
                }
            }
        }
        constants
    }

    pub(super) fn has(&self, document: &Document<'_>, item: usize) -> bool {
        match document.content(item) {
            Content::String(text) => self.strings.contains(&**text),
            Content::Number(text) => self.numbers.contains(&Decimal::of(text)),
            Content::Null | Content::Boolean => self.others.contains(document.json(item)),
            Content::Array(_) | Content::Object(_) if self.others.is_empty() => false,
            Content::Array(_) | Content::Object(_) => {
                let value = document.json(item).parse::<Value>();
                value.is_ok_and(|value| self.others.contains(&value.to_canonical()))
            }
        }
    }

    /// The approximate number of steps to find a value among them.
    pub(super) fn cost(&self, document: &Document<'_>, item: usize) -> usize {
        match document.content(item) {
            Content::Array(_) | Content::Object(_) if !self.others.is_empty() => {
                let values = document.size(item).saturating_mul(STEPS_PER_VALUE);
                values.saturating_add(document.json(item).len() / BYTES_PER_STEP)
            }
            _ => 1,
        }
    }
}

impl Document<'_> {
    /// Returns true if a value is of a kind; `1.0` is an integer.
    pub(super) fn is(&self, item: usize, kind: Kind) -> bool {
        match self.content(item) {
            Content::Null => kind == Kind::Null,
            Content::Boolean => kind == Kind::Boolean,
            Content::Number(text) => {
                kind == Kind::Number || (kind == Kind::Integer && is_whole(text))
            }
            Content::String(_) => kind == Kind::String,
            Content::Array(_) => kind == Kind::Array,
            Content::Object(_) => kind == Kind::Object,
        }
    }
}

fn is_whole(number: &str) -> bool {
    let is_plain = number.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9'));
    is_plain || Decimal::of(number).is_integer()
}

/// Queries for explanations.
impl Schema {
    /// The keys in the `properties` of a node.
    pub(super) fn keys(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let properties = self.nodes[node].keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Properties(properties) => Some(properties),
            _ => None,
        });
        properties.flat_map(Properties::keys)
    }

    /// The kinds in the `type` of a node, or of the schema that it refers to.
    pub(super) fn kinds(&self, node: NodeId) -> Option<&[Kind]> {
        let mut node = node;
        // The limit also ends cycles of references.
        for _ in 0..MAX_CHAIN {
            let keywords = &self.nodes[node].keywords;
            let kinds = keywords.iter().find_map(|keyword| match keyword {
                Keyword::Type(kinds) => Some(kinds.as_slice()),
                _ => None,
            });
            let target = keywords.iter().find_map(|keyword| match keyword {
                Keyword::Ref(target) => Some(*target),
                _ => None,
            });
            match (kinds, target) {
                (None, Some(target)) => node = target,
                (kinds, _) => return kinds,
            }
        }
        None
    }

    /// Returns true if a node has a rule about an entry of the object.
    pub(super) fn mentions(&self, node: NodeId, key: &str) -> bool {
        let (mut pending, mut seen) = (vec![node], BTreeSet::new());
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            for keyword in &self.nodes[node].keywords {
                match keyword {
                    Keyword::Properties(properties) if properties.named(key).is_some() => {
                        return true;
                    }
                    Keyword::Required(keys) if keys.declared.iter().any(|known| known == key) => {
                        return true;
                    }
                    Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                        pending.extend(nodes);
                    }
                    Keyword::Not(node, _) | Keyword::Ref(node) => pending.push(*node),
                    _ => {}
                }
            }
        }
        false
    }

    /// Returns true if a node is `false`.
    pub(super) fn is_never(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].keywords.as_slice(), [Keyword::Never])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composite_constants_are_equal_by_the_values_of_numbers_and_in_any_order_of_keys() {
        let value: Value = r#"[{"c":[{"b":1,"a":2}],"a":1,"b":1}]"#.parse().expect("JSON");
        let constants = Constants::new(std::slice::from_ref(&value));
        assert_eq!(constants.texts, [value.to_string()]);
        for json in
            [r#"[{"c":[{"b":1,"a":2}],"a":1,"b":1.0}]"#, r#"[{"b":1,"c":[{"a":2,"b":1}],"a":1}]"#]
        {
            assert!(constants.has(&Document::read(json, 0).expect("JSON"), 0), "{json}");
        }
        let other = r#"[{"c":[{"b":1,"d":2}],"a":1,"b":1}]"#;
        assert!(!constants.has(&Document::read(other, 0).expect("JSON"), 0));
    }
}
