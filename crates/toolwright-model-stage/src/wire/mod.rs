//! Writes replies as each API does, and reads the parts of requests that a twin checks.

mod anthropic;
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;

use serde_json::{Value, json};
use toolwright_dialect::{Dialect, wire_name};

use crate::reply::{Part, Reply, Stop};
use crate::request::{Api, ReceivedRequest};

/// A body, with the signatures that the client has to send back.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) body: Vec<u8>,
    pub(crate) content_type: &'static str,
    pub(crate) signatures: Vec<String>,
}

/// An answer with the ids and names that a script does not set.
pub(crate) struct Answer<'a> {
    /// The model that the request names.
    pub(crate) model: String,
    /// A name for the answer, which no other answer has.
    pub(crate) id: String,
    pub(crate) parts: Vec<AnswerPart<'a>>,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Option<[u64; 2]>,
    /// True if thoughts have their signatures, which OpenAI Responses only has on request.
    pub(crate) is_signed: bool,
}

pub(crate) enum AnswerPart<'a> {
    Text(&'a str),
    Reasoning { text: &'a str, signature: String },
    Call { id: String, has_own_id: bool, name: String, args: &'a str },
}

impl Answer<'_> {
    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, AnswerPart::Call { .. }))
    }
}

/// Writes a reply to a request.
pub(crate) fn write(
    api: Api,
    received: &ReceivedRequest,
    reply: &Reply,
    number: usize,
    twin: Option<&Dialect>,
    is_stream: bool,
) -> Written {
    if let Some(body) = &reply.body {
        return Written { body: body.clone(), content_type: JSON, ..Written::default() };
    }
    if reply.status != 200 {
        let body = error(api, reply.status, "the script says so");
        return Written { body: body.into_bytes(), content_type: JSON, ..Written::default() };
    }
    let answer = answer_of(received, reply, number, twin);
    let signatures = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Reasoning { signature, .. } => Some(signature.clone()),
        AnswerPart::Text(_) | AnswerPart::Call { .. } => None,
    });
    // Only reasoning that led to calls has to come back.
    let signatures =
        if answer.has_calls() && answer.is_signed { signatures.collect() } else { Vec::new() };
    let (content_type, body) = match (api, is_stream) {
        (Api::OpenAiChat, true) => (EVENTS, openai_chat::stream(&answer)),
        (Api::OpenAiChat, false) => (JSON, openai_chat::answer(&answer)),
        (Api::OpenAiResponses, true) => (EVENTS, openai_responses::stream(&answer)),
        (Api::OpenAiResponses, false) => (JSON, openai_responses::answer(&answer)),
        (Api::Anthropic, true) => (EVENTS, anthropic::stream(&answer)),
        (Api::Anthropic, false) => (JSON, anthropic::answer(&answer)),
        (Api::Gemini, true) => (EVENTS, gemini::stream(&answer)),
        (Api::Gemini, false) => (JSON, gemini::answer(&answer).into_bytes()),
        (Api::Bedrock, true) => ("application/vnd.amazon.eventstream", bedrock::stream(&answer)),
        (Api::Bedrock, false) => (JSON, bedrock::answer(&answer)),
    };
    Written { body, content_type, signatures }
}

/// When answers of OpenAI were created, in seconds since 1970.
const CREATED: u64 = 1_767_225_600;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

fn answer_of<'a>(
    received: &ReceivedRequest,
    reply: &'a Reply,
    number: usize,
    twin: Option<&Dialect>,
) -> Answer<'a> {
    let model = match received.body["model"].as_str() {
        Some(model) => model.to_owned(),
        // Gemini and Bedrock have it in the path, behind `models/` or `model/`.
        None => received.path.split(['/', ':']).nth_back(1).unwrap_or_default().to_owned(),
    };
    let parts = reply.parts.iter().enumerate().map(|(place, part)| match part {
        Part::Text(text) => AnswerPart::Text(text),
        Part::Reasoning(text) => {
            // Some APIs require Base64.
            AnswerPart::Reasoning { text, signature: format!("c2lnbmVk{number:04}{place:04}") }
        }
        Part::Call { id, name, args } => AnswerPart::Call {
            id: id.clone().unwrap_or_else(|| format!("call_{number}_{place}")),
            has_own_id: id.is_some(),
            name: twin.map_or_else(|| name.clone(), |dialect| wire_name(name, dialect)),
            args,
        },
    });
    let mut included = received.body["include"].as_array().into_iter().flatten();
    let is_signed = received.api != Api::OpenAiResponses
        || included.any(|included| included == "reasoning.encrypted_content");
    Answer {
        model,
        id: format!("answer_{number}"),
        parts: parts.collect(),
        stop: reply.stop,
        usage: reply.usage,
        is_signed,
    }
}

/// Returns the body of an error as the provider writes it.
pub(crate) fn error(api: Api, status: u16, message: &str) -> String {
    let (kind, google) = match status {
        400 => ("invalid_request_error", "INVALID_ARGUMENT"),
        401 => ("authentication_error", "UNAUTHENTICATED"),
        429 => ("rate_limit_error", "RESOURCE_EXHAUSTED"),
        529 => ("overloaded_error", "UNAVAILABLE"),
        _ => ("api_error", "INTERNAL"),
    };
    let body = match api {
        Api::OpenAiChat | Api::OpenAiResponses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
        Api::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Api::Gemini => json!({"error": {"code": status, "message": message, "status": google}}),
        Api::Bedrock => json!({"message": message}),
    };
    body.to_string()
}

/// Writes a server-sent event without a name.
fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Writes a server-sent event with the name that its JSON has as `type`.
fn named(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n")
}

/// Divides a text, so that clients have to put it together.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|part| !part.is_empty())
}
