//! Reads the body of a request. It becomes one property of the payload, so its names cannot clash with those of parameters.

use super::super::keywords::Entries;
use super::super::warnings::Subject;
use super::api::{Api, Operation};
use super::parameters::Payload;
use super::{entries, is_set, text};
use toolwright_codegen::internal::Json;

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
                "its body is {}; only JSON, forms and text are supported",
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
    let content = if content == "form" && has_deep_style(media) { "deep_form" } else { content };
    http.push(("body".to_owned(), Json::string(&name)));
    if content != "json" {
        http.push(("content".to_owned(), Json::string(content)));
    }
    payload.property(name, schema, is_required);
    Ok(())
}

/// The content to send: JSON if possible, otherwise a form, otherwise text.
fn chosen(contents: &[(String, Json)]) -> Option<(&'static str, &Json)> {
    let kinds: [(&str, fn(&str) -> bool); 3] =
        [("json", is_json), ("form", is_form), ("text", is_text)];
    kinds.into_iter().find_map(|(word, is)| {
        let found = contents.iter().find(|(kind, _)| is(&essence(kind)));
        found.map(|(_, media)| (word, media))
    })
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

fn is_form(kind: &str) -> bool {
    kind == "application/x-www-form-urlencoded"
}

/// Returns whether a media type is text that a model can read.
pub(super) fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") && kind != "text/xml" && kind != "text/event-stream"
}

fn has_deep_style(media: &Json) -> bool {
    entries(media, "encoding").iter().any(|(_, one)| text(one, "style") == Some("deepObject"))
}

/// Names of media types for a message.
pub(super) fn listed(words: &[&str]) -> String {
    if words.is_empty() { "of no type".to_owned() } else { format!("`{}`", words.join("`, `")) }
}
