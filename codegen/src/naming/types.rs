//! Which schema nodes become Rust types, and what those are called. A declared name is kept; any
//! other is the way to the node, so that it does not change when an unrelated tool is added.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Identifier, is_type_name, pascal_part, variants};
use crate::model::{MethodId, Project, ServiceId, ToolId, ToolsetId};
use crate::prose::code;
use crate::schema::{Additional, NodeId, ObjectShape, Schemas, Shape, as_object, kind_of};

/// The `types` module a type stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The service's crate.
    Service(ServiceId),
    /// The toolset's crate.
    Toolset(ToolsetId),
}

/// A schema node that is a Rust type of its own.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Where the type stands.
    pub scope: Scope,
    /// Its Rust name.
    pub name: Identifier,
    /// The schema.
    pub node: NodeId,
    /// What it is, for a type whose schema does not say; nothing for one that the schema names.
    pub origin: Option<String>,
}

/// The types of a project, in the order in which they are met.
#[derive(Debug, Default)]
pub struct TypeNames {
    names: Vec<TypeName>,
    by_node: BTreeMap<NodeId, usize>,
    /// Where the types of each scope stand: they follow each other.
    by_scope: BTreeMap<Scope, Range<usize>>,
}

impl TypeNames {
    /// Names every type of a project.
    pub fn assign(project: &Project) -> Self {
        let mut walk = Walk {
            project,
            names: Self::default(),
            scope: None,
            root: String::new(),
            met: Vec::new(),
        };
        for service in ServiceId::first(project.services.len()) {
            walk.within(Scope::Service(service), |walk| walk.service(service));
        }
        for toolset in ToolsetId::first(project.toolsets.len()) {
            walk.within(Scope::Toolset(toolset), |walk| walk.toolset(toolset));
        }
        walk.names
    }

    /// The type a node became; none where it is used as a type that Rust or the contract has.
    pub fn get(&self, node: NodeId) -> Option<&TypeName> {
        self.by_node.get(&node).map(|&index| &self.names[index])
    }

    /// The types of all scopes.
    pub fn all(&self) -> impl Iterator<Item = &TypeName> {
        self.names.iter()
    }

    /// The types of one scope.
    pub fn of(&self, scope: Scope) -> impl Iterator<Item = &TypeName> {
        let range = self.by_scope.get(&scope).cloned().unwrap_or_default();
        self.names[range].iter()
    }
}

/// The longest name that is the whole way to a node, in bytes.
const MAX_WAY: usize = 200;

/// The beginning of a name that has grown too long, and a number for the rest of it: each level of nesting adds a part
/// to the names of all below it.
fn bounded(name: String) -> String {
    if name.len() <= MAX_WAY {
        return name;
    }
    // FNV-1a (Fowler, Noll, Vo): short, and the same everywhere.
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325, |number: u64, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Names are ASCII: what is beyond has been spelt out.
    let start: String = name.chars().take(MAX_WAY / 2).collect();
    format!("{start}N{number:x}")
}

/// Whether an object of this shape is just a map.
pub fn is_map(object: &ObjectShape) -> bool {
    object.properties.is_empty() && object.additional != Additional::Closed
}

/// The variants of a choice whose members overlap: named after their types or titles; after what only they require, of
/// those that have neither; or after their kinds.
pub fn labels(schemas: &Schemas, members: &[NodeId]) -> Vec<Identifier> {
    let given: Vec<Option<String>> =
        members.iter().map(|&member| given_name(schemas, member)).collect();
    let mut requirements: BTreeMap<&str, usize> = BTreeMap::new();
    let nameless = members.iter().zip(&given).filter(|(_, given)| given.is_none());
    for name in nameless.flat_map(|(&member, _)| required(schemas, member)) {
        *requirements.entry(name).or_default() += 1;
    }
    let own_requirement = |member: NodeId| {
        required(schemas, member).find(|name| requirements[name] == 1).map(str::to_owned)
    };
    let word = |(&member, given): (&NodeId, Option<String>)| {
        let kind = || kind_of(schemas, member).map(|kind| kind.as_str().to_owned());
        given
            .or_else(|| own_requirement(member))
            .or_else(kind)
            .unwrap_or_else(|| "value".to_owned())
    };
    let words: Vec<String> = members.iter().zip(given).map(word).collect();
    variants(words.iter().map(String::as_str))
}

