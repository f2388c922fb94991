//! The normalised JSON Schema: keywords, references, recursion. Codecs, published schemas, docs and
//! name checks are all read from it; there is no second reading of a schema anywhere. Never holds a
//! Rust name.

mod annotations;
mod budget;
mod follow;
pub mod keyword;
mod number;
mod publish;
pub(crate) mod read;
mod sample;
mod validate;

use std::collections::BTreeSet;
use std::ops::Index;

pub use annotations::{Annotations, BoxedAnnotations};
pub use budget::Budget;
pub(crate) use follow::kind_of_value;
pub use follow::{aliased, as_object, kind_of, parts, resolved};
pub use keyword::{Judged, Keyword};
pub use number::{as_f64, is_double, last_place, whole};
pub use publish::{published, published_with_rules};
pub use sample::sample;
pub use validate::violations;
pub(crate) use validate::{equal as json_equal, sort_key as json_sort_key};

use toolwright::format::{Format, IntegerFormat};
use toolwright::pattern::Translated;
use toolwright::value::Kind;

use crate::json::Json;
use crate::source::{Span, Spanned};

/// The format of a number that lies between the largest doubles.
pub(crate) const DOUBLE: &str = "double";

/// The dialect that is read and published.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Every schema node of a project, and the types among them.
#[derive(Debug, Default)]
pub struct Schemas {
    nodes: Vec<Node>,
    types: Vec<NamedType>,
    /// Nodes whose text is wrong: what they accept is not known. None in a project without errors.
    invalid: BTreeSet<NodeId>,
    /// Nodes that accept their own `default`.
    accept_default: BTreeSet<NodeId>,
    /// Where the first pattern stands that needs the tables of Unicode, if one does.
    pub(crate) needs_tables: Option<Span>,
}

/// Names a [`Node`]. Two uses of one node are one type; equal text written twice is two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Its place among all nodes.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// Names a [`NamedType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u32);

/// A schema with a name of its own.
#[derive(Debug)]
pub struct NamedType {
    /// The name of the service it belongs to.
    pub service: String,
    /// Its name, `[A-Z][A-Za-z0-9]*`.
    pub name: Spanned<String>,
    /// Its schema.
    pub schema: NodeId,
}

/// One schema: what it accepts, and what it says about itself. A value is accepted if its shape accepts
/// it and every assertion does.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it was written.
    pub span: Span,
    /// The part of it that a type can say.
    pub shape: Shape,
    /// The part that no type can say. A validator checks these, with the shape's own keywords beside them.
    pub assertions: Vec<Assertion>,
    /// Its annotations, none of which changes what is accepted.
    pub annotations: BoxedAnnotations,
    /// Its key under `$defs`, where it stands there.
    pub definition: Option<String>,
}

/// A keyword that no type can say.
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
    /// No schema: a count, a number, a name, a list of values.
    Plain(Json),
    /// One schema.
    Schema(NodeId),
    /// A list of schemas.
    Schemas(Vec<NodeId>),
    /// Schemas by name or pattern.
    Named(Vec<(String, NodeId)>),
}

/// The part of a schema that a type can say: it accepts all that the schema accepts, and at times more.
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
    /// An array with schemas for its first places.
    Tuple(TupleShape),
    /// An object.
    Object(ObjectShape),
    /// `null`, or what the inner node accepts. The inner node does not accept `null`.
    Nullable(NodeId),
    /// One of several objects, told apart by the value of one property.
    Union(UnionShape),
    /// One of several schemas, told apart by the kind of JSON value each accepts.
    Mixed(Vec<MixedVariant>),
    /// One of several schemas that may accept the same value; an assertion beside it says of how many.
    Overlapping(Vec<NodeId>),
    /// The values of a named type.
    Named(TypeId),
    /// The values of another node of the same schema: `#`, `#/$defs/X`.
    Local(NodeId),
}

/// The most fields of a tuple: Rust's library says of longer ones neither how they compare nor how they print.
pub const TUPLE: usize = 12;

/// An array with schemas for its first places, which are at most [`TUPLE`], with what comes after them.
#[derive(Clone, Debug)]
pub struct TupleShape {
    /// The schemas of the first items, in order.
    pub places: Vec<NodeId>,
    /// The schema of the items after them, if there may be any.
    pub rest: Option<TupleRest>,
    /// The least count.
    pub min_items: Option<u64>,
    /// The greatest count, not less than there are places.
    pub max_items: Option<u64>,
}

