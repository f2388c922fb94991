//! Reads answers, whole or as events of a stream.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{DETAILS, REASONING};
use crate::draft::{CallPlace, Draft, MOST_PARTS};
use crate::error::ModelError;
use crate::model::{Answer, ModelFacts, Question, Stop, Usage};
use crate::wire::json::{bounded, list, missing, read, text_of, write};
use crate::wire::reader;

/// An event of a stream, or a whole answer. Parts that few events have are read later.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "bounded")]
    choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ChunkChoice<'a> {
    #[serde(borrow)]
    delta: Option<Piece<'a>>,
    /// The whole answer. Some servers add what they have sent of it to the pieces of a stream.
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    index: Option<u64>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow)]
    content: Option<ChunkContent<'a>>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallPiece<'a> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<FunctionPiece<'a>>,
}

#[derive(Default, Deserialize)]
struct FunctionPiece<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// A text or, as Mistral sends it, a list of parts. Most events have one, so it is read at once.
enum ChunkContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPiece>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ChunkContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ChunkContent<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(ChunkContent::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ChunkContent::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Self::Value, A::Error> {
        let parts = bounded(SeqAccessDeserializer::new(parts))?;
        Ok(ChunkContent::Parts(parts.unwrap_or_default()))
    }
}

/// A part of a content that is a list.
#[derive(Deserialize)]
struct ContentPiece {
    text: Option<String>,
    #[serde(default, deserialize_with = "bounded")]
    thinking: Option<Vec<ContentPiece>>,
}

/// A piece of thoughts of OpenRouter.
type Detail = BTreeMap<String, DetailValue>;

/// A value of a piece of thoughts. Only a text is read, as other values may take far more memory than their JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum DetailValue {
    Text(String),
    Other(Box<RawValue>),
}

impl DetailValue {
    fn of(json: &RawValue) -> Result<Self, ModelError> {
        if json.get().starts_with('"') {
            return Ok(Self::Text(text_of(json)?.into_owned()));
        }
        Ok(Self::Other(json.to_owned()))
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Other(json) => json.get().len(),
        }
    }
}

impl PartialEq for DetailValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(text), Self::Text(other)) => text == other,
            (Self::Other(json), Self::Other(other)) => json.get() == other.get(),
            _ => false,
        }
    }
}

#[derive(Default, Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokens>,
    completion_tokens_details: Option<CompletionTokens>,
}

