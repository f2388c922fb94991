//! Lowers the methods of services.

use std::collections::BTreeMap;

use toolwright::http::Part;
use toolwright::outcome::Recovery;

use super::schemas::Reading;
use super::services::Services;
use super::{check_name, http, owned};
use crate::diagnostic::{Report, form, templates};
use crate::model::{Method, MethodError, MethodId, ServiceId};
use crate::prose::as_error;
use crate::schema::{Node, Shape};
use crate::source::Spanned;
use crate::syntax::{self, Entries};

/// The methods of a project.
pub(super) struct Methods<'a> {
    /// In the order of their ids.
    pub(super) list: Vec<Method>,
    /// Their declarations, in the same order.
    pub(super) texts: Vec<&'a syntax::Method>,
    /// The methods of each service.
    pub(super) of_services: Vec<Vec<MethodId>>,
    by_name: BTreeMap<(ServiceId, &'a str), MethodId>,
}

impl Methods<'_> {
    pub(super) fn named(&self, service: ServiceId, name: &str) -> Option<MethodId> {
        self.by_name.get(&(service, name)).copied()
    }

    /// Returns the names of all methods, by service.
    pub(super) fn names(&self) -> impl Iterator<Item = (ServiceId, &str)> {
        self.by_name.keys().copied()
    }
}

/// Returns the message of an error: its `message`, or else its description in the style of Rust errors.
fn message(
    name: &Spanned<String>,
    text: &syntax::MethodError,
    report: &mut Report,
) -> Vec<Part<String>> {
    match (&text.message, &text.description) {
        (Some(message), _) => message_parts(&message.value).unwrap_or_else(|reason| {
            report.add(templates::bad_template(message.span, &reason));
            Vec::new()
        }),
        (None, Some(description)) => vec![Part::Text(as_error(&description.value))],
        (None, None) => {
            report.add(form::missing_key(name.span, "message"));
            Vec::new()
        }
    }
}

/// Splits a message into texts and properties: `{id}` is a property, and `{{` and `}}` are braces.
fn message_parts(text: &str) -> Result<Vec<Part<String>>, String> {
    let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            if let Some(name) = word_of_approvals(brace, after) {
                return Err(format!(
                    "`{{{{ {name} }}}}` is the syntax of approvals; write a property of the payload as `{{{name}}}`"
                ));
            }
            plain.push_str(brace);
            rest = after;
            continue;
        }
        let end = if brace == "{" { rest.find('}') } else { None };
        let end = end.ok_or_else(|| {
            format!(
                "there is a single `{brace}`; write a property as `{{id}}`, and a brace as two braces"
            )
        })?;
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Property(rest[..end].to_owned()));
        rest = &rest[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

/// Returns the name in `{{ name }}`, of which the first two braces are read.
fn word_of_approvals<'a>(brace: &str, after: &'a str) -> Option<&'a str> {
    let (inside, _) = after.split_once("}}").filter(|_| brace == "{")?;
    let name = inside.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
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
            let errors = text.errors.iter().flat_map(Entries::iter);
            let errors = errors
                .map(|(name, text)| {
                    check_name("an error", name, report);
                    let payload = text.payload.as_ref();
                    MethodError {
                        name: name.clone(),
                        message: message(name, text, report),
                        description: owned(text.description.as_ref()),
                        payload: payload.map(|payload| {
                            reading.object(service, &payload.0, "the payload of an error", report)
                        }),
                        recovery: text.recovery.map_or(Recovery::Replan, |word| word.0),
                        status: text.status.map(|status| status.0),
                    }
                })
                .collect();
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