/// The items after the first places of an array.
#[derive(Clone, Debug)]
pub struct TupleRest {
    /// The schema of each item; [`Shape::Any`] where nothing is said.
    pub items: NodeId,
    /// Whether `items` says it.
    pub is_described: bool,
}

/// One value of an enumeration.
#[derive(Clone, Debug)]
pub struct EnumValue<T> {
    /// The value and where it was written.
    pub value: Spanned<T>,
    /// Its annotations: a choice of constants may describe each.
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

/// An ECMA-262 pattern, and what it became.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As written.
    pub ecma: String,
    /// For an engine of the contract crate: equal in meaning.
    pub translated: Translated,
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
    /// Whether a number has `format: double`; never beside `type: integer`.
    pub is_double: bool,
}

/// One end of a range.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The number as JSON writes it. Fits `f64`; on an integer, the bound it implies fits 65 bits.
    pub number: String,
    /// Whether the number itself is outside.
    pub exclusive: bool,
}

/// Limits of an array (2020-12 validation, 6.4).
#[derive(Clone, Debug)]
pub struct ArrayShape {
    /// The schema of each item; [`Shape::Any`] where nothing is said.
    pub items: NodeId,
    /// Whether `items` says it: to `unevaluatedItems` around it that makes a difference, even if any item is allowed.
    pub is_described: bool,
    /// The least count.
    pub min_items: Option<u64>,
    /// The greatest count.
    pub max_items: Option<u64>,
    /// Whether no two items may be equal.
    pub unique: bool,
}

/// An object's properties and what may stand beside them.
#[derive(Clone, Debug)]
pub struct ObjectShape {
    /// In declared order; a required property nobody described is last, as [`Shape::Any`].
    pub properties: Vec<Property>,
    /// The rule for all other properties.
    pub additional: Additional,
}

/// One property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its key and where that was written.
    pub name: Spanned<String>,
    /// The schema of its value.
    pub schema: NodeId,
    /// Whether it has to be there.
    pub required: bool,
    /// Whether `properties` describes it, not `required` alone or another schema.
    pub is_described: bool,
    /// The reference in an `allOf` that leads to the type whose property it is, if it is that of another.
    pub owner: Option<NodeId>,
}

/// The rule for the properties of an object that have no schema of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Additional {
    /// Nothing.
    Closed,
    /// Anything.
    Open,
    /// Anything, and the schema says so: to `unevaluatedProperties` around it that makes a difference.
    Declared,
    /// Values of this node.
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
    /// The tag's value: no two variants share one.
    pub tag: Spanned<String>,
    /// The object; its tag property is [`Shape::Const`].
    pub schema: NodeId,
}

/// One schema of a mixed choice.
#[derive(Clone, Debug)]
pub struct MixedVariant {
    /// The only kind of value it accepts; no two variants share one, nor are there both an integer and
    /// a number.
    pub kind: Kind,
    /// The schema.
    pub schema: NodeId,
}

impl Node {
    /// A schema that says nothing but its shape.
    pub fn new(span: Span, shape: Shape) -> Self {
        let annotations = BoxedAnnotations::default();
        Self { span, shape, assertions: Vec::new(), annotations, definition: None }
    }
}

impl Assertion {
    /// The schemas behind it.
    pub fn schemas(&self) -> Vec<NodeId> {
        match &self.operand {
            Operand::Plain(_) => Vec::new(),
            Operand::Schema(node) => vec![*node],
            Operand::Schemas(nodes) => nodes.clone(),
            Operand::Named(nodes) => nodes.iter().map(|(_, node)| *node).collect(),
        }
    }

    /// The value behind it, where that is no schema.
    pub fn value(&self) -> Option<&Json> {
        match &self.operand {
            Operand::Plain(value) => Some(value),
            _ => None,
        }
    }
}

impl TupleShape {
    /// How many of the places have to be there.
    pub fn required(&self) -> usize {
        let least = self.min_items.and_then(|least| usize::try_from(least).ok());
        least.unwrap_or(0).min(self.places.len())
    }

