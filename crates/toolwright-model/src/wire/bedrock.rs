//! Amazon Bedrock Converse, as the AWS API reference describes it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_dialect::{Dialect, PlacedTool};

use super::HttpRequest;
use super::json::{bounded, extra, missing, object, read, segment, write};
use super::names::{Names, output, own, required_schema};
use super::reader;
use super::turns::{instructions, turns};
use crate::draft::{CallPlace, Draft};
use crate::error::ModelError;
use crate::model::{Answer, Choice, Content, Message, ModelFacts, Question, Stop, Usage};

/// The kind of the opaque part for thoughts.
const REASONING: &str = "reasoningContent";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_config: Option<InferenceConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a RawValue>,
}

/// The keys of [`Body`].
const WRITTEN: [&str; 5] = ["toolConfig", "system", "messages", "inferenceConfig", "outputConfig"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InferenceConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutputConfig<'a> {
    text_format: TextFormat<'a>,
}

#[derive(Serialize)]
struct TextFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    structure: Structure<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Structure<'a> {
    json_schema: JsonSchema<'a>,
}

/// A schema, as a text that holds its JSON.
#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    tool_spec: ToolSpec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSpec<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: InputSchema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
struct InputSchema<'a> {
    json: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Chosen<'a> {
    Any {},
    Tool { name: &'a str },
}

#[derive(Serialize)]
struct Sent<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Block<'a> {
    Text(&'a str),
    ToolUse { tool_use_id: String, name: Cow<'a, str>, input: Cow<'a, RawValue> },
    ToolResult { tool_use_id: String, content: [ResultText<'a>; 1], status: &'static str },
    ReasoningContent(&'a RawValue),
}

#[derive(Serialize)]
struct ResultText<'a> {
    text: &'a str,
}

pub(super) fn request(
    facts: &ModelFacts,
    question: &Question<'_>,
    stream: bool,
) -> Result<HttpRequest, ModelError> {
    let names = Names::new(facts, question)?;
    let settings = &question.settings;
    let unsendable = |message: &str| Err(ModelError::Unsendable(message.to_owned()));
    if settings.effort.is_some() {
        return unsendable(
            "found an effort, which Converse has no key for; use `additionalModelRequestFields`",
        );
    }
    let tools = question.offered().map(tool).collect::<Result<Vec<_>, _>>()?;
    let tool_choice = chosen(&question.choice, &names)?;
    let turns = turns(question.messages, "assistant", |message| blocks_of(message, facts, &names))?;
    let has_settings = settings.max_output_tokens.is_some() || settings.temperature.is_some();
    let body = Body {
        tool_config: (!tools.is_empty()).then_some(ToolConfig { tools, tool_choice }),
        system: instructions(question.messages).map(Block::Text).collect(),
        messages: turns.into_iter().map(|(role, content)| Sent { role, content }).collect(),
        inference_config: has_settings.then_some(InferenceConfig {
            max_tokens: settings.max_output_tokens,
            temperature: settings.temperature,
        }),
        output_config: output(question)?.map(|(name, schema)| OutputConfig {
            text_format: TextFormat {
                kind: "json_schema",
                structure: Structure { json_schema: JsonSchema { name, schema: schema.get() } },
            },
        }),
        extra: extra(settings, &WRITTEN)?,
    };
    let verb = if stream { "converse-stream" } else { "converse" };
    let path = format!("/model/{}/{verb}", segment(&facts.model));
    Ok(HttpRequest { path, headers: Vec::new(), body: write(&body)? })
}

fn tool<'a>(tool: &'a PlacedTool<'a>) -> Result<Tool<'a>, ModelError> {
    let tool_spec = ToolSpec {
        name: &tool.projection.wire_name,
        description: &tool.projection.description,
        input_schema: InputSchema { json: required_schema(tool)? },
        strict: tool.is_strict.then_some(true),
    };
    Ok(Tool { tool_spec })
}

fn chosen<'a>(choice: &'a Choice, names: &Names<'a>) -> Result<Option<Chosen<'a>>, ModelError> {
    Ok(match choice {
        Choice::Auto | Choice::None => None,
        Choice::Required => Some(Chosen::Any {}),
        Choice::Only(only) => match names.only(only)?[..] {
            [name] => Some(Chosen::Tool { name }),
            _ => Some(Chosen::Any {}),
        },
    })
}

fn blocks_of<'a>(
    message: &'a Message,
    facts: &ModelFacts,
    names: &Names<'a>,
) -> Result<Vec<Block<'a>>, ModelError> {
    let mut blocks = Vec::new();
    match message {
        Message::System(_) => {}
        // Blank texts are refused.
        Message::User(text) => blocks.extend((!text.is_empty()).then_some(Block::Text(text))),
        Message::Assistant(parts) => {
            for part in parts {
                match part {
                    Content::Text(text) => {
                        blocks.extend((!text.trim().is_empty()).then_some(Block::Text(text)));
                    }
                    Content::Call(call) => blocks.push(Block::ToolUse {
                        tool_use_id: names.id(call),
                        name: names.tool(&call.name),
                        input: object(&call.args)?,
                    }),
                    Content::Opaque(part) if part.kind == REASONING => {
                        blocks.extend(own(part, facts)?.map(Block::ReasoningContent));
                    }
                    Content::Opaque(_) => {}
                }
            }
        }
        Message::Results(results) => {
            for result in results {
                blocks.push(Block::ToolResult {
                    tool_use_id: names.call(result)?.0,
                    content: [ResultText { text: &result.text }],
                    status: if result.is_error { "error" } else { "success" },
                });
            }
        }
    }
    Ok(blocks)
}

