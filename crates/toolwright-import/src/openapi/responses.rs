//! Reads the responses of an operation. Successful ones become the result of its method, and some others become errors. Statuses
//! that HTTP clients handle for all operations, such as 401, 429 and 503, do not.

use super::super::keywords::Entries;
use super::super::warnings::Subject;
use super::api::{Api, Operation};
use super::body::{essence, is_json, is_text, listed};
use super::{entries, text};
use toolwright_codegen::internal::Json;

/// Statuses that mean the same for every operation: authentication, permission, timeout and rate limit.
const KNOWN: [&str; 4] = ["401", "403", "408", "429"];

/// Statuses, the names of their errors (RFC 9110, 15.5), and whether other arguments may help.
const NAMES: [(&str, &str, bool); 17] = [
    ("400", "bad_request", true),
    ("402", "payment_required", false),
    ("404", "not_found", false),
    ("405", "method_not_allowed", true),
    ("406", "not_acceptable", false),
    ("409", "conflict", false),
    ("410", "gone", false),
    ("411", "length_required", false),
    ("412", "precondition_failed", false),
    ("413", "content_too_large", true),
    ("414", "address_too_long", true),
    ("415", "unsupported_media_type", true),
    ("422", "unprocessable_content", true),
    ("423", "locked", false),
    ("424", "failed_dependency", false),
    ("428", "precondition_required", false),
    ("4XX", "refused", false),
];

/// The result and the errors of an operation.
#[derive(Default)]
pub(super) struct Responses {
    /// The schema of the successful responses; `None` if they have no content.
    pub(super) schema: Option<Json>,
    /// True if their content is text.
    pub(super) is_text: bool,
    /// The errors that the operation declares.
    pub(super) errors: Entries,
}

/// Reads the responses of an operation.
pub(super) fn responses(
    api: &Api,
    operation: &Operation<'_>,
    subject: &mut Subject<'_>,
) -> Result<Responses, String> {
    let mut good = Vec::new();
    let mut errors = Entries::new();
    let all = entries(operation.definition, "responses");
    // Other keys are no statuses (OpenAPI 3.1, "Responses Object"), and each that begins with 2 would be one more success.
    let is_good = |status: &str| match status.strip_prefix('2') {
        Some(rest) if rest.eq_ignore_ascii_case("XX") => true,
        Some(rest) => rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit()),
        None => false,
    };
    let has_good = all.iter().any(|(status, _)| is_good(status));
    for (status, response) in all.iter().filter(|(status, _)| !status.starts_with("x-")) {
        if status.starts_with('2') && !is_good(status) {
            subject
                .warn("", "a response whose key is not a status, such as 200 or 2XX, was left out");
            continue;
        }
        let is_result = is_good(status) || (status == "default" && !has_good);
        let response = if is_result { api.copied(response)? } else { api.follow(response)? };
        for key in ["headers", "links"] {
            if !entries(response, key).is_empty() {
                subject.warn(
                    "",
                    format!("`{key}` of a response have no place in a result and were left out"),
                );
            }
        }
        if is_result {
            // Responses to HEAD have no content (RFC 9110, section 9.3.2); documents list that of GET.
            let is_head = operation.verb == "HEAD";
            good.push(if is_head { &[] } else { entries(response, "content") });
        } else if let Some((name, error)) = error(status, response) {
            if !entries(response, "content").is_empty() {
                subject.warn(
                    "",
                    "the schema of an error's body was left out; add it as the `payload` of the error if callers need the body as data",
                );
            }
            if errors.iter().all(|(known, _)| *known != name) {
                errors.push((name, error));
            }
        }
    }
    let (schema, is_text) = result(&good)?;
    Ok(Responses { schema, is_text, errors })
}

/// One schema for all successful responses, and whether their content is text.
fn result(good: &[&[(String, Json)]]) -> Result<(Option<Json>, bool), String> {
    let has_nothing = good.iter().any(|contents| contents.is_empty());
    let with: Vec<_> = good.iter().filter(|contents| !contents.is_empty()).collect();
    let find = |contents: &&[(String, Json)], is: fn(&str) -> bool| {
        contents.iter().find(|(kind, _)| is(&essence(kind))).map(|(_, media)| {
            media.get("schema").cloned().unwrap_or_else(|| Json::Object(Vec::new()))
        })
    };
    if with.is_empty() {
        return Ok((None, false));
    }
    // The client asks for `application/json`, whatever the document lists first.
    let json = |contents| {
        find(contents, |kind| kind == "application/json").or_else(|| find(contents, is_json))
    };
    let json: Option<Vec<Json>> = with.iter().copied().map(json).collect();
    if let Some(mut schemas) = json {
        let null = Json::Object(vec![("type".to_owned(), Json::string("null"))]);
        schemas.extend(has_nothing.then_some(null));
        let mut seen = Vec::new();
        schemas.retain(|schema| {
            let is_new = !seen.contains(schema);
            seen.push(schema.clone());
            is_new
        });
        return Ok((one_of(schemas), false));
    }
    if with.iter().all(|contents| find(contents, is_text).is_some()) {
        let text = Json::Object(vec![("type".to_owned(), Json::string("string"))]);
        return Ok((Some(text), true));
    }
    let kinds: Vec<&str> =
        with.iter().flat_map(|contents| contents.iter()).map(|(kind, _)| kind.as_str()).collect();
    Err(format!("its response is {}; only JSON and text are supported", listed(&kinds)))
}

fn one_of(mut schemas: Vec<Json>) -> Option<Json> {
    if schemas.len() == 1 {
        return schemas.pop();
    }
    Some(Json::Object(vec![("anyOf".to_owned(), Json::Array(schemas))]))
}

/// The error for a status; `None` if the status is not one of the operation.
fn error(status: &str, response: &Json) -> Option<(String, Json)> {
    let upper = status.to_ascii_uppercase();
    if !upper.starts_with('4') || upper.len() != 3 || KNOWN.contains(&upper.as_str()) {
        return None;
    }
    let known = NAMES.iter().find(|(known, ..)| *known == upper);
    let name = known.map_or_else(
        || format!("status_{}", upper.to_ascii_lowercase()),
        |(_, name, _)| (*name).to_owned(),
    );
    let recovery = if known.is_some_and(|(.., helps)| *helps) { "correct_call" } else { "replan" };
    let words = text(response, "description").map(str::to_owned);
    let words = words.unwrap_or_else(|| format!("The service answers {upper}."));
    let number = upper.parse::<u16>().is_ok();
    let status = if number { Json::Number(upper) } else { Json::String(upper) };
    let entries = vec![
        ("description".to_owned(), Json::String(words)),
        ("recovery".to_owned(), Json::string(recovery)),
        ("status".to_owned(), status),
    ];
    Some((name, Json::Object(entries)))
}
