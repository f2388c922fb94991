//! Anthropic Messages, as Anthropic's API reference and SDK describe it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_dialect::{Dialect, PlacedTool};

use super::HttpRequest;
use super::json::{bounded, extra, missing, object, read, write};
use super::names::{Names, output, own, required_schema, search_tool_name};
use super::reader;
use super::turns::{instructions, turns};
use crate::draft::{CallPlace, Draft};
use crate::error::ModelError;
use crate::model::{Answer, Choice, Content, Effort, Message, ModelFacts, Question, Stop};

/// The most tokens of an answer where the question sets none, as the API requires a number.
const MAX_TOKENS: u32 = 8192;

/// The version of the API.
const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnyTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a RawValue>,
}

/// The keys of [`Body`].
const WRITTEN: [&str; 9] = [
    "model",
    "max_tokens",
    "tools",
    "system",
    "messages",
    "tool_choice",
    "temperature",
    "output_config",
    "stream",
];

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyTool<'a> {
    Search(SearchTool<'a>),
    Function(Tool<'a>),
}

/// The tool with which the provider searches deferred tools. Its name is its type without the date.
#[derive(Serialize)]
struct SearchTool<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    name: &'a str,
}

impl<'a> SearchTool<'a> {
    fn of(kind: &'a str) -> Self {
        Self { kind, name: search_tool_name(kind).unwrap_or(kind) }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    defer_loading: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct Chosen<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

/// Marks the end of a part that the next request repeats, so that it is cached.
#[derive(Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl CacheControl {
    const HERE: Self = Self { kind: "ephemeral" };
}

#[derive(Serialize)]
struct Sent<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: String,
        name: Cow<'a, str>,
        input: Cow<'a, RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    #[serde(untagged)]
    Opaque(&'a RawValue),
}

pub(super) fn request(
    facts: &ModelFacts,
    question: &Question<'_>,
    stream: bool,
) -> Result<HttpRequest, ModelError> {
    let names = Names::new(facts, question)?;
    let settings = &question.settings;
    let mut tools = question.offered().map(tool).collect::<Result<Vec<_>, _>>()?;
    // A deferred tool cannot be the end of a part that is cached.
    if let Some(last) = tools.iter_mut().rfind(|tool| tool.defer_loading.is_none()) {
        last.cache_control = Some(CacheControl::HERE);
    }
    let has_deferred = tools.iter().any(|tool| tool.defer_loading.is_some());
    let search = facts.dialect.tool_search().filter(|_| has_deferred).map(SearchTool::of);
    let search = search.map(|search| names.without(search.name).map(|()| search)).transpose()?;
    let tools: Vec<_> = search
        .map(AnyTool::Search)
        .into_iter()
        .chain(tools.into_iter().map(AnyTool::Function))
        .collect();
    let mut system: Vec<Block<'_>> = instructions(question.messages).map(Block::text).collect();
    if let Some(Block::Text { cache_control, .. }) = system.first_mut() {
        *cache_control = Some(CacheControl::HERE);
    }
    let mut turns =
        turns(question.messages, "assistant", |message| blocks_of(message, facts, &names))?;
    let last = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut());
    if let Some(Block::Text { cache_control, .. } | Block::ToolResult { cache_control, .. }) = last
    {
        *cache_control = Some(CacheControl::HERE);
    }
    let effort = settings.effort.map(Effort::as_str);
    let format = output(question)?.map(|(_, schema)| Format { kind: "json_schema", schema });
    let body = Body {
        model: &facts.model,
        max_tokens: settings.max_output_tokens.unwrap_or(MAX_TOKENS),
        system,
        messages: turns.into_iter().map(|(role, content)| Sent { role, content }).collect(),
        tool_choice: if tools.is_empty() { None } else { chosen(question, &names)? },
        tools,
        temperature: settings.temperature,
        output_config: (effort.is_some() || format.is_some())
            .then_some(OutputConfig { effort, format }),
        stream: stream.then_some(true),
        extra: extra(settings, &WRITTEN)?,
    };
    let path = "/v1/messages".to_owned();
    Ok(HttpRequest { path, headers: vec![("anthropic-version", VERSION)], body: write(&body)? })
}

impl<'a> Block<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text { text, cache_control: None }
    }
}

fn tool<'a>(tool: &'a PlacedTool<'a>) -> Result<Tool<'a>, ModelError> {
    Ok(Tool {
        name: &tool.projection.wire_name,
        description: &tool.projection.description,
        input_schema: required_schema(tool)?,
        strict: tool.is_strict.then_some(true),
        defer_loading: tool.is_deferred.then_some(true),
        cache_control: None,
    })
}

