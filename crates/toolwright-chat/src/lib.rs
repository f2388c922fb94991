//! A chat with an agent in a terminal. It shows what the model writes as it comes and each call with its result, asks for
//! approvals, and remembers the conversation.
//!
//! A line of input is one request, which is a run of the agent. Ctrl-C cancels it; between requests, Ctrl-C and the end of
//! the input (Ctrl-D) end the chat.
//!
//! If standard input is a terminal, a person answers the questions. A question is then shown in reverse video, which no text of a
//! model or a tool can have, because their control characters are replaced. To approve a call, the person types a random number
//! that the question shows. So nobody approves a call by what was typed before the question was displayed, also if the terminal
//! is slow. Input that is not a terminal is a script: its next line answers a question, so all of it has to be trusted.
//!
//! ```
//! use std::io::Cursor;
//!
//! use toolwright::Payload;
//! use toolwright_chat::Chat;
//! use toolwright_runtime::{Agent, Registry, Runtime, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolwright::BoxError> {
//! let registry = Registry::new();
//! let planner = Script::new().finish(Payload::of("Hello.")?);
//! registry.register_agent(Agent::new("greeter", "lab"), planner.into())?;
//!
//! let mut output = Vec::new();
//! let chat = Chat::new(Runtime::new(registry), "greeter");
//! chat.run_with(Cursor::new("Good morning\n"), &mut output).await?;
//! assert_eq!(String::from_utf8(output)?, "> Hello.\n> \n");
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

mod input;
mod screen;

use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::pin::pin;
use std::sync::Arc;

use tokio::signal::ctrl_c;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;
use toolwright::call::fresh_id;
use toolwright::issue::suggestion;
use toolwright::untrusted::visible;
use toolwright::{BoxError, Payload};
use toolwright_runtime::{
    Answer, ApprovalRequest, Event, EventSender, PastRun, ResumeRequest, RunRequest, Runtime,
    Verdict,
};

use input::{Input, Line, Source};
use screen::Screen;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The number of events that may wait to be shown: no event is lost. A run continues only after its events were shown, so that
/// few of them wait.
const EVENTS: usize = Semaphore::MAX_PERMITS;

/// A chat with an agent.
#[derive(Debug)]
pub struct Chat {
    runtime: Runtime,
    agent: String,
    session_id: String,
}

impl Chat {
    /// Creates a chat. If the runtime has an approver, calls that need an approval are decided by it; otherwise the user of the
    /// chat is asked.
    pub fn new(runtime: Runtime, agent: impl Into<String>) -> Self {
        Self { runtime, agent: agent.into(), session_id: fresh_id("chat") }
    }

    /// Sets the session id of all requests. By default each chat has a new one.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = id.into();
        self
    }

    /// Chats on standard input and output until the input ends.
    ///
    /// # Errors
    ///
    /// There is no such agent, or standard input or output fails. A request that fails does not end the chat: its failure is
    /// shown.
    pub async fn run(self) -> Result<(), BoxError> {
        let input = BufReader::new(io::stdin());
        let source = if io::stdin().is_terminal() {
            Source::Terminal(input)
        } else {
            Source::Script(Box::new(input))
        };
        self.converse(source, &mut io::stdout()).await
    }

    /// Chats on any input and output until the input ends. The input is read on a thread of its own. Its lines also answer
    /// questions, even if they were written before the question.
    ///
    /// # Errors
    ///
    /// There is no such agent, or the input or the output fails.
    pub async fn run_with(
        self,
        input: impl BufRead + Send + 'static,
        output: &mut (dyn Write + Send),
    ) -> Result<(), BoxError> {
        self.converse(Source::Script(Box::new(input)), output).await
    }

    async fn converse(
        self,
        source: Source,
        output: &mut (dyn Write + Send),
    ) -> Result<(), BoxError> {
        let agents = self.runtime.agents();
        if !agents.iter().any(|agent| agent.name == self.agent) {
            let names = agents.iter().map(|agent| agent.name.as_str());
            let advice = suggestion(&self.agent, names, "there is");
            return Err(format!("there is no agent `{}`, {advice}", self.agent).into());
        }
        let input = Input::Idle(source);
        let screen = Screen::new(output);
        let mut conversation = Conversation { input, screen, past: Vec::new() };
        loop {
            let text = match conversation.line("> ").await? {
                Line::Text(text) if text.trim().is_empty() => continue,
                Line::Text(text) => text,
                Line::Interrupt | Line::End => break,
            };
            let request = RunRequest::new(&self.agent, Payload::of(&text)?);
            let request = request.with_session_id(&self.session_id);
            conversation.request(&self.runtime, request).await?;
        }
        conversation.screen.end_line()?;
        Ok(())
    }
}

