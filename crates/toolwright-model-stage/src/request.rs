//! Requests that the stage got, and their APIs.

use std::fmt;

use serde_json::Value;

use crate::cassette::without_secrets;

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

impl fmt::Debug for ReceivedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, body) = without_secrets(self);
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
