//! Estimates how many tokens the definitions of tools take.

use toolwright::Value;
use toolwright::value::Map;
use toolwright_dialect::{Class, Dialect, Projection};

use super::{Projector, PublishedTool, read};
use crate::exit::Exit;
use crate::print::{self, table};

/// The tokens of a definition, in a vocabulary that is known or guessed.
#[derive(Clone, Copy, Default)]
pub(super) struct Tokens {
    pub(super) low: f64,
    pub(super) estimate: f64,
    pub(super) high: f64,
}

impl Tokens {
    fn of(tokens: f64) -> Self {
        Self { low: tokens, estimate: tokens, high: tokens }
    }

    fn add(&mut self, other: Self) {
        self.low += other.low;
        self.estimate += other.estimate;
        self.high += other.high;
    }

    pub(super) fn to_value(self) -> Value {
        let number = |tokens: f64| Value::from(rounded(tokens));
        Value::Object(Map::from([
            ("estimate", number(self.estimate)),
            ("low", number(self.low)),
            ("high", number(self.high)),
        ]))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of tokens are positive and small"
)]
fn rounded(tokens: f64) -> u64 {
    tokens.round() as u64
}

/// Prints the tokens of each toolset and of the tools of each agent in each dialect, and what deferred tools save.
pub(super) fn report(
    tools: &[PublishedTool],
    mut projector: Projector<'_>,
    selected: &[&Dialect],
) -> Exit {
    let mut rows = Vec::new();
    for dialect in selected {
        let mut toolsets: Vec<(&str, Tokens, usize)> = Vec::new();
        let mut agents: Vec<(&str, Tokens, usize)> = Vec::new();
        let mut deferred = Tokens::default();
        for tool in tools {
            let tokens = estimate(&projector.project(tool, &read(tool), dialect), dialect);
            if tool.is_deferred {
                deferred.add(tokens);
                continue;
            }
            add(&mut toolsets, &tool.toolset, tokens);
            tool.agents.iter().for_each(|agent| add(&mut agents, agent, tokens));
        }
        let mut row = |what: String, tools: String, sum: Tokens| {
            let [estimate, low, high] =
                [sum.estimate, sum.low, sum.high].map(|tokens| rounded(tokens).to_string());
            rows.push([dialect.dated_id(), what, tools, estimate, format!("{low} to {high}")]);
        };
        for (toolset, sum, tools) in toolsets {
            let name = if toolset.is_empty() { "all tools" } else { toolset };
            row(name.to_owned(), tools.to_string(), sum);
        }
        for (agent, sum, tools) in agents {
            row(format!("(agent {agent})"), tools.to_string(), sum);
        }
        if deferred.high > 0.0 {
            row("(deferred)".to_owned(), String::new(), deferred);
        }
        #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
        let fixed = dialect.tokens().per_request as f64;
        if fixed > 0.0 {
            row("(each request)".to_owned(), String::new(), Tokens::of(fixed));
        }
    }
    table(["dialect", "toolset", "tools", "tokens", "range"], &rows);
    if !IS_COUNTED {
        print::out_line(
            "rough: 4.2 bytes a token; the feature `tokens` of toolwright-cli counts them",
        );
    }
    Exit::Success
}

/// Adds the tokens of a tool to those of a toolset or an agent.
fn add<'a>(sums: &mut Vec<(&'a str, Tokens, usize)>, name: &'a str, tokens: Tokens) {
    match sums.iter_mut().find(|(known, ..)| *known == name) {
        Some((_, sum, tools)) => {
            sum.add(tokens);
            *tools += 1;
        }
        None => sums.push((name, tokens, 1)),
    }
}

/// Estimates the tokens of a definition as it is sent; none if it is not sent.
pub(super) fn estimate(projection: &Projection, dialect: &Dialect) -> Tokens {
    if projection.class == Class::Refused {
        return Tokens::default();
    }
    let definition = Value::Object(Map::from([
        ("name", Value::from(projection.wire_name.as_str())),
        ("description", Value::from(projection.description.as_str())),
    ]));
    let schema = projection.wire_schema.as_deref().unwrap_or_default();
    let text = format!("{definition}{schema}");
    let tokens = count(&text);
    let known = dialect.tokens();
    Tokens { low: tokens * known.low, estimate: tokens * known.factor, high: tokens * known.high }
}

/// Whether tokens are counted, or guessed from the length of the text.
const IS_COUNTED: bool = cfg!(feature = "tokens");

/// Returns the tokens of a text in OpenAI's vocabulary `o200k_base`.
#[cfg(feature = "tokens")]
fn count(text: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "texts have fewer than 2^52 tokens")]
    let tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as f64;
    tokens
}

/// Guesses the tokens of a text in OpenAI's vocabulary `o200k_base`, in which lists of tools have 4.2 bytes a token.
#[cfg(not(feature = "tokens"))]
fn count(text: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "texts have fewer than 2^52 bytes")]
    let bytes = text.len() as f64;
    bytes / 4.2
}
