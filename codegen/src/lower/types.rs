//! Named types. Never inline schemas.

use super::Lowering;
use super::claims::Kind;
use crate::diagnostic::names;
use crate::model::ServiceId;
use crate::naming;
use crate::schema::{NamedType, NodeId};
use crate::source::Spanned;
use crate::syntax::{Document, SchemaText};
use crate::yaml;

impl<'a> Lowering<'a> {
    /// Lowers every named type: all names first, so that bodies may refer to any.
    pub(super) fn types(&mut self) {
        let documents: &'a [Document] = self.documents;
        let mut bodies: Vec<(ServiceId, NodeId, &'a yaml::Node)> = Vec::new();
        for (position, document) in documents.iter().enumerate() {
            let (Some(service), Some(types)) = (self.homes[position], &document.types) else {
                continue;
            };
            for (name, SchemaText(text)) in types.iter() {
                bodies.push((service, self.declare_type(service, name, text), text));
            }
        }
        for (service, node, text) in bodies {
            self.reader(service).root(node, text);
        }
    }

    fn declare_type(
        &mut self,
        service: ServiceId,
        name: &Spanned<String>,
        text: &yaml::Node,
    ) -> NodeId {
        if !naming::is_type_name(&name.value) {
            self.report.add(names::bad_type_name(name));
        }
        let schema = self.project.schemas.reserve(text.span);
        self.claims.give(Kind::Type, Some(service), name);
        let owner = self.project[service].name.value.clone();
        let named = NamedType { service: owner.clone(), name: name.clone(), schema };
        let id = self.project.schemas.add_type(named);
        self.names.add_type(&owner, &name.value, id);
        self.project.services[service.position()].types.push(id);
        schema
    }
}
