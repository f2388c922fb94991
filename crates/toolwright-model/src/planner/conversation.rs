//! The conversation of a run, built from its history.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolwright::{FailureKind, Outcome, Payload, ToolFailure};
use toolwright_runtime::{CallRecord, PastRun, StepRecord, Turn};

use super::compaction::Compactor;
use super::failure::{self, Repeated};
use super::output::Expected;
use super::projections::Tools;
use super::spending::Spending;
use crate::draft::own_id;
use crate::model::{CallAnswer, Content, Message, ModelCall};

/// A planner's note on a step.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The dialect of the arguments, with its date.
    dialect: String,
    /// The messages since the results of the step before, up to the answer with the calls.
    messages: Vec<Message>,
    /// The tools that were strict in that answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    strict: Vec<String>,
    /// The planner's own answers to calls of that answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<CallAnswer>,
    /// The tools that the model has found so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    found: Vec<String>,
    /// The questions, tokens and cost of the run so far.
    spending: Spending,
    /// True if the conversation was too long.
    #[serde(default)]
    is_compact: bool,
}

/// The conversation of a turn.
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
    pub(super) spending: Spending,
    /// True if it was shortened.
    pub(super) is_compact: bool,
    /// The messages of this turn.
    new: Vec<Message>,
    dialect: String,
}

impl Conversation {
    /// Builds the conversation of a run so far.
    pub(super) fn of(
        turn: &Turn<'_>,
        expected: &Expected<'_>,
        tools: &Tools,
        dialect: String,
        max_corrections: u32,
        compactor: &dyn Compactor,
    ) -> Self {
        let instructions = [Some(turn.instructions().to_owned()), expected.instructions()];
        let instructions = instructions.into_iter().flatten();
        let messages: Vec<_> =
            instructions.filter(|text| !text.is_empty()).map(Message::System).collect();
        let mut conversation = Self {
            messages,
            spending: Spending::default(),
            is_compact: false,
            new: Vec::new(),
            dialect,
        };
        for run in turn.past() {
            conversation.add(
                &run.input,
                &run.steps,
                History::new(&run.run_id, tools, max_corrections),
            );
            conversation.messages.push(end_of(run));
        }
        make_ids_unique(&mut conversation.messages);
        conversation.spending = Spending::default();
        let history = History::new(turn.run_id(), tools, max_corrections);
        conversation.add(turn.input(), turn.history(), history);
        if conversation.is_compact {
            compactor.compact(&mut conversation.messages);
        }
        conversation
    }

    /// Adds a run, with its steps so far.
    fn add(&mut self, input: &Payload, steps: &[StepRecord], mut history: History<'_>) {
        self.messages.push(Message::User(text_of(input)));
        for step in steps {
            let note = history.note(step, &self.dialect, self.spending);
            (self.spending, self.is_compact) = (note.spending, self.is_compact || note.is_compact);
            history.step += 1;
            let results = history.results(step, &note);
            self.messages.extend(note.messages);
            self.messages.push(Message::Results(results));
        }
    }

    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message.clone());
        self.new.push(message);
    }

    pub(super) fn compact(&mut self, compactor: &dyn Compactor) {
        self.is_compact = true;
        compactor.compact(&mut self.messages);
    }

    /// Returns the note for the step that begins with the last message.
    pub(super) fn into_note(
        self,
        mut strict: Vec<String>,
        answers: Vec<CallAnswer>,
        found: &[String],
    ) -> Result<Payload, ToolFailure> {
        if let Some(Message::Assistant(parts)) = self.new.last() {
            let is_called = |name: &String| {
                let mut parts = parts.iter();
                parts.any(|part| matches!(part, Content::Call(call) if call.name == *name))
            };
            strict.retain(is_called);
        }
        let note = Note {
            dialect: self.dialect,
            messages: self.new,
            strict,
            answers,
            found: found.to_vec(),
            spending: self.spending,
            is_compact: self.is_compact,
        };
        let json = serde_json::to_string(&note);
        json.map(Payload::new).map_err(|error| ToolFailure::internal(&error))
    }
}

/// Gives another id to each call whose id an earlier run has, too. The ids of one run are unique.
fn make_ids_unique(messages: &mut [Message]) {
    let mut known = BTreeSet::new();
    let mut renamed = BTreeMap::new();
    for message in messages {
        match message {
            Message::Assistant(parts) => {
                renamed.clear();
                for part in parts {
                    let Content::Call(call) = part else { continue };
                    if known.contains(&call.id) {
                        let others = (2..).map(|number| format!("{}_{number}", call.id));
                        let free = others.into_iter().find(|id| !known.contains(id));
                        let free = free.unwrap_or_default();
                        renamed.insert(std::mem::replace(&mut call.id, free.clone()), free);
                    }
                    known.insert(call.id.clone());
                }
            }
            Message::Results(results) => {
                for result in results {
                    if let Some(id) = renamed.get(&result.id) {
                        result.id.clone_from(id);
                    }
                }
            }
            Message::System(_) | Message::User(_) => {}
        }
    }
}

/// Reads the steps of a run one after another.
struct History<'a> {
    run_id: &'a str,
    tools: &'a Tools,
    max_corrections: u32,
    /// By tool: the number of steps in a row with invalid calls of it, the last of these steps, and the arguments of the last one.
    invalid: BTreeMap<String, (u32, usize, String)>,
    /// The number of the step, from 1.
    step: usize,
}

impl<'a> History<'a> {
    fn new(run_id: &'a str, tools: &'a Tools, max_corrections: u32) -> Self {
        Self { run_id, tools, max_corrections, invalid: BTreeMap::new(), step: 0 }
    }

