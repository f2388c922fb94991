//! OpenAI Chat Completions, as OpenAI's API reference and SDK describe it, with what those who copy it do differently.

mod answer;
mod request;

pub(super) use answer::{Events, answer};
pub(super) use request::request;

/// The kind of the opaque part for thoughts, which `DeepSeek` and others expect back with the calls that they led to.
const REASONING: &str = "reasoning_content";

/// The kind of the opaque part for thoughts in pieces, some of them encrypted, which OpenRouter expects back unchanged
/// (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).
const DETAILS: &str = "reasoning_details";

/// The differences between servers of this API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatOptions {
    /// The limit of tokens is `max_completion_tokens`; others call it `max_tokens`.
    pub max_completion_tokens: bool,
    /// A stream reports tokens if `stream_options` asks for it.
    pub stream_options: bool,
    /// `prompt_cache_key` selects the questions that share a cache.
    pub cache_key: bool,
    /// Thoughts go back with the calls that they led to.
    pub thoughts: bool,
    /// Between the results of calls and a message of the user there must be an answer of the model. Where there is none, the
    /// request has a short one.
    pub answer_after_results: bool,
}

impl ChatOptions {
    /// OpenAI itself.
    pub const OPENAI: Self = Self {
        max_completion_tokens: true,
        stream_options: true,
        cache_key: true,
        thoughts: true,
        answer_after_results: false,
    };

    /// Most others.
    pub const OTHERS: Self =
        Self { max_completion_tokens: false, cache_key: false, ..Self::OPENAI };
}