fn chosen<'a>(
    question: &'a Question<'_>,
    names: &Names<'a>,
) -> Result<Option<Chosen<'a>>, ModelError> {
    let (kind, name) = match &question.choice {
        Choice::Auto if question.parallel.is_none() => return Ok(None),
        Choice::Auto => ("auto", None),
        Choice::None => {
            let (kind, name, disable_parallel_tool_use) = ("none", None, None);
            return Ok(Some(Chosen { kind, name, disable_parallel_tool_use }));
        }
        Choice::Required => ("any", None),
        Choice::Only(only) => match names.only(only)?[..] {
            [name] => ("tool", Some(name)),
            _ => ("any", None),
        },
    };
    let disable_parallel_tool_use = question.parallel.map(|parallel| !parallel);
    Ok(Some(Chosen { kind, name, disable_parallel_tool_use }))
}

fn blocks_of<'a>(
    message: &'a Message,
    facts: &ModelFacts,
    names: &Names<'a>,
) -> Result<Vec<Block<'a>>, ModelError> {
    let mut blocks = Vec::new();
    match message {
        Message::System(_) => {}
        // Empty texts are refused.
        Message::User(text) => blocks.extend((!text.is_empty()).then(|| Block::text(text))),
        Message::Assistant(parts) => {
            for part in parts {
                match part {
                    Content::Text(text) => {
                        blocks.extend((!text.trim().is_empty()).then(|| Block::text(text)));
                    }
                    Content::Call(call) => blocks.push(Block::ToolUse {
                        id: names.id(call),
                        name: names.tool(&call.name),
                        input: object(&call.args)?,
                    }),
                    Content::Opaque(part) => blocks.extend(own(part, facts)?.map(Block::Opaque)),
                }
            }
        }
        Message::Results(results) => {
            for result in results {
                blocks.push(Block::ToolResult {
                    tool_use_id: names.call(result)?.0,
                    content: &result.text,
                    is_error: result.is_error.then_some(true),
                    cache_control: None,
                });
            }
        }
    }
    Ok(blocks)
}

/// An event of a stream. Each has the keys of its type.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    index: Option<u64>,
    #[serde(borrow)]
    message: Option<Whole<'a>>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    delta: Option<Piece>,
    usage: Option<Tokens>,
}

/// A message: at the beginning of a stream without content, or a whole answer.
#[derive(Deserialize)]
struct Whole<'a> {
    model: Option<String>,
    #[serde(borrow, default, deserialize_with = "bounded")]
    content: Option<Vec<&'a RawValue>>,
    stop_reason: Option<String>,
    stop_details: Option<Details>,
    usage: Option<Tokens>,
}

/// An addition to a block or to the message.
#[derive(Deserialize)]
struct Piece {
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    stop_reason: Option<String>,
    stop_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct ReadBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
}

/// A block of thoughts, as it goes back.
#[derive(Serialize)]
struct Thinking<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    thinking: &'a str,
    signature: &'a str,
}

#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputTokens>,
}

#[derive(Clone, Copy, Deserialize)]
struct OutputTokens {
    thinking_tokens: Option<u64>,
}

/// The events of a stream.
pub(super) struct Events {
    draft: Draft,
    dialect: &'static Dialect,
    /// The blocks that are being written, by their index.
    open: BTreeMap<u64, Open>,
}

/// A block that is being written.
enum Open {
    Text,
    /// A call, with the input at its start, which pieces replace.
    Call {
        place: CallPlace,
        input: String,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    /// A block that goes back as it is, with the pieces of its `input`.
    Opaque {
        kind: String,
        block: String,
        input: String,
    },
}

impl Events {
    pub(super) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        Self { draft: Draft::new(facts, question), dialect: facts.dialect, open: BTreeMap::new() }
    }

    /// Numbers are totals so far; those that an event does not have stay unchanged.
    fn tokens(&mut self, tokens: Tokens) {
        let usage = self.draft.usage.get_or_insert_default();
        let set = |known: &mut u64, found: Option<u64>| *known = found.unwrap_or(*known);
        set(&mut usage.input, tokens.input_tokens);
        set(&mut usage.cache_read, tokens.cache_read_input_tokens);
        set(&mut usage.cache_write, tokens.cache_creation_input_tokens);
        set(&mut usage.output, tokens.output_tokens);
        let details = tokens.output_tokens_details;
        set(&mut usage.reasoning, details.and_then(|details| details.thinking_tokens));
    }

    fn stopped(&mut self, reason: Option<String>, details: Option<Details>) {
        let Some(reason) = reason else { return };
        self.draft.stop = Some(match reason.as_str() {
            "end_turn" | "stop_sequence" => Stop::End,
            "tool_use" => Stop::Calls,
            "pause_turn" => Stop::Paused,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "refusal" => {
                let explanation = details.and_then(|details| details.explanation);
                Stop::Refused(explanation.unwrap_or(reason))
            }
            _ => Stop::Other(reason),
        });
    }

