//! The defaults of types and fields: the `default` of their schema, if a Rust constant can hold it. A field has no default if
//! an assertion could tell the filled-in value from an absent one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::domain::TypeOptionsMap;
use super::shapes::{constant_variants, integer_variants, string_variants, type_of_text};
use super::types::{Constant, DefaultValue, SchemaDefault, Wrapper};
use super::validated::validated;
use crate::boxes::Boxes;
use crate::json::Json;
use crate::naming::{Identifier, Scope, TypeName, TypeNames, screaming, snake};
use crate::schema::{Node, NodeId, Property, Schemas, Shape, as_f64, json_key, resolved, whole};

/// The defaults of a project.
#[derive(Debug)]
pub(super) struct Defaults {
    /// The defaults of properties, by the object and the schema of the property.
    fields: BTreeMap<(NodeId, NodeId), SchemaDefault>,
    /// The defaults of enums and newtypes.
    types: BTreeMap<NodeId, SchemaDefault>,
}

impl Defaults {
    /// Finds the defaults of all types.
    pub(super) fn of(
        schemas: &Schemas,
        names: &TypeNames,
        boxes: &Boxes,
        exact: &BTreeSet<NodeId>,
        options: &TypeOptionsMap<'_>,
    ) -> Self {
        // An assertion could see the filled-in value, and so could a list of unique items.
        let validated = validated(schemas, names, |id| {
            matches!(&schemas[id].shape, Shape::Array(array) if array.unique)
                || !schemas[id].assertions.is_empty()
        });
        let (mut fields, mut types) = (BTreeMap::new(), BTreeMap::new());
        let variants = Variants::default();
        for owner in names.all() {
            let node = owner.node;
            let variants = &variants;
            let search = |constant| Search {
                schemas,
                names,
                boxes,
                exact,
                options,
                variants,
                owner,
                constant,
            };
            if let Some(default) = search(screaming("default")).of_type() {
                types.insert(node, default);
            }
            let Shape::Object(object) = &schemas[node].shape else { continue };
            let absent = object.properties.iter().filter(|property| !property.required);
            for property in absent.filter(|_| !validated.contains(&node)) {
                let constant = screaming(&format!("default_{}", snake(&property.name.value)));
                if let Some(default) = search(constant).of_property(property) {
                    fields.insert((node, property.schema), default);
                }
            }
        }
        Self { fields, types }
    }

    /// Returns the value of a property's field if the key is absent.
    pub(super) fn get(&self, owner: NodeId, property: &Property) -> Option<&SchemaDefault> {
        self.fields.get(&(owner, property.schema))
    }

    /// Returns about how many bytes of memory the defaults of an object take beside the object itself.
    pub(super) fn bytes(&self, schemas: &Schemas, object: NodeId) -> usize {
        let Shape::Object(shape) = &schemas[object].shape else { return 0 };
        let bytes = |property: &Property| match &self.get(object, property)?.value {
            DefaultValue::Constant(_, constant) => Some(constant.bytes()),
            // Types that contain each other by value are few: see `Boxes`.
            DefaultValue::EmptyStruct(_) => {
                Some(self.bytes(schemas, without_null(schemas, property.schema)))
            }
            _ => None,
        };
        shape.properties.iter().filter_map(bytes).sum()
    }

    /// Returns the default of an enum or a newtype.
    pub(super) fn of_type(&self, node: NodeId) -> Option<&SchemaDefault> {
        self.types.get(&node)
    }
}

/// Returns the schema of the values of a node that are not null.
fn without_null(schemas: &Schemas, node: NodeId) -> NodeId {
    let node = resolved(schemas, node);
    match schemas[node].shape {
        Shape::Nullable(inner) => resolved(schemas, inner),
        _ => node,
    }
}

/// The names of the variants of enums. They are made once for each enum, as a list may have many of its values.
#[derive(Default)]
struct Variants(RefCell<BTreeMap<NodeId, VariantNames>>);

/// The names of an enum's variants, by the [keys](json_key) of their values.
type VariantNames = BTreeMap<String, Identifier>;

impl Variants {
    /// Returns the variant of a value.
    fn of(&self, schemas: &Schemas, node: NodeId, value: &Json) -> Option<Identifier> {
        let mut known = self.0.borrow_mut();
        let names = known.entry(node).or_insert_with(|| variant_names(&schemas[node]));
        names.get(&json_key(value)).cloned()
    }
}

fn variant_names(Node { shape, annotations, .. }: &Node) -> VariantNames {
    let variants: Vec<(Json, Identifier)> = match shape {
        Shape::Enum(values) => {
            let variants = string_variants(values).into_iter();
            variants.map(|variant| (Json::String(variant.value), variant.name)).collect()
        }
        Shape::Constants(values) => {
            let names = constant_variants(values).into_iter().map(|variant| variant.name);
            values.iter().map(|value| value.value.value.clone()).zip(names).collect()
        }
        Shape::IntegerEnum(values) => {
            let values = values.iter().map(|value| value.value);
            let variants = integer_variants(values, &annotations.enum_names).into_iter();
            variants
                .map(|variant| (Json::Number(variant.value.to_string()), variant.name))
                .collect()
        }
        _ => Vec::new(),
    };
    variants.into_iter().map(|(value, name)| (json_key(&value), name)).collect()
}

