//! Reads the body of a request. It becomes one property of the payload, so its names cannot clash with those of parameters.

use std::collections::BTreeSet;

use super::super::keywords::Entries;
use super::super::warnings::Subject;
use super::api::{Api, Operation};
use super::parameters::Payload;
use super::references::OBJECT;
use super::{entries, is_set, text};
use toolwright_codegen::internal::Json;

/// The maximum number of fields of a form with an `encoding`.
const MAX_FIELDS: usize = 1000;

/// Adds the body of an operation to its payload and to the entries of `http`.
pub(super) fn add(
    api: &Api,
    operation: &Operation<'_>,
    payload: &mut Payload,
    http: &mut Entries,
    subject: &mut Subject<'_>,
) -> Result<(), String> {
    let Some(body) = operation.definition.get("requestBody") else { return Ok(()) };
    let body = api.copied(body)?;
    let is_required = is_set(body, "required");
    if ["GET", "HEAD", "TRACE"].contains(&operation.verb) {
        if is_required {
            return Err(format!("it is a `{}` request that needs a body", operation.verb));
        }
        subject.warn("", "a body was left out, as requests of this method have none");
        return Ok(());
    }
    let Some((content, media)) = chosen(entries(body, "content")) else {
        let kinds: Vec<&str> =
            entries(body, "content").iter().map(|(kind, _)| kind.as_str()).collect();
        if is_required || !kinds.is_empty() {
            return Err(format!(
                "its body is {}; only `application/json`, forms and plain text are supported",
                listed(&kinds)
            ));
        }
        return Ok(());
    };
    let name = payload.free_name("body", "request");
    let schema = media.get("schema").cloned().unwrap_or_else(|| Json::Object(Vec::new()));
    let schema = match (text(body, "description"), schema) {
        (Some(words), Json::Object(mut schema))
            if !schema.iter().any(|(key, _)| key == "description") =>
        {
            schema.push(("description".to_owned(), Json::string(words)));
            Json::Object(schema)
        }
        (_, schema) => schema,
    };
    let content = if content == "form" { form(api, media, subject)? } else { content };
    http.push(("body".to_owned(), Json::string(&name)));
    if content != "json" {
        http.push(("content".to_owned(), Json::string(content)));
    }
    payload.property(name, schema, is_required);
    Ok(())
}

/// The content to send: JSON if possible, otherwise a form, otherwise text. Requests name no other media types than these, so
/// bodies of others, such as `application/merge-patch+json`, are not sent.
fn chosen(contents: &[(String, Json)]) -> Option<(&'static str, &Json)> {
    let kinds: [(&str, &[&str]); 4] = [
        ("json", &["application/json"]),
        ("json", &["application/*", "*/*"]),
        ("form", &["application/x-www-form-urlencoded"]),
        ("text", &["text/plain", "text/*"]),
    ];
    kinds.into_iter().find_map(|(word, known)| {
        let found = contents.iter().find(|(kind, _)| known.contains(&essence(kind).as_str()));
        found.map(|(_, media)| (word, media))
    })
}

/// The content of a form: `deep_form` if the style of all its lists and objects is `deepObject`. Returns an error for any other
/// `encoding` that differs from that of `form` (OpenAPI 3.1, "Encoding Object").
fn form(api: &Api, media: &Json, subject: &mut Subject<'_>) -> Result<&'static str, String> {
    let encodings = entries(media, "encoding");
    if encodings.is_empty() {
        return Ok("form");
    }
    let schema = media.get("schema").map(|schema| api.root.applied(schema));
    let (schemas, is_cut) = schema.unwrap_or_default();
    if is_cut {
        return Err("its form has an `encoding` and too many schemas that apply to it".to_owned());
    }
    let fields = schemas.into_iter().flat_map(|schema| entries(schema, "properties"));
    let fields: Vec<&(String, Json)> = fields.take(MAX_FIELDS + 1).collect();
    if fields.len() > MAX_FIELDS {
        return Err(format!("its form has an `encoding` and more than {MAX_FIELDS} fields"));
    }
    let (mut objects, mut nested) = (BTreeSet::new(), BTreeSet::new());
    for (name, field) in fields {
        if api.sets(field, "readOnly") {
            continue;
        }
        let kinds = api.root.kinds(field);
        if kinds.contains(OBJECT) {
            objects.insert(name.as_str());
        }
        if !kinds.is_empty() {
            nested.insert(name.as_str());
        }
    }
    let mut deep = BTreeSet::new();
    for (name, encoding) in encodings {
        let (style, explode) = (text(encoding, "style"), encoding.get("explode"));
        if is_set(encoding, "allowReserved") {
            let message = "a field of a form with `allowReserved` is percent-encoded all the same";
            subject.warn("", message);
        }
        if style == Some("deepObject") {
            deep.insert(name.as_str());
            continue;
        }
        let is_object = objects.contains(name.as_str());
        let is_usual = if style.is_some() || explode.is_some() {
            // Without a style, objects are JSON.
            style.is_none_or(|style| style == "form")
                && explode != Some(&Json::Boolean(false))
                && !is_object
        } else {
            let usual = if is_object { "application/json" } else { "text/plain" };
            text(encoding, "contentType").is_none_or(|kind| essence(kind) == usual)
        };
        if !is_usual {
            return Err(format!("the field `{name}` of its form has an `encoding` of its own"));
        }
    }
    if deep.is_empty() {
        return Ok("form");
    }
    match nested.difference(&deep).next() {
        Some(name) => Err(format!(
            "the field `{name}` of its form does not have the style `deepObject`, which others have"
        )),
        None => Ok("deep_form"),
    }
}

/// A media type without its parameters, in lowercase (RFC 9110, 8.3.1).
pub(super) fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns whether a media type is JSON or a wildcard for it.
pub(super) fn is_json(kind: &str) -> bool {
    kind == "application/json"
        || kind.ends_with("+json")
        || kind == "*/*"
        || kind == "application/*"
}

/// Returns whether a media type is text that a model can read.
pub(super) fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") && kind != "text/xml" && kind != "text/event-stream"
}

/// Names of media types for a message.
pub(super) fn listed(words: &[&str]) -> String {
    if words.is_empty() { "of no type".to_owned() } else { format!("`{}`", words.join("`, `")) }
}
