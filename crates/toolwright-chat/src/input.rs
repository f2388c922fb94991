//! The lines of a chat's input.

use std::io::{self, BufRead};
use std::thread;

use tokio::signal::ctrl_c;
use tokio::sync::mpsc;

/// Reads lines on a thread of its own, which nothing has to wait for: reading a terminal cannot be stopped.
pub(crate) struct Input(mpsc::Receiver<io::Result<String>>);

pub(crate) enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupt,
    /// The end of the input.
    End,
}

impl Input {
    pub(crate) fn new(input: impl BufRead + Send + 'static) -> Self {
        let (lines, received) = mpsc::channel(1);
        thread::spawn(move || {
            for line in input.lines() {
                if lines.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self(received)
    }

    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        tokio::select! {
            interrupt = ctrl_c() => interrupt.map(|()| Line::Interrupt),
            line = self.0.recv() => line.map_or(Ok(Line::End), |line| line.map(Line::Text)),
        }
    }
}
