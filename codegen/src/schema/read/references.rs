//! What a `$ref` may name: types of services, `#`, and `#/$defs/X`. Nothing is ever fetched.

use std::collections::BTreeMap;

use toolwright::pointer::from_fragment;

use super::SchemaReader;
use super::places::Root;
use crate::diagnostic::{names, schemas};
use crate::model::{ServiceId, TypeId};
use crate::prose::advice;
use crate::schema::{NodeId, Shape};
use crate::source::Span;
use crate::yaml::Node;

/// The types of all services by name.
#[derive(Debug, Default)]
pub(crate) struct TypeNames {
    /// Services by name.
    pub services: BTreeMap<String, ServiceId>,
    /// Types by service and name.
    pub types: BTreeMap<(ServiceId, String), TypeId>,
}

impl TypeNames {
    /// The type that `Name` or `service.Name` means to a service, or the words of an error: what is
    /// wrong, and advice.
    fn resolve(&self, name: &str, home: ServiceId) -> Result<TypeId, (String, String)> {
        let (service, bare) = match name.split_once('.') {
            None => (home, name),
            Some((service, bare)) => (self.service(service)?, bare),
        };
        self.types.get(&(service, bare.to_owned())).copied().ok_or_else(|| {
            let owned = self.types.keys().filter(|(owner, _)| *owner == service);
            let advice = advice(bare, owned.map(|(_, name)| name.as_str()), "types there");
            (format!("no type is named `{name}`"), advice)
        })
    }

    fn service(&self, name: &str) -> Result<ServiceId, (String, String)> {
        self.services.get(name).copied().ok_or_else(|| {
            let known = self.services.keys().map(String::as_str);
            let advice = advice(name, known, "services");
            (format!("no service is named `{name}`"), advice)
        })
    }

    /// The type that a name means, for whoever does not report.
    pub(crate) fn find(&self, name: &str, home: ServiceId) -> Option<TypeId> {
        let (service, bare) = match name.split_once('.') {
            None => (home, name),
            Some((service, bare)) => (self.services.get(service).copied()?, bare),
        };
        self.types.get(&(service, bare.to_owned())).copied()
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
            Some(fragment) => self.local(fragment, node.span, root),
            None => self.named(id, target, node.span),
        }
    }

    /// A place or an anchor in the same schema (2020-12 core, 8.2.2 and 9.2).
    fn local(&mut self, fragment: &str, span: Span, root: &mut Root) -> Shape {
        let Some(fragment) = from_fragment(fragment) else {
            let message = format!("the reference `#{fragment}` is not a URI fragment");
            self.report.add(schemas::unsupported_reference(span, message));
            return Shape::Any;
        };
        Shape::Local(if fragment.starts_with('/') {
            self.referred(&fragment, span, root)
        } else {
            self.referred_anchor(&fragment, span, root)
        })
    }

    /// Reads the name of a type into a node, which is distrusted where there is no such type.
    pub(super) fn named(&mut self, id: NodeId, name: &str, span: Span) -> Shape {
        if name.contains([':', '/']) {
            self.report.add(schemas::reference_elsewhere(span, name));
            self.project.schemas.distrust(id);
            return Shape::Any;
        }
        if self.report.is_full() {
            return self.names.find(name, self.service).map_or(Shape::Any, Shape::Named);
        }
        match self.names.resolve(name, self.service) {
            Ok(id) => return Shape::Named(id),
            Err(_) if self.report.misses_names() => {}
            Err((message, advice)) => self.report.add(names::unknown_type(span, message, advice)),
        }
        self.project.schemas.distrust(id);
        Shape::Any
    }
}
