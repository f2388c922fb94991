//! Turns the answer of a model into a step.

use toolwright::outcome::Correction;
use toolwright::{FailureKind, InvalidPayload, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_dialect::{Projection, WireIssues};
use toolwright_runtime::{PlannedCall, Turn};

use super::conversation::call_id;
use super::output::Expected;
use super::toolbox::Tools;
use crate::model::{Answer, CallAnswer, Content, Message, ModelCall, Stop};

/// An answer, and the tools that were strict when it was given.
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) strict: Vec<String>,
    /// Whether all tools were plain.
    pub(super) is_plain: bool,
}

/// What follows from an answer.
pub(super) enum Next {
    /// The run ends with this payload.
    Finish(Payload),
    /// The run fails.
    Fail(ToolFailure),
    /// These calls are made. The content is that of the answer.
    Step { content: Vec<Content>, calls: Vec<PlannedCall> },
    /// The model is asked again, after these messages.
    Again(Vec<Message>),
}

/// Reads an answer.
pub(super) fn read(
    turn: &Turn<'_>,
    answered: Answered,
    expected: &Expected<'_>,
    tools: &Tools,
    one_at_a_time: bool,
) -> Next {
    let Answered { answer, strict, is_plain } = answered;
    match &answer.stop {
        Stop::Refused(words) => return Next::Fail(refused("refused to answer", words)),
        Stop::Filtered => return Next::Fail(refused("was stopped by a filter", "")),
        Stop::Length => return cut_off(&answer),
        Stop::End | Stop::Calls | Stop::Other(_) => {}
    }
    let calls: Vec<&ModelCall> = answer.calls().collect();
    let decoder = Decoder { turn, tools, strict: &strict };
    let is_final = |call: &&ModelCall| Some(call.name.as_str()) == expected.tool_name();
    match calls[..] {
        [] => without_calls(answer, expected, tools.output(is_plain)),
        [call] if is_final(&call) => decoder.finish(call, expected, &answer),
        _ => {
            let made = calls.into_iter().filter(|call| !is_final(call)).enumerate();
            let made = made.map(|(place, call)| match place {
                1.. if one_at_a_time => one_at_a_time_only(decoder.raw(call)),
                _ => decoder.call(call),
            });
            let calls: Vec<_> = made.collect();
            if calls.is_empty() {
                return twice(answer);
            }
            Next::Step { content: answer.content, calls }
        }
    }
}

/// Turns calls of a model into calls of the run.
struct Decoder<'a> {
    turn: &'a Turn<'a>,
    tools: &'a Tools,
    strict: &'a [String],
}

impl Decoder<'_> {
    /// Returns a call with its arguments as the model wrote them.
    fn raw(&self, call: &ModelCall) -> ToolCall {
        let id = call_id(self.turn.run_id(), &call.id);
        ToolCall::new(&call.name, call.args.clone()).with_id(id)
    }

    fn decode(&self, call: &ModelCall) -> Option<Result<Payload, WireIssues>> {
        let is_strict = self.strict.contains(&call.name);
        let projection = self.tools.projection(&call.name, is_strict)?;
        Some(projection.decode(call.args.as_str()).map(|decoded| decoded.canonical))
    }

    /// Decodes a call. The runtime refuses calls of tools that do not exist.
    fn call(&self, call: &ModelCall) -> PlannedCall {
        let planned = self.raw(call);
        match self.decode(call) {
            None => planned.into(),
            Some(Ok(args)) => planned.with_args(args).into(),
            Some(Err(issues)) => {
                let refusal = Some(self.invalid(&planned, &issues));
                PlannedCall { call: planned, refusal }
            }
        }
    }

    fn invalid(&self, call: &ToolCall, issues: &WireIssues) -> ToolFailure {
        let tool = self.turn.tools().find(|tool| tool.name() == call.tool());
        let found = issues.issues.iter().map(|issue| issue.issue.clone()).collect();
        let correction = Correction {
            issues: Some(InvalidPayload::new(found)),
            prior_input: call.args().clone(),
            example: tool.and_then(|tool| tool.spec().args_sample()).map(Payload::new),
        };
        let message = format!("the arguments of `{}` are not valid: {issues}", call.tool());
        let recovery = Recovery::CorrectCall(Box::new(correction));
        ToolFailure::new(FailureKind::InvalidCall, message, recovery)
    }

    /// Ends the run with the arguments of the call for the final answer.
    fn finish(&self, call: &ModelCall, expected: &Expected<'_>, answer: &Answer) -> Next {
        let payload = match self.decode(call) {
            Some(Ok(payload)) => expected.checked(payload),
            Some(Err(issues)) => Err(format!("the final answer is not valid: {issues}")),
            None => Err(format!("there is no tool `{}`", call.name)),
        };
        payload.map_or_else(|wrong| corrected(answer.content.clone(), &wrong), Next::Finish)
    }
}

fn without_calls(answer: Answer, expected: &Expected<'_>, output: Option<&Projection>) -> Next {
    let text = answer.text();
    if text.trim().is_empty() {
        let message = "The answer was empty. Give an answer, or call a tool.";
        return Next::Again(vec![Message::User(message.to_owned())]);
    }
    if let Some(reminder) = expected.reminder() {
        let content = Message::Assistant(answer.content);
        return Next::Again(vec![content, Message::User(reminder)]);
    }
    match expected.payload_of(&text, output) {
        Ok(payload) => Next::Finish(payload),
        Err(wrong) => {
            Next::Again(vec![Message::Assistant(answer.content), Message::User(sentence(&wrong))])
        }
    }
}

/// Asks for another final answer than that of a call.
fn corrected(content: Vec<Content>, wrong: &str) -> Next {
    let answers = content.iter().filter_map(|part| match part {
        Content::Call(call) => {
            Some(CallAnswer { id: call.id.clone(), text: wrong.to_owned(), is_error: true })
        }
        Content::Text(_) | Content::Opaque(_) => None,
    });
    let answers = answers.collect();
    Next::Again(vec![Message::Assistant(content), Message::Results(answers)])
}

fn twice(answer: Answer) -> Next {
    corrected(answer.content, "the final answer was given more than once; give it once")
}

/// Asks for a shorter answer. Calls may be cut off, and opaque parts may belong to them.
fn cut_off(answer: &Answer) -> Next {
    let text = answer.text();
    let mut messages = Vec::new();
    if !text.trim().is_empty() {
        messages.push(Message::Assistant(vec![Content::Text(text)]));
    }
    let message =
        "The answer was cut off, as it was too long; its calls were not made. Give a shorter one.";
    messages.push(Message::User(message.to_owned()));
    Next::Again(messages)
}

fn one_at_a_time_only(call: ToolCall) -> PlannedCall {
    let message = "one call at a time: call again, alone";
    let failure = ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
    PlannedCall { call, refusal: Some(failure) }
}

/// Returns the failure of a run whose model does not answer. The words of the provider are for operators.
fn refused(what: &str, words: &str) -> ToolFailure {
    let failure =
        ToolFailure::new(FailureKind::Denied, format!("the model {what}"), Recovery::Replan);
    if words.is_empty() { failure } else { failure.with_detail(words) }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}. Give the final answer again.", chars.as_str())
}
