//! Reads named types and the schemas of methods and tools into [`Schemas`].

use std::collections::BTreeSet;

use super::services::Services;
use crate::diagnostic::{Report, names, schemas};
use crate::model::ServiceId;
use crate::naming;
use crate::schema::read::{KnownTypes, Pending, SchemaReader};
use crate::schema::{
    Additional, Assertion, Keyword, NamedType, Node, NodeId, ObjectShape, Schemas, Shape, TypeId,
    as_object, resolved,
};
use crate::source::{SourceId, Span};
use crate::syntax::{Entries, SchemaText};
use crate::yaml;

/// The schemas of a project while they are being read.
pub(super) struct Reading<'a> {
    pub(super) schemas: Schemas,
    pub(super) types: KnownTypes,
    services: &'a Services<'a>,
    exact_integers: BTreeSet<SourceId>,
    pending: Pending,
    /// Schemas that do not yet describe objects although they should, the places of their use, and their descriptions.
    not_objects: Vec<(NodeId, Span, &'static str)>,
}

/// Reads every named type: first all names, so that types can refer to each other. Also returns the types of each service.
pub(super) fn types<'a>(
    services: &'a Services<'a>,
    exact_integers: BTreeSet<SourceId>,
    report: &mut Report,
) -> (Reading<'a>, Vec<Vec<TypeId>>) {
    let mut schemas = Schemas::default();
    let mut types = KnownTypes::default();
    let mut of_services = vec![Vec::new(); services.list.len()];
    for service in &services.list {
        types.add_service(&service.name.value);
    }
    let mut bodies = Vec::new();
    for (service, document) in services.documents() {
        for (name, SchemaText(text)) in document.types.iter().flat_map(Entries::iter) {
            if !naming::is_type_name(&name.value) {
                report.add(names::bad_type_name(name));
            }
            let schema = schemas.reserve(text.span);
            let owner = services.name(service).value.clone();
            let id = schemas.add_type(NamedType { service: owner, name: name.clone(), schema });
            types.add_type(&services.name(service).value, &name.value, id);
            of_services[service.position()].push(id);
            bodies.push((service, schema, text));
        }
    }
    let (pending, not_objects) = (Pending::default(), Vec::new());
    let mut reading = Reading { schemas, types, services, exact_integers, pending, not_objects };
    for (service, node, text) in bodies {
        reading.reader(service, report).root(node, text);
    }
    (reading, of_services)
}

impl Reading<'_> {
    fn reader<'r>(&'r mut self, service: ServiceId, report: &'r mut Report) -> SchemaReader<'r> {
        SchemaReader {
            schemas: &mut self.schemas,
            names: &self.types,
            service: &self.services.name(service).value,
            exact_integers: &self.exact_integers,
            pending: &mut self.pending,
            report,
            errors_below: 0,
        }
    }

    /// Reads the name of a type or an inline schema, with names in the scope of a service.
    pub(super) fn schema(
        &mut self,
        service: ServiceId,
        text: &yaml::Node,
        report: &mut Report,
    ) -> NodeId {
        self.reader(service, report).schema_or_name(text)
    }

    /// Reads a schema that has to describe an object.
    pub(super) fn object(
        &mut self,
        service: ServiceId,
        text: &yaml::Node,
        what: &'static str,
        report: &mut Report,
    ) -> NodeId {
        let node = self.schema(service, text, report);
        if as_object(&self.schemas, node).is_none() {
            self.not_objects.push((node, text.span, what));
        }
        node
    }

    /// Returns whether the unbounded integers of a file have any size.
    pub(super) fn has_exact_integers(&self, at: Span) -> bool {
        self.exact_integers.contains(&at.source)
    }

    /// Adds an object without properties.
    pub(super) fn empty_object(&mut self, span: Span) -> NodeId {
        let object = ObjectShape { properties: Vec::new(), additional: Additional::Closed };
        self.schemas.add(Node::new(span, Shape::Object(object)))
    }

    /// Adds a schema that is marked as invalid.
    pub(super) fn invalid(&mut self, span: Span) -> NodeId {
        let id = self.schemas.reserve(span);
        self.schemas.mark_invalid(id);
        id
    }

    /// Checks parts of the schemas that had to wait until everything they refer to was read.
    pub(super) fn settle(&mut self, report: &mut Report) {
        self.pending.settle(&mut self.schemas, report);
    }

    /// Returns the schemas after all have been read.
    pub(super) fn settled(mut self, report: &mut Report) -> Schemas {
        self.settle(report);
        let mut schemas = self.schemas;
        for (node, span, what) in self.not_objects {
            let plain = resolved(&schemas, node);
            let is_known = schemas.is_valid(plain) && schemas.is_valid(node);
            if is_known && as_object(&schemas, node).is_none() {
                let Node { shape, assertions, .. } = &schemas[plain];
                let is_choice = |assertion: &Assertion| {
                    matches!(assertion.keyword, Keyword::AnyOf | Keyword::OneOf)
                };
                let is_untyped = matches!(shape, Shape::Any) && !assertions.iter().any(is_choice);
                report.add(schemas::not_an_object(span, what, is_untyped));
                schemas.mark_invalid(node);
            }
        }
        schemas
    }
}