    fn begin(&mut self, index: u64, json: &str) -> Result<(), ModelError> {
        self.close(index)?;
        let block: ReadBlock<'_> = read("a block of a message", json)?;
        let open = match block.kind.as_str() {
            "text" => {
                self.draft.text(&block.text.unwrap_or_default())?;
                Open::Text
            }
            "tool_use" => {
                let (id, name) = (block.id.unwrap_or_default(), block.name.unwrap_or_default());
                let input = block.input.map_or_else(String::new, |input| input.get().to_owned());
                Open::Call { place: self.draft.call(&id, &name)?, input }
            }
            "thinking" => {
                let thinking = block.thinking.unwrap_or_default();
                self.draft.reasoning(&thinking);
                Open::Thinking { thinking, signature: block.signature.unwrap_or_default() }
            }
            kind => {
                Open::Opaque { kind: kind.to_owned(), block: json.to_owned(), input: String::new() }
            }
        };
        self.draft.changes += 1;
        self.open.insert(index, open);
        Ok(())
    }

    fn piece(&mut self, index: u64, piece: Piece) -> Result<(), ModelError> {
        match self.open.get_mut(&index) {
            Some(Open::Text) => self.draft.text(&piece.text.unwrap_or_default()),
            Some(Open::Call { place, input }) => {
                let more = piece.partial_json.unwrap_or_default();
                if !more.is_empty() {
                    input.clear();
                }
                self.draft.args(*place, &more)
            }
            Some(Open::Thinking { thinking, signature }) => {
                let more = piece.thinking.unwrap_or_default();
                self.draft.reasoning(&more);
                *thinking += &more;
                *signature += &piece.signature.unwrap_or_default();
                Ok(())
            }
            Some(Open::Opaque { input, .. }) => {
                *input += &piece.partial_json.unwrap_or_default();
                Ok(())
            }
            None => Err(misplaced(&format!("a piece of the block {index}, which is not open"))),
        }
    }

    /// Reads a block that is complete.
    fn whole(&mut self, json: &str) -> Result<(), ModelError> {
        let block: ReadBlock<'_> = read("a block of a message", json)?;
        if block.kind == "thinking" {
            self.draft.reasoning(&block.thinking.unwrap_or_default());
            return self.draft.opaque("thinking", json.to_owned());
        }
        self.begin(0, json)?;
        self.close(0)
    }

    /// Ends a block.
    fn close(&mut self, index: u64) -> Result<(), ModelError> {
        match self.open.remove(&index) {
            Some(Open::Thinking { thinking, signature }) => {
                let (thinking, signature) = (&thinking, &signature);
                let block = Thinking { kind: "thinking", thinking, signature };
                self.draft.opaque("thinking", write(&block)?)
            }
            Some(Open::Opaque { kind, block, input }) => {
                self.draft.opaque(&kind, with_input(block, &input)?)
            }
            Some(Open::Call { place, input }) => self.draft.args(place, &input),
            Some(Open::Text) | None => Ok(()),
        }
    }
}

impl reader::Events for Events {
    fn event(&mut self, _: &str, payload: &str) -> Result<(), ModelError> {
        let event: Event<'_> = read("an event of a message", payload)?;
        let index = event.index.unwrap_or_default();
        if let Some(tokens) = event.usage {
            self.tokens(tokens);
        }
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.draft.model = message.model.unwrap_or_default();
                    if let Some(tokens) = message.usage {
                        self.tokens(tokens);
                    }
                }
            }
            "content_block_start" => {
                let block = event.content_block.ok_or_else(|| misplaced("a start of no block"))?;
                self.begin(index, block.get())?;
            }
            "content_block_delta" => {
                let piece = event.delta.ok_or_else(|| misplaced("a delta without a piece"))?;
                self.piece(index, piece)?;
            }
            "content_block_stop" => self.close(index)?,
            "message_delta" => {
                if let Some(piece) = event.delta {
                    self.stopped(piece.stop_reason, piece.stop_details);
                }
                // Some gateways do not send the ends of blocks.
                while self.draft.stop.is_some()
                    && let Some((&index, _)) = self.open.first_key_value()
                {
                    self.close(index)?;
                }
            }
            "message_stop" => self.draft.is_over = true,
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

/// Returns a block with the `input` whose pieces came after its start.
fn with_input(block: String, input: &str) -> Result<String, ModelError> {
    if input.is_empty() {
        return Ok(block);
    }
    let mut entries: BTreeMap<String, &RawValue> = read("a block of a message", &block)?;
    entries.insert("input".to_owned(), read("the input of a block", input)?);
    write(&entries)
}

fn misplaced(found: &str) -> ModelError {
    ModelError::Malformed(format!("found {found}, expected the events of a message in order"))
}

pub(super) fn answer(
    facts: &ModelFacts,
    question: &Question<'_>,
    body: &str,
) -> Result<Answer, ModelError> {
    let message: Whole<'_> = read("a message", body)?;
    let Some(blocks) = message.content else {
        return Err(missing("a message with content", body));
    };
    let mut events = Events::new(facts, question);
    for block in blocks {
        events.whole(block.get())?;
    }
    events.draft.model = message.model.unwrap_or_default();
    events.stopped(message.stop_reason, message.stop_details);
    if let Some(tokens) = message.usage {
        events.tokens(tokens);
    }
    events.draft.finish()
}
