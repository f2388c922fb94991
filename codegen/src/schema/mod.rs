//! Normalized JSON Schemas. Every schema is read once into these nodes; codecs, published schemas, docs and name checks all
//! come from them. They have no Rust names.

mod annotations;
mod budget;
mod follow;
pub mod keyword;
mod number;
mod publish;
pub(crate) mod read;
mod sample;
#[cfg(feature = "project")]
mod standalone;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;
use std::sync::Arc;

pub use annotations::{Annotations, BoxedAnnotations};
pub use budget::Budget;
pub(crate) use follow::kind_of_value;
pub use follow::{aliased, as_object, kind_of, parts, reached, resolved};
pub use keyword::{AppliesTo, Keyword};
pub use number::{as_f64, is_double, last_place, whole};
#[cfg(feature = "project")]
pub use publish::definitions;
pub use publish::{published, published_with_rules, published_within};
pub use sample::sample;
#[cfg(feature = "project")]
pub use standalone::read_values;
pub(crate) use validate::key as json_key;
pub use validate::violations;

use toolwright::format::{Format, IntegerFormat};
use toolwright::pattern::Translated;
use toolwright::value::Kind;

use crate::json::Json;
use crate::source::{Span, Spanned};

/// The format of numbers in the range of doubles.
pub(crate) const DOUBLE: &str = "double";

/// The URI of the dialect that is read and published.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// All schema nodes of a project, and its named types.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    nodes: Vec<Node>,
    types: Vec<NamedType>,
    /// The named type of each node that is the schema of one.
    named: BTreeMap<NodeId, TypeId>,
    /// Nodes with mistakes, so that it is not known what they accept. A project without errors has none.
    invalid: BTreeSet<NodeId>,
    accepted: Accepted,
    /// All patterns by their text.
    patterns: BTreeMap<String, Pattern>,
    /// The span of the first pattern that needs the tables of Unicode, if any.
    pub(crate) needs_tables: Option<Span>,
}

/// The values in annotations that their own nodes accept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accepted {
    /// The nodes that accept their own `default`.
    pub(crate) defaults: BTreeSet<NodeId>,
    /// The index of the first accepted example of each node that has one.
    pub(crate) examples: BTreeMap<NodeId, usize>,
}

/// The id of a [`Node`]. All uses of one node have the same type; the same text in two places makes two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns its position among all nodes.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// The id of a [`NamedType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u32);

/// A schema with a name of its own.
#[derive(Clone, Debug)]
pub struct NamedType {
    /// The name of the service it belongs to.
    pub service: String,
    /// Its name, `[A-Z][A-Za-z0-9]*`.
    pub name: Spanned<String>,
    /// Its schema.
    pub schema: NodeId,
}

/// One schema. It accepts a value if its shape and all its assertions accept it.
#[derive(Clone, Debug)]
pub struct Node {
    /// The span of its text.
    pub span: Span,
    /// The part that a Rust type can express.
    pub shape: Shape,
    /// The part that no Rust type can express. A validator checks it, together with the keywords of the shape.
    pub assertions: Vec<Assertion>,
    /// Its annotations, which do not affect the values that it accepts.
    pub annotations: BoxedAnnotations,
    /// Its key under `$defs`, if it is a definition.
    pub definition: Option<String>,
}

/// A keyword that no Rust type can express.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The keyword.
    pub keyword: Keyword,
    /// Its operand.
    pub operand: Operand,
}

/// The operand of a keyword.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A value without schemas: a count, a number, a name, a list of values.
    Plain(Json),
    /// One schema.
    Schema(NodeId),
    /// A list of schemas.
    Schemas(Vec<NodeId>),
    /// Schemas by name or pattern.
    Named(Vec<(String, NodeId)>),
}

/// The part of a schema that a Rust type can express. It accepts all values that the schema accepts, and possibly more.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Any JSON value: `{}` or `true`.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A string.
    String(StringRules),
    /// A number without a fraction; `1.0` is one.
    Integer(NumberRules),
    /// A number.
    Number(NumberRules),
    /// Exactly this value.
    Const(Json),
    /// One of these strings, in declared order; never empty, no two equal.
    Enum(Vec<EnumValue<String>>),
    /// One of these integers, in declared order; never empty, no two equal.
    IntegerEnum(Vec<Spanned<i64>>),
    /// One of these strings, numbers and booleans, in declared order; at least two, no two equal.
    Constants(Vec<EnumValue<Json>>),
    /// An array.
    Array(ArrayShape),
    /// An array with schemas for its first items.
    Tuple(TupleShape),
    /// An object.
    Object(ObjectShape),
    /// `null`, or a value of the inner node, which does not accept `null`.
    Nullable(NodeId),
    /// One of several objects, told apart by the value of one property.
    Union(UnionShape),
    /// One of several schemas, told apart by the kind of JSON value each accepts.
    Mixed(Vec<MixedVariant>),
    /// One of several schemas that may accept the same value; an assertion says how many of them have to.
    Overlapping(OverlappingShape),
    /// The values of a named type.
    Named(TypeId),
    /// The values of another node of the same schema: `#`, `#/$defs/X`.
    Local(NodeId),
}

