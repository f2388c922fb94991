//! Lowers the HTTP requests of methods, in which every property of the payload has one place.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::http::{Body, Content, Parameter, Part, QueryParameter, Status, Style, Verb};
use toolwright::value::Kind;

use crate::diagnostic::{Report, http};
use crate::model::{Method, Project, Route};
use crate::prose::MAX_KNOWN;
use crate::schema::{
    Additional, NodeId, ObjectShape, Property, Schemas, as_object, kind_of, resolved,
};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entries, Http, HttpAnswer, HttpQuery};

/// Headers that a schema cannot set: those of the connection and the body, and credentials.
const RESERVED_HEADERS: [&str; 14] = [
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

/// The `body` that contains all properties without another place.
const REST: &str = "*";

/// The characters besides letters and digits that a path contains without an escape (RFC 3986, section 3.3).
const PLAIN: &str = "-._~!$&'()*+,;=:@/";

/// Lowers the route of a method. [`check`] compares it with the schemas of the method.
pub(super) fn route(text: &Http, report: &mut Report) -> Route {
    let path = match path_parts(&text.path.value) {
        Ok(parts) => parts,
        Err(why) => {
            // An empty path has been reported as an empty value.
            if !text.path.value.is_empty() {
                report.add(http::http_path(&text.path, &why));
            }
            Vec::new()
        }
    };
    Route {
        verb: text.method.0,
        path,
        query: query(text.query.as_deref().unwrap_or_default(), report),
        headers: parameters("header", text.headers.as_ref(), report),
        cookies: parameters("cookie", text.cookies.as_ref(), report),
        body: body(text, report),
        answers_text: text.answer.is_some_and(|word| word.0 == HttpAnswer::Text),
    }
}

fn query(texts: &[HttpQuery], report: &mut Report) -> Vec<QueryParameter<String>> {
    let mut names: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    let mut parameters = Vec::new();
    for HttpQuery { property, name, style, explode } in texts {
        let name = name.as_ref().unwrap_or(property);
        names.entry(&name.value).or_default().push(name.span);
        let style = style.unwrap_or(Style::Form);
        parameters.push(QueryParameter {
            name: name.value.clone(),
            property: property.value.clone(),
            style,
            explode: explode.unwrap_or(matches!(style, Style::Form | Style::DeepObject)),
        });
    }
    for (name, places) in names.into_iter().filter(|(_, places)| places.len() > 1) {
        report.add(http::http_name_twice(name, "query parameter", places));
    }
    parameters
}

/// Lowers headers or cookies.
fn parameters(
    what: &'static str,
    texts: Option<&Entries<Spanned<String>>>,
    report: &mut Report,
) -> Vec<Parameter<String>> {
    let mut names: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    let mut parameters = Vec::new();
    for (name, property) in texts.into_iter().flat_map(Entries::iter) {
        // Names of headers are case-insensitive; names of cookies are not.
        let (key, mistake) = match what {
            "header" => (name.value.to_ascii_lowercase(), header_mistake(&name.value)),
            _ => (name.value.clone(), token_mistake(&name.value)),
        };
        if let Some(why) = mistake {
            report.add(http::http_bad_name(name, what, why));
        }
        names.entry(key).or_default().push(name.span);
        parameters.push(Parameter { name: name.value.clone(), property: property.value.clone() });
    }
    for (name, places) in names.into_iter().filter(|(_, places)| places.len() > 1) {
        report.add(http::http_name_twice(&name, what, places));
    }
    parameters
}

fn body(text: &Http, report: &mut Report) -> Body<String> {
    let content = text.content.map_or(Content::Json, |word| word.0);
    let Some(body) = &text.body else {
        if text.content.is_some() {
            let why = "`content` is set, but there is no `body`";
            report.add(http::http_content(text.span, why));
        }
        return Body::Nothing;
    };
    if matches!(text.method.0, Verb::Get | Verb::Head | Verb::Trace) {
        report.add(http::http_no_body(body.span, text.method.0.as_str()));
    }
    if body.value == REST {
        Body::Rest(content)
    } else {
        Body::Property(body.value.clone(), content)
    }
}

/// Checks the routes of all methods against their schemas.
pub(super) fn check(project: &Project, texts: &[&syntax::Method], report: &mut Report) {
    for (method, text) in project.methods.iter().zip(texts) {
        let mut statuses: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for (name, error) in text.errors.iter().flat_map(Entries::iter) {
            let Some(status) = error.status else { continue };
            if text.http.is_none() {
                report.add(http::status_without_http(name));
            }
            let status = match status.0 {
                Status::Exactly(status) => status.to_string(),
                Status::Class(digit) => format!("{digit}XX"),
            };
            statuses.entry(status).or_default().push(name.span);
        }
        for (status, places) in statuses.into_iter().filter(|(_, places)| places.len() > 1) {
            report.add(http::repeated_status(&status, places));
        }
        let (Some(text), Some(route)) = (&text.http, &method.http) else { continue };
        let payload = resolved(&project.schemas, method.payload);
        if project.schemas.is_valid(payload)
            && let Some(object) = as_object(&project.schemas, payload)
        {
            check_placed(text, route, object, project.schemas[payload].span, report);
            check_contents(&project.schemas, method, text, route, object, report);
        }
    }
    // The client of a service implements its trait, so either all of its methods have `http` or none has it.
    for service in &project.services {
        let find = |has: bool| {
            let mut methods = service.methods.iter().map(|&id| &project[id]);
            methods.find(|method| method.http.is_some() == has)
        };
        if let (Some(with), Some(without)) = (find(true), find(false)) {
            let name = &service.name.value;
            report.add(http::http_missing(&without.name, name, with.name.span));
        }
    }
}

/// Checks that every property has exactly one place, and that properties in the path are required.
fn check_placed(
    text: &Http,
    route: &Route,
    payload: &ObjectShape,
    written: Span,
    report: &mut Report,
) {
    let mut placed: Vec<(&str, Span)> = Vec::new();
    for part in &route.path {
        if let Part::Property(name) = part {
            placed.push((name, text.path.span));
        }
    }
    let query = text.query.iter().flatten().map(|parameter| &parameter.property);
    let headers = text.headers.iter().flat_map(Entries::iter).map(|(_, property)| property);
    let cookies = text.cookies.iter().flat_map(Entries::iter).map(|(_, property)| property);
    let body = text.body.iter().filter(|body| body.value != REST);
    let named = query.chain(headers).chain(cookies).chain(body);
    placed.extend(named.map(|property| (property.value.as_str(), property.span)));

    let properties = payload.properties.iter().map(|one| (one.name.value.as_str(), one));
    let properties: BTreeMap<&str, &Property> = properties.collect();
    let in_path = route.path.iter().filter_map(|part| match part {
        Part::Property(name) => Some(name.as_str()),
        Part::Text(_) => None,
    });
    let in_path: BTreeSet<&str> = in_path.collect();
    let mut known_at: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for (name, span) in placed.into_iter().filter(|(name, _)| !name.is_empty()) {
        let Some(property) = properties.get(name) else {
            if !report.is_full() {
                let known = payload.properties.iter().map(|known| known.name.value.as_str());
                let known: Vec<&str> = known.take(MAX_KNOWN).collect();
                let name = Spanned::new(name.to_owned(), span);
                report.add(http::http_unknown_property(&name, &known));
            }
            continue;
        };
        if in_path.contains(name) && !property.required {
            report.add(http::http_optional_in_path(span, name, property.name.span));
        }
        known_at.entry(name).or_default().push(span);
    }
    if !matches!(route.body, Body::Rest(_)) {
        for property in &payload.properties {
            if !known_at.contains_key(&*property.name.value) {
                let what = format!("`{}`", property.name.value);
                report.add(http::http_not_placed(text.span, &what, property.name.span));
            }
        }
        // Undeclared properties are accepted and dropped, but additional properties in the schema need a place.
        if let Additional::Declared | Additional::Typed(_) = payload.additional {
            let what = "the additional properties of the payload";
            report.add(http::http_not_placed(text.span, what, written));
        }
    }
    for (name, places) in known_at.into_iter().filter(|(_, places)| places.len() > 1) {
        report.add(http::http_placed_twice(name, places));
    }
}

/// Checks that the content of a body or a response fits its schema.
fn check_contents(
    schemas: &Schemas,
    method: &Method,
    text: &Http,
    route: &Route,
    payload: &ObjectShape,
    report: &mut Report,
) {
    // Whether a schema certainly does not accept a kind of values.
    let never_accepts = |schema: NodeId, kind: Kind| {
        let is_valid = schemas.is_valid(resolved(schemas, schema));
        is_valid && kind_of(schemas, schema).is_some_and(|found| found != kind)
    };
    if route.answers_text && never_accepts(method.result, Kind::String) {
        let why = "the response is text, but the result is not a string";
        report.add(http::http_content(text.span, why));
    }
    let Some(place) = &text.body else { return };
    let (schema, content) = match &route.body {
        Body::Nothing => return,
        Body::Property(name, content) => {
            let found = payload.properties.iter().find(|property| property.name.value == *name);
            (found.map(|property| property.schema), content)
        }
        Body::Rest(content) => (Some(method.payload), content),
    };
    let (expected, why) = match content {
        Content::Json => return,
        Content::Text => (Kind::String, "the body is text, but its schema is not a string"),
        Content::Form | Content::DeepForm => {
            (Kind::Object, "the body is a form, but its schema is not an object")
        }
    };
    if schema.is_some_and(|schema| never_accepts(schema, expected)) {
        report.add(http::http_content(place.span, why));
    }
}

/// Parses a path.
///
/// # Errors
///
/// Returns the mistake as the rest of a sentence that begins with `the path`.
pub fn path_parts(text: &str) -> Result<Vec<Part<String>>, String> {
    if !text.starts_with('/') {
        return Err("does not begin with `/`".to_owned());
    }
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('{') {
            let (name, after) = inside.split_once('}').ok_or("has a `{` without its `}`")?;
            if name.is_empty() || name.contains('{') {
                return Err("has braces without the name of a property between them".to_owned());
            }
            parts.push(Part::Property(name.to_owned()));
            rest = after;
            continue;
        }
        let (plain, after) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        let mut unread = plain;
        while let Some(c) = unread.chars().next() {
            let is_escape = |hex: &str| hex.bytes().all(|byte| byte.is_ascii_hexdigit());
            let taken = match c {
                '%' if unread.get(1..3).is_some_and(is_escape) => 3,
                '%' => return Err("has a `%` without two hexadecimal digits after it".to_owned()),
                '?' | '#' => return Err(format!("has a `{c}`, which would end it")),
                c if c.is_ascii_alphanumeric() || PLAIN.contains(c) => 1,
                c => return Err(format!("has `{}`, which is not allowed", c.escape_debug())),
            };
            unread = &unread[taken..];
        }
        parts.push(Part::Text(plain.to_owned()));
        rest = after;
    }
    let is_step = |segment: &&str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    };
    match text.split('/').find(is_step) {
        Some(segment) => Err(format!("has the segment `{segment}`, which leads to another path")),
        None => Ok(parts),
    }
}

/// Returns why a schema cannot set a header of this name, if it cannot.
pub fn header_mistake(name: &str) -> Option<&'static str> {
    let is_reserved = RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    token_mistake(name).or_else(|| is_reserved.then_some("cannot be set by a schema"))
}

/// Returns why a name is not a token (RFC 9110, section 5.6.2), if it is not.
fn token_mistake(name: &str) -> Option<&'static str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_token = !name.is_empty() && name.bytes().all(is_part);
    (!is_token).then_some("has characters that are not allowed in a name")
}