    /// Returns the schemas of the places and of the items after them.
    pub fn parts(&self) -> impl Iterator<Item = NodeId> {
        self.places.iter().copied().chain(self.rest.as_ref().map(|rest| rest.items))
    }
}

impl ObjectShape {
    /// The properties whose value is open: a required constant needs no field.
    pub fn fields<'a>(&'a self, schemas: &'a Schemas) -> impl Iterator<Item = &'a Property> {
        self.properties.iter().filter(|property| !property.is_fixed(schemas))
    }
}

impl NumberRules {
    /// The least integer that is allowed, where there is one.
    pub fn least_integer(&self) -> Option<i128> {
        let bound = self.lower.as_ref();
        let bound = bound.and_then(|bound| number::ceiling(&bound.number, bound.exclusive));
        let format = self.format.map(IntegerFormat::least);
        bound.into_iter().chain(format).max()
    }

    /// The greatest integer that is allowed, where there is one.
    pub fn greatest_integer(&self) -> Option<i128> {
        let bound = self.upper.as_ref();
        let bound = bound.and_then(|bound| number::floor(&bound.number, bound.exclusive));
        let format = self.format.map(IntegerFormat::greatest);
        bound.into_iter().chain(format).min()
    }

    /// Whether every number that is allowed lies between the largest doubles.
    pub fn is_within_doubles(&self) -> bool {
        self.is_double || (self.lower.is_some() && self.upper.is_some())
    }

    /// The standard type that holds every integer that is allowed: the one of the format, or the one that has the very same
    /// limits, or else one of 64 bits.
    pub fn standard(&self) -> Option<IntegerFormat> {
        let (least, greatest) = (self.least_integer()?, self.greatest_integer()?);
        let is_same =
            |format: &IntegerFormat| (format.least(), format.greatest()) == (least, greatest);
        let holds =
            |format: &IntegerFormat| format.least() <= least && greatest <= format.greatest();
        let same = || IntegerFormat::ALL.into_iter().find(is_same);
        let wide = || [IntegerFormat::Int64, IntegerFormat::Uint64].into_iter().find(holds);
        self.format.or_else(same).or_else(wide)
    }
}

impl Bound {
    /// The nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        self.number.parse().unwrap_or_default()
    }
}

impl Property {
    /// Whether there is only one way to write it, and nothing more to check of it.
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
    /// At the 2^32nd node, which no memory holds.
    pub fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 schema nodes"));
        self.nodes.push(node);
        id
    }

    /// Adds a node whose final body is not known yet.
    pub(crate) fn reserve(&mut self, span: Span) -> NodeId {
        self.add(Node::new(span, Shape::Any))
    }

    /// Adds a named type.
    ///
    /// # Panics
    ///
    /// At the 2^32nd type, which no memory holds.
    pub fn add_type(&mut self, named: NamedType) -> TypeId {
        let id = TypeId(u32::try_from(self.types.len()).expect("fewer than 2^32 named types"));
        self.types.push(named);
        id
    }

    /// All named types, in the order in which they were added.
    pub fn types(&self) -> &[NamedType] {
        &self.types
    }

    /// The ids of all named types, in that order.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..).map(TypeId).take(self.types.len())
    }

    /// Gives a node its final shape; recursion needs ids before bodies.
    pub fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// Notes that a node's text is invalid, so that its users are not reported again.
    pub(crate) fn mark_invalid(&mut self, id: NodeId) {
        self.invalid.insert(id);
    }

    /// Whether what a node accepts is known.
    pub(crate) fn is_valid(&self, id: NodeId) -> bool {
        !self.invalid.contains(&id)
    }

    /// The same schemas, with the nodes that accept their own `default`.
    pub(crate) fn with_accepted_defaults(self, accept_default: BTreeSet<NodeId>) -> Self {
        Self { accept_default, ..self }
    }

    /// The `default` of a node that accepts it.
    pub(crate) fn default_of(&self, id: NodeId) -> Option<&Json> {
        let default = self[id].annotations.default.as_ref();
        default.filter(|_| self.accept_default.contains(&id))
    }

    /// All ids, in the order in which nodes were added.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..).map(NodeId).take(self.nodes.len())
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
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