#[derive(Default, Deserialize)]
struct PromptTokens {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct CompletionTokens {
    reasoning_tokens: Option<u64>,
}

impl Tokens {
    fn usage(self) -> Usage {
        let question = self.prompt_tokens_details.unwrap_or_default();
        let answer = self.completion_tokens_details.unwrap_or_default();
        let cache_read = question.cached_tokens.unwrap_or_default();
        let cache_write = question.cache_write_tokens.unwrap_or_default();
        let of_cache = cache_read.saturating_add(cache_write);
        Usage {
            input: self.prompt_tokens.unwrap_or_default().saturating_sub(of_cache),
            cache_read,
            cache_write,
            output: self.completion_tokens.unwrap_or_default(),
            reasoning: answer.reasoning_tokens.unwrap_or_default(),
        }
    }
}

/// Refuses more thoughts than an answer may have parts.
fn limit_thoughts(count: usize) -> Result<(), ModelError> {
    if count > MOST_PARTS {
        let message = format!("found more than {MOST_PARTS} thoughts, expected a shorter answer");
        return Err(ModelError::Malformed(message));
    }
    Ok(())
}

/// A call that has begun, as the stream names it.
struct KnownCall {
    index: Option<u64>,
    id: String,
    name: String,
    place: CallPlace,
}

/// The events of a stream, or a whole answer.
pub(in crate::wire) struct Events {
    draft: Draft,
    /// True for a whole answer, in which each piece of a call is a call.
    is_whole: bool,
    /// True once a piece or the whole message was read.
    has_delta: bool,
    /// The last message, which is read at the end if there were no pieces.
    message: Option<String>,
    dialect: &'static toolwright_dialect::Dialect,
    calls: Vec<KnownCall>,
    reasoning: String,
    details: Vec<Detail>,
    refusal: String,
}

impl Events {
    pub(in crate::wire) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        Self {
            draft: Draft::new(facts, question),
            is_whole: false,
            has_delta: false,
            message: None,
            dialect: facts.dialect,
            calls: Vec::new(),
            reasoning: String::new(),
            details: Vec::new(),
            refusal: String::new(),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<(), ModelError> {
        if let Some(model) = chunk.model {
            let model = text_of(model)?;
            if self.draft.model != model {
                self.draft.model = model.into_owned();
            }
        }
        if let Some(tokens) = chunk.usage {
            let tokens = read::<Tokens>("the tokens of an answer", tokens.get())?;
            self.draft.usage = Some(tokens.usage());
        }
        if let Some(error) = chunk.error {
            return Err(ModelError::of_event(error.get(), self.dialect));
        }
        for choice in chunk.choices.into_iter().flatten() {
            // Only one choice was requested.
            if choice.index.unwrap_or_default() > 0 {
                continue;
            }
            if let Some(piece) = choice.delta {
                self.has_delta = true;
                self.piece(piece)?;
            }
            if let Some(message) = choice.message {
                self.message = Some(message.get().to_owned());
            }
            let reason = choice.finish_reason.map(text_of).transpose()?;
            let reason = reason.filter(|reason| !reason.is_empty());
            if let Some(message) = self.message.take_if(|_| self.is_whole || reason.is_some())
                && !self.has_delta
            {
                (self.is_whole, self.has_delta) = (true, true);
                self.piece(read("a message", &message)?)?;
            }
            if let Some(reason) = reason {
                self.draft.stop = Some(match &*reason {
                    "stop" | "eos" | "eos_token" | "stop_sequence" => Stop::End,
                    "tool_calls" | "function_call" => Stop::Calls,
                    "length" | "model_length" => Stop::Length,
                    "content_filter" => Stop::Filtered,
                    _ => Stop::Other(reason.into_owned()),
                });
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece<'_>) -> Result<(), ModelError> {
        let details: Vec<&RawValue> = list("a list of thoughts", piece.reasoning_details)?;
        let details = details.iter().map(|detail| {
            let entries: BTreeMap<String, &RawValue> = read("a thought", detail.get())?;
            let entries = entries.into_iter().map(|(key, json)| Ok((key, DetailValue::of(json)?)));
            entries.collect()
        });
        let details = details.collect::<Result<Vec<Detail>, ModelError>>()?;
        let calls: Vec<CallPiece<'_>> = list("a list of calls", piece.tool_calls)?;
        if let Some(reasoning) = piece.reasoning_content.or(piece.reasoning) {
            let reasoning = text_of(reasoning)?;
            self.draft.reasoning(&reasoning);
            self.reasoning += &reasoning;
        }
        for detail in details {
            self.detail(detail)?;
        }
        if let Some(content) = piece.content {
            self.content(content)?;
        }
        self.refusal += &piece.refusal.map(text_of).transpose()?.unwrap_or_default();
        for call in calls {
            let function = call.function.unwrap_or_default();
            let id = call.id.unwrap_or_default();
            let place = self.place(call.index, id, function.name.unwrap_or_default())?;
            if let Some(arguments) = function.arguments {
                self.draft.args(place, &text_of(arguments)?)?;
            }
        }
        Ok(())
    }

    /// Adds a piece of thoughts, which may continue the last one.
    fn detail(&mut self, detail: Detail) -> Result<(), ModelError> {
        let is_next = |last: &&mut Detail| {
            ["type", "index"].iter().all(|key| last.get(*key) == detail.get(*key))
        };
        let Some(last) = self.details.last_mut().filter(is_next) else {
            limit_thoughts(self.details.len() + 1)?;
            self.draft.grow(detail.iter().map(|(key, value)| key.len() + value.len()).sum())?;
            self.details.push(detail);
            return Ok(());
        };
        for (key, value) in detail {
            match (last.get_mut(&key), value) {
                (Some(DetailValue::Text(text)), DetailValue::Text(more))
                    if ["text", "summary", "data"].contains(&key.as_str()) =>
                {
                    self.draft.grow(more.len())?;
                    *text += &more;
                }
                (_, DetailValue::Other(json)) if json.get() == "null" => {}
                (Some(known), value) if *known == value => {}
                (_, value) => {
                    self.draft.grow(key.len() + value.len())?;
                    last.insert(key, value);
                }
            }
        }
        Ok(())
    }

    fn content(&mut self, content: ChunkContent<'_>) -> Result<(), ModelError> {
        let parts = match content {
            ChunkContent::Text(text) => return self.draft.text(&text),
            ChunkContent::Parts(parts) => parts,
        };
        for part in parts {
            for thought in part.thinking.into_iter().flatten() {
                self.draft.reasoning(&thought.text.unwrap_or_default());
            }
            self.draft.text(&part.text.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Returns the call that a piece belongs to. A piece without a name continues the call of its index, of its id, or the last one.
    /// A piece with a name continues the call of its index and id, or of its id if it has no index, if that has the same name; else
    /// it begins a call, as some servers give all calls the index 0.
    fn place(
        &mut self,
        index: Option<u64>,
        id: String,
        name: String,
    ) -> Result<CallPlace, ModelError> {
        if !self.is_whole && name.is_empty() {
            let is_same = |call: &KnownCall| {
                (index.is_some() && call.index == index, !id.is_empty() && call.id == id)
            };
            let found = self.calls.iter().max_by_key(|call| is_same(call));
            return found.map(|call| call.place).ok_or_else(|| {
                let message = "found a piece of a call, expected its start, with a name, before";
                ModelError::Malformed(message.to_owned())
            });
        }
        let is_same = |call: &&KnownCall| match index {
            Some(_) => {
                let is_same_id = id.is_empty() || call.id.is_empty() || call.id == id;
                call.index == index && is_same_id
            }
            None => !id.is_empty() && call.id == id,
        };
        let found = self.calls.iter().rev().find(is_same);
        if let Some(call) = found.filter(|call| !self.is_whole && call.name == name) {
            return Ok(call.place);
        }
        if self.calls.is_empty() {
            self.end_reasoning()?;
        }
        let place = self.draft.call(&id, &name)?;
        self.calls.push(KnownCall { index, id, name, place });
        Ok(place)
    }

    fn end_reasoning(&mut self) -> Result<(), ModelError> {
        let reasoning = std::mem::take(&mut self.reasoning);
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            return self.draft.opaque(DETAILS, write(&details)?);
        }
        if reasoning.is_empty() {
            return Ok(());
        }
        self.draft.opaque(REASONING, write(&reasoning)?)
    }

    fn finish(mut self) -> Result<Answer, ModelError> {
        self.end_reasoning()?;
        if !self.refusal.is_empty() && self.draft.stop.is_some() {
            self.draft.stop = Some(Stop::Refused(self.refusal));
        }
        self.draft.finish()
    }
}

impl reader::Events for Events {
    fn event(&mut self, _: &str, payload: &str) -> Result<(), ModelError> {
        if payload.trim() == "[DONE]" {
            self.draft.is_over = true;
            return Ok(());
        }
        self.chunk(read("a chunk of a chat completion", payload)?)
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn end(self: Box<Self>) -> Result<Answer, ModelError> {
        self.finish()
    }
}

pub(in crate::wire) fn answer(
    facts: &ModelFacts,
    question: &Question<'_>,
    body: &str,
) -> Result<Answer, ModelError> {
    let mut events = Events { is_whole: true, ..Events::new(facts, question) };
    let whole: Chunk<'_> = read("a chat completion", body)?;
    if whole.error.is_none() && whole.choices.as_ref().is_none_or(Vec::is_empty) {
        return Err(missing("a chat completion with a choice", body));
    }
    events.chunk(whole)?;
    events.finish()
}
