//! Tells events as a person wants to read them: runs and calls numbered in order of appearance and
//! indented by depth. Times and ids are left out, so that the same run reads the same every time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use toolwright::{Outcome, Payload, ToolFailure};
use toolwright_runtime::{Event, EventKind, EventSink, Origin, ToolInfo};

use crate::summary::summary;

/// Prints every event on a line of its own.
#[derive(Default)]
pub(crate) struct Narrator(Mutex<Numbers>);

/// What runs and calls are called here.
#[derive(Default)]
struct Numbers {
    runs: BTreeMap<String, Run>,
    /// Call ids, to the call's name and the depth of its line.
    calls: BTreeMap<String, (String, usize)>,
}

/// One run that has been seen.
struct Run {
    number: usize,
    depth: usize,
    calls: usize,
}

impl EventSink for Narrator {
    fn publish(&self, event: &Event) {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that has left wants no more lines, and the plan is made all the same.
        let _ = writeln!(std::io::stdout(), "{}", numbers.line(event));
    }
}

impl Numbers {
    fn line(&mut self, event: &Event) -> String {
        let agent = event.origin.agent.unwrap_or("host");
        match &event.kind {
            EventKind::RunStarted { answers, .. } => {
                let why =
                    answers.map_or_else(String::new, |tool| format!(" to answer {}", tool.name()));
                self.of_run(&event.origin, &format!("{agent} starts{why}"))
            }
            EventKind::RunFinished { result, .. } => {
                self.of_run(&event.origin, &format!("{agent} {}", ending(result)))
            }
            EventKind::ToolCallScheduled { call, tool } => {
                let (name, depth) = self.open_call(&event.origin, call.id());
                of_call(depth, '→', &name, tool, &summary(call.args()))
            }
            EventKind::ToolResultReceived { call_id, tool, outcome, .. } => {
                let (name, depth) = self.calls.get(call_id).cloned().unwrap_or_default();
                of_call(depth, '←', &name, tool, &told(outcome))
            }
            other => self.of_run(&event.origin, other.as_str()),
        }
    }

    fn of_run(&mut self, origin: &Origin, text: &str) -> String {
        let run = self.run(origin);
        format!("{}run {}: {text}", indent(run.depth), run.number)
    }

    fn open_call(&mut self, origin: &Origin, id: &str) -> (String, usize) {
        let run = self.run(origin);
        run.calls += 1;
        // Calls outside an agent's run have no line of a run to stand under.
        let depth = run.depth + usize::from(origin.agent.is_some());
        let call = (format!("{}.{}", run.number, run.calls), depth);
        self.calls.insert(id.to_owned(), call.clone());
        call
    }

    fn run(&mut self, origin: &Origin) -> &mut Run {
        let parent = origin.parent_call_id.as_ref().and_then(|id| self.calls.get(id));
        let depth = parent.map_or(0, |(_, depth)| depth + 1);
        let number = self.runs.len() + 1;
        self.runs.entry(origin.run_id.clone()).or_insert(Run { number, depth, calls: 0 })
    }
}

fn of_call(depth: usize, arrow: char, name: &str, tool: &ToolInfo, text: &str) -> String {
    let mut line = format!("{}{arrow} {name:<4} {:<14}", indent(depth), tool.name());
    // Writing to a string cannot fail.
    let _ = write!(line, " {text}");
    line
}

fn indent(depth: usize) -> String {
    "   ".repeat(depth)
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Payload(payload) => summary(payload),
        Outcome::Failure(failure) => failure.to_string(),
    }
}

fn ending(result: &Result<Payload, ToolFailure>) -> String {
    match result {
        Ok(_) => "is done".to_owned(),
        Err(failure) => format!("fails, {failure}"),
    }
}
