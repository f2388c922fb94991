//! The interface to models: questions, answers and their parts.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
pub use toolwright::spec::Effort;
use toolwright::{BoxFuture, Payload};
use toolwright_dialect::{Dialect, PlacedTool, Projection, Request};

use crate::error::ModelError;

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// Returns what is known of the model.
    fn facts(&self) -> &ModelFacts;

    /// Asks the model. Parts of the answer are passed to `deltas` as they come; the answer holds all of them.
    ///
    /// # Errors
    ///
    /// If the provider does not answer, refuses the question, or does not answer as its API describes.
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// Facts about a model.
#[derive(Clone, Debug)]
pub struct ModelFacts {
    /// The name of the endpoint, such as `anthropic`. [Opaque parts](Opaque) go back only to models of the same.
    pub provider: String,
    /// The id of the model, as the provider spells it.
    pub model: String,
    /// The dialect of its tools. With a strict one, the endpoint enforces their schemas as far as its limits allow.
    pub dialect: &'static Dialect,
}

/// A question to a model: a conversation, and the tools that it may call.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The conversation. The first system message should be the same in every turn, so that providers can cache it.
    pub messages: &'a [Message],
    /// The tools, as [`place`](toolwright_dialect::place()) returns them for the dialect of the model.
    pub tools: &'a Request<'a>,
    /// Which tools the model may or has to call.
    pub choice: Choice,
    /// Whether the model may make several calls at once; the provider's default if `None`. Gemini and Bedrock have no key for
    /// it, so there an answer may have several calls nevertheless.
    pub parallel: Option<bool>,
    /// The schema that the text of the answer must match, if it has to be JSON: a projection to the dialect of the model.
    pub output: Option<&'a Projection>,
    /// Settings of the model.
    pub settings: Settings,
    /// The time for the answer, including repeated attempts.
    pub timeout: Option<Duration>,
}

impl<'a> Question<'a> {
    /// Creates a question with the provider's default settings and no limit of time.
    pub fn new(messages: &'a [Message], tools: &'a Request<'a>) -> Self {
        Self {
            messages,
            tools,
            choice: Choice::Auto,
            parallel: None,
            output: None,
            settings: Settings::default(),
            timeout: None,
        }
    }

    /// Returns the tools to send to an API that can force one tool at most: if the choice names several, only those.
    pub fn offered(&self) -> impl Iterator<Item = &PlacedTool<'a>> {
        self.tools.tools.iter().filter(|tool| match &self.choice {
            Choice::Only(names) if names.len() > 1 => names.iter().any(|name| name == tool.name),
            _ => true,
        })
    }
}

/// Settings of a model. Those that are not set are not sent.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The most tokens of an answer. Anthropic requires a number, which is 8192 if there is none here.
    pub max_output_tokens: Option<u32>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The amount of reasoning.
    pub effort: Option<Effort>,
    /// Further keys of the request's body with their JSON, as the provider documents them.
    pub extra: BTreeMap<String, Payload>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Instructions of the host.
    System(String),
    /// A text of the user.
    User(String),
    /// An earlier answer of the model: [`Answer::content`].
    Assistant(Vec<Content>),
    /// The results of the calls of the answer before.
    Results(Vec<CallAnswer>),
}

/// A part of an answer. Providers need them back in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Text for the user.
    Text(String),
    /// A call of a tool.
    Call(ModelCall),
    /// A part that only the provider understands.
    Opaque(Opaque),
}

/// A call of a tool, as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The id, unique in the conversation. One that the provider left out or gave twice is replaced.
    pub id: String,
    /// The canonical name of the tool. A name that no tool of the question has is kept as the model wrote it, but on one line, cut
    /// and without hidden characters.
    pub name: String,
    /// The arguments as the model wrote them: wire JSON for [`Projection::decode`](toolwright_dialect::Projection::decode),
    /// or any text if the model made a mistake.
    #[serde(with = "payload")]
    pub args: Payload,
}

/// Serializes a [`Payload`] as a string, byte for byte.
mod payload {
    use serde::{Deserialize, Deserializer, Serializer};
    use toolwright::Payload;