/// An event of a stream. Each has the keys of its type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    content_block_index: Option<u64>,
    #[serde(borrow)]
    start: Option<ReadBlock<'a>>,
    #[serde(borrow)]
    delta: Option<ReadBlock<'a>>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

/// A whole answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a> {
    #[serde(borrow)]
    output: Option<Output<'a>>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    message: Option<ReadMessage<'a>>,
}

#[derive(Deserialize)]
struct ReadMessage<'a> {
    #[serde(borrow, default, deserialize_with = "bounded")]
    content: Option<Vec<ReadBlock<'a>>>,
}

/// A block, its start, or a piece of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadBlock<'a> {
    text: Option<String>,
    #[serde(borrow)]
    tool_use: Option<ReadCall<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadCall<'a> {
    tool_use_id: Option<String>,
    name: Option<String>,
    /// An object, or in a piece the text of one.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// Thoughts: a piece of them, or the text of a whole block.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadReasoning {
    text: Option<String>,
    signature: Option<String>,
    redacted_content: Option<String>,
    reasoning_text: Option<Box<ReadReasoning>>,
}

/// A block of thoughts, as it goes back.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SentReasoning {
    ReasoningText {
        text: String,
        #[serde(skip_serializing_if = "String::is_empty")]
        signature: String,
    },
    RedactedContent(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
}

impl Tokens {
    fn usage(self) -> Usage {
        Usage {
            input: self.input_tokens.unwrap_or_default(),
            cache_read: self.cache_read_input_tokens.unwrap_or_default(),
            cache_write: self.cache_write_input_tokens.unwrap_or_default(),
            output: self.output_tokens.unwrap_or_default(),
            reasoning: 0,
        }
    }
}

/// The events of a stream.
pub(super) struct Events {
    draft: Draft,
    dialect: &'static Dialect,
    /// The calls by the index of their blocks.
    calls: BTreeMap<u64, CallPlace>,
    /// The thoughts that are being written.
    reasoning: Option<SentReasoning>,
}

