//! Collects the services, and finds the service of each file.

use std::collections::BTreeMap;

use super::check_name;
use crate::diagnostic::{Report, names, tools};
use crate::model::ServiceId;
use crate::source::{Span, Spanned};
use crate::syntax::{Document, Entries};

/// The services of a project. Several files may belong to one service.
pub(super) struct Services<'a> {
    /// In the order of their ids.
    pub(super) list: Vec<DeclaredService<'a>>,
    /// Every file, with its service if it names one.
    pub(super) files: Vec<(Option<ServiceId>, &'a Document)>,
    by_name: BTreeMap<&'a str, ServiceId>,
}

/// A declared service.
pub(super) struct DeclaredService<'a> {
    /// Its name at its first mention.
    pub(super) name: &'a Spanned<String>,
    pub(super) description: Option<String>,
}

impl<'a> Services<'a> {
    /// Returns the files that belong to services.
    pub(super) fn documents(&self) -> impl Iterator<Item = (ServiceId, &'a Document)> {
        self.files.iter().filter_map(|&(service, document)| Some((service?, document)))
    }

    pub(super) fn name(&self, id: ServiceId) -> &'a Spanned<String> {
        self.list[id.position()].name
    }

    pub(super) fn named(&self, name: &str) -> Option<ServiceId> {
        self.by_name.get(name).copied()
    }
}

/// Finds the service of every file.
pub(super) fn services<'a>(documents: &'a [Document], report: &mut Report) -> Services<'a> {
    let mut files = Vec::new();
    let mut by_name = BTreeMap::new();
    let mut found: Vec<(&Spanned<String>, Vec<&Spanned<String>>)> = Vec::new();
    for document in documents {
        let Some(text) = &document.service else {
            check_without_service(document, report);
            files.push((None, document));
            continue;
        };
        let id = *by_name.entry(&*text.name.value).or_insert_with(|| {
            // An empty name has been reported as an empty value.
            if !text.name.value.is_empty() {
                check_name("a service", &text.name, report);
            }
            found.push((&text.name, Vec::new()));
            ServiceId::at(found.len() - 1)
        });
        found[id.position()].1.extend(&text.description);
        files.push((Some(id), document));
    }
    let mut list = Vec::new();
    for (name, descriptions) in found {
        if descriptions.iter().any(|text| text.value != descriptions[0].value) {
            let places = descriptions.iter().map(|text| text.span).collect();
            report.add(names::two_descriptions(&name.value, places));
        }
        let description = descriptions.first().map(|text| text.value.clone());
        list.push(DeclaredService { name, description });
    }
    Services { list, files, by_name }
}

/// Reports definitions that need a service in a file that names none.
fn check_without_service(document: &Document, report: &mut Report) {
    fn first_key<T>(entries: Option<&Entries<T>>) -> Option<Span> {
        entries?.iter().next().map(|(name, _)| name.span)
    }
    let found = [
        (first_key(document.types.as_ref()), "types"),
        (first_key(document.methods.as_ref()), "methods"),
        (first_key(document.agents.as_ref()), "agents"),
        (first_key(document.mcp_servers.as_ref()), "MCP servers"),
    ];
    for (span, what) in found {
        if let Some(span) = span {
            report.add(tools::missing_service(span, what));
            report.note_unread_definitions();
        }
    }
}