struct Search<'a> {
    schemas: &'a Schemas,
    names: &'a TypeNames,
    boxes: &'a Boxes,
    exact: &'a BTreeSet<NodeId>,
    options: &'a TypeOptionsMap<'a>,
    variants: &'a Variants,
    owner: &'a TypeName,
    /// The name of the constant for the value.
    constant: Identifier,
}

impl<'a> Search<'a> {
    fn of_property(&self, property: &Property) -> Option<SchemaDefault> {
        self.found(property.schema, self.schemas.default_within(property.schema)?)
    }

    /// Returns the default of the owner, if it is an enum or a newtype.
    fn of_type(&self) -> Option<SchemaDefault> {
        let node = self.owner.node;
        let json = self.schemas.default_of(node)?;
        let found = self.found(node, json).filter(|_| !self.is_alias(node))?;
        let is_enum = matches!(found.value, DefaultValue::Constant(_, Constant::Variant(..)));
        (is_enum || !found.within.is_empty()).then_some(found)
    }

    fn found(&self, node: NodeId, json: &Json) -> Option<SchemaDefault> {
        let mut within = Vec::new();
        let holder = (node != self.owner.node).then_some(self.owner);
        let value = self.value(node, json, holder, &mut within)?;
        Some(SchemaDefault { within, value })
    }

    /// Returns a value of a node, and adds its wrappers to `within`. `holder` is the type that holds the node.
    fn value(
        &self,
        node: NodeId,
        json: &Json,
        mut holder: Option<&'a TypeName>,
        within: &mut Vec<Wrapper>,
    ) -> Option<DefaultValue> {
        let Node { shape, assertions, .. } = &self.schemas[node];
        // The compiler cannot make a constant of a domain type.
        if self.options.domain(node).is_some() {
            return None;
        }
        if let Some(held) = self.names.get(node) {
            let is_boxed = |holder: &TypeName| {
                !self.is_alias(holder.node) && self.boxes.contain(holder.node, node)
            };
            if holder.is_some_and(|holder| is_boxed(holder) || !self.is_imported(holder)) {
                return None;
            }
            holder = Some(held);
            let name = &held.name;
            match (shape, json) {
                (Shape::Enum(_) | Shape::Constants(_) | Shape::IntegerEnum(_), json) => {
                    let variant = self.variants.of(self.schemas, node, json)?;
                    return Some(self.constant(Constant::Variant(name.clone(), variant)));
                }
                (Shape::Object(_), Json::Object(entries)) => {
                    let is_default = entries.is_empty() && assertions.is_empty();
                    return is_default.then(|| DefaultValue::EmptyStruct(name.clone()));
                }
                _ if self.is_alias(node) => {}
                _ => within.push(Wrapper::Newtype(name.clone())),
            }
        }
        match (shape, json) {
            (Shape::Nullable(_), Json::Null) => Some(DefaultValue::Null),
            (Shape::Nullable(inner), _) => {
                within.push(Wrapper::Some);
                self.value(*inner, json, holder, within)
            }
            (Shape::Named(id), _) => self.value(self.schemas[*id].schema, json, holder, within),
            (Shape::Local(target), _) if self.names.get(*target).is_some() => {
                self.value(*target, json, holder, within)
            }
            // Its type is any value.
            (Shape::Local(_), _) => None,
            (Shape::Array(_), Json::Array(items)) if items.is_empty() => {
                Some(DefaultValue::EmptyList)
            }
            (Shape::Object(_), Json::Object(entries)) if entries.is_empty() => {
                Some(DefaultValue::EmptyMap)
            }
            _ => self.literal(node, json, holder).map(|literal| self.constant(literal)),
        }
    }

    /// Returns whether a type is another name for the type that it refers to.
    fn is_alias(&self, node: NodeId) -> bool {
        let Node { shape, assertions, .. } = &self.schemas[node];
        matches!(shape, Shape::Named(_) | Shape::Local(_)) && assertions.is_empty()
    }

    /// Returns whether the module of the owner imports the types that another type uses: a service imports only those that its
    /// own types use.
    fn is_imported(&self, holder: &TypeName) -> bool {
        matches!(self.owner.scope, Scope::Toolset(_)) || holder.scope == self.owner.scope
    }

    /// Returns a value as a literal, ignoring the name of the node.
    fn literal(&self, node: NodeId, json: &Json, holder: Option<&'a TypeName>) -> Option<Constant> {
        match (&self.schemas[node].shape, json) {
            (Shape::Boolean, Json::Boolean(value)) => Some(Constant::Boolean(*value)),
            (Shape::Integer(rules), Json::Number(number)) => {
                Some(Constant::Integer(rules.standard()?, whole(number)?))
            }
            (Shape::Number(_), Json::Number(number)) if !self.exact.contains(&node) => {
                Some(as_f64(number)).filter(|number| number.is_finite()).map(Constant::Number)
            }
            (Shape::String(rules), Json::String(text)) if type_of_text(rules).is_none() => {
                Some(Constant::Text(text.clone()))
            }
            (Shape::Array(array), Json::Array(items)) => {
                let item = |json: &Json| {
                    let mut within = Vec::new();
                    match self.value(array.items, json, holder, &mut within)? {
                        DefaultValue::Constant(_, Constant::List(_)) => None,
                        DefaultValue::Constant(_, item) if within.is_empty() => Some(item),
                        _ => None,
                    }
                };
                items.iter().map(item).collect::<Option<_>>().map(Constant::List)
            }
            _ => None,
        }
    }

    fn constant(&self, literal: Constant) -> DefaultValue {
        DefaultValue::Constant(self.constant.clone(), literal)
    }
}
