//! How methods go over HTTP: every property of a payload in one place of the request. Never how a request is made.

use std::collections::BTreeMap;

use super::{Lowering, paths};
use crate::diagnostic::http;
use crate::model::{
    Body, Content, MethodId, Part, QueryParameter, Route, ServiceId, Status, Style, Verb,
};
use crate::schema::{Additional, Kind, NodeId, ObjectShape, as_object, kind_of, resolved};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entries, Http, HttpAnswer, HttpQuery};

/// Headers that a schema cannot set: those of the connection, of the body, and what proves who asks.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The body that is made of all that stands nowhere else.
const REST: &str = "*";

/// The properties that a request carries, with what names each.
type Placed = Vec<Spanned<String>>;

impl Lowering<'_> {
    /// Lowers the route of every method that has one, once all payloads are known.
    pub(super) fn routes(&mut self) {
        for id in MethodId::first(self.method_texts.len()) {
            let text = self.method_text(id);
            self.check_statuses(text);
            if let Some(http) = &text.http {
                self.project.methods[id.position()].http = Some(self.route(id, http));
            }
        }
        for service in ServiceId::first(self.project.services.len()) {
            self.check_whole(service);
        }
    }

    /// The client of a service implements its trait, so all of its methods go over HTTP or none does.
    fn check_whole(&mut self, service: ServiceId) {
        let of = |has: bool| {
            let found = self
                .project
                .methods_of(service)
                .find(|&id| self.method_text(id).http.is_some() == has);
            found.map(|id| self.project[id].name.clone())
        };
        if let (Some(with), Some(without)) = (of(true), of(false)) {
            let service = &self.project[service].name.value;
            self.report.add(http::http_missing(&without, service, with.span));
        }
    }

    fn check_statuses(&mut self, text: &syntax::Method) {
        let mut places: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for (name, error) in text.errors.iter().flat_map(Entries::iter) {
            let Some(status) = error.status else { continue };
            if text.http.is_none() {
                self.report.add(http::status_without_http(name));
            }
            places.entry(shown(status.0)).or_default().push(name.span);
        }
        for (status, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
            self.report.add(http::repeated_status(&status, places));
        }
    }

    fn route(&mut self, method: MethodId, text: &Http) -> Route {
        let mut placed = Placed::new();
        let path = self.path(&text.path, &mut placed);
        let query = self.query(text.query.as_deref().unwrap_or_default(), &mut placed);
        let headers = self.named("header", text.headers.as_ref(), &mut placed);
        let cookies = self.named("cookie", text.cookies.as_ref(), &mut placed);
        let body = self.body(text, &mut placed);
        let answers_text = text.answer.is_some_and(|word| word.0 == HttpAnswer::Text);
        let route =
            Route { verb: text.method.0, path, query, headers, cookies, body, answers_text };
        let payload = resolved(&self.project.schemas, self.project[method].payload);
        if self.project.schemas.is_sound(payload)
            && let Some(object) = as_object(&self.project.schemas, payload).cloned()
        {
            let written = self.project.schemas[payload].span;
            self.check_placed(text, &route, &object, written, placed);
            self.check_contents(method, text, &route, &object);
        }
        route
    }

    fn path(&mut self, text: &Spanned<String>, placed: &mut Placed) -> Vec<Part> {
        if text.value.is_empty() {
            return Vec::new();
        }
        let parts = paths::parts(&text.value).unwrap_or_else(|why| {
            self.report.add(http::http_path(text, &why));
            Vec::new()
        });
        for part in &parts {
            if let Part::Property(name) = part {
                placed.push(Spanned::new(name.clone(), text.span));
            }
        }
        parts
    }

    fn query(&mut self, texts: &[HttpQuery], placed: &mut Placed) -> Vec<QueryParameter> {
        let mut names: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        let mut parameters = Vec::new();
        for HttpQuery { property, name, style, explode } in texts {
            placed.push(property.clone());
            let name = name.as_ref().unwrap_or(property);
            names.entry(name.value.clone()).or_default().push(name.span);
            let style = style.unwrap_or(Style::Form);
            parameters.push(QueryParameter {
                name: name.value.clone(),
                property: property.value.clone(),
                style,
                explode: explode.unwrap_or(matches!(style, Style::Form | Style::DeepObject)),
            });
        }
        for (name, places) in names.into_iter().filter(|(_, places)| places.len() > 1) {
            self.report.add(http::http_name_twice(&name, "query parameter", places));
        }
        parameters
    }

    fn named(
        &mut self,
        what: &'static str,
        texts: Option<&Entries<Spanned<String>>>,
        placed: &mut Placed,
    ) -> Vec<(String, String)> {
        let mut names: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        let mut pairs = Vec::new();
        for (name, property) in texts.into_iter().flat_map(Entries::iter) {
            let lower = name.value.to_ascii_lowercase();
            let mistake = match what {
                "header" => header_mistake(&name.value),
                _ => token_mistake(&name.value),
            };
            if let Some(why) = mistake {
                self.report.add(http::http_bad_name(name, what, why));
            }
            // Names of headers are the same in small letters and capitals; those of cookies are not.
            let key = if what == "header" { lower } else { name.value.clone() };
            names.entry(key).or_default().push(name.span);
            placed.push(property.clone());
            pairs.push((name.value.clone(), property.value.clone()));
        }
        for (name, places) in names.into_iter().filter(|(_, places)| places.len() > 1) {
            self.report.add(http::http_name_twice(&name, what, places));
        }
        pairs
    }

    fn body(&mut self, text: &Http, placed: &mut Placed) -> Option<(Body, Content)> {
        let content = text.content.map_or(Content::Json, |word| word.0);
        let Some(body) = &text.body else {
            if text.content.is_some() {
                self.report.add(http::http_content(
                    text.span,
                    "`content` without a `body` that it is about",
                ));
            }
            return None;
        };
        if matches!(text.method.0, Verb::Get | Verb::Head | Verb::Trace) {
            self.report.add(http::http_no_body(body.span, word(text.method.0)));
        }
        if body.value == REST {
            return Some((Body::Rest, content));
        }
        placed.push(body.clone());
        Some((Body::Property(body.value.clone()), content))
    }

    /// Every property stands in one place, and what stands in the path is always there.
    fn check_placed(
        &mut self,
        text: &Http,
        route: &Route,
        payload: &ObjectShape,
        written: Span,
        placed: Placed,
    ) {
        let mut known_at: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for name in placed.iter().filter(|name| !name.value.is_empty()) {
            let found = payload.properties.iter().find(|one| one.name.value == name.value);
            let known = payload.properties.iter().map(|one| one.name.value.as_str());
            match found {
                None => {
                    let known: Vec<&str> = known.collect();
                    self.report.add(http::http_unknown_property(name, &known));
                }
                Some(property) => {
                    let is_in_path = route.path.contains(&Part::Property(name.value.clone()));
                    if is_in_path && !property.required {
                        let declared = property.name.span;
                        self.report.add(http::http_optional_in_path(
                            name.span,
                            &name.value,
                            declared,
                        ));
                    }
                    known_at.entry(name.value.clone()).or_default().push(name.span);
                }
            }
        }
        if !matches!(route.body, Some((Body::Rest, _))) {
            self.check_unplaced(text, payload, written, &known_at);
        }
        for (name, places) in known_at.into_iter().filter(|(_, places)| places.len() > 1) {
            self.report.add(http::http_placed_twice(&name, places));
        }
    }

    fn check_unplaced(
        &mut self,
        text: &Http,
        payload: &ObjectShape,
        written: Span,
        places: &BTreeMap<String, Vec<Span>>,
    ) {
        for property in &payload.properties {
            if !places.contains_key(&property.name.value) {
                let what = format!("`{}`", property.name.value);
                let declared = property.name.span;
                self.report.add(http::http_not_placed(text.span, &what, declared));
            }
        }
        // What the schema says nothing of is taken and dropped; what it speaks of has to go somewhere.
        if let Additional::Declared | Additional::Typed(_) = payload.additional {
            let what = "what the payload has beside its properties";
            self.report.add(http::http_not_placed(text.span, what, written));
        }
    }

    fn check_contents(
        &mut self,
        method: MethodId,
        text: &Http,
        route: &Route,
        payload: &ObjectShape,
    ) {
        let result = self.project[method].result;
        if let Some(word) = route.answers_text.then_some(text.span)
            && self.is_another(result, Kind::String)
        {
            let why = "the answer is text, and the result no string";
            self.report.add(http::http_content(word, why));
        }
        let (Some((body, content)), Some(place)) = (&route.body, &text.body) else { return };
        let schema = match body {
            Body::Property(name) => {
                let found = payload.properties.iter().find(|one| one.name.value == *name);
                found.map(|property| property.schema)
            }
            Body::Rest => Some(self.project[method].payload),
        };
        let (expected, why) = match content {
            Content::Json => return,
            Content::Text => (Kind::String, "the body is text, and what stands in it no string"),
            Content::Form | Content::DeepForm => {
                (Kind::Object, "the body is a form, and what stands in it no object")
            }
        };
        if schema.is_some_and(|schema| self.is_another(schema, expected)) {
            self.report.add(http::http_content(place.span, why));
        }
    }

    /// Whether a schema is known to accept other values only.
    fn is_another(&self, schema: NodeId, kind: Kind) -> bool {
        let is_sound = self.project.schemas.is_sound(resolved(&self.project.schemas, schema));
        is_sound && kind_of(&self.project.schemas, schema).is_some_and(|found| found != kind)
    }
}

/// Why a request cannot have a header of this name.
pub(crate) fn header_mistake(name: &str) -> Option<&'static str> {
    let is_own = OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    token_mistake(name).or_else(|| is_own.then_some("is not the schema's to set"))
}

/// Why a name is no token (RFC 9110, 5.6.2).
fn token_mistake(name: &str) -> Option<&'static str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_token = !name.is_empty() && name.bytes().all(is_part);
    (!is_token).then_some("has characters that no name may have")
}

fn shown(status: Status) -> String {
    match status {
        Status::Exactly(status) => status.to_string(),
        Status::Class(digit) => format!("{digit}XX"),
    }
}

fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "GET",
        Verb::Head => "HEAD",
        Verb::Post => "POST",
        Verb::Put => "PUT",
        Verb::Patch => "PATCH",
        Verb::Delete => "DELETE",
        Verb::Options => "OPTIONS",
        Verb::Trace => "TRACE",
    }
}
