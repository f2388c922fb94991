//! Events about the model that a planner asks.

use std::time::Duration;

/// An event about the model that a planner asks. Planners publish them with [`Turn::publish`](super::Turn::publish).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The planner asks the model.
    Asked {
        /// The provider, by the name that OpenTelemetry's conventions for generative AI use (`gen_ai.provider.name`).
        provider: String,
        /// The id of the model, as its provider spells it.
        model: String,
        /// The number of tools that the model may call.
        tools: usize,
        /// Findings about the tools, such as one that is left out since the model's dialect has no form for its schema.
        findings: Vec<String>,
    },
    /// The model wrote more text for the user.
    Text(String),
    /// The model wrote more of its reasoning.
    Reasoning(String),
    /// The model began a call, or wrote more of its arguments.
    Call {
        /// The place of the call among those of the answer.
        call: usize,
        /// The name of the tool, if the call begins.
        tool: Option<String>,
        /// More of the arguments, as the model writes them.
        args: String,
    },
    /// The pieces of this answer so far are void: the model is asked again.
    Restarted {
        /// The reason.
        reason: String,
    },
    /// The model answered.
    Answered {
        /// The id of the model that answered.
        model: String,
        /// The tokens, if the provider reports them.
        usage: Option<ModelUsage>,
        /// The cost in millionths of the currency of the prices, if there are prices. Tokens that are not reported are estimated.
        cost: Option<u64>,
        /// The reason for which the model stopped, such as `calls` or `length`.
        stop: String,
        /// The duration.
        duration: Duration,
    },
    /// The model gave no answer.
    Failed {
        /// The kind of the error, one of few, such as `timeout`.
        kind: &'static str,
        /// The error, for operators.
        error: String,
        /// The duration.
        duration: Duration,
    },
}

/// Tokens of a question to a model and of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// All tokens of the question.
    pub total_input: u64,
    /// Those of them that came from a cache.
    pub cache_read: u64,
    /// Those of them that were written into a cache.
    pub cache_write: u64,
    /// All tokens of the answer.
    pub output: u64,
    /// Those of them that were used for reasoning.
    pub reasoning: u64,
}

impl ModelEvent {
    /// Returns the name of the event, for logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Asked { .. } => "model_asked",
            Self::Text(_) => "model_text",
            Self::Reasoning(_) => "model_reasoning",
            Self::Call { .. } => "model_call",
            Self::Restarted { .. } => "model_restarted",
            Self::Answered { .. } => "model_answered",
            Self::Failed { .. } => "model_failed",
        }
    }
}