/// The most fields of a tuple: the standard library implements traits such as `PartialEq` and `Debug` for no longer ones.
pub const MAX_TUPLE: usize = 12;

/// An array with schemas for its first items, at most [`MAX_TUPLE`], and for the items after them.
#[derive(Clone, Debug)]
pub struct TupleShape {
    /// The schemas of the first items, in order.
    pub places: Vec<NodeId>,
    /// The schema of the items after them, if there may be any.
    pub rest: Option<TupleRest>,
    /// The least count.
    pub min_items: Option<u64>,
    /// The greatest count, at least that of `places`.
    pub max_items: Option<u64>,
}

/// The items after the first items of an array.
#[derive(Clone, Debug)]
pub struct TupleRest {
    /// The schema of each item; [`Shape::Any`] without `items`.
    pub items: NodeId,
    /// True if `items` is present.
    pub is_described: bool,
}

/// One value of an enumeration.
#[derive(Clone, Debug)]
pub struct EnumValue<T> {
    /// The value with its span.
    pub value: Spanned<T>,
    /// Its annotations, if it is a constant in a choice.
    pub annotations: BoxedAnnotations,
}

/// Limits of a string; lengths count Unicode code points (2020-12 validation, 6.3).
#[derive(Clone, Debug, Default)]
pub struct StringRules {
    /// The least length.
    pub min_length: Option<u64>,
    /// The greatest length.
    pub max_length: Option<u64>,
    /// A pattern found anywhere in it.
    pub pattern: Option<Box<Pattern>>,
    /// A format that is checked.
    pub format: Option<Format>,
}

/// An ECMA-262 pattern and its translation.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The pattern as written.
    pub ecma: String,
    /// The equivalent for an engine of the contract crate, which may be a thousand times as long. All uses share it.
    pub translated: Arc<Translated>,
}

/// Limits of a number (2020-12 validation, 6.2).
#[derive(Clone, Debug, Default)]
pub struct NumberRules {
    /// The lower bound.
    pub lower: Option<Bound>,
    /// The upper bound.
    pub upper: Option<Bound>,
    /// The format of an integer; none beside `type: number`.
    pub format: Option<IntegerFormat>,
    /// True if a number has `format: double`; never beside `type: integer`.
    pub is_double: bool,
}

/// One end of a range.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The number in JSON's notation. It fits `f64`; for an integer, the bound that it implies fits 65 bits.
    pub number: String,
    /// True if the number itself is excluded.
    pub exclusive: bool,
}

/// Limits of an array (2020-12 validation, 6.4).
#[derive(Clone, Debug)]
pub struct ArrayShape {
    /// The schema of each item; [`Shape::Any`] without `items`.
    pub items: NodeId,
    /// True if `items` is present: this matters to `unevaluatedItems` around it, even if any item is allowed.
    pub is_described: bool,
    /// The least count.
    pub min_items: Option<u64>,
    /// The greatest count.
    pub max_items: Option<u64>,
    /// True if no two items may be equal.
    pub unique: bool,
}

/// An object's properties, and the rule for additional ones.
#[derive(Clone, Debug)]
pub struct ObjectShape {
    /// The properties in declared order. Required ones without a schema come last, with [`Shape::Any`].
    pub properties: Vec<Property>,
    /// The rule for all other properties.
    pub additional: Additional,
}

/// One property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its key with its span.
    pub name: Spanned<String>,
    /// The schema of its value.
    pub schema: NodeId,
    /// True if it is required.
    pub required: bool,
    /// True if `properties` of this schema describes it, not only `required` or another schema.
    pub is_described: bool,
    /// The reference in an `allOf` to the type that the property belongs to, if it belongs to another type.
    pub owner: Option<NodeId>,
}

