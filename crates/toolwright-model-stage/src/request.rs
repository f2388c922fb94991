//! Requests that the stage got, and their APIs.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use toolwright::untrusted::{Redactor, secrets_in_header};

/// The headers of a request that hold a secret. No header of a request is recorded; these are searched for in the rest.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token"];

/// The parameters of a query that hold a secret.
const SECRET_KEYS: [&str; 4] = ["key", "api_key", "api-key", "access_token"];

/// A request that the stage got.
///
/// `Debug` shows no values of headers and no key.
#[derive(Clone)]
pub struct ReceivedRequest {
    /// The number of the request, from 0.
    pub number: usize,
    /// The API, by the path.
    pub api: Api,
    /// The path, with the query.
    pub path: String,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub text: String,
    /// The body as JSON; null if it is not JSON.
    pub body: Value,
}

impl ReceivedRequest {
    /// Returns the path and the body without the key.
    pub(crate) fn without_secrets(&self) -> (String, Value) {
        let redactor = self.redactor();
        let body = redactor.redacted(&self.text);
        let body = serde_json::from_str(&body).unwrap_or_else(|_| Value::from(body.as_ref()));
        (redactor.redacted(&self.path).into_owned(), body)
    }

    /// Returns a redactor of the key.
    pub(crate) fn redactor(&self) -> Redactor {
        let query = self.path.split_once('?').map(|(_, query)| query).unwrap_or_default();
        let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
        let is_secret = |name: &str| SECRET_KEYS.iter().any(|key| key.eq_ignore_ascii_case(name));
        // A provider may repeat it decoded.
        let in_query = in_query.filter(|(name, _)| is_secret(name)).flat_map(|(_, key)| {
            [key.to_owned(), percent_decode_str(key).decode_utf8_lossy().into()]
        });
        let in_headers =
            self.headers.iter().filter(|(name, _)| SECRET_HEADERS.contains(&name.as_str()));
        let in_headers = in_headers
            .flat_map(|(_, value)| secrets_in_header(value).into_iter().chain([value.clone()]));
        Redactor::new(in_query.chain(in_headers))
    }
}

impl fmt::Debug for ReceivedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, body) = self.without_secrets();
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ReceivedRequest")
            .field("number", &self.number)
            .field("api", &self.api)
            .field("path", &path)
            .field("headers", &headers)
            .field("body", &body)
            .finish_non_exhaustive()
    }
}

/// The API of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI Chat Completions: `…/chat/completions`.
    OpenAiChat,
    /// OpenAI Responses: `…/responses`.
    OpenAiResponses,
    /// Anthropic Messages: `…/messages`.
    Anthropic,
    /// Gemini: `…:streamGenerateContent` and `…:generateContent`.
    Gemini,
    /// Amazon Bedrock Converse: `…/converse-stream` and `…/converse`.
    Bedrock,
}

impl Api {
    /// Returns the API whose requests have tools in this form: [`Dialect::envelope`](toolwright_dialect::Dialect::envelope).
    pub(crate) fn of_envelope(envelope: &str) -> Option<Self> {
        Some(match envelope {
            "openai_chat" => Self::OpenAiChat,
            "openai_responses" => Self::OpenAiResponses,
            "anthropic" => Self::Anthropic,
            "gemini_json_schema" | "gemini_parameters" => Self::Gemini,
            "bedrock_converse" => Self::Bedrock,
            _ => return None,
        })
    }

    /// Returns the API of a path, and whether the answer is a stream if the path says so.
    pub(crate) fn of(path: &str) -> Option<(Self, Option<bool>)> {
        let path = path.split('?').next().unwrap_or_default();
        [
            ("/chat/completions", Self::OpenAiChat, None),
            ("/responses", Self::OpenAiResponses, None),
            ("/messages", Self::Anthropic, None),
            (":streamGenerateContent", Self::Gemini, Some(true)),
            (":generateContent", Self::Gemini, Some(false)),
            ("/converse-stream", Self::Bedrock, Some(true)),
            ("/converse", Self::Bedrock, Some(false)),
        ]
        .into_iter()
        .find_map(|(end, api, is_stream)| path.ends_with(end).then_some((api, is_stream)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_request_is_found_encoded_and_decoded_and_not_shown_by_debug() {
        let header = ("authorization".to_owned(), "Bearer sk-0123456789".to_owned());
        let received = ReceivedRequest {
            number: 0,
            api: Api::Gemini,
            path: "/models?Key=ab%2Fcdefghijklm".to_owned(),
            headers: vec![header],
            text: r#""sk-0123456789""#.to_owned(),
            body: Value::from("sk-0123456789"),
        };
        let repeated = received.redactor().redacted("ab/cdefghijklm ab%2Fcdefghijklm").into_owned();
        let shown = format!("{received:?} {repeated}");
        for secret in ["cdefghijklm", "0123456789"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
