//! Shows a conversation. Text from models and tools has no hidden characters, which could control a terminal or make a text look
//! like a question.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use toolwright::untrusted::{Pieces, line, visible};
use toolwright::{FailureKind, ToolFailure};
use toolwright_runtime::{ApprovalRequest, Event, EventKind, ModelEvent, RunEnd, RunOutcome};

/// The most bytes of arguments and results that are shown. An approval question shows all arguments.
const EXCERPT: usize = 200;

/// The longest run of white space in a question.
const MAX_BLANKS: usize = 8;

/// An output, and what was written to it in the current request.
pub(crate) struct Screen<'a> {
    output: &'a mut (dyn Write + Send),
    /// True if the last line has not ended. The user ends the line of a prompt.
    pub(crate) is_in_line: bool,
    /// The calls that the user has denied in this request, by the ids of their runs and their own.
    denied: BTreeSet<[String; 2]>,
    /// The text of the current answer of the model.
    text: String,
    /// The state of the texts that are shown in pieces.
    pieces: Pieces,
    /// The tokens of the request, and its cost in millionths, where they are known.
    input_tokens: u64,
    output_tokens: u64,
    cost: u64,
}

impl<'a> Screen<'a> {
    pub(crate) fn new(output: &'a mut (dyn Write + Send)) -> Self {
        Self {
            output,
            is_in_line: false,
            denied: BTreeSet::new(),
            text: String::new(),
            pieces: Pieces::default(),
            input_tokens: 0,
            output_tokens: 0,
            cost: 0,
        }
    }

