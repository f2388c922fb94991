//! The questions, tokens and cost of a run, and the limits of its policy.

use serde::{Deserialize, Serialize};
use toolwright::{FailureKind, Recovery, ToolFailure};
use toolwright_runtime::Policy;

use crate::model::{Answer, Content, Delta, Message, Question, Usage};

/// The estimated number of bytes of a token, where the provider reports none.
const BYTES_A_TOKEN: usize = 4;

/// The most bytes of text that a token is believed to have.
const MOST_BYTES_OF_A_TOKEN: usize = 32;

const TOKENS_A_PRICE: u128 = 1_000_000;

/// The prices of a model, in millionths of a currency for a million tokens: 3 dollars are 3,000,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Tokens of questions that came from no cache and went into none.
    pub input: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written into a cache.
    pub cache_write: u64,
    /// Tokens of answers.
    pub output: u64,
}

impl Prices {
    /// Returns the cost in millionths of the currency, rounded up.
    pub fn of(&self, usage: &Usage) -> u64 {
        let columns = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        let of = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let cost: u128 = columns.into_iter().map(of).sum();
        u64::try_from(cost.div_ceil(TOKENS_A_PRICE)).unwrap_or(u64::MAX)
    }
}

/// The questions, tokens and cost of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spending {
    questions: u32,
    output_tokens: u64,
    /// Zero without prices.
    cost: u64,
}

impl Spending {
    /// Counts a question that is about to be asked.
    pub(super) fn count_question(&mut self) {
        self.questions = self.questions.saturating_add(1);
    }

    /// Adds the tokens of an answer, and returns their cost if there are prices.
    pub(super) fn add(&mut self, usage: &Usage, prices: Option<&Prices>) -> Option<u64> {
        self.output_tokens = self.output_tokens.saturating_add(usage.output);
        let cost = prices?.of(usage);
        self.cost = self.cost.saturating_add(cost);
        Some(cost)
    }

    /// Returns the limit that is reached, in words.
    pub(super) fn over(&self, policy: &Policy) -> Option<String> {
        let model_calls = policy.max_model_calls.map(u64::from);
        let limits = [
            (u64::from(self.questions), model_calls, "its limit of questions to the model"),
            (self.output_tokens, policy.max_output_tokens, "its limit of tokens"),
            (self.cost, policy.max_cost, "its limit of cost"),
        ];
        limits.into_iter().find_map(|(spent, limit, what)| {
            limit.filter(|limit| spent >= *limit)?;
            Some(format!("the run has reached {what}"))
        })
    }
}

/// Returns the failure of a run whose limit of cost cannot be enforced.
pub(super) fn no_prices(agent: &str) -> ToolFailure {
    let message = "the model could not be asked";
    let detail = format!(
        "the agent `{agent}` has a `max_cost`, and its planner has no prices; set them with `ModelPlanner::with_prices`"
    );
    ToolFailure::new(FailureKind::Internal, message, Recovery::Replan).with_detail(detail)
}

/// Returns the failure of a run that went on after its last question.
pub(super) fn exhausted(reason: &str) -> ToolFailure {
    let message = format!("{reason}, and the model gave no valid final answer");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// Returns the tokens of an answer as the provider reports them. Where it reports none for the question, or fewer for what it wrote
/// than it can have, they are estimated.
pub(super) fn usage(question: &Question<'_>, answer: &Answer) -> Usage {
    let mut usage = with_input(question, answer.usage.unwrap_or_default());
    // Opaque parts may be larger than what they stand for.
    let texts = answer.content.iter().filter(|part| !matches!(part, Content::Opaque(_)));
    let least: usize = texts.map(|part| content_bytes(std::slice::from_ref(part))).sum();
    let least = u64::try_from(least / MOST_BYTES_OF_A_TOKEN).unwrap_or(u64::MAX);
    if usage.output < least.max(1) {
        usage.output = tokens(content_bytes(&answer.content));
    }
    usage
}

/// Estimates what the provider did not report of an answer that broke off after this many bytes.
pub(super) fn broken_usage(question: &Question<'_>, reported: Usage, bytes: usize) -> Usage {
    let output = reported.output.max(tokens(bytes));
    with_input(question, Usage { output, ..reported })
}

fn with_input(question: &Question<'_>, mut usage: Usage) -> Usage {
    if (usage.input, usage.cache_read, usage.cache_write) == (0, 0, 0) {
        usage.input = tokens(question_bytes(question));
    }
    usage
}

/// Returns the bytes of a piece of an answer.
pub(super) fn delta_bytes(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) | Delta::Args { text, .. } => text.len(),
        Delta::Call { name, .. } => name.len(),
        Delta::Retried { .. } => 0,
    }
}

fn question_bytes(question: &Question<'_>) -> usize {
    let messages = question.messages.iter().map(|message| match message {
        Message::System(text) | Message::User(text) => text.len(),
        Message::Assistant(content) => content_bytes(content),
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
    });
    let tools = question.tools.tools.iter().map(|tool| tool.projection);
    let schemas = tools.chain(question.output).map(|tool| {
        let schema = tool.wire_schema.as_ref().map_or(0, String::len);
        tool.wire_name.len() + tool.description.len() + schema
    });
    messages.chain(schemas).sum()
}

fn content_bytes(content: &[Content]) -> usize {
    let bytes = content.iter().map(|part| match part {
        Content::Text(text) => text.len(),
        Content::Call(call) => call.name.len() + call.args.as_str().len(),
        Content::Opaque(part) => part.json.len(),
    });
    bytes.sum()
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES_A_TOKEN)).unwrap_or(u64::MAX)
}
