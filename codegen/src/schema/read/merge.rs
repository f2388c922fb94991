//! Merges the objects of an `allOf` into one object with all their properties. If this object expresses all of the `allOf`,
//! the `allOf` is removed; otherwise it remains an assertion.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Json;
use crate::schema::{
    Additional, Assertion, Keyword, Node, NodeId, ObjectShape, Operand, Property, Schemas, Shape,
    StringRules, resolved,
};
use crate::source::Spanned;

/// The most properties of a merged object: in a long chain each object has the properties of all objects before it.
const MAX_PROPERTIES: usize = 200;

/// Gives a node the properties of the objects in its `allOf`, unless it does not allow additional properties, or two of its own
/// properties have similar names.
pub(super) fn merge(schemas: &mut Schemas, id: NodeId) {
    let Node { shape, assertions, .. } = &schemas[id];
    let all_of = assertions.iter().filter(|assertion| assertion.keyword == Keyword::AllOf);
    let members: Vec<NodeId> = all_of.flat_map(Assertion::schemas).collect();
    let object = match shape {
        _ if members.is_empty() => return,
        Shape::Object(object) if object.additional != Additional::Closed => object.clone(),
        Shape::Any => ObjectShape { properties: Vec::new(), additional: Additional::Open },
        _ => return,
    };
    let is_closing = |keyword| keyword == Keyword::AdditionalProperties;
    let mut merged = Merged {
        places: places(&object),
        described: BTreeSet::new(),
        required: BTreeSet::new(),
        is_object: matches!(shape, Shape::Object(_)),
        lacks_own: false,
        is_exact: matches!(object.additional, Additional::Open | Additional::Declared)
            && !assertions.iter().any(|assertion| is_closing(assertion.keyword)),
        object,
    };
    merged.keywords(schemas, id, Part::Itself);
    let own_required = merged.required.clone();
    for member in members {
        merged.add(schemas, member);
    }
    if merged.is_object && !merged.lacks_own && !merged.is_too_large() {
        merged.replace(schemas, id, &own_required);
    }
}

/// The schema that contains a keyword.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The node with the `allOf`.
    Itself,
    /// A member. If it is a reference, its target, with the node of the reference.
    Member(Option<NodeId>),
}

struct Merged {
    object: ObjectShape,
    /// The position of each property, by its name without case and punctuation: two properties whose names only differ in
    /// these could not both be fields.
    places: BTreeMap<String, usize>,
    /// The positions of the properties that members describe.
    described: BTreeSet<usize>,
    /// The names that are required by schemas without a `type`.
    required: BTreeSet<String>,
    /// True if the node or a member has the `type` object.
    is_object: bool,
    /// True if a property of the node itself is not among those of the object.
    lacks_own: bool,
    /// True if the object expresses everything that the node and the members do.
    is_exact: bool,
}

impl Merged {
    /// Returns true if the object has too many properties, or would get them for the required names. Adding more would be in vain.
    fn is_too_large(&self) -> bool {
        self.object.properties.len().max(self.required.len()) > MAX_PROPERTIES
    }

    /// Adds a member.
    fn add(&mut self, schemas: &Schemas, member: NodeId) {
        let target = resolved(schemas, member);
        let owner = (target != member).then_some(member);
        // The annotations of a member would be lost.
        let has_no_annotations = owner.is_some() || schemas[member].annotations.is_empty();
        self.is_exact &= has_no_annotations && is_bare(schemas, member);
        let Node { shape, assertions, .. } = &schemas[target];
        match shape {
            Shape::Object(object) => {
                self.is_object = true;
                match object.additional {
                    Additional::Open => {}
                    Additional::Declared if self.is_exact => {
                        self.object.additional = Additional::Declared;
                    }
                    _ => self.is_exact = false,
                }
                self.is_exact &= assertions.is_empty();
                for property in &object.properties {
                    if self.is_too_large() {
                        return;
                    }
                    let owner = owner.or(property.owner);
                    self.member_property(schemas, Property { owner, ..property.clone() });
                }
            }
            Shape::Any => self.keywords(schemas, target, Part::Member(owner)),
            _ => self.is_exact = false,
        }
    }

