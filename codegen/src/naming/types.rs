//! Decides which schema nodes become Rust types, and names them. A declared name is kept; any other name is made of the path
//! to the node, so that it does not change when an unrelated tool is added.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Identifier, is_type_name, pascal_part, type_link, variants};
use crate::model::{MethodId, Project, ServiceId, ToolId, ToolsetId};
use crate::prose::code;
use crate::schema::{
    Additional, NodeId, ObjectShape, OverlappingShape, Schemas, Shape, as_object, kind_of,
};

/// The crate whose `types` module contains a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A service's crate.
    Service(ServiceId),
    /// A toolset's crate.
    Toolset(ToolsetId),
}

/// A schema node that is a Rust type of its own.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// The crate of the type.
    pub scope: Scope,
    /// Its Rust name.
    pub name: Identifier,
    /// The schema.
    pub node: NodeId,
    /// A description of a type whose schema may have none; `None` if the schema has a name.
    pub origin: Option<String>,
}

/// The types of a project, in the order in which they are found.
#[derive(Debug, Default)]
pub struct TypeNames {
    names: Vec<TypeName>,
    by_node: BTreeMap<NodeId, usize>,
    /// The positions of each scope's types, which follow each other.
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
            definitions: BTreeMap::new(),
            open: Vec::new(),
        };
        for service in ServiceId::first(project.services.len()) {
            walk.within(Scope::Service(service), |walk| walk.service(service));
        }
        for toolset in ToolsetId::first(project.toolsets.len()) {
            walk.within(Scope::Toolset(toolset), |walk| walk.toolset(toolset));
        }
        walk.names
    }

    /// Returns the type of a node; `None` if Rust or the contract already has its type.
    pub fn get(&self, node: NodeId) -> Option<&TypeName> {
        self.by_node.get(&node).map(|&index| &self.names[index])
    }

    /// Returns the types of all scopes.
    pub fn all(&self) -> impl Iterator<Item = &TypeName> {
        self.names.iter()
    }

    /// Returns the types of one scope.
    pub fn of(&self, scope: Scope) -> impl Iterator<Item = &TypeName> {
        let range = self.by_scope.get(&scope).cloned().unwrap_or_default();
        self.names[range].iter()
    }
}

/// The longest name that contains the whole path to a node, in bytes.
const MAX_PATH: usize = 200;

/// Shortens a name that is too long to its beginning and a hash. Each level of nesting adds a part to the names.
pub(super) fn shortened(name: String) -> String {
    if name.len() <= MAX_PATH {
        return name;
    }
    // FNV-1a (Fowler, Noll, Vo): short, and the same on every platform.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Names are ASCII: other characters have been spelled out.
    let start: String = name.chars().take(MAX_PATH / 2).collect();
    format!("{start}N{hash:x}")
}

/// Returns whether the type of a node without a name checks nothing, so that a validator must: the parts of a schema without `type`
/// have no names, even if they need types of their own.
pub fn is_unchecked(schemas: &Schemas, names: &TypeNames, node: NodeId) -> bool {
    let is_unnamed_target =
        matches!(schemas[node].shape, Shape::Local(target) if names.get(target).is_none());
    names.get(node).is_none() && (is_type(schemas, node) || is_unnamed_target)
}

/// Returns whether an object is a map: it has no declared properties.
pub fn is_map(object: &ObjectShape) -> bool {
    object.properties.is_empty() && object.additional != Additional::Closed
}