impl Events {
    pub(super) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        let draft = Draft::new(facts, question);
        Self { draft, dialect: facts.dialect, calls: BTreeMap::new(), reasoning: None }
    }

    fn stopped(&mut self, reason: Option<String>) {
        let Some(reason) = reason else { return };
        self.draft.stop = Some(match reason.as_str() {
            "end_turn" | "stop_sequence" => Stop::End,
            "tool_use" => Stop::Calls,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "guardrail_intervened" | "content_filtered" => Stop::Filtered,
            _ => Stop::Other(reason),
        });
    }

    fn call(&mut self, index: u64, call: &ReadCall<'_>) -> Result<CallPlace, ModelError> {
        let id = call.tool_use_id.as_deref().unwrap_or_default();
        let place = self.draft.call(id, call.name.as_deref().unwrap_or_default())?;
        self.calls.insert(index, place);
        Ok(place)
    }

    fn piece(&mut self, index: u64, piece: ReadBlock<'_>) -> Result<(), ModelError> {
        if let Some(reasoning) = piece.reasoning_content {
            let more: ReadReasoning = read("a piece of reasoning", reasoning.get())?;
            self.reasoning(more);
        }
        if let Some(call) = piece.tool_use {
            let place = self.calls.get(&index).copied().ok_or_else(|| {
                ModelError::Malformed(format!(
                    "found a piece of the block {index}, expected its start before"
                ))
            })?;
            let input = call.input.map(super::json::text_of).transpose()?;
            self.draft.args(place, &input.unwrap_or_default())?;
        }
        self.draft.text(&piece.text.unwrap_or_default())
    }

    fn reasoning(&mut self, more: ReadReasoning) {
        self.draft.changes += 1;
        if let Some(data) = more.redacted_content {
            match &mut self.reasoning {
                Some(SentReasoning::RedactedContent(known)) => *known += &data,
                other => *other = Some(SentReasoning::RedactedContent(data)),
            }
            return;
        }
        let (text, mark) = (more.text.unwrap_or_default(), more.signature.unwrap_or_default());
        self.draft.reasoning(&text);
        match &mut self.reasoning {
            Some(SentReasoning::ReasoningText { text: known, signature }) => {
                *known += &text;
                *signature += &mark;
            }
            other => *other = Some(SentReasoning::ReasoningText { text, signature: mark }),
        }
    }

    fn end_reasoning(&mut self) -> Result<(), ModelError> {
        match self.reasoning.take() {
            Some(reasoning) => self.draft.opaque(REASONING, write(&reasoning)?),
            None => Ok(()),
        }
    }
}

impl reader::Events for Events {
    fn event(&mut self, name: &str, payload: &str) -> Result<(), ModelError> {
        if let Some(kind) = name.strip_prefix("exception:") {
            return Err(ModelError::of_exception(kind, payload, self.dialect));
        }
        let event: Event<'_> = read("an event of Converse", payload)?;
        let index = event.content_block_index.unwrap_or_default();
        match name {
            "contentBlockStart" => {
                if let Some(call) = event.start.and_then(|start| start.tool_use) {
                    self.call(index, &call)?;
                }
            }
            "contentBlockDelta" => {
                if let Some(piece) = event.delta {
                    self.piece(index, piece)?;
                }
            }
            "contentBlockStop" => self.end_reasoning()?,
            "messageStop" => self.stopped(event.stop_reason),
            "metadata" => self.draft.usage = event.usage.map(Tokens::usage),
            _ => {}
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn end(mut self: Box<Self>) -> Result<Answer, ModelError> {
        self.end_reasoning()?;
        self.draft.finish()
    }
}

pub(super) fn answer(
    facts: &ModelFacts,
    question: &Question<'_>,
    body: &str,
) -> Result<Answer, ModelError> {
    let whole: Whole<'_> = read("an answer of Converse", body)?;
    let message = whole.output.and_then(|output| output.message);
    let Some(blocks) = message.and_then(|message| message.content) else {
        return Err(missing("an answer with a message", body));
    };
    let mut events = Events::new(facts, question);
    for (index, block) in (0..).zip(blocks) {
        if let Some(reasoning) = block.reasoning_content {
            let read: ReadReasoning = read("reasoning", reasoning.get())?;
            let text = read.reasoning_text.and_then(|read| read.text);
            events.draft.reasoning(&text.unwrap_or_default());
            events.draft.opaque(REASONING, reasoning.get().to_owned())?;
        }
        if let Some(call) = block.tool_use {
            let place = events.call(index, &call)?;
            events.draft.args(place, call.input.map_or("", RawValue::get))?;
        }
        events.draft.text(&block.text.unwrap_or_default())?;
    }
    events.stopped(whole.stop_reason);
    events.draft.usage = whole.usage.map(Tokens::usage);
    events.draft.finish()
}
