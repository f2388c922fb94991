//! The methods of services.

use std::collections::BTreeMap;

use super::schemas::Reading;
use super::services::Services;
use super::{check_name, http, owned};
use crate::diagnostic::Report;
use crate::model::{Method, MethodError, MethodId, Recovery, ServiceId};
use crate::schema::{Node, Shape};
use crate::syntax::{self, Entries};

/// The methods of a project.
pub(super) struct Methods<'a> {
    /// In the order of their ids.
    pub(super) list: Vec<Method>,
    /// As they are written, in the same order.
    pub(super) texts: Vec<&'a syntax::Method>,
    /// The methods of each service.
    pub(super) of_services: Vec<Vec<MethodId>>,
    by_name: BTreeMap<(ServiceId, &'a str), MethodId>,
}

impl Methods<'_> {
    pub(super) fn named(&self, service: ServiceId, name: &str) -> Option<MethodId> {
        self.by_name.get(&(service, name)).copied()
    }

    /// The names of all methods, by service.
    pub(super) fn names(&self) -> impl Iterator<Item = (ServiceId, &str)> {
        self.by_name.keys().copied()
    }
}

/// Lowers every method.
pub(super) fn methods<'a>(
    services: &Services<'a>,
    reading: &mut Reading<'_>,
    report: &mut Report,
) -> Methods<'a> {
    let of_services = vec![Vec::new(); services.list.len()];
    let (list, texts, by_name) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut methods = Methods { list, texts, of_services, by_name };
    for (service, document) in services.documents() {
        for (name, text) in document.methods.iter().flat_map(Entries::iter) {
            check_name("a method", name, report);
            let id = MethodId::at(methods.list.len());
            let payload = match &text.payload {
                Some(payload) => reading.object(service, &payload.0, "a payload", report),
                None => reading.empty_object(name.span),
            };
            let result = match &text.result {
                Some(result) => reading.schema(service, &result.0, report),
                None => reading.schemas.add(Node::new(name.span, Shape::Null)),
            };
            let mut errors = Vec::new();
            for (name, text) in text.errors.iter().flat_map(Entries::iter) {
                check_name("an error", name, report);
                errors.push(MethodError {
                    name: name.clone(),
                    description: text.description.value.clone(),
                    recovery: text.recovery.map_or(Recovery::Replan, |word| word.0),
                    status: text.status.map(|status| status.0),
                });
            }
            methods.list.push(Method {
                service,
                name: name.clone(),
                description: owned(text.description.as_ref()),
                payload,
                result,
                errors,
                http: text.http.as_ref().map(|http| http::route(http, report)),
            });
            methods.texts.push(text);
            methods.of_services[service.position()].push(id);
            methods.by_name.entry((service, &name.value)).or_insert(id);
        }
    }
    methods
}