/// The rule for the properties of an object that have no schema of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Additional {
    /// None are allowed.
    Closed,
    /// All are allowed.
    Open,
    /// All are allowed explicitly, which matters to `unevaluatedProperties` around it.
    Declared,
    /// Those with values of this node are allowed.
    Typed(NodeId),
}

/// Objects told apart by one property.
#[derive(Clone, Debug)]
pub struct UnionShape {
    /// The property that tells them apart: required in each, with a constant string.
    pub tag: String,
    /// The objects, in declared order.
    pub variants: Vec<Variant>,
}

/// One object of a union.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The tag's value, which differs for each variant.
    pub tag: Spanned<String>,
    /// The object; its tag property is [`Shape::Const`].
    pub schema: NodeId,
}

/// Schemas that may accept the same value.
#[derive(Clone, Debug)]
pub struct OverlappingShape {
    /// The schemas, in declared order. Each accepts values of one kind, which is not null.
    pub members: Vec<NodeId>,
    /// The kind of the values, if all members share it. Members may be such choices themselves, in long chains, so that it would
    /// take long to find it again.
    pub kind: Option<Kind>,
}

/// One schema of a mixed choice.
#[derive(Clone, Debug)]
pub struct MixedVariant {
    /// The only kind of value it accepts, which differs for each variant; there are not both an integer and a number.
    pub kind: Kind,
    /// The schema.
    pub schema: NodeId,
}

impl Node {
    /// Creates a schema with nothing but a shape.
    pub fn new(span: Span, shape: Shape) -> Self {
        let annotations = BoxedAnnotations::default();
        Self { span, shape, assertions: Vec::new(), annotations, definition: None }
    }
}

impl Assertion {
    /// Returns the schemas in its operand.
    pub fn schemas(&self) -> Vec<NodeId> {
        match &self.operand {
            Operand::Plain(_) => Vec::new(),
            Operand::Schema(node) => vec![*node],
            Operand::Schemas(nodes) => nodes.clone(),
            Operand::Named(nodes) => nodes.iter().map(|(_, node)| *node).collect(),
        }
    }

    /// Returns its operand, if that has no schemas.
    pub fn value(&self) -> Option<&Json> {
        match &self.operand {
            Operand::Plain(value) => Some(value),
            _ => None,
        }
    }
}

impl TupleShape {
    /// Returns how many of the first items are required.
    pub fn required(&self) -> usize {
        let least = self.min_items.and_then(|least| usize::try_from(least).ok());
        least.unwrap_or(0).min(self.places.len())
    }

    /// Returns the schemas of the first items and of the items after them.
    pub fn parts(&self) -> impl Iterator<Item = NodeId> {
        self.places.iter().copied().chain(self.rest.as_ref().map(|rest| rest.items))
    }
}

impl ObjectShape {
    /// Returns the properties that need a field: a required constant needs none.
    pub fn fields<'a>(&'a self, schemas: &'a Schemas) -> impl Iterator<Item = &'a Property> {
        self.properties.iter().filter(|property| !property.is_fixed(schemas))
    }
}

impl NumberRules {
    /// Returns the smallest integer that is allowed, if there is one.
    pub fn min_integer(&self) -> Option<i128> {
        let bound = self.lower.as_ref();
        let bound = bound.and_then(|bound| number::ceiling(&bound.number, bound.exclusive));
        let format = self.format.map(IntegerFormat::min_value);
        bound.into_iter().chain(format).max()
    }

    /// Returns the largest integer that is allowed, if there is one.
    pub fn max_integer(&self) -> Option<i128> {
        let bound = self.upper.as_ref();
        let bound = bound.and_then(|bound| number::floor(&bound.number, bound.exclusive));
        let format = self.format.map(IntegerFormat::max_value);
        bound.into_iter().chain(format).min()
    }

    /// Returns whether a double is in the range. Between neighboring doubles there are only other numbers.
    pub fn has_double(&self) -> bool {
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return true };
        let (least, greatest) = (lower.as_f64(), upper.as_f64());
        let least = if lower.exclusive { least.next_up() } else { least };
        let greatest = if upper.exclusive { greatest.next_down() } else { greatest };
        least <= greatest
    }

    /// Returns whether every number that is allowed is in the range of doubles.
    pub fn is_within_doubles(&self) -> bool {
        self.is_double || (self.lower.is_some() && self.upper.is_some())
    }

    /// Returns the standard integer type for all integers that are allowed: that of the format, else one with the same limits,
    /// else one of 64 bits.
    pub fn standard(&self) -> Option<IntegerFormat> {
        let (least, greatest) = (self.min_integer()?, self.max_integer()?);
        let has_same_limits =
            |format: &IntegerFormat| (format.min_value(), format.max_value()) == (least, greatest);
        let holds =
            |format: &IntegerFormat| format.min_value() <= least && greatest <= format.max_value();
        let same = || IntegerFormat::ALL.into_iter().find(has_same_limits);
        let wide = || [IntegerFormat::Int64, IntegerFormat::Uint64].into_iter().find(holds);
        self.format.or_else(same).or_else(wide)
    }
}

