//! Turns the answer of a model into a step.

use toolwright::outcome::Correction;
use toolwright::{FailureKind, InvalidPayload, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_dialect::{Decoded, Dialect, Projection, WireIssues};
use toolwright_runtime::{PlannedCall, Turn};

use super::conversation::call_id;
use super::output::Expected;
use super::projections::Tools;
use super::search::VisibleTools;
use crate::model::{Answer, CallAnswer, Content, Message, ModelCall, Stop};

/// An answer, and the tools that were strict when it was given.
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) strict: Vec<String>,
    /// True if all tools were plain.
    pub(super) is_plain: bool,
}

/// The planner's decision after an answer.
pub(super) enum Decision {
    /// The run ends with this payload.
    Finish(Payload),
    /// The run fails.
    Fail(ToolFailure),
    /// These calls are made.
    Step {
        /// The content of the answer.
        content: Vec<Content>,
        calls: Vec<PlannedCall>,
        /// The planner's own answers to the other calls.
        answers: Vec<CallAnswer>,
        /// The tools that were found.
        found: Vec<String>,
    },
    /// The model has searched for tools, and is asked again with those that it has found.
    Found { messages: Vec<Message>, found: Vec<String> },
    /// The model is asked again, after these messages.
    Again(Vec<Message>),
}

/// Reads the answers of a model.
pub(super) struct Reader<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) shown: &'a VisibleTools<'a>,
    pub(super) expected: &'a Expected<'a>,
    pub(super) tools: &'a Tools,
    pub(super) dialect: &'a Dialect,
    pub(super) is_one_at_a_time: bool,
}

impl Reader<'_> {
    /// Reads an answer.
    pub(super) fn read(&self, answered: Answered) -> Decision {
        let Answered { answer, strict, is_plain } = answered;
        match &answer.stop {
            Stop::Refused(words) => return Decision::Fail(refused("refused to answer", words)),
            Stop::Filtered => return Decision::Fail(refused("was stopped by a filter", "")),
            Stop::Length => {
                return cut_off(&answer, "was cut off, as it was too long", "a shorter");
            }
            Stop::Other(word) => {
                return cut_off(&answer, &format!("broke off ({word})"), "another");
            }
            Stop::Paused if answer.calls().next().is_none() && !answer.content.is_empty() => {
                // The provider pauses while it searches for tools itself.
                let messages = vec![Message::Assistant(answer.content)];
                return Decision::Found { messages, found: Vec::new() };
            }
            Stop::End | Stop::Calls | Stop::Paused => {}
        }
        let all: Vec<&ModelCall> = answer.calls().collect();
        match all[..] {
            [] => return without_calls(answer, self.expected, self.tools.output(is_plain)),
            [call] if self.is_final(call) => return self.finish(call, &strict, &answer),
            _ => {}
        }
        let (mut calls, mut answers, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for call in all {
            let own = if self.is_final(call) {
                let name = &call.name;
                Some((format!("call `{name}` alone and once, when all results are known"), true))
            } else if self.shown.is_search(&call.name) {
                let (text, more) = self.shown.search(&call.args, self.dialect);
                found.extend(more);
                Some((text, false))
            } else {
                None
            };
            match own {
                Some((text, is_error)) => {
                    answers.push(CallAnswer { id: call.id.clone(), text, is_error });
                }
                None if self.is_one_at_a_time && !calls.is_empty() => {
                    calls.push(one_at_a_time_only(self.raw(call)));
                }
                None => calls.push(self.call(call, &strict)),
            }
        }
        if !calls.is_empty() {
            return Decision::Step { content: answer.content, calls, answers, found };
        }
        let has_searched = answer.calls().any(|call| self.shown.is_search(&call.name));
        let messages = vec![Message::Assistant(answer.content), Message::Results(answers)];
        if has_searched { Decision::Found { messages, found } } else { Decision::Again(messages) }
    }

    fn is_final(&self, call: &ModelCall) -> bool {
        Some(call.name.as_str()) == self.expected.tool_name()
    }

    /// Returns a call with its arguments as the model wrote them.
    fn raw(&self, call: &ModelCall) -> ToolCall {
        let id = call_id(self.turn.run_id(), &call.id);
        let is_shown = self.tools.projection(&call.name, false).is_some();
        let hidden = if is_shown { None } else { self.shown.hidden(&call.name) };
        ToolCall::new(hidden.unwrap_or(&call.name), call.args.clone()).with_id(id)
    }

    fn decode(
        &self,
        call: &ModelCall,
        strict: &[String],
    ) -> Option<Result<Decoded<'_>, WireIssues>> {
        let projection = self.tools.projection(&call.name, strict.contains(&call.name))?;
        Some(projection.decode(call.args.as_str()))
    }

    /// Decodes a call. The runtime refuses calls of tools that do not exist.
    fn call(&self, call: &ModelCall, strict: &[String]) -> PlannedCall {
        let planned = self.raw(call);
        match self.decode(call, strict) {
            None => planned.into(),
            Some(Ok(decoded)) => planned.with_args(decoded.canonical).into(),
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
    fn finish(&self, call: &ModelCall, strict: &[String], answer: &Answer) -> Decision {
        let payload = match self.decode(call, strict) {
            Some(decoded) => self.expected.decoded(decoded),
            None => Err(format!("there is no tool `{}`", call.name)),
        };
        payload.map_or_else(
            |text| {
                let wrong = CallAnswer { id: call.id.clone(), text, is_error: true };
                let content = Message::Assistant(answer.content.clone());
                Decision::Again(vec![content, Message::Results(vec![wrong])])
            },
            Decision::Finish,
        )
    }
}

fn without_calls(answer: Answer, expected: &Expected<'_>, output: Option<&Projection>) -> Decision {
    let text = answer.text();
    if text.trim().is_empty() {
        let message = "The answer was empty. Give an answer, or call a tool.";
        return Decision::Again(vec![Message::User(message.to_owned())]);
    }
    if let Some(reminder) = expected.reminder() {
        let content = Message::Assistant(answer.content);
        return Decision::Again(vec![content, Message::User(reminder)]);
    }
    match expected.payload_of(&text, output) {
        Ok(payload) => Decision::Finish(payload),
        Err(wrong) => Decision::Again(vec![
            Message::Assistant(answer.content),
            Message::User(sentence(&wrong)),
        ]),
    }
}

/// Asks for another answer than one that is not complete. Calls may be cut off, and opaque parts may belong to them.
fn cut_off(answer: &Answer, what: &str, other: &str) -> Decision {
    let text = answer.text();
    let had_calls = answer.calls().next().is_some();
    let mut messages = Vec::new();
    if !text.trim().is_empty() {
        messages.push(Message::Assistant(vec![Content::Text(text)]));
    }
    let calls = if had_calls { "; its calls were not made" } else { "" };
    let message = format!("The answer {what}{calls}. Give {other} one.");
    messages.push(Message::User(message));
    Decision::Again(messages)
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
