//! OpenAI Responses, as OpenAI's API reference and SDK describe it. Nothing is stored at the provider: the items of earlier
//! answers go back, with what it encrypted, for which each question asks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_dialect::{Dialect, PlacedTool};

use super::HttpRequest;
use super::json::{bounded, extra, missing, read, text_of, write};
use super::names::{Names, cache_key, output, own, schema};
use super::reader;
use crate::draft::{Draft, MOST_PARTS};
use crate::error::ModelError;
use crate::model::{Answer, Choice, Content, Delta, Message, ModelFacts, Question, Stop, Usage};

/// The kind of the opaque part with the phase of the text after it.
const PHASE: &str = "phase";

/// The kind of the opaque part with thoughts. Without `encrypted_content`, they are unknown to a provider that stores nothing.
const REASONING: &str = "reasoning";

/// The beginnings of the names of OpenAI's models that do not think, and refuse to encrypt thoughts.
const WITHOUT_THOUGHTS: [&str; 4] = ["gpt-3", "gpt-4", "gpt-5-chat", "chatgpt-"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnyTool<'a>>,
    input: Vec<Item<'a>>,
    store: bool,
    /// Models that do not think refuse it, and deployments have any name, so an extra key may replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    prompt_cache_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a RawValue>,
}

/// The keys of [`Body`] but for `include`.
const WRITTEN: [&str; 12] = [
    "model",
    "tools",
    "input",
    "store",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "temperature",
    "reasoning",
    "text",
    "prompt_cache_key",
    "stream",
];

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyTool<'a> {
    /// The provider's search of deferred tools.
    Search {
        #[serde(rename = "type")]
        kind: &'a str,
    },
    Function(Tool<'a>),
}

/// A function. `strict` is always sent, because without it the server may make the schema strict.
#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Option<&'a RawValue>,
    strict: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    defer_loading: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Chosen<'a> {
    Word(&'static str),
    One(Named<'a>),
    Several {
        #[serde(rename = "type")]
        kind: &'static str,
        mode: &'static str,
        tools: Vec<Named<'a>>,
    },
}

#[derive(Serialize)]
struct Named<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a RawValue>,
    },
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: String,
        name: Cow<'a, str>,
        arguments: &'a str,
    },
    Output {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: String,
        output: &'a str,
    },
    Opaque(&'a RawValue),
}

pub(super) fn request(
    facts: &ModelFacts,
    question: &Question<'_>,
    stream: bool,
) -> Result<HttpRequest, ModelError> {
    let names = Names::new(facts, question)?;
    let settings = &question.settings;
    let mut input = Vec::new();
    for message in question.messages {
        items_of(message, facts, &names, &mut input)?;
    }
    let placed = &question.tools.tools;
    let has_deferred = placed.iter().any(|tool| tool.is_deferred);
    let search = facts.dialect.tool_search().filter(|_| has_deferred);
    let search = search.map(|kind| Ok(AnyTool::Search { kind }));
    let functions = placed.iter().map(|placed| tool(placed).map(AnyTool::Function));
    let tools = search.into_iter().chain(functions).collect::<Result<Vec<_>, ModelError>>()?;
    // The name of a fine-tuned model begins with `ft:` and that of its base.
    let base = facts.model.strip_prefix("ft:").unwrap_or(&facts.model);
    let thinks = !WITHOUT_THOUGHTS.iter().any(|start| base.starts_with(start));
    let has_own_include = settings.extra.contains_key("include");
    let include = (thinks && !has_own_include).then_some(["reasoning.encrypted_content"]);
    let body = Body {
        model: &facts.model,
        input,
        store: false,
        include,
        tool_choice: if tools.is_empty() { None } else { chosen(&question.choice, &names)? },
        parallel_tool_calls: question.parallel.filter(|_| !tools.is_empty()),
        tools,
        max_output_tokens: settings.max_output_tokens,
        temperature: settings.temperature,
        reasoning: settings.effort.map(|effort| Reasoning { effort: effort.as_str() }),
        text: output(question)?.map(|(name, schema)| {
            let strict = facts.dialect.is_strict();
            Text { format: Format { kind: "json_schema", name, schema, strict } }
        }),
        prompt_cache_key: cache_key(facts, question),
        stream: stream.then_some(true),
        extra: extra(settings, &WRITTEN)?,
    };
    let path = "/responses".to_owned();
    Ok(HttpRequest { path, headers: Vec::new(), body: write(&body)? })
}