impl Bound {
    /// Returns the nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        self.number.parse().unwrap_or_default()
    }
}

impl Property {
    /// Returns whether it is a required constant without assertions.
    pub fn is_fixed(&self, schemas: &Schemas) -> bool {
        let Node { shape, assertions, .. } = &schemas[self.schema];
        self.required && matches!(shape, Shape::Const(_)) && assertions.is_empty()
    }
}

impl Schemas {
    /// Adds a node.
    ///
    /// # Panics
    ///
    /// If there are 2^32 nodes already.
    pub fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 schema nodes"));
        self.nodes.push(node);
        id
    }

    /// Adds a node whose content is set later.
    pub(crate) fn reserve(&mut self, span: Span) -> NodeId {
        self.add(Node::new(span, Shape::Any))
    }

    /// Returns a pattern of some schema, from its text.
    pub(crate) fn pattern(&self, ecma: &str) -> Option<&Pattern> {
        self.patterns.get(ecma)
    }

    /// Adds a named type.
    ///
    /// # Panics
    ///
    /// If there are 2^32 types already.
    pub fn add_type(&mut self, named: NamedType) -> TypeId {
        let id = TypeId(u32::try_from(self.types.len()).expect("fewer than 2^32 named types"));
        self.named.insert(named.schema, id);
        self.types.push(named);
        id
    }

    /// Returns the named type whose schema a node is.
    pub(crate) fn type_of(&self, schema: NodeId) -> Option<TypeId> {
        self.named.get(&schema).copied()
    }

    /// Returns all named types, in the order in which they were added.
    pub fn types(&self) -> &[NamedType] {
        &self.types
    }

    /// Returns the ids of all named types, in the same order.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..).map(TypeId).take(self.types.len())
    }

    /// Sets the content of a node. Recursive schemas need the id before the content.
    pub fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// Marks a node as invalid, so that its mistakes are not reported again for its users.
    pub(crate) fn mark_invalid(&mut self, id: NodeId) {
        self.invalid.insert(id);
    }

    /// Returns whether a node is valid, so that it is known what it accepts.
    pub(crate) fn is_valid(&self, id: NodeId) -> bool {
        !self.invalid.contains(&id)
    }

    /// Sets which of their own values nodes accept.
    pub(crate) fn with_accepted(self, accepted: Accepted) -> Self {
        Self { accepted, ..self }
    }

    /// Returns the `default` of a node, if the node accepts it.
    pub(crate) fn default_of(&self, id: NodeId) -> Option<&Json> {
        let default = self[id].annotations.default.as_ref();
        default.filter(|_| self.accepted.defaults.contains(&id))
    }

    /// Returns the `default` of a node, or else of the type that it only refers to.
    pub(crate) fn default_within(&self, mut id: NodeId) -> Option<&Json> {
        loop {
            if let Some(value) = self.default_of(id) {
                return Some(value);
            }
            let Node { shape, assertions, annotations, .. } = &self[id];
            id = match shape {
                Shape::Named(id) => self[*id].schema,
                Shape::Local(target) => *target,
                _ => return None,
            };
            if !assertions.is_empty() || annotations.default.is_some() {
                return None;
            }
        }
    }

    /// Returns the first example of a node that the node accepts, or else its `default`.
    fn own_value(&self, id: NodeId) -> Option<&Json> {
        let example = self.accepted.examples.get(&id);
        let example = example.and_then(|index| self[id].annotations.examples.get(*index));
        example.or_else(|| self.default_of(id))
    }

    /// Returns the ids of all nodes, in the order in which they were added.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..).map(NodeId).take(self.nodes.len())
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Index<NodeId> for Schemas {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl Index<TypeId> for Schemas {
    type Output = NamedType;

    fn index(&self, id: TypeId) -> &NamedType {
        &self.types[id.0 as usize]
    }
}
