//! Puts the properties of a payload where the operation defines them: path, query, headers, cookies, body.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use toolwright::{FailureKind, Map, Recovery, ToolFailure, Value};

use crate::operation::{Body, Content, Operation, Parameter, Part, QueryParameter, Style};
use crate::value::{Pairs, encoded, path_text, separable, text};

/// The parts of a request, without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The path, encoded, to append to the base address.
    pub(crate) path: String,
    /// The query as `name=value`, encoded.
    pub(crate) query: Vec<String>,
    /// The headers, including `Content-Type`.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The cookies as `name=value`: the name as it is, the value encoded.
    pub(crate) cookies: Vec<String>,
    /// The body.
    pub(crate) body: Option<String>,
}

impl Request {
    /// Creates the request of an operation from a payload.
    ///
    /// # Errors
    ///
    /// Returns an invalid call if a value cannot be sent where the operation puts it.
    pub(crate) fn new(operation: &Operation, mut payload: Map<Value>) -> Result<Self, ToolFailure> {
        let path = path(operation, &mut payload)?;
        let query = query(operation, &mut payload)?;
        let mut headers = Vec::new();
        for parameter in operation.headers {
            headers.extend(header(operation, parameter, &mut payload)?);
        }
        let mut cookies = Vec::new();
        for parameter in operation.cookies {
            let text = comma_separated(operation, parameter, &mut payload)?;
            cookies.extend(text.map(|text| format!("{}={}", parameter.name, encoded(&text))));
        }
        let body = body(operation, &mut payload)?;
        if let Some(key) = payload.keys().next() {
            return Err(invalid(operation, key, "is not a parameter of this method"));
        }
        headers.extend(body.as_ref().map(|(_, content)| content_type(*content)));
        Ok(Self {
            path,
            query: query.into_vec(),
            headers,
            cookies,
            body: body.map(|(text, _)| text),
        })
    }
}

/// Returns the query. The keys of an object may be names in it, and none may be a name of another parameter, or one as `a[b]` that
/// begins with such a name: the service could take the value of one for that of the other.
fn query(operation: &Operation, payload: &mut Map<Value>) -> Result<Pairs, ToolFailure> {
    let mut pairs = Pairs::default();
    let declared =
        || operation.query.iter().map(|parameter| (encoded(parameter.name), parameter.property));
    // Whole names last, since they take precedence.
    let beginnings = declared().map(|(name, property)| (beginning(&name).to_owned(), property));
    let mut owners: HashMap<String, &str> = beginnings.chain(declared()).collect();
    for QueryParameter { name, property, style, explode } in operation.query {
        let value = payload.remove(property).unwrap_or(Value::Null);
        let before = pairs.len();
        pairs
            .add(name, &value, *style, *explode)
            .map_err(|reason| invalid(operation, property, &reason))?;
        for name in pairs.names_from(before) {
            let owner = match owners.get(name) {
                Some(owner) => *owner,
                // It begins with the name of its parameter.
                None if *style == Style::DeepObject => property,
                None => *owners.entry(beginning(name).to_owned()).or_insert(property),
            };
            if owner != *property {
                let reason =
                    format!("has a key that belongs to `{owner}` in the query; use another key");
                return Err(invalid(operation, property, &reason));
            }
        }
    }
    Ok(pairs)
}

/// Returns the part of an encoded name before the first `[`.
pub(crate) fn beginning(name: &str) -> &str {
    name.split_once("%5B").map_or(name, |(beginning, _)| beginning)
}

/// Returns the path. A value stays within its segment, and no segment may be `.` or `..`.
fn path(operation: &Operation, payload: &mut Map<Value>) -> Result<String, ToolFailure> {
    let (mut path, mut texts) = (String::new(), Vec::new());
    for part in operation.path {
        match part {
            Part::Text(text) => path.push_str(text),
            Part::Property(property) => {
                let value = payload.remove(property).unwrap_or(Value::Null);
                let text = path_text(&value);
                if text.is_empty() || value.is_null() {
                    return Err(invalid(
                        operation,
                        property,
                        "must not be empty, because it is a part of the path",
                    ));
                }
                path.push_str(&text);
                texts.push((property, text));
            }
        }
    }
    if !path.split('/').any(|segment| [".", ".."].contains(&segment)) {
        return Ok(path);
    }
    let dots = texts.iter().find(|(_, text)| text.bytes().all(|byte| byte == b'.'));
    let property = dots.map_or("path", |(property, _)| property);
    Err(invalid(
        operation,
        property,
        "must not become `.` or `..`, because it is a part of the path",
    ))
}

