//! `allOf` of objects: one object with the properties of all. Where that says all of it, nothing is left of the `allOf`;
//! otherwise it stays an assertion.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Json;
use crate::schema::{
    Additional, Assertion, Keyword, Node, NodeId, ObjectShape, Operand, Property, Schemas, Shape,
    StringRules, resolved,
};
use crate::source::Spanned;

/// The most properties of such an object: in a long chain of them each has all that those before it have.
const MAX_PROPERTIES: usize = 200;

/// Gives a node the properties of the objects in its `allOf`, if there are any and it leaves room for them.
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
        is_exact: matches!(object.additional, Additional::Open | Additional::Declared)
            && !assertions.iter().any(|assertion| is_closing(assertion.keyword)),
        object,
    };
    merged.keywords(schemas, id, Part::Itself);
    let demanded = merged.required.clone();
    for member in members {
        merged.add(schemas, member);
    }
    if merged.is_object && merged.object.properties.len() <= MAX_PROPERTIES {
        merged.replace(schemas, id, &demanded);
    }
}

/// Whose keywords are taken.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Those of the node with the `allOf`.
    Itself,
    /// Those of a member, or of what that refers to by this node.
    Member(Option<NodeId>),
}

struct Merged {
    object: ObjectShape,
    /// Where each property stands, by its name without case and punctuation: two that differ in nothing else could not both
    /// be fields.
    places: BTreeMap<String, usize>,
    /// The places of those that members describe.
    described: BTreeSet<usize>,
    /// The names that keywords without a `type` beside them require.
    required: BTreeSet<String>,
    /// Whether some part is an object by its `type`.
    is_object: bool,
    /// Whether the object says all that its parts say.
    is_exact: bool,
}

impl Merged {
    /// Takes what a member says.
    fn add(&mut self, schemas: &Schemas, member: NodeId) {
        let target = resolved(schemas, member);
        let owner = (target != member).then_some(member);
        // Words of a member have no other place.
        let is_silent = owner.is_some() || schemas[member].annotations.is_empty();
        self.is_exact &= is_silent && is_bare(schemas, member);
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
                    let owner = owner.or(property.owner);
                    self.of_member(schemas, Property { owner, ..property.clone() });
                }
            }
            Shape::Any => self.keywords(schemas, target, Part::Member(owner)),
            _ => self.is_exact = false,
        }
    }

    /// Takes what a schema without `type` says of objects.
    fn keywords(&mut self, schemas: &Schemas, id: NodeId, part: Part) {
        for Assertion { keyword, operand } in &schemas[id].assertions {
            match (keyword, operand) {
                (Keyword::Properties, Operand::Named(properties)) => {
                    for (name, schema) in properties {
                        let (schema, required, is_described) = (*schema, false, true);
                        let name = Spanned::new(name.clone(), schemas[schema].span);
                        let property =
                            Property { name, schema, required, is_described, owner: None };
                        match part {
                            Part::Itself => self.property(schemas, property),
                            Part::Member(owner) => {
                                self.of_member(schemas, Property { owner, ..property });
                            }
                        }
                    }
                }
                (Keyword::Required, Operand::Plain(Json::Array(names))) => {
                    self.required.extend(names.iter().filter_map(|name| match name {
                        Json::String(name) => Some(name.clone()),
                        _ => None,
                    }));
                }
                // What else stands in the node itself stays there.
                _ => self.is_exact &= part == Part::Itself,
            }
        }
    }

    /// Takes a property of a member, which the node does not describe unless its `allOf` goes.
    fn of_member(&mut self, schemas: &Schemas, property: Property) {
        let is_described = property.is_described;
        let name = plain(&property.name.value);
        self.property(schemas, Property { is_described: false, ..property });
        self.described.extend(self.places.get(&name).filter(|_| is_described));
    }

    /// Takes a property; of two schemas of one property, the one that says more.
    fn property(&mut self, schemas: &Schemas, property: Property) {
        let place =
            *self.places.entry(plain(&property.name.value)).or_insert(self.object.properties.len());
        let Some(known) = self.object.properties.get_mut(place) else {
            self.object.properties.push(property);
            return;
        };
        if known.name.value != property.name.value {
            self.is_exact = false;
            return;
        }
        let required = known.required || property.required;
        let (old, new) = (known.schema, property.schema);
        if !known.is_described && said(schemas, old) < said(schemas, new) {
            self.is_exact &= old == new || says_all_of(schemas, new, old);
            *known = property;
        } else {
            self.is_exact &= old == new || says_all_of(schemas, old, new);
        }
        known.required = required;
    }

    /// Becomes the shape of a node, which requires these names itself.
    fn replace(self, schemas: &mut Schemas, id: NodeId, demanded: &BTreeSet<String>) {
        let Self { mut object, described, required, is_exact, .. } = self;
        let span = schemas[id].span;
        // What stays in the `allOf` is not described twice.
        for place in described.into_iter().filter(|_| is_exact) {
            object.properties[place].is_described = true;
        }
        for name in required {
            let known = object.properties.iter_mut().find(|property| property.name.value == name);
            if let Some(property) = known {
                property.required = true;
            } else if is_exact || demanded.contains(&name) {
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
    object.properties.iter().map(|property| plain(&property.name.value)).zip(0..).collect()
}

/// Whether a reference has nothing beside it that asserts something, nor those that it leads to.
fn is_bare(schemas: &Schemas, mut node: NodeId) -> bool {
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

/// How much a schema says of a value: nothing, something, or all.
fn said(schemas: &Schemas, id: NodeId) -> usize {
    let Node { shape, assertions, .. } = &schemas[id];
    match shape {
        Shape::Any if assertions.is_empty() => 0,
        Shape::Const(_) => 2,
        _ => 1,
    }
}

/// Whether one schema of a property surely leaves nothing to say to the other.
fn says_all_of(schemas: &Schemas, more: NodeId, less: NodeId) -> bool {
    let Node { shape, assertions, .. } = &schemas[less];
    let is_any_string = match shape {
        Shape::String(StringRules { min_length, max_length, pattern, format }) => {
            min_length.is_none() && max_length.is_none() && pattern.is_none() && format.is_none()
        }
        _ => false,
    };
    let is_string = matches!(schemas[more].shape, Shape::Const(Json::String(_)) | Shape::Enum(_));
    said(schemas, less) == 0 || (is_any_string && is_string && assertions.is_empty())
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