fn given_name(schemas: &Schemas, node: NodeId) -> Option<String> {
    let schema = &schemas[node];
    match schema.shape {
        Shape::Named(name) => Some(schemas[name].name.value.clone()),
        Shape::Local(target) => schemas[target].definition.clone(),
        _ => schema.annotations.title.clone(),
    }
}

fn required(schemas: &Schemas, node: NodeId) -> impl Iterator<Item = &str> {
    let properties = as_object(schemas, node).map_or(&[][..], |object| &object.properties);
    properties.iter().filter(|property| property.required).map(|property| &*property.name.value)
}

struct Walk<'a> {
    project: &'a Project,
    names: TypeNames,
    scope: Option<Scope>,
    /// The name of the schema that `#` means.
    root: String,
    /// Nodes that were met and not yet looked at, the next one last: a chain of definitions may be longer than a stack
    /// is deep.
    met: Vec<Met>,
}

/// A node, and what it is called if it becomes a type.
struct Met {
    node: NodeId,
    name: String,
    origin: Option<String>,
    /// Whether it is a type whatever its shape.
    is_type: bool,
}

impl Walk<'_> {
    /// What `name` names is of a scope.
    fn within(&mut self, scope: Scope, name: impl FnOnce(&mut Self)) {
        let start = self.names.names.len();
        self.scope = Some(scope);
        name(self);
        self.names.by_scope.insert(scope, start..self.names.names.len());
    }

    fn service(&mut self, service: ServiceId) {
        let project = self.project;
        for id in project.types_of(service) {
            let named = &project.schemas[id];
            // Any other name has been refused, and no type is made of it.
            if !is_type_name(&named.name.value) {
                continue;
            }
            self.root(named.schema, named.name.value.clone(), None);
        }
        for method in project.methods_of(service) {
            self.method(method);
        }
    }

    fn method(&mut self, id: MethodId) {
        let method = &self.project[id];
        let name = &method.name.value;
        self.unless_ready_made(
            method.payload,
            format!("{}Payload", pascal_part(name)),
            format!("The payload of `{name}`."),
        );
        self.unless_ready_made(
            method.result,
            format!("{}Result", pascal_part(name)),
            format!("The result of `{name}`."),
        );
        for error in &method.errors {
            let code = &error.name.value;
            if let Some(payload) = error.payload {
                self.unless_ready_made(
                    payload,
                    format!("{}{}", pascal_part(name), pascal_part(code)),
                    format!("The payload of the error `{code}` of `{name}`."),
                );
            }
        }
    }

    fn toolset(&mut self, toolset: ToolsetId) {
        for &tool in &self.project[toolset].tools {
            self.tool(tool);
        }
    }

    fn tool(&mut self, id: ToolId) {
        let tool = &self.project[id];
        let name = &tool.name.value;
        self.unless_ready_made(
            tool.args,
            format!("{}Args", pascal_part(name)),
            format!("The arguments of `{name}`."),
        );
        self.unless_ready_made(
            tool.result,
            format!("{}Result", pascal_part(name)),
            format!("The result of `{name}`."),
        );
    }

    /// Names the root of an inline schema, unless some type says all of it already.
    fn unless_ready_made(&mut self, node: NodeId, name: String, origin: String) {
        let schema = &self.project.schemas[node];
        let has_type = matches!(schema.shape, Shape::Any | Shape::Null | Shape::Named(_));
        if !has_type || !schema.assertions.is_empty() {
            self.root(node, name, Some(origin));
        }
    }

    fn root(&mut self, node: NodeId, name: String, origin: Option<String>) {
        self.root.clone_from(&name);
        self.met.push(Met { node, name, origin, is_type: true });
        while let Some(met) = self.met.pop() {
            let before = self.met.len();
            self.look_at(met);
            // The first one met is the next to be looked at.
            self.met[before..].reverse();
        }
    }

    fn look_at(&mut self, Met { node, name, origin, is_type }: Met) {
        if is_type || self.is_type(node) {
            self.define(node, name, origin);
        } else if !self.names.by_node.contains_key(&node) {
            self.inside(node, &name);
        }
    }

    /// Whether a node in a place where it need not be a type of its own is one.
    fn is_type(&self, node: NodeId) -> bool {
        match &self.project.schemas[node].shape {
            Shape::Object(object) => !is_map(object),
            Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Constants(_)
            | Shape::Const(_)
            | Shape::Union(_)
            | Shape::Mixed(_)
            | Shape::Overlapping(_) => true,
            _ => false,
        }
    }

    /// Whether a node is no type and has none inside it, so that it needs no name.
    fn is_plain(&self, node: NodeId) -> bool {
        match &self.project.schemas[node].shape {
            Shape::Array(array) => self.is_plain(array.items),
            Shape::Nullable(inner) => self.is_plain(*inner),
            shape => matches!(
                shape,
                Shape::Any
                    | Shape::Null
                    | Shape::Boolean
                    | Shape::String(_)
                    | Shape::Integer(_)
                    | Shape::Number(_)
                    | Shape::Named(_)
            ),
        }
    }

    /// Makes a node a type, and looks for more inside it.
    fn define(&mut self, node: NodeId, name: String, origin: Option<String>) {
        let Some(scope) = self.scope else { return };
        if self.names.by_node.contains_key(&node) {
            return;
        }
        self.names.by_node.insert(node, self.names.names.len());
        self.names.names.push(TypeName {
            scope,
            name: Identifier::new(name.clone()),
            node,
            origin,
        });
        self.inside(node, &name);
    }

    /// A node in a place where it need not be a type of its own.
    fn visit(&mut self, node: NodeId, name: String, origin: String) {
        let origin = Some(origin);
        self.met.push(Met { node, name: bounded(name), origin, is_type: false });
    }

    fn inside(&mut self, node: NodeId, name: &str) {
        let project = self.project;
        match &project.schemas[node].shape {
            Shape::Object(object) => self.object(object, name),
            Shape::Array(array) => {
                self.visit(array.items, format!("{name}Item"), format!("An item of `{name}`."));
            }
            Shape::Tuple(tuple) => {
                if let Some(rest) = &tuple.rest {
                    let origin = format!("An item of `{name}`.");
                    self.visit(rest.items, format!("{name}Item"), origin);
                }
                for (number, item) in (1..).zip(&tuple.places) {
                    let origin = format!("Item {number} of `{name}`.");
                    self.visit(*item, format!("{name}Item{number}"), origin);
                }
            }
            Shape::Nullable(inner) => {
                // A type that may be null has taken the name itself.
                let suffix = if self.names.get(node).is_some() { "Value" } else { "" };
                self.visit(
                    *inner,
                    format!("{name}{suffix}"),
                    format!("A `{name}` that is not null."),
                );
            }
            Shape::Union(union) => {
                for variant in &union.variants {
                    let tag = &variant.tag.value;
                    self.visit(
                        variant.schema,
                        format!("{name}{}", pascal_part(tag)),
                        format!("The {} of `{name}`.", code(tag)),
                    );
                }
            }
            Shape::Mixed(variants) => {
                for variant in variants {
                    let kind = variant.kind.as_str();
                    let origin = format!("The {kind} of `{name}`.");
                    self.visit(variant.schema, format!("{name}{}", pascal_part(kind)), origin);
                }
            }
            Shape::Overlapping(members) => {
                for (member, label) in members.iter().zip(labels(&project.schemas, members)) {
                    let origin = format!("The choice {} of `{name}`.", code(&label));
                    self.visit(*member, format!("{name}{label}"), origin);
                }
            }
            Shape::Local(target) => self.local(*target),
            _ => {}
        }
    }

    fn object(&mut self, object: &ObjectShape, name: &str) {
        let project = self.project;
        for property in object.fields(&project.schemas) {
            if let Some(reference) = property.owner {
                // What is in it is named after the type that it belongs to.
                if let Shape::Local(target) = project.schemas[reference].shape {
                    self.local(target);
                }
                continue;
            }
            if self.is_plain(property.schema) {
                continue;
            }
            let key = &property.name.value;
            let origin = format!("The {} of [`{name}`].", code(key));
            self.visit(property.schema, format!("{name}{}", pascal_part(key)), origin);
        }
        if let Additional::Typed(node) = object.additional {
            self.visit(
                node,
                format!("{name}Value"),
                format!("The value of a key that `{name}` does not declare."),
            );
        }
    }

    /// The target of a local reference is always a type, so that recursion has something to name.
    fn local(&mut self, target: NodeId) {
        let definition = self.project.schemas[target].definition.as_deref().unwrap_or("Shared");
        let name = bounded(format!("{}{}", self.root, pascal_part(definition)));
        let origin = format!("The definition {}.", code(definition));
        self.met.push(Met { node: target, name, origin: Some(origin), is_type: true });
    }
}
