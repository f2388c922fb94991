//! Prints events for people: runs and calls are numbered and indented by depth. Times and ids are left out, so that the same run
//! always prints the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use toolwright::{Outcome, Payload, ToolFailure};
use toolwright_runtime::{Event, EventKind, Verdict};

use crate::summary::summary;

/// Prints every event on one line.
#[derive(Default)]
pub(crate) struct Narrator {
    runs: BTreeMap<String, Run>,
    /// The number and depth of each call, by its id.
    calls: BTreeMap<String, (String, usize)>,
    /// The handles of pages in order of appearance. They are random, so they are printed as numbers.
    pages: Vec<String>,
}

/// A run whose events have been printed.
struct Run {
    number: usize,
    depth: usize,
    calls: usize,
}

impl Narrator {
    /// Prints one event. Those of models are left out, as a run on a model prints the same as others.
    pub(crate) fn print(&mut self, event: &Event) {
        // An error means that the reader has closed the pipe; the run continues.
        let Some(line) = self.line(event) else { return };
        let _ = writeln!(std::io::stdout(), "{}", self.numbered(line));
    }

    fn line(&mut self, event: &Event) -> Option<String> {
        let agent = event.agent.as_deref().unwrap_or("host");
        Some(match &event.kind {
            EventKind::Model(_) => return None,
            EventKind::RunStarted { implements, .. } => {
                let why = implements
                    .as_ref()
                    .map_or_else(String::new, |tool| format!(" to answer {}", tool.name()));
                self.of_run(event, &format!("{agent} starts{why}"))
            }
            EventKind::RunFinished { result, .. } => {
                self.of_run(event, &format!("{agent} {}", ending(result)))
            }
            EventKind::ApprovalRequested { request } => {
                let (name, depth) = self.open_call(event, &request.call_id);
                let prompt = request.prompt.as_deref().unwrap_or("May it run?");
                of_call(depth, '?', &name, &request.tool, prompt)
            }
            EventKind::ApprovalAnswered { request, verdict } => {
                let (name, depth) = self.open_call(event, &request.call_id);
                of_call(depth, '!', &name, &request.tool, answer(verdict))
            }
            EventKind::ToolCallScheduled { call, tool } => {
                let (name, depth) = self.open_call(event, call.id());
                of_call(depth, '→', &name, tool.name(), &summary(call.args()))
            }
            EventKind::ToolCallRetried { call_id, tool, failure, .. } => {
                let (name, depth) = self.calls.get(call_id).cloned().unwrap_or_default();
                of_call(depth, '↻', &name, tool.name(), &format!("again, after {failure}"))
            }
            EventKind::ToolResultReceived { call_id, tool, outcome, .. } => {
                let (name, depth) = self.calls.get(call_id).cloned().unwrap_or_default();
                of_call(depth, '←', &name, tool.name(), &outcome_text(outcome))
            }
            other => self.of_run(event, other.as_str()),
        })
    }

    /// Replaces the handle of a page in a line by a number.
    fn numbered(&mut self, line: String) -> String {
        let handle = line.split('"').find(|text| text.starts_with("page_")).map(str::to_owned);
        let Some(handle) = handle else { return line };
        if !self.pages.contains(&handle) {
            self.pages.push(handle.clone());
        }
        let place = self.pages.iter().position(|known| *known == handle).unwrap_or_default();
        line.replace(&handle, &format!("page_{}", place + 1))
    }

    fn of_run(&mut self, of: &Event, text: &str) -> String {
        let run = self.run(of);
        format!("{}run {}: {text}", indent(run.depth), run.number)
    }

    /// The number and depth of a call. The first event of a call assigns them.
    fn open_call(&mut self, of: &Event, id: &str) -> (String, usize) {
        if let Some(known) = self.calls.get(id) {
            return known.clone();
        }
        let run = self.run(of);
        run.calls += 1;
        // Calls outside an agent's run have no line of a run above them.
        let depth = run.depth + usize::from(of.agent.is_some());
        let call = (format!("{}.{}", run.number, run.calls), depth);
        self.calls.insert(id.to_owned(), call.clone());
        call
    }

    fn run(&mut self, of: &Event) -> &mut Run {
        let parent = of.scope.parent_call_id.as_ref().and_then(|id| self.calls.get(id));
        let depth = parent.map_or(0, |(_, depth)| depth + 1);
        let number = self.runs.len() + 1;
        self.runs.entry(of.run_id().to_owned()).or_insert(Run { number, depth, calls: 0 })
    }
}

fn of_call(depth: usize, arrow: char, name: &str, tool: &str, text: &str) -> String {
    let mut line = format!("{}{arrow} {name:<4} {tool:<14}", indent(depth));
    // Writing to a string cannot fail.
    let _ = write!(line, " {text}");
    line
}

fn indent(depth: usize) -> String {
    "   ".repeat(depth)
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Ok(payload) => summary(payload),
        Err(failure) => failure.to_string(),
    }
}

fn answer(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "yes",
        Verdict::ApproveWith(_) => "yes, with changes",
        _ => "no",
    }
}

fn ending(result: &Result<Payload, ToolFailure>) -> String {
    match result {
        Ok(_) => "is done".to_owned(),
        Err(failure) => format!("fails, {failure}"),
    }
}
