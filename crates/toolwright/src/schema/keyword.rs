//! What a schema demands of a value, keyword by keyword, with every reference resolved.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Schema;
use super::document::{Content, Document};
use crate::format::Format;
use crate::pattern::Pattern;
use crate::value::{Decimal, Kind, Number, Value};

/// The place of a node among those of its schema.
pub(super) type NodeId = usize;

/// How many references are followed to learn of which kind a schema is.
const MAX_CHAIN: usize = 64;

/// One schema: all its keywords have to hold.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) keywords: Vec<Keyword>,
    /// The resource it belongs to: the schema around it that has an `$id`, or the root.
    pub(super) resource: usize,
    /// How many schemas lead to it. What is reached on one way only meets each value once.
    pub(super) uses: usize,
}

/// A keyword that accepts or refuses a value.
#[derive(Debug)]
pub(super) enum Keyword {
    /// `false`
    Never,
    Type(Vec<Kind>),
    Enum(Constants),
    Const(Value),
    Minimum(Bound),
    Maximum(Bound),
    MultipleOf(Number),
    MinLength(u64),
    MaxLength(u64),
    /// With the text it is known by.
    Pattern(Pattern, String),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    PrefixItems(Vec<NodeId>),
    /// Every item from this index on.
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
    Not(NodeId, Shown),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    /// The target, unless a resource on the way here has the anchor.
    DynamicRef(NodeId, String),
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// Keys that have to be there.
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

    /// Those that an object lacks, in the order of the schema.
    pub(super) fn missing<'k>(
        &'k self,
        document: &Document<'_>,
        object: usize,
    ) -> impl Iterator<Item = &'k str> {
        let there: HashSet<&str> =
            document.children(object).map(|entry| document.key(entry)).collect();
        let missing: Vec<&str> =
            self.declared.iter().map(String::as_str).filter(|name| !there.contains(name)).collect();
        missing.into_iter()
    }

    /// Whether an object has all of them.
    pub(super) fn are_in(&self, document: &Document<'_>, object: usize) -> bool {
        let is_named = |entry: &usize| self.sorted.contains(document.key(*entry));
        // Every key stands in an object once.
        document.children(object).filter(is_named).count() == self.sorted.len()
    }
}

/// A schema as it is quoted in a sentence, and whether it accepts everything.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) is_anything: bool,
}

/// `contains` with its limits.
#[derive(Debug)]
pub(super) struct Contains {
    pub(super) schema: NodeId,
    pub(super) least: u64,
    pub(super) most: Option<u64>,
    /// Whether what fits counts as evaluated: since 2020-12.
    pub(super) evaluates: bool,
    pub(super) shown: String,
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
    /// Whether it goes through the items of an array or the entries of an object.
    pub(super) fn looks_at_parts(&self) -> bool {
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

    /// Its name in a schema; that of the first where several stand together.
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
    exact: Decimal,
}

impl Bound {
    pub(super) fn new(number: &Number, exclusive: bool) -> Self {
        let (number, exact) = (number.clone(), Decimal::of(number.as_str()));
        Self { small: small(number.as_str()), number, exclusive, exact }
    }

    /// How a number, given as JSON, stands to the bound.
    pub(super) fn compare(&self, number: &str) -> Ordering {
        match (small(number), self.small) {
            (Some(number), Some(bound)) => number.cmp(&bound),
            _ => Decimal::of(number).cmp(&self.exact),
        }
    }
}

/// An integer that is written plainly and surely fits.
fn small(number: &str) -> Option<i64> {
    if number.len() > 18 { None } else { number.parse().ok() }
}

/// The values of an `enum`.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// All of them, as JSON and in order.
    pub(super) shown: Vec<String>,
    strings: HashSet<String>,
    numbers: HashSet<Decimal>,
    others: Vec<Value>,
    /// How many values the others are, with all that is in them.
    size: usize,
}

impl Constants {
    pub(super) fn new(values: &[Value]) -> Self {
        let mut constants = Self::default();
        for value in values {
            constants.shown.push(value.to_string());
            match value {
                Value::String(text) => {
                    constants.strings.insert(text.clone());
                }
                Value::Number(number) => {
                    constants.numbers.insert(Decimal::of(number.as_str()));
                }
                other => {
                    constants.size += size(other);
                    constants.others.push(other.clone());
                }
            }
        }
        constants
    }

    pub(super) fn has(&self, document: &Document<'_>, item: usize) -> bool {
        match document.content(item) {
            Content::String(text) => self.strings.contains(&**text),
            Content::Number(text) => self.numbers.contains(&Decimal::of(text)),
            _ => self.others.iter().any(|constant| document.equals(item, constant)),
        }
    }

    /// About how many values are compared to find a value among them.
    pub(super) fn cost(&self, document: &Document<'_>, item: usize) -> usize {
        match document.content(item) {
            Content::String(_) | Content::Number(_) => 1,
            _ => self.size.min(self.others.len().saturating_mul(document.size(item))),
        }
    }
}

/// How many values a value is, itself included.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

impl Document<'_> {
    /// Equality of JSON Schema (2020-12 core, 4.2.2): numbers by value, objects whatever their order.
    pub(super) fn equals(&self, item: usize, constant: &Value) -> bool {
        match (self.content(item), constant) {
            (Content::Null, Value::Null) => true,
            (Content::Boolean(found), Value::Boolean(constant)) => found == constant,
            (Content::Number(found), Value::Number(constant)) => {
                *found == constant.as_str() || Decimal::of(found) == Decimal::of(constant.as_str())
            }
            (Content::String(found), Value::String(constant)) => found == constant,
            (Content::Array(count), Value::Array(constants)) => {
                *count == constants.len()
                    && self
                        .children(item)
                        .zip(constants)
                        .all(|(item, constant)| self.equals(item, constant))
            }
            (Content::Object(count), Value::Object(constants)) => {
                let is_equal = |entry: usize| {
                    constants
                        .get(self.key(entry))
                        .is_some_and(|constant| self.equals(entry, constant))
                };
                *count == constants.len() && self.children(item).all(is_equal)
            }
            _ => false,
        }
    }

    /// Whether a value is of a kind; `1.0` is an integer.
    pub(super) fn is(&self, item: usize, kind: Kind) -> bool {
        match self.content(item) {
            Content::Null => kind == Kind::Null,
            Content::Boolean(_) => kind == Kind::Boolean,
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

/// Questions that explanations ask of nodes.
impl Schema {
    /// The keys that a node names.
    pub(super) fn keys(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let properties = self.nodes[node].keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Properties(properties) => Some(properties),
            _ => None,
        });
        properties.flat_map(Properties::keys)
    }

    /// The kinds that the `type` of a node names, or that of the schema it refers to.
    pub(super) fn kinds(&self, node: NodeId) -> Option<&[Kind]> {
        let mut node = node;
        // A circle of references has no kind, nor is one looked for at the end of a long chain.
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

    /// Whether a node looks at an entry of the object that it judges.
    pub(super) fn mentions(&self, node: NodeId, key: &str) -> bool {
        let (mut waiting, mut seen) = (vec![node], BTreeSet::new());
        while let Some(node) = waiting.pop() {
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
                        waiting.extend(nodes);
                    }
                    Keyword::Not(node, _) | Keyword::Ref(node) => waiting.push(*node),
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether a node is `false`.
    pub(super) fn is_never(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].keywords.as_slice(), [Keyword::Never])
    }
}