fn tool<'a>(tool: &'a PlacedTool<'a>) -> Result<Tool<'a>, ModelError> {
    Ok(Tool {
        kind: "function",
        name: &tool.projection.wire_name,
        description: &tool.projection.description,
        parameters: schema(tool)?,
        strict: tool.is_strict,
        defer_loading: tool.is_deferred.then_some(true),
    })
}

fn chosen<'a>(choice: &'a Choice, names: &Names<'a>) -> Result<Option<Chosen<'a>>, ModelError> {
    Ok(match choice {
        Choice::Auto => None,
        Choice::None => Some(Chosen::Word("none")),
        Choice::Required => Some(Chosen::Word("required")),
        Choice::Only(only) => {
            let only = names.only(only)?.into_iter().map(|name| Named { kind: "function", name });
            let mut only: Vec<_> = only.collect();
            if only.len() == 1 {
                return Ok(only.pop().map(Chosen::One));
            }
            Some(Chosen::Several { kind: "allowed_tools", mode: "required", tools: only })
        }
    })
}

fn items_of<'a>(
    message: &'a Message,
    facts: &ModelFacts,
    names: &Names<'a>,
    items: &mut Vec<Item<'a>>,
) -> Result<(), ModelError> {
    let text =
        |role, text: &'a str, phase| Item::Message { role, content: Cow::Borrowed(text), phase };
    match message {
        Message::System(content) => items.push(text("system", content, None)),
        Message::User(content) => items.push(text("user", content, None)),
        Message::Assistant(parts) => {
            let mut phase = None;
            for part in parts {
                match part {
                    Content::Text(content) => items.push(text("assistant", content, phase.take())),
                    Content::Call(call) => items.push(Item::Call {
                        kind: "function_call",
                        call_id: names.id(call),
                        name: names.tool(&call.name),
                        arguments: match call.args.as_str() {
                            "" => "{}",
                            text => text,
                        },
                    }),
                    Content::Opaque(part) if part.kind == PHASE => phase = own(part, facts)?,
                    Content::Opaque(part) => items.extend(own(part, facts)?.map(Item::Opaque)),
                }
            }
        }
        Message::Results(results) => {
            for result in results {
                let (call_id, _) = names.call(result)?;
                let kind = "function_call_output";
                items.push(Item::Output { kind, call_id, output: &result.text });
            }
        }
    }
    Ok(())
}

/// An event of a stream. Each has the keys of its type.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    output_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    status: Option<String>,
    model: Option<String>,
    #[serde(borrow, default, deserialize_with = "bounded")]
    output: Option<Vec<&'a RawValue>>,
    usage: Option<Tokens>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputTokens>,
    output_tokens_details: Option<OutputTokens>,
}

#[derive(Default, Deserialize)]
struct InputTokens {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct OutputTokens {
    reasoning_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(rename = "type")]
    kind: String,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    phase: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "bounded")]
    content: Option<Vec<OutputText>>,
}

#[derive(Deserialize)]
struct OutputText {
    text: Option<String>,
    refusal: Option<String>,
}

/// The events of a stream. Texts are shown as they come; the answer consists of the items as they are when they are done.
pub(super) struct Events {
    draft: Draft,
    dialect: &'static Dialect,
    /// The items that are done, by their index.
    items: BTreeMap<u64, String>,
    /// The indices of the items that are calls, as far as they were shown.
    calls: Vec<Option<u64>>,
}