/// A conversation on an input and an output.
struct Conversation<'a> {
    input: Input,
    screen: Screen<'a>,
    /// The requests so far.
    past: Vec<PastRun>,
}

impl Conversation<'_> {
    /// Asks for a line.
    async fn line(&mut self, prompt: &str) -> io::Result<Line> {
        self.screen.prompt(prompt)?;
        let line = self.input.next().await?;
        if let Line::Text(_) = line {
            self.screen.is_in_line = false;
        }
        Ok(line)
    }

    /// Makes a request, asks for approvals until it ends, and shows how it ends.
    async fn request(&mut self, runtime: &Runtime, request: RunRequest) -> Result<(), BoxError> {
        let (events, mut shown) = EventSender::channel(EVENTS);
        let events = Arc::new(events);
        let cancelled = CancellationToken::new();
        let request = request
            .with_past(self.past.clone())
            .with_events(events.clone())
            .with_cancellation(cancelled.clone());
        let run = runtime.run(request);
        let mut outcome = self.watch(run, &mut shown, &cancelled).await??;
        while let Some(waiting) = outcome.suspended() {
            let Some(answers) = self.ask(&waiting.pending()).await? else { break };
            let request = ResumeRequest::new(waiting, answers)
                .with_events(events.clone())
                .with_cancellation(cancelled.clone());
            let run = runtime.resume(request);
            match self.watch(run, &mut shown, &cancelled).await? {
                Ok(next) => outcome = next,
                Err(error) => {
                    self.screen.note(&visible(&error.to_string()))?;
                    break;
                }
            }
        }
        self.screen.end(&outcome)?;
        self.past.push(outcome.into());
        Ok(())
    }

    /// Shows the events of a run until it ends. The first Ctrl-C cancels the run; after a second one, it is no longer waited
    /// for.
    async fn watch<T>(
        &mut self,
        run: impl Future<Output = T>,
        events: &mut Receiver<Event>,
        cancelled: &CancellationToken,
    ) -> io::Result<T> {
        let (mut run, mut interrupt) = (pin!(run), pin!(ctrl_c()));
        let ended = loop {
            tokio::select! {
                biased;
                interrupted = &mut interrupt => {
                    interrupted?;
                    interrupt.set(ctrl_c());
                    if cancelled.is_cancelled() {
                        return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
                    }
                    cancelled.cancel();
                }
                Some(event) = events.recv() => self.screen.show(&event)?,
                ended = &mut run => break ended,
            }
        };
        while let Ok(event) = events.try_recv() {
            self.screen.show(&event)?;
        }
        Ok(ended)
    }

    /// Asks for all approvals. Returns nothing after Ctrl-C or the end of the input.
    async fn ask(&mut self, questions: &[&ApprovalRequest]) -> io::Result<Option<Vec<Answer>>> {
        let mut answers = Vec::new();
        for question in questions {
            let answer = loop {
                // What was typed before is no reason against the call either.
                self.input.discard()?;
                let number = self.input.is_terminal().then(random_number);
                let prompt = self.screen.question(question, number.as_deref())?;
                let Line::Text(text) = self.line(&prompt).await? else { return Ok(None) };
                if let Some(answer) = answer(question, number.as_deref(), text.trim()) {
                    break answer;
                }
            };
            if let Verdict::Deny(_) = answer.verdict {
                self.screen.deny(question);
            }
            answers.push(answer);
        }
        Ok(Some(answers))
    }
}

/// Returns a number of three digits that nobody can know.
fn random_number() -> String {
    // Every `RandomState` has its own random keys from the system.
    (100 + RandomState::new().hash_one(()) % 900).to_string()
}

/// Reads an answer to a question. If the question shows a number, only that number approves the call or begins its result.
/// Returns nothing if the question has to be asked again.
fn answer(question: &ApprovalRequest, number: Option<&str>, text: &str) -> Option<Answer> {
    if question.expects_result {
        let result = text.strip_prefix(number.unwrap_or_default())?;
        return Some(question.result(Payload::new(result.trim_start())));
    }
    match (text, number) {
        ("y" | "Y" | "yes", Some(_)) => None,
        ("y" | "Y" | "yes", None) => Some(question.approve()),
        (text, Some(number)) if text == number => Some(question.approve()),
        ("" | "n" | "N" | "no", _) => Some(question.deny()),
        (reason, _) => Some(question.deny_because(reason)),
    }
}
