//! JSON Schema 2020-12 text to [`Schemas`](super::Schemas) nodes. Every keyword is honoured or
//! refused at its place: a schema never comes to mean something else than its text says.
//!
//! A schema has one *form*: a reference, a choice, a constant, an enumeration or a type. Its form
//! decides which keywords may stand in it; any other is refused.

mod annotations;
mod keywords;
mod object;
mod references;
mod scalar;
mod settle;
mod union;

use std::collections::BTreeMap;

use super::{Annotations, Node, NodeId, Shape};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Project, ServiceId};
use crate::source::Span;
use crate::yaml::{self, Value};
use keywords::{Form, Kind};

pub(crate) use references::TypeNames;
pub(crate) use settle::Pending;

/// Reads schemas into a project.
pub(crate) struct SchemaReader<'a> {
    /// Takes the nodes.
    pub project: &'a mut Project,
    /// What a `$ref` may name.
    pub names: &'a TypeNames,
    /// The service whose types need no prefix.
    pub service: ServiceId,
    /// What can only be judged when all schemas are read.
    pub pending: &'a mut Pending,
    /// Takes what is wrong.
    pub report: &'a mut Report,
}

/// The schema that `#` means, and its definitions.
struct Root {
    node: NodeId,
    definitions: BTreeMap<String, NodeId>,
}

/// A node before its final body is known.
pub(crate) fn reserve(project: &mut Project, span: Span) -> NodeId {
    project.schemas.add(blank(span))
}

fn blank(span: Span) -> Node {
    Node { span, shape: Shape::Any, annotations: Annotations::default(), definition: None }
}

impl SchemaReader<'_> {
    /// Reads a schema that stands by itself, or the name of a type.
    pub(crate) fn schema_or_name(&mut self, text: &yaml::Node) -> NodeId {
        let id = reserve(self.project, text.span);
        match text.as_str() {
            Some(name) => {
                let shape = self.named(name, text.span);
                self.set(id, shape, Annotations::default());
            }
            None => self.root(id, text),
        }
        id
    }

    /// Reads a schema that stands by itself into a reserved node.
    pub(crate) fn root(&mut self, id: NodeId, text: &yaml::Node) {
        let mut root = Root { node: id, definitions: BTreeMap::new() };
        let bodies = self.reserve_definitions(text, &mut root);
        self.fill(id, text, &root);
        for (definition, body) in bodies {
            self.fill(definition, body, &root);
        }
    }

    /// Ids first and bodies second: definitions may refer to each other.
    fn reserve_definitions<'t>(
        &mut self,
        text: &'t yaml::Node,
        root: &mut Root,
    ) -> Vec<(NodeId, &'t yaml::Node)> {
        let Some(definitions) = text.get("$defs") else { return Vec::new() };
        let Some(entries) = definitions.entries() else {
            self.expected("a mapping from names to schemas", definitions);
            return Vec::new();
        };
        let mut bodies = Vec::new();
        for entry in entries {
            let id = reserve(self.project, entry.value.span);
            let name = entry.key.value.clone();
            if !references::is_definition_name(&name) {
                let message = format!("the definition name `{name}` is not supported yet");
                let finding =
                    Diagnostic::error("unsupported-definition-name", entry.key.span, message)
                        .help("use letters, digits, `_`, `-` and `.`");
                self.report.add(finding);
            }
            let node = Node { definition: Some(name.clone()), ..blank(entry.value.span) };
            self.project.schemas.set(id, node);
            root.definitions.insert(name, id);
            bodies.push((id, &entry.value));
        }
        bodies
    }

    /// Reads a schema inside another.
    fn subschema(&mut self, text: &yaml::Node, root: &Root) -> NodeId {
        let id = reserve(self.project, text.span);
        self.fill(id, text, root);
        id
    }

    fn fill(&mut self, id: NodeId, text: &yaml::Node, root: &Root) {
        match &text.value {
            Value::Boolean(true) => {}
            Value::Boolean(false) => {
                let message = "the schema `false` is not supported yet in this place";
                self.report.add(Diagnostic::error("unsupported-keyword", text.span, message));
            }
            Value::Mapping(entries) => {
                self.check_keywords(entries, id == root.node);
                let annotations = self.annotations(entries);
                let shape = self.shape(id, text, root);
                self.set(id, shape, annotations);
            }
            Value::String(name) => {
                let message = format!("expected a schema, found the string `{name}`");
                let finding = Diagnostic::error("wrong-kind", text.span, message)
                    .help(format!("to refer to a type, write `{{ $ref: {name} }}`"));
                self.report.add(finding);
            }
            _ => self.expected("a schema", text),
        }
    }

    fn shape(&mut self, id: NodeId, text: &yaml::Node, root: &Root) -> Shape {
        let (kind, nullable) = self.kind(text);
        let form = Form::of(text, kind);
        self.check_form(form, text);
        match form {
            Form::Reference => self.reference(text, root),
            Form::Choice(keyword) => self.choice(id, text, keyword, root),
            Form::Constant => self.constant(text),
            Form::Enumeration => self.enumeration(text),
            Form::Typed(kind) => self.typed(kind, nullable, text, root),
            Form::Anything => Shape::Any,
        }
    }

    fn typed(&mut self, kind: Kind, nullable: bool, text: &yaml::Node, root: &Root) -> Shape {
        let shape = match kind {
            Kind::Null => Shape::Null,
            Kind::Boolean => Shape::Boolean,
            Kind::String => Shape::String(self.string_rules(text)),
            Kind::Integer => Shape::Integer(self.number_rules(text, true)),
            Kind::Number => Shape::Number(self.number_rules(text, false)),
            Kind::Array => Shape::Array(self.array(text, root)),
            Kind::Object => Shape::Object(self.object(text, root)),
        };
        if nullable { self.nullable(shape, text.span) } else { shape }
    }

    fn nullable(&mut self, shape: Shape, span: Span) -> Shape {
        let inner = reserve(self.project, span);
        self.set(inner, shape, Annotations::default());
        Shape::Nullable(inner)
    }

    fn set(&mut self, id: NodeId, shape: Shape, annotations: Annotations) {
        let node = self.project.schemas[id].clone();
        self.project.schemas.set(id, Node { shape, annotations, ..node });
    }

    fn expected(&mut self, expected: &str, found: &yaml::Node) {
        let message = format!("expected {expected}, found {}", found.kind());
        self.report.add(Diagnostic::error("wrong-kind", found.span, message));
    }
}
