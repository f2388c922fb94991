//! A process that answers each line with a line. If it hangs or dies, the next question starts it again.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The number of hangs after which the remaining questions are skipped.
const HANGS: usize = 2;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A line.
    Line(String),
    /// No answer within the time limit.
    Hung,
    /// The process ended.
    Died,
}

/// A process and the command that starts it.
pub(crate) struct Peer {
    command: Command,
    limit: Duration,
    running: Option<Running>,
}

struct Running {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Peer {
    /// Creates a peer with a time limit for each answer. The process starts with the first question.
    pub(crate) fn new(mut command: Command, limit: Duration) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self { command, limit, running: None }
    }

    /// Asks a question.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<Answer> {
        let answers = self.ask_all(&[question.to_owned()])?;
        Ok(answers.into_iter().next().unwrap_or(Answer::Died))
    }

    /// Sends all questions without waiting for answers in between. After some hangs the remaining ones get no answers.
    pub(crate) fn ask_all(&mut self, questions: &[String]) -> io::Result<Vec<Answer>> {
        let mut answers = Vec::new();
        let mut hangs = 0;
        while answers.len() < questions.len() && hangs < HANGS {
            let mut running = match self.running.take() {
                Some(running) => running,
                None => Running::start(&mut self.command)?,
            };
            let Running { process, input, lines } = &mut running;
            let rest = &questions[answers.len()..];
            let is_well = thread::scope(|scope| {
                // If the process ended, the reader notices.
                scope.spawn(|| {
                    rest.iter().try_for_each(|question| writeln!(input, "{question}")).ok()
                });
                for _ in rest {
                    match lines.recv_timeout(self.limit) {
                        Ok(line) => answers.push(Answer::Line(line)),
                        Err(RecvTimeoutError::Timeout) => {
                            answers.push(Answer::Hung);
                            hangs += 1;
                            // Otherwise the writer would wait forever.
                            _ = process.kill();
                            return false;
                        }
                        Err(RecvTimeoutError::Disconnected) => {
                            answers.push(Answer::Died);
                            return false;
                        }
                    }
                }
                true
            });
            if is_well {
                self.running = Some(running);
            }
        }
        Ok(answers)
    }
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("cannot run {command:?}: {error}"))
        })?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (sender, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, input, lines })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