    pub(super) fn serialize<S: Serializer>(payload: &Payload, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(payload.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Payload, D::Error> {
        String::deserialize(from).map(Payload::new)
    }
}

/// The result of a call, for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// The id of the call.
    pub id: String,
    /// The result as JSON, or a text.
    pub text: String,
    /// True if the call failed.
    pub is_error: bool,
}

/// A part that only its provider understands, such as a signed thought. It goes back unchanged, in its place, and only to
/// models of the same [provider](ModelFacts::provider), whatever their address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The [`ModelFacts::provider`] of the model that sent it.
    pub provider: String,
    /// The kind, as the wire calls it.
    pub kind: String,
    /// The JSON of the part.
    pub json: String,
}

impl fmt::Debug for Opaque {
    /// Omits the kind and the JSON, which are texts of the provider.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Opaque({}, {} bytes)", self.provider, self.json.len())
    }
}

/// Which tools a model may or has to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Any or none.
    #[default]
    Auto,
    /// None. The tools are sent nevertheless, so that caches stay valid. Bedrock has no key for it, so there an answer may have
    /// calls nevertheless.
    None,
    /// At least one.
    Required,
    /// At least one of these, by canonical name.
    Only(Vec<String>),
}

/// The answer of a model. Its `model` and the words of its `stop` are texts of the provider for operators: they are cut, on one
/// line, and without hidden characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its parts, in order.
    pub content: Vec<Content>,
    /// Why the model stopped.
    pub stop: Stop,
    /// The tokens of the question and the answer, if the provider reports them.
    pub usage: Option<Usage>,
    /// The id of the model that answered; empty if the provider does not say it.
    pub model: String,
}

impl Answer {
    /// Returns the text: all parts of it, joined.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            Content::Call(_) | Content::Opaque(_) => None,
        });
        texts.collect()
    }

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ModelCall> {
        self.content.iter().filter_map(|part| match part {
            Content::Call(call) => Some(call),
            Content::Text(_) | Content::Opaque(_) => None,
        })
    }

    /// Changes the texts that operators read, and the names of calls. An id that would change is replaced.
    #[cfg(feature = "client")]
    pub(crate) fn map_text(
        mut self,
        change: impl Fn(&str) -> String,
        change_name: impl Fn(&str) -> String,
    ) -> Self {
        self.model = change(&self.model);
        if let Stop::Refused(words) | Stop::Other(words) = &mut self.stop {
            *words = change(words);
        }
        for part in &mut self.content {
            if let Content::Call(call) = part {
                call.name = change_name(&call.name);
                if change(&call.id) != call.id {
                    call.id = toolwright::call::fresh_id("call");
                }
            }
        }
        self
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The answer is complete.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// The limit of tokens was reached. The last call may be cut off.
    Length,
    /// A filter of the provider hid the rest.
    Filtered,
    /// It refused, in these words.
    Refused(String),
    /// The provider expects the same question again, with this answer after it.
    Paused,
    /// Another reason, in the provider's word. The answer may be cut off.
    Other(String),
}

/// Tokens of a question and its answer. Each field has its own price: `input`, `cache_read` and `cache_write` are all tokens of the
/// question, and `output` all of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question that came from no cache and went into none.
    pub input: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written into a cache.
    pub cache_write: u64,
    /// Tokens of the answer, including those of reasoning.
    pub output: u64,
    /// Those of them that the model used for reasoning, if the provider reports them.
    pub reasoning: u64,
}

/// A piece of an answer on its way. Pieces are for display; the [`Answer`] is what counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More text for the user.
    Text(String),
    /// More of the reasoning, if the provider shows it.
    Reasoning(String),
    /// A call begins.
    Call {
        /// Its place among the calls of the answer.
        call: usize,
        /// The canonical name of the tool.
        name: String,
    },
    /// More of the arguments of a call.
    Args {
        /// Its place among the calls of the answer.
        call: usize,
        /// The text.
        text: String,
    },
    /// An attempt failed before anything was shown, and another one follows.
    Retried {
        /// The error of the attempt.
        error: String,
        /// The wait before the next attempt.
        wait: Duration,
        /// If the provider had begun to answer, so that it may charge for the attempt: the tokens that it reported, or zeros.
        usage: Option<Usage>,
    },
}
