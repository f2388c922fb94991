//! The services that the files name. Never what they own.

use super::Lowering;
use crate::diagnostic::{names, tools};
use crate::model::{Service, ServiceId};
use crate::source::{Span, Spanned};
use crate::syntax::{Document, ServiceRef};

impl<'a> Lowering<'a> {
    /// Finds the service of every file; several files may belong to one.
    pub(super) fn services(&mut self) {
        let documents: &'a [Document] = self.documents;
        let mut described: Vec<Vec<Spanned<String>>> = Vec::new();
        for document in documents {
            let home = document.service.as_ref().map(|text| self.service(text, &mut described));
            if home.is_none() {
                self.check_homeless(document);
            }
            self.homes.push(home);
        }
        for (service, texts) in ServiceId::first(described.len()).zip(described) {
            self.describe(service, &texts);
        }
    }

    fn service(
        &mut self,
        text: &ServiceRef,
        described: &mut Vec<Vec<Spanned<String>>>,
    ) -> ServiceId {
        let name = &text.name;
        let known = self.service_ids.get(&name.value).copied();
        let id = known.unwrap_or_else(|| {
            described.push(Vec::new());
            self.new_service(name)
        });
        described[id.position()].extend(text.description.clone());
        id
    }

    fn new_service(&mut self, name: &Spanned<String>) -> ServiceId {
        self.check_given_name("a service", name);
        let id = ServiceId::at(self.project.services.len());
        self.project.services.push(Service {
            name: name.clone(),
            description: None,
            types: Vec::new(),
            methods: Vec::new(),
        });
        self.names.add_service(&name.value);
        self.service_ids.insert(name.value.clone(), id);
        id
    }

    fn describe(&mut self, id: ServiceId, texts: &[Spanned<String>]) {
        let service = &mut self.project.services[id.position()];
        service.description = texts.first().map(|text| text.value.clone());
        if texts.iter().any(|text| text.value != texts[0].value) {
            let places = texts.iter().map(|text| text.span).collect();
            self.report.add(names::two_descriptions(&service.name.value, places));
        }
    }

    /// What belongs to a service needs one; toolsets may find theirs by their use.
    fn check_homeless(&mut self, document: &Document) {
        let first = |span: Option<Span>, what: &'static str| span.map(|span| (span, what));
        let found = [
            first(first_key(document.types.as_ref()), "types"),
            first(first_key(document.methods.as_ref()), "methods"),
            first(first_key(document.agents.as_ref()), "agents"),
            first(first_key(document.mcp_servers.as_ref()), "MCP servers"),
        ];
        for (span, what) in found.into_iter().flatten() {
            self.report.add(tools::missing_service(span, what));
            self.report.miss_names();
        }
    }
}

fn first_key<T>(entries: Option<&crate::syntax::Entries<T>>) -> Option<Span> {
    entries?.iter().next().map(|(name, _)| name.span)
}