    /// Returns the note on a step. A step of another planner, or of a model with another dialect, is written as this dialect
    /// says. `spending` is that before the step.
    fn note(&self, step: &StepRecord, dialect: &str, spending: Spending) -> Note {
        match note_of(step) {
            Some(note) if note.dialect == dialect => note,
            Some(mut note) => {
                for message in &mut note.messages {
                    let Message::Assistant(parts) = message else { continue };
                    for part in parts {
                        if let Content::Call(call) = part {
                            self.rewrite(call, step);
                        }
                    }
                }
                note.strict.clear();
                note
            }
            None => {
                let calls = step.calls.iter().map(|done| {
                    let name = done.call.tool().to_owned();
                    let args = self.written(&name, done.call.args());
                    Content::Call(ModelCall { id: done.call.id().to_owned(), name, args })
                });
                Note {
                    dialect: dialect.to_owned(),
                    messages: vec![Message::Assistant(calls.collect())],
                    strict: Vec::new(),
                    answers: Vec::new(),
                    found: Vec::new(),
                    spending,
                    is_compact: false,
                }
            }
        }
    }

    fn rewrite(&self, call: &mut ModelCall, step: &StepRecord) {
        if let Some(done) = self.record(call, step) {
            call.args = self.written(&call.name, done.call.args());
        }
    }

    /// Returns canonical arguments as the plain dialect writes them. Those that it cannot write stay as they are.
    fn written(&self, tool: &str, args: &Payload) -> Payload {
        let projection = self.tools.projection(tool, false);
        let encoded = projection.and_then(|projection| projection.encode(args.as_str()).ok());
        encoded.map_or_else(|| args.clone(), Payload::new)
    }

    fn record<'s>(&self, call: &ModelCall, step: &'s StepRecord) -> Option<&'s CallRecord> {
        let id = call_id(self.run_id, &call.id);
        step.calls.iter().find(|done| done.call.id() == id)
    }

    /// Returns the results of the calls of a step.
    fn results(&mut self, step: &StepRecord, note: &Note) -> Vec<CallAnswer> {
        let Some(Message::Assistant(parts)) = note.messages.last() else { return Vec::new() };
        let mut results = note.answers.clone();
        for part in parts {
            let Content::Call(call) = part else { continue };
            // The planner has answered the others.
            let Some(done) = self.record(call, step) else { continue };
            let (text, is_error) = self.result(call, done, note.strict.contains(&call.name));
            results.push(CallAnswer { id: call.id.clone(), text, is_error });
        }
        results
    }

    fn result(&mut self, call: &ModelCall, done: &CallRecord, is_strict: bool) -> (String, bool) {
        let outcome = &done.result.outcome;
        let is_invalid =
            matches!(outcome, Err(failure) if failure.kind == FailureKind::InvalidCall);
        let mut repeated = Repeated::default();
        if is_invalid {
            let (number, step, args) = self.invalid.entry(call.name.clone()).or_default();
            // The model did not know of the mistake when it made further ones in the same answer.
            let is_new = *step != self.step;
            *number += u32::from(is_new);
            *step = self.step;
            let is_same = is_new && *number > 1 && *args == call.args.as_str();
            repeated = Repeated { invalid: *number, is_same };
            call.args.as_str().clone_into(args);
        } else {
            self.invalid.remove(&call.name);
        }
        let projection = self.tools.projection(&call.name, is_strict);
        // The model knows the tools by their names on the wire.
        let Some(projection) = projection else {
            let unknown = ToolFailure::not_found(&call.name, self.tools.wire_names());
            let outcome = if is_unknown(outcome) { &Err(unknown) } else { outcome };
            return failure::text(outcome, &call.name, None, repeated, self.max_corrections);
        };
        let sent = Some((projection, call.args.as_str()));
        let (text, is_error) =
            failure::text(outcome, &projection.wire_name, sent, repeated, self.max_corrections);
        // An approver may change the arguments.
        let own = projection.decode(call.args.as_str()).ok();
        let is_changed = own.is_some_and(|own| own.canonical != *done.call.args());
        if is_changed {
            let args = done.call.args().as_str();
            let args = projection.encode(args).unwrap_or_else(|_| args.to_owned());
            return (format!("The call was run with other arguments: {args}\n{text}"), is_error);
        }
        (text, is_error)
    }
}

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Err(failure) if failure.kind == FailureKind::NotFound)
}

/// Returns the answer of a run that came before in the conversation.
fn end_of(run: &PastRun) -> Message {
    match &run.result {
        Ok(payload) => Message::Assistant(vec![Content::Text(text_of(payload))]),
        Err(failure) => Message::User(format!("[no answer: {}]", failure.message)),
    }
}

/// Returns the tools that the model of a conversation has found so far.
pub(super) fn found(turn: &Turn<'_>) -> Vec<String> {
    let past = turn.past().iter().flat_map(|run| &run.steps);
    let last = past.chain(turn.history()).rev().find_map(note_of);
    last.map(|note| note.found).unwrap_or_default()
}

fn note_of(step: &StepRecord) -> Option<Note> {
    serde_json::from_str(step.note.as_ref()?.as_str()).ok()
}

/// Returns the id of a call in its run. Ids that a provider made are kept; the others are unique only within their conversation,
/// so the id of the run is put before them.
pub(super) fn call_id(run_id: &str, id: &str) -> String {
    match own_id(id) {
        Some(id) => id.to_owned(),
        None => format!("{run_id}_{id}"),
    }
}

/// Returns an input or a final payload as a text: that of a JSON string, or else the JSON.
fn text_of(input: &Payload) -> String {
    // Providers refuse blank texts.
    let text = serde_json::from_str::<String>(input.as_str()).ok();
    let text = text.filter(|text| !text.trim().is_empty());
    text.unwrap_or_else(|| input.as_str().to_owned())
}