    /// Adds the properties and required names of a schema without `type`.
    fn keywords(&mut self, schemas: &Schemas, id: NodeId, part: Part) {
        for Assertion { keyword, operand } in &schemas[id].assertions {
            match (keyword, operand) {
                (Keyword::Properties, Operand::Named(properties)) => {
                    for (name, schema) in properties {
                        if self.is_too_large() {
                            return;
                        }
                        let (schema, required, is_described) = (*schema, false, true);
                        let name = Spanned::new(name.clone(), schemas[schema].span);
                        let property =
                            Property { name, schema, required, is_described, owner: None };
                        match part {
                            Part::Itself => self.property(schemas, property),
                            Part::Member(owner) => {
                                self.member_property(schemas, Property { owner, ..property });
                            }
                        }
                    }
                }
                (Keyword::Required, Operand::Plain(Json::Array(names))) => {
                    let names = names.iter().filter_map(|name| match name {
                        Json::String(name) => Some(name.clone()),
                        _ => None,
                    });
                    self.required.extend(names.take(MAX_PROPERTIES + 1));
                }
                // Other keywords of the node itself are kept.
                _ => self.is_exact &= part == Part::Itself,
            }
        }
    }

    /// Adds a property of a member, which the node itself only describes if the `allOf` is removed.
    fn member_property(&mut self, schemas: &Schemas, property: Property) {
        let is_described = property.is_described;
        let name = normalized(&property.name.value);
        self.property(schemas, Property { is_described: false, ..property });
        self.described.extend(self.places.get(&name).filter(|_| is_described));
    }

    /// Adds a property. If the property has two schemas, the stricter one is used.
    fn property(&mut self, schemas: &Schemas, property: Property) {
        let place = *self
            .places
            .entry(normalized(&property.name.value))
            .or_insert(self.object.properties.len());
        let Some(known) = self.object.properties.get_mut(place) else {
            self.object.properties.push(property);
            return;
        };
        if known.name.value != property.name.value {
            // A property of a member remains in the `allOf`.
            self.lacks_own |= property.is_described;
            self.is_exact = false;
            return;
        }
        let required = known.required || property.required;
        let (old, new) = (known.schema, property.schema);
        if !known.is_described && strictness(schemas, old) < strictness(schemas, new) {
            self.is_exact &= old == new || implies(schemas, new, old);
            *known = property;
        } else {
            self.is_exact &= old == new || implies(schemas, old, new);
        }
        known.required = required;
    }

    /// Makes the object the shape of the node; `own_required` are the names that the node itself requires.
    fn replace(self, schemas: &mut Schemas, id: NodeId, own_required: &BTreeSet<String>) {
        let Self { mut object, described, required, is_exact, .. } = self;
        let span = schemas[id].span;
        // Properties of members are only described by the node if the `allOf` is removed.
        for place in described.into_iter().filter(|_| is_exact) {
            object.properties[place].is_described = true;
        }
        for name in required {
            let known = object.properties.iter_mut().find(|property| property.name.value == name);
            if let Some(property) = known {
                property.required = true;
            } else if is_exact || own_required.contains(&name) {
                let (name, schema) = (Spanned::new(name, span), schemas.reserve(span));
                let (required, is_described, owner) = (true, false, None);
                object.properties.push(Property { name, schema, required, is_described, owner });
            }
        }
        let mut node = schemas[id].clone();
        node.assertions.retain(|Assertion { keyword, .. }| match keyword {
            Keyword::Properties | Keyword::Required => false,
            Keyword::AllOf => !is_exact,
            _ => true,
        });
        schemas.set(id, Node { shape: Shape::Object(object), ..node });
    }
}

fn places(object: &ObjectShape) -> BTreeMap<String, usize> {
    object.properties.iter().map(|property| normalized(&property.name.value)).zip(0..).collect()
}

/// Returns whether a reference, and all references that it leads to, have no assertions beside them.
pub(super) fn is_bare(schemas: &Schemas, mut node: NodeId) -> bool {
    loop {
        let Node { shape, assertions, .. } = &schemas[node];
        node = match shape {
            Shape::Named(name) => schemas[*name].schema,
            Shape::Local(target) => *target,
            _ => return true,
        };
        if !assertions.is_empty() {
            return false;
        }
    }
}

/// Returns how strict a schema is: 0 if it accepts any value, 2 if it accepts one value, else 1.
fn strictness(schemas: &Schemas, id: NodeId) -> usize {
    let Node { shape, assertions, .. } = &schemas[id];
    match shape {
        Shape::Any if assertions.is_empty() => 0,
        Shape::Const(_) => 2,
        _ => 1,
    }
}

/// Returns whether every value that `strict` accepts certainly matches `loose`, too.
fn implies(schemas: &Schemas, strict: NodeId, loose: NodeId) -> bool {
    let Node { shape, assertions, .. } = &schemas[loose];
    let is_any_string = match shape {
        Shape::String(StringRules { min_length, max_length, pattern, format }) => {
            min_length.is_none() && max_length.is_none() && pattern.is_none() && format.is_none()
        }
        _ => false,
    };
    let is_string = matches!(schemas[strict].shape, Shape::Const(Json::String(_)) | Shape::Enum(_));
    strictness(schemas, loose) == 0 || (is_any_string && is_string && assertions.is_empty())
}

fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