impl Events {
    pub(super) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        let draft = Draft::new(facts, question);
        Self { draft, dialect: facts.dialect, items: BTreeMap::new(), calls: Vec::new() }
    }

    /// The last event: the response, whose items may be left out.
    fn response(&mut self, response: Response<'_>) -> Result<(), ModelError> {
        self.draft.usage = response.usage.map(Tokens::usage);
        if let Some(error) = response.error {
            return Err(ModelError::of_event(error.get(), self.dialect));
        }
        self.draft.is_over = true;
        self.draft.model = response.model.unwrap_or_default();
        let reason = response.incomplete_details.and_then(|details| details.reason);
        self.draft.stop = Some(match (response.status.as_deref(), reason) {
            (_, Some(reason)) => match reason.as_str() {
                "max_output_tokens" => Stop::Length,
                "content_filter" => Stop::Filtered,
                _ => Stop::Other(reason),
            },
            (Some("completed") | None, None) => Stop::End,
            (Some("incomplete"), None) => Stop::Length,
            (Some(status), None) => Stop::Other(status.to_owned()),
        });
        let output = response.output.unwrap_or_default();
        if output.len() > self.items.len() {
            let items = output.into_iter().map(|item| item.get().to_owned());
            self.items = (0..).zip(items).collect();
        }
        // The pieces of these items were shown.
        let shown = self.draft.deltas();
        for item in std::mem::take(&mut self.items).into_values() {
            self.item(&item)?;
        }
        self.draft.deltas = shown;
        Ok(())
    }

    fn item(&mut self, json: &str) -> Result<(), ModelError> {
        let item: OutputItem<'_> = read("an item of a response", json)?;
        match item.kind.as_str() {
            "function_call" => {
                let id = item.call_id.unwrap_or_default();
                let place = self.draft.call(&id, &item.name.unwrap_or_default())?;
                let args = item.arguments.map(text_of).transpose()?.unwrap_or_default();
                self.draft.args(place, &args)
            }
            "message" => {
                if let Some(phase) = item.phase {
                    self.draft.opaque(PHASE, phase.get().to_owned())?;
                }
                for part in item.content.into_iter().flatten() {
                    self.draft.text(&part.text.unwrap_or_default())?;
                    if let Some(refusal) = part.refusal {
                        self.draft.stop = Some(Stop::Refused(refusal));
                    }
                }
                Ok(())
            }
            REASONING if item.encrypted_content.is_none() => Ok(()),
            kind => self.draft.opaque(kind, json.to_owned()),
        }
    }

    /// Shows that a call begins.
    fn show_call(&mut self, index: Option<u64>, json: &str) -> Result<(), ModelError> {
        let item: OutputItem<'_> = read("an item of a response", json)?;
        if item.kind == "function_call" {
            if self.calls.len() == MOST_PARTS {
                let message =
                    format!("found more than {MOST_PARTS} calls, expected a shorter answer");
                return Err(ModelError::Malformed(message));
            }
            let name = self.draft.canonical(&item.name.unwrap_or_default());
            self.draft.deltas.push(Delta::Call { call: self.calls.len(), name });
            self.calls.push(index);
        }
        Ok(())
    }
}

impl Tokens {
    fn usage(self) -> Usage {
        let question = self.input_tokens_details.unwrap_or_default();
        let cache_read = question.cached_tokens.unwrap_or_default();
        let cache_write = question.cache_write_tokens.unwrap_or_default();
        let of_cache = cache_read.saturating_add(cache_write);
        let answer = self.output_tokens_details.unwrap_or_default();
        Usage {
            input: self.input_tokens.unwrap_or_default().saturating_sub(of_cache),
            cache_read,
            cache_write,
            output: self.output_tokens.unwrap_or_default(),
            reasoning: answer.reasoning_tokens.unwrap_or_default(),
        }
    }
}

impl reader::Events for Events {
    fn event(&mut self, _: &str, payload: &str) -> Result<(), ModelError> {
        if payload.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = read("an event of a response", payload)?;
        let delta = event.delta.map(text_of).transpose()?.unwrap_or_default();
        match event.kind.as_str() {
            "response.output_text.delta" => self.draft.show(&delta, Delta::Text),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.reasoning(&delta);
            }
            "response.function_call_arguments.delta" => {
                let call = self.calls.iter().position(|index| *index == event.output_index);
                if let Some(call) = call {
                    self.draft.show(&delta, |text| Delta::Args { call, text });
                }
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.show_call(event.output_index, item.get())?;
                    self.draft.changes += 1;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    let next = self.items.len() as u64;
                    let index = event.output_index.unwrap_or(next);
                    self.items.insert(index, item.get().to_owned());
                    self.draft.changes += 1;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                if let Some(mut response) = event.response {
                    let status = event.kind.trim_start_matches("response.");
                    response.status.get_or_insert_with(|| status.to_owned());
                    self.response(response)?;
                }
            }
            "error" => return Err(ModelError::of_event(payload, self.dialect)),
            _ => {}
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn end(self: Box<Self>) -> Result<Answer, ModelError> {
        self.draft.finish()
    }
}

pub(super) fn answer(
    facts: &ModelFacts,
    question: &Question<'_>,
    body: &str,
) -> Result<Answer, ModelError> {
    let response: Response<'_> = read("a response", body)?;
    if response.error.is_none() && response.output.is_none() {
        return Err(missing("a response with an output", body));
    }
    let mut events = Events::new(facts, question);
    events.response(response)?;
    events.draft.finish()
}