/// Returns whether the shape of a node needs a type of its own.
fn is_type(schemas: &Schemas, node: NodeId) -> bool {
    match &schemas[node].shape {
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

/// Names the variants of a choice with overlapping members: after their types or titles, else after a property that no other
/// such member requires, else after their kinds.
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
    /// The name of the schema to which `#` refers.
    root: String,
    /// The names of its definitions, each with the last number that one of the same name got.
    definitions: BTreeMap<String, usize>,
    /// The nodes to visit, the next one last: a list instead of recursion, because chains of definitions may be long.
    open: Vec<Visit>,
}

/// A node to visit, with its name if it becomes a type.
struct Visit {
    node: NodeId,
    name: String,
    origin: Option<String>,
    /// True if it is a definition, which becomes a type regardless of its shape.
    is_definition: bool,
}

impl Walk<'_> {
    /// Calls `name`; the types that it names belong to a scope.
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
            // Any other name has been reported and does not become a type.
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
        self.inline_root(
            method.payload,
            format!("{}Payload", pascal_part(name)),
            format!("The payload of `{name}`."),
        );
        self.inline_root(
            method.result,
            format!("{}Result", pascal_part(name)),
            format!("The result of `{name}`."),
        );
        for error in &method.errors {
            let code = &error.name.value;
            if let Some(payload) = error.payload {
                self.inline_root(
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
        self.inline_root(
            tool.args,
            format!("{}Args", pascal_part(name)),
            format!("The arguments of `{name}`."),
        );
        self.inline_root(
            tool.result,
            format!("{}Result", pascal_part(name)),
            format!("The result of `{name}`."),
        );
    }

    /// Names the root of an inline schema, unless an existing type already expresses it.
    fn inline_root(&mut self, node: NodeId, name: String, origin: String) {
        let schema = &self.project.schemas[node];
        let has_type = matches!(schema.shape, Shape::Any | Shape::Null | Shape::Named(_));
        if !has_type || !schema.assertions.is_empty() {
            self.root(node, name, Some(origin));
        }
    }

    fn root(&mut self, node: NodeId, name: String, origin: Option<String>) {
        self.root.clone_from(&name);
        self.definitions.clear();
        self.define(node, name, origin);
        // The first part is the next node to visit.
        self.open.reverse();
        while let Some(visit) = self.open.pop() {
            let before = self.open.len();
            self.visit(visit);
            self.open[before..].reverse();
        }
    }

    fn visit(&mut self, Visit { node, name, origin, is_definition }: Visit) {
        if self.names.by_node.contains_key(&node) {
            return;
        }
        if is_definition {
            let name = self.free_definition(name);
            self.define(node, name, origin);
        } else if is_type(&self.project.schemas, node) {
            self.define(node, name, origin);
        } else {
            self.inside(node, &name);
        }
    }

    /// Returns a name that no other definition of the root has, with a number if needed: the last parts of pointers may be
    /// equal.
    fn free_definition(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        while self.definitions.contains_key(&name) {
            let number = self.definitions.entry(wanted.clone()).or_insert(1);
            *number += 1;
            name = format!("{wanted}{number}");
        }
        self.definitions.insert(name.clone(), 1);
        name
    }

    /// Returns whether neither a node nor any part of it becomes a type, so that no name is needed.
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

    /// Makes a node a type, and schedules its parts.
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

    /// Schedules a node that only becomes a type if its shape requires it.
    fn schedule(&mut self, node: NodeId, name: String, origin: String) {
        let origin = Some(origin);
        self.open.push(Visit { node, name: shortened(name), origin, is_definition: false });
    }

    fn inside(&mut self, node: NodeId, name: &str) {
        let project = self.project;
        match &project.schemas[node].shape {
            Shape::Object(object) => self.object(object, name),
            Shape::Array(array) => {
                self.schedule(array.items, format!("{name}Item"), format!("An item of `{name}`."));
            }
            Shape::Tuple(tuple) => {
                if let Some(rest) = &tuple.rest {
                    let origin = format!("An item of `{name}`.");
                    self.schedule(rest.items, format!("{name}Item"), origin);
                }
                for (number, item) in (1..).zip(&tuple.places) {
                    let origin = format!("Item {number} of `{name}`.");
                    self.schedule(*item, format!("{name}Item{number}"), origin);
                }
            }
            Shape::Nullable(inner) => {
                // If the nullable node is a type, it already has the name.
                let suffix = if self.names.get(node).is_some() { "Value" } else { "" };
                self.schedule(
                    *inner,
                    format!("{name}{suffix}"),
                    format!("A `{name}` that is not null."),
                );
            }
            Shape::Union(union) => {
                for variant in &union.variants {
                    let tag = &variant.tag.value;
                    self.schedule(
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
                    self.schedule(variant.schema, format!("{name}{}", pascal_part(kind)), origin);
                }
            }
            Shape::Overlapping(OverlappingShape { members, .. }) => {
                for (member, label) in members.iter().zip(labels(&project.schemas, members)) {
                    let origin = format!("The choice {} of `{name}`.", code(&label));
                    // `Self_` is only escaped where it is the whole name.
                    let part = label.strip_suffix('_').unwrap_or(&label);
                    self.schedule(*member, format!("{name}{part}"), origin);
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
                // Its parts are named after the type that it belongs to.
                if let Shape::Local(target) = project.schemas[reference].shape {
                    self.local(target);
                }
                continue;
            }
            if self.is_plain(property.schema) {
                continue;
            }
            let key = &property.name.value;
            let origin = format!("The {} of {}.", code(key), type_link(name));
            self.schedule(property.schema, format!("{name}{}", pascal_part(key)), origin);
        }
        if let Additional::Typed(node) = object.additional {
            self.schedule(
                node,
                format!("{name}Value"),
                format!("The value of a key that `{name}` does not declare."),
            );
        }
    }

    /// Schedules the target of a local reference, which always becomes a type, so that recursive types are possible.
    fn local(&mut self, target: NodeId) {
        let definition = self.project.schemas[target].definition.as_deref().unwrap_or("Shared");
        let name = shortened(format!("{}{}", self.root, pascal_part(definition)));
        let origin = format!("The definition {}.", code(definition));
        self.open.push(Visit { node: target, name, origin: Some(origin), is_definition: true });
    }
}
