//! Named types. Never inline schemas.

use super::Lowering;
use super::claims::Kind;
use crate::diagnostic::names;
use crate::model::{NamedType, ServiceId, TypeId};
use crate::naming;
use crate::schema::NodeId;
use crate::schema::read::reserve;
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
        let schema = reserve(&mut self.project, text.span);
        let id = TypeId::at(self.project.types.len());
        self.claims.give(Kind::Type, Some(service), name);
        self.names.types.entry((service, name.value.clone())).or_insert(id);
        self.project.types.push(NamedType { service, name: name.clone(), schema });
        self.project.services[service.position()].types.push(id);
        schema
    }
}
