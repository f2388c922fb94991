//! The services that the files name. Never what they own.

use super::Lowering;
use crate::diagnostic::Diagnostic;
use crate::model::{Service, ServiceId};
use crate::source::{Span, Spanned};
use crate::syntax::{Document, ServiceRef};

impl<'a> Lowering<'a> {
    /// Finds the service of every file; several files may belong to one.
    pub(super) fn services(&mut self) {
        let documents: &'a [Document] = self.documents;
        let mut described: Vec<Option<Span>> = Vec::new();
        for document in documents {
            let home = document.service.as_ref().map(|text| self.service(text, &mut described));
            if home.is_none() {
                self.check_homeless(document);
            }
            self.homes.push(home);
        }
    }

    fn service(&mut self, text: &ServiceRef, described: &mut Vec<Option<Span>>) -> ServiceId {
        let name = &text.name;
        let known = self.names.services.get(&name.value).copied();
        let id = known.unwrap_or_else(|| {
            described.push(None);
            self.new_service(name)
        });
        if let Some(description) = &text.description {
            self.describe(id, description, described);
        }
        id
    }

    fn new_service(&mut self, name: &Spanned<String>) -> ServiceId {
        self.check_name("a service", name);
        let id = ServiceId::at(self.project.services.len());
        self.project.services.push(Service { name: name.clone(), description: None });
        self.names.services.insert(name.value.clone(), id);
        id
    }

    fn describe(
        &mut self,
        id: ServiceId,
        description: &Spanned<String>,
        described: &mut [Option<Span>],
    ) {
        let position = id.position();
        let service = &mut self.project.services[position];
        match (&service.description, described[position]) {
            (Some(first), Some(span)) if *first != description.value => {
                let message = format!("two descriptions of the service `{}`", service.name.value);
                let finding = Diagnostic::error("two-descriptions", description.span, message)
                    .also(span, "first here")
                    .help("describe it in one file; `service: name` is enough in the others");
                self.report.add(finding);
            }
            _ => {
                service.description = Some(description.value.clone());
                described[position] = Some(description.span);
            }
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
            let message = format!("this file declares {what}, but no service that they belong to");
            let finding = Diagnostic::error("missing-service", span, message)
                .help("add `service: name` at the top of the file");
            self.report.add(finding);
        }
    }
}

fn first_key<T>(entries: Option<&crate::syntax::Entries<T>>) -> Option<Span> {
    entries?.iter().next().map(|(name, _)| name.span)
}