    /// Asks for a line.
    pub(crate) fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        write!(self.output, "{text}")?;
        self.is_in_line = true;
        self.output.flush()
    }

    /// Ends the last line, if it has not ended.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        if self.is_in_line {
            writeln!(self.output)?;
        }
        self.is_in_line = false;
        Ok(())
    }

    /// Shows an event of a run.
    pub(crate) fn show(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::ToolCallScheduled { call, tool } => {
                if self.denied.remove(&[event.run_id().to_owned(), call.id().to_owned()]) {
                    return Ok(());
                }
                let args = line(call.args().as_str(), EXCERPT);
                self.note(&format!("{} {args}", line(tool.name(), EXCERPT)))
            }
            EventKind::ToolCallRetried { tool, failure, .. } => {
                let (name, message) = (line(tool.name(), EXCERPT), line(&failure.message, EXCERPT));
                self.note(&format!("{name} failed and is tried again: {message}"))
            }
            EventKind::ToolResultReceived { tool, outcome, .. } => {
                let name = line(tool.name(), EXCERPT);
                self.note(&match outcome {
                    Ok(payload) => format!("{name} -> {}", line(payload.as_str(), EXCERPT)),
                    Err(failure) => {
                        let word = if failure.kind == FailureKind::Denied {
                            "was denied"
                        } else {
                            "failed"
                        };
                        format!("{name} {word}: {}", line(&failure.message, EXCERPT))
                    }
                })
            }
            EventKind::Model(event) => self.show_model(event),
            _ => Ok(()),
        }
    }

    fn show_model(&mut self, event: &ModelEvent) -> io::Result<()> {
        match event {
            ModelEvent::Asked { findings, .. } => {
                self.text.clear();
                findings.iter().try_for_each(|finding| self.note(&line(finding, EXCERPT)))
            }
            ModelEvent::Text(text) => {
                self.text.push_str(text);
                self.write(text)
            }
            ModelEvent::Restarted { reason } => {
                self.text.clear();
                self.note(&format!("the model is asked again: {}", line(reason, EXCERPT)))
            }
            ModelEvent::Answered { usage, cost, .. } => {
                if let Some(usage) = usage {
                    self.input_tokens = self.input_tokens.saturating_add(usage.total_input);
                    self.output_tokens = self.output_tokens.saturating_add(usage.output);
                }
                self.cost = self.cost.saturating_add(cost.unwrap_or_default());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Remembers that the user denied a call, which is not run.
    pub(crate) fn deny(&mut self, question: &ApprovalRequest) {
        self.denied.insert([question.run_id.clone(), question.call_id.clone()]);
    }

    /// Shows the call of a question, and returns the prompt for its answer. In a terminal, the prompt shows a number.
    pub(crate) fn question(
        &mut self,
        question: &ApprovalRequest,
        number: Option<&str>,
    ) -> io::Result<String> {
        let tool = line(&question.tool, EXCERPT);
        let args = without_blanks(&line(question.args.as_str(), usize::MAX));
        let (state, prompt) = if question.expects_result {
            let first = number.map_or_else(String::new, |number| format!("{number} and the "));
            ("waits for its result", format!("{first}result of {tool}, as JSON:"))
        } else {
            let words = visible(question.prompt.as_deref().unwrap_or("Run it?"));
            let words = without_blanks(&words);
            let choice = match number {
                // What stands before it may be long enough to leave nothing else on the screen.
                Some(number) => format!("{number} to approve {tool}, Enter to deny"),
                None => "y/N".to_owned(),
            };
            ("needs an approval", format!("{words} [{choice}, or a reason against it]"))
        };
        let (reverse, normal) = if number.is_some() { ("\x1b[7m", "\x1b[0m") } else { ("", "") };
        self.note(&format!("{reverse}{tool} {args} {state}{normal}"))?;
        Ok(format!("{reverse}{prompt}{normal} "))
    }

    /// Shows the end of a request.
    pub(crate) fn end(&mut self, outcome: &RunOutcome) -> io::Result<()> {
        match &outcome.end {
            RunEnd::Finished(payload) => {
                let text = payload.decode::<String>().unwrap_or_else(|_| payload.to_string());
                // Not streamed: there is no model, or it answered by a tool.
                if self.text.trim() != text.trim() {
                    self.end_line()?;
                    self.write(&text)?;
                }
            }
            RunEnd::Failed(failure) => self.failure(failure)?,
            RunEnd::Suspended(_) => self.note("not answered")?,
        }
        if self.input_tokens > 0 || self.output_tokens > 0 {
            let (read, written) = (self.input_tokens, self.output_tokens);
            let cost = match self.cost {
                0 => String::new(),
                cost => format!(", cost {}.{:06}", cost / 1_000_000, cost % 1_000_000),
            };
            self.note(&format!("[tokens: {read} read, {written} written{cost}]"))?;
        }
        self.text.clear();
        self.denied.clear();
        (self.input_tokens, self.output_tokens, self.cost) = (0, 0, 0);
        self.end_line()
    }

    fn failure(&mut self, failure: &ToolFailure) -> io::Result<()> {
        if failure.kind == FailureKind::Cancelled {
            return self.note("cancelled");
        }
        self.note(&format!("failed: {}", visible(&failure.message)))?;
        match &failure.detail {
            Some(detail) => self.note(&format!("detail: {}", visible(detail))),
            None => Ok(()),
        }
    }

    /// Shows a line that is not text of the model.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.output, "  {text}")?;
        self.output.flush()
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if !text.is_empty() {
            self.is_in_line = !text.ends_with('\n');
            let piece = self.pieces.visible(text);
            write!(self.output, "{piece}")?;
            self.output.flush()?;
        }
        Ok(())
    }
}

/// Replaces long runs of white space, which could move a part of a question out of the screen, by their length.
fn without_blanks(text: &str) -> String {
    let (mut shown, mut run) = (String::new(), String::new());
    for letter in text.chars().map(Some).chain([None]) {
        match letter {
            // U+2800 and U+3164 look like white space and are none.
            Some(blank) if blank.is_whitespace() || matches!(blank, '\u{2800}' | '\u{3164}') => {
                run.push(blank);
            }
            other => {
                match run.chars().count() {
                    blanks if blanks > MAX_BLANKS => {
                        let _ = write!(shown, "[{blanks} blanks]");
                    }
                    _ => shown.push_str(&run),
                }
                run.clear();
                shown.extend(other);
            }
        }
    }
    shown
}