fn header(
    operation: &Operation,
    parameter: &Parameter,
    payload: &mut Map<Value>,
) -> Result<Option<(HeaderName, HeaderValue)>, ToolFailure> {
    let Some(text) = comma_separated(operation, parameter, payload)? else { return Ok(None) };
    let error = || {
        invalid(operation, parameter.property, "has characters that are not allowed in a header")
    };
    if text.trim_matches([' ', '\t']) != text {
        let reason = "begins or ends with a blank, which a header loses";
        return Err(invalid(operation, parameter.property, reason));
    }
    let name = HeaderName::from_bytes(parameter.name.as_bytes()).map_err(|_| error())?;
    let value = HeaderValue::from_str(&text).map_err(|_| error())?;
    Ok(Some((name, value)))
}

/// Returns a value for a header or a cookie. Null has none.
fn comma_separated(
    operation: &Operation,
    parameter: &Parameter,
    payload: &mut Map<Value>,
) -> Result<Option<String>, ToolFailure> {
    let value = payload.remove(parameter.property).filter(|value| !value.is_null());
    let texts = value.map(|value| separable(&value, ',')).transpose();
    let texts = texts.map_err(|reason| invalid(operation, parameter.property, &reason))?;
    Ok(texts.map(|texts| texts.join(",")))
}

fn body(
    operation: &Operation,
    payload: &mut Map<Value>,
) -> Result<Option<(String, Content)>, ToolFailure> {
    let (value, content) = match operation.body {
        Body::Nothing => return Ok(None),
        Body::Property(property, content) => match payload.remove(property) {
            Some(value) => (value, content),
            None => return Ok(None),
        },
        Body::Rest(content) => (Value::Object(std::mem::take(payload)), content),
    };
    let text = match content {
        Content::Json => value.to_string(),
        Content::Text => text(&value),
        Content::Form => form(operation, &value, Style::Form)?,
        Content::DeepForm => form(operation, &value, Style::DeepObject)?,
    };
    Ok(Some((text, content)))
}

fn form(operation: &Operation, value: &Value, style: Style) -> Result<String, ToolFailure> {
    let mut pairs = Pairs::default();
    let mut sent = Vec::new();
    for (key, value) in value.as_object().into_iter().flat_map(Map::iter) {
        let before = pairs.len();
        let added = match value {
            // OpenAPI 3.1, "Encoding Object": an object inside a form is JSON unless a style is given.
            Value::Object(_) if style == Style::Form => {
                pairs.add(key, &Value::String(value.to_string()), style, true)
            }
            value => pairs.add(key, value, style, true),
        };
        added.map_err(|reason| invalid(operation, key, &reason))?;
        if pairs.len() > before {
            sent.push(key);
        }
    }
    if style == Style::DeepObject {
        // In this order, the names below a name directly follow it.
        sent.sort_by(|a, b| a.split('[').cmp(b.split('[')));
        for (outer, key) in sent.iter().zip(sent.iter().skip(1)) {
            if key.strip_prefix(outer).is_some_and(|rest| rest.starts_with('[')) {
                let reason = format!("has the form of a key of `{outer}`, which is there, too");
                return Err(invalid(operation, key, &reason));
            }
        }
    }
    Ok(pairs.into_vec().join("&"))
}

fn content_type(content: Content) -> (HeaderName, HeaderValue) {
    let text = match content {
        Content::Json => "application/json",
        Content::Form | Content::DeepForm => "application/x-www-form-urlencoded",
        Content::Text => "text/plain; charset=utf-8",
    };
    (reqwest::header::CONTENT_TYPE, HeaderValue::from_static(text))
}

pub(crate) fn invalid(operation: &Operation, property: &str, reason: &str) -> ToolFailure {
    let message =
        format!("the arguments of `{}` are not valid: `{property}` {reason}", operation.name);
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::Replan)
}
