//! Reads `$ref`: types of services, `#`, `#/$defs/X` and anchors. Nothing is ever fetched.

use std::collections::BTreeMap;

use toolwright::pointer::from_fragment;
use toolwright::value::Kind;

use super::SchemaReader;
use super::places::Root;
use crate::diagnostic::{names, schemas};
use crate::prose::advice;
use crate::schema::{NodeId, Shape, TypeId};
use crate::source::Span;
use crate::yaml::Node;

/// The types of all services, by the name of the service and their own name.
#[derive(Debug, Default)]
pub(crate) struct KnownTypes {
    services: BTreeMap<String, BTreeMap<String, TypeId>>,
}

impl KnownTypes {
    /// Adds a service without types, unless it is already known.
    pub(crate) fn add_service(&mut self, service: &str) {
        self.services.entry(service.to_owned()).or_default();
    }

    /// Adds a type, unless its service already has one of that name.
    pub(crate) fn add_type(&mut self, service: &str, name: &str, id: TypeId) {
        let types = self.services.entry(service.to_owned()).or_default();
        types.entry(name.to_owned()).or_insert(id);
    }

    /// Returns the type to which `Name` or `service.Name` refers in a service.
    pub(crate) fn find(&self, name: &str, current: &str) -> Option<TypeId> {
        let (service, bare) = name.split_once('.').unwrap_or((current, name));
        self.services.get(service)?.get(bare).copied()
    }

    /// Like [`Self::find`], but returns a message and advice if there is no such type.
    fn resolve(&self, name: &str, current: &str) -> Result<TypeId, (String, String)> {
        let (service, bare) = name.split_once('.').unwrap_or((current, name));
        let Some(types) = self.services.get(service) else {
            let known = self.services.keys().map(String::as_str);
            let advice = advice(service, known, "services");
            return Err((format!("no service is named `{service}`"), advice));
        };
        types.get(bare).copied().ok_or_else(|| {
            let advice = match Kind::from_name(name) {
                Some(kind) => format!("to accept any {0}, write `{{ type: {0} }}`", kind.as_str()),
                None => advice(bare, types.keys().map(String::as_str), "types there"),
            };
            (format!("no type is named `{name}`"), advice)
        })
    }
}

impl SchemaReader<'_> {
    /// Reads `$ref` into a node.
    pub(super) fn reference(&mut self, id: NodeId, text: &Node, root: &mut Root) -> Shape {
        let Some(node) = text.get("$ref") else { return Shape::Any };
        let Some(target) = node.as_str() else {
            self.expected("the name of a type", node);
            return Shape::Any;
        };
        match target.strip_prefix('#') {
            Some("") => Shape::Local(root.node),
            Some(fragment) => self.local(id, fragment, node.span, root),
            None => self.named(id, target, node.span),
        }
    }

    /// Reads a reference to a place or an anchor in the same schema (2020-12 core, 8.2.2 and 9.2). A reference to an anchor gets
    /// its target when all of the schema is read.
    fn local(&mut self, id: NodeId, fragment: &str, span: Span, root: &mut Root) -> Shape {
        let Some(fragment) = from_fragment(fragment) else {
            let message = format!("the reference `#{fragment}` is not a URI fragment");
            self.report.add(schemas::unsupported_reference(span, message));
            return Shape::Any;
        };
        if fragment.starts_with('/') {
            return Shape::Local(self.referred(&fragment, span, root));
        }
        root.wanted_anchors.push((fragment, span, id));
        Shape::Any
    }

    /// Reads the name of a type into a node, which is marked as invalid if there is no such type.
    pub(super) fn named(&mut self, id: NodeId, name: &str, span: Span) -> Shape {
        if name.contains([':', '/']) {
            self.report.add(schemas::reference_elsewhere(span, name));
            self.schemas.mark_invalid(id);
            return Shape::Any;
        }
        if self.report.is_full() {
            return self.names.find(name, self.service).map_or(Shape::Any, Shape::Named);
        }
        match self.names.resolve(name, self.service) {
            Ok(id) => return Shape::Named(id),
            Err(_) if self.report.has_unread_definitions() => {}
            Err((message, advice)) => {
                self.report.add(names::unknown_type(Some(span), message, advice));
            }
        }
        self.schemas.mark_invalid(id);
        Shape::Any
    }
}
