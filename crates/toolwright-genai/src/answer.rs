//! Reads the events of genai: pieces to show while they come, and the answer from the last event.

use genai::chat::{
    ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall, Usage as GenaiUsage,
};
use serde_json::Value;
use toolwright_model::{
    Answer, CallPlace, Delta, Draft, ModelError, ModelFacts, Question, Stop, Usage,
};

/// The most reasoning of an answer: as much as an answer may have of everything else.
const MAX_REASONING_MIB: usize = 16;

/// The kind of an opaque part that is a whole part of genai's content.
pub(crate) const PART: &str = "part";

/// The kind of the opaque part for the signatures of the call after it.
pub(crate) const SIGNATURES: &str = "thought_signatures";

/// Returns the provider of opaque parts. They differ from those that a wire reads.
pub(crate) fn provider(facts: &ModelFacts) -> String {
    format!("{} through genai", facts.provider)
}

/// Reads events up to the last one.
pub(crate) struct Reader {
    draft: Draft,
    /// The bytes of reasoning, all of which genai keeps.
    reasoning: usize,
    calls: Vec<ShownCall>,
}

struct ShownCall {
    id: String,
    args: String,
    place: CallPlace,
}

impl Reader {
    pub(crate) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        Self { draft: Draft::new(facts, question), reasoning: 0, calls: Vec::new() }
    }

    /// Takes the pieces that came since this was last called.
    pub(crate) fn deltas(&mut self) -> Vec<Delta> {
        self.draft.deltas()
    }

    /// Reads an event; returns the last one.
    pub(crate) fn event(
        &mut self,
        event: ChatStreamEvent,
    ) -> Result<Option<StreamEnd>, ModelError> {
        match event {
            ChatStreamEvent::Chunk(chunk) => self.draft.text(&chunk.content)?,
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.reasoned(chunk.content.len())?;
                self.draft.reasoning(&chunk.content);
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => self.reasoned(chunk.content.len())?,
            ChatStreamEvent::ToolCallChunk(chunk) => self.call(chunk.tool_call)?,
            ChatStreamEvent::End(end) => return Ok(Some(end)),
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
        }
        Ok(None)
    }

    fn reasoned(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.reasoning += bytes;
        if self.reasoning <= MAX_REASONING_MIB << 20 {
            return Ok(());
        }
        Err(ModelError::Malformed(format!(
            "found reasoning of more than {MAX_REASONING_MIB} MiB, expected less"
        )))
    }

    /// Shows a call. Its arguments are all that came so far.
    fn call(&mut self, call: ToolCall) -> Result<(), ModelError> {
        let args = text_of(call.fn_arguments);
        let is_same = |known: &&mut ShownCall| {
            known.id == call.call_id && args.starts_with(known.args.as_str())
        };
        if let Some(known) = self.calls.iter_mut().rev().find(is_same) {
            self.draft.args(known.place, &args[known.args.len()..])?;
            known.args = args;
            return Ok(());
        }
        let place = self.draft.call(&call.call_id, &call.fn_name)?;
        self.draft.args(place, &args)?;
        self.calls.push(ShownCall { id: call.call_id, args, place });
        Ok(())
    }
}

/// Returns the answer of the last event.
pub(crate) fn of(
    facts: &ModelFacts,
    question: &Question<'_>,
    end: StreamEnd,
) -> Result<Answer, ModelError> {
    let facts = ModelFacts { provider: provider(facts), ..facts.clone() };
    let mut draft = Draft::new(&facts, question);
    draft.stop = end.captured_stop_reason.map(stop);
    draft.usage = end.captured_usage.as_ref().and_then(usage);
    let content = end.captured_content.unwrap_or_default();
    // Some providers expect the thoughts back with the calls that they led to.
    if content.contains_tool_call()
        && !content.contains_reasoning_content()
        && let Some(reasoning) = end.captured_reasoning_content
    {
        draft.opaque(PART, json(&ContentPart::ReasoningContent(reasoning))?)?;
    }
    for part in content {
        match part {
            ContentPart::Text(text) => draft.text(&text)?,
            ContentPart::ToolCall(call) => {
                if let Some(signatures) = &call.thought_signatures {
                    draft.opaque(SIGNATURES, json(signatures)?)?;
                }
                let place = draft.call(&call.call_id, &call.fn_name)?;
                draft.args(place, &text_of(call.fn_arguments))?;
            }
            ContentPart::ThoughtSignature(_)
            | ContentPart::ReasoningContent(_)
            | ContentPart::Custom(_) => draft.opaque(PART, json(&part)?)?,
            // No question asks for them.
            ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {}
        }
    }
    draft.finish()
}

/// Returns arguments as text: genai keeps those that are not JSON in a string.
fn text_of(args: Value) -> String {
    match args {
        Value::String(text) => text,
        json => json.to_string(),
    }
}

fn json(part: &impl serde::Serialize) -> Result<String, ModelError> {
    serde_json::to_string(part)
        .map_err(|error| ModelError::Malformed(format!("expected a part to keep, but {error}")))
}

fn stop(reason: StopReason) -> Stop {
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => Stop::End,
        StopReason::MaxTokens(_) => Stop::Length,
        StopReason::ToolCall(_) => Stop::Calls,
        StopReason::ContentFilter(word) if word == "refusal" => Stop::Refused(word),
        StopReason::ContentFilter(_) => Stop::Filtered,
        StopReason::Other(word) => match &*word {
            "eos" | "eos_token" => Stop::End,
            "pause_turn" => Stop::Paused,
            _ => Stop::Other(word),
        },
    }
}

/// Returns the tokens, if there are any: genai counts those of caches among those of the question.
fn usage(found: &GenaiUsage) -> Option<Usage> {
    let tokens = |count: Option<i32>| u64::try_from(count.unwrap_or_default()).unwrap_or_default();
    found.prompt_tokens.or(found.completion_tokens)?;
    let (question, answer) = (&found.prompt_tokens_details, &found.completion_tokens_details);
    let cache_read = tokens(question.as_ref().and_then(|details| details.cached_tokens));
    let cache_write = tokens(question.as_ref().and_then(|details| details.cache_creation_tokens));
    Some(Usage {
        input: tokens(found.prompt_tokens).saturating_sub(cache_read + cache_write),
        cache_read,
        cache_write,
        output: tokens(found.completion_tokens),
        reasoning: tokens(answer.as_ref().and_then(|details| details.reasoning_tokens)),
    })
}
