//! Wires: the formats of questions and answers of each API. Nothing here does IO.

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "bedrock")]
mod bedrock;
#[cfg(feature = "bedrock")]
mod event_stream;
#[cfg(feature = "gemini")]
mod gemini;
mod json;
mod names;
#[cfg(feature = "openai-chat")]
mod openai_chat;
#[cfg(feature = "openai-responses")]
mod openai_responses;
mod reader;
mod sse;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "bedrock"))]
mod turns;

use crate::error::ModelError;
use crate::model::{Answer, ModelFacts, Question};

pub use names::Names;
#[cfg(feature = "planner")]
pub(crate) use names::search_tool_name;
#[cfg(feature = "openai-chat")]
pub use openai_chat::ChatOptions;
pub use reader::Reader;

/// An API of model providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wire {
    /// OpenAI Chat Completions, which many others speak too.
    #[cfg(feature = "openai-chat")]
    OpenAiChat(ChatOptions),
    /// OpenAI Responses.
    #[cfg(feature = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    #[cfg(feature = "anthropic")]
    Anthropic,
    /// Gemini `generateContent`.
    #[cfg(feature = "gemini")]
    Gemini,
    /// Amazon Bedrock Converse.
    #[cfg(feature = "bedrock")]
    Bedrock,
}

/// A request without an address and without secrets. The method is `POST`, the body JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The path after the base address, with a query where the API has one.
    pub path: String,
    /// Headers that the API requires.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body.
    pub body: String,
}

impl Wire {
    /// Writes a question. Equal questions have equal bytes, and if the API allows it, a longer conversation begins with
    /// the bytes of a shorter one, so that providers can cache them.
    ///
    /// # Errors
    ///
    /// If the question cannot be written: a result whose call is missing, a choice that the API does not have, tools that clash,
    /// or an extra key that the wire writes itself.
    pub fn request(
        self,
        facts: &ModelFacts,
        question: &Question<'_>,
        stream: bool,
    ) -> Result<HttpRequest, ModelError> {
        match self {
            #[cfg(feature = "openai-chat")]
            Self::OpenAiChat(options) => openai_chat::request(options, facts, question, stream),
            #[cfg(feature = "openai-responses")]
            Self::OpenAiResponses => openai_responses::request(facts, question, stream),
            #[cfg(feature = "anthropic")]
            Self::Anthropic => anthropic::request(facts, question, stream),
            #[cfg(feature = "gemini")]
            Self::Gemini => gemini::request(facts, question, stream),
            #[cfg(feature = "bedrock")]
            Self::Bedrock => bedrock::request(facts, question, stream),
        }
    }

    /// Creates the reader of a streamed answer.
    pub fn reader(self, facts: &ModelFacts, question: &Question<'_>) -> Reader {
        match self {
            #[cfg(feature = "openai-chat")]
            Self::OpenAiChat(_) => Reader::of_sse(openai_chat::Events::new(facts, question)),
            #[cfg(feature = "openai-responses")]
            Self::OpenAiResponses => Reader::of_sse(openai_responses::Events::new(facts, question)),
            #[cfg(feature = "anthropic")]
            Self::Anthropic => Reader::of_sse(anthropic::Events::new(facts, question)),
            #[cfg(feature = "gemini")]
            Self::Gemini => Reader::of_sse(gemini::Events::new(facts, question)),
            #[cfg(feature = "bedrock")]
            Self::Bedrock => Reader::of_event_stream(bedrock::Events::new(facts, question)),
        }
    }

    /// Reads an answer that is not streamed.
    ///
    /// # Errors
    ///
    /// If the body is not what the API describes.
    pub fn answer(
        self,
        facts: &ModelFacts,
        question: &Question<'_>,
        body: &[u8],
    ) -> Result<Answer, ModelError> {
        let body = &*json::without_halves(json::utf8(body)?);
        match self {
            #[cfg(feature = "openai-chat")]
            Self::OpenAiChat(_) => openai_chat::answer(facts, question, body),
            #[cfg(feature = "openai-responses")]
            Self::OpenAiResponses => openai_responses::answer(facts, question, body),
            #[cfg(feature = "anthropic")]
            Self::Anthropic => anthropic::answer(facts, question, body),
            #[cfg(feature = "gemini")]
            Self::Gemini => gemini::answer(facts, question, body),
            #[cfg(feature = "bedrock")]
            Self::Bedrock => bedrock::answer(facts, question, body),
        }
    }
}
