//! The lines of a chat's input. A line is read when it is asked for, so that lines before it can be discarded.

use std::io::{self, BufRead, BufReader, Read, Stdin};
use std::mem;
use std::thread;

use tokio::signal::ctrl_c;
use tokio::sync::oneshot;

/// The longest line, in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;

/// The lines of a source.
pub(crate) enum Input {
    /// Nobody reads.
    Idle(Source),
    /// A thread reads a line, and returns the source with it. Nothing has to wait for the thread: reading a terminal cannot be
    /// stopped.
    Reading(oneshot::Receiver<(Source, io::Result<Option<String>>)>),
    /// The source has ended.
    Ended,
}

pub(crate) enum Source {
    /// Standard input, where a person types.
    Terminal(BufReader<Stdin>),
    /// Lines that were written in advance, or by a program.
    Script(Box<dyn BufRead + Send>),
}

pub(crate) enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupt,
    /// The end of the input.
    End,
}

impl Input {
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Self::Idle(Source::Terminal(_)))
    }

    /// Returns the next line. After an interrupt, the line that was being read is the next one.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        *self = match mem::replace(self, Self::Ended) {
            Self::Idle(source) => Self::Reading(source.read()),
            other => other,
        };
        let Self::Reading(reading) = self else { return Ok(Line::End) };
        tokio::select! {
            interrupt = ctrl_c() => interrupt.map(|()| Line::Interrupt),
            read = reading => {
                *self = Self::Ended;
                let Ok((source, line)) = read else { return Ok(Line::End) };
                let Some(text) = line? else { return Ok(Line::End) };
                *self = Self::Idle(source);
                Ok(Line::Text(text))
            }
        }
    }

    /// Discards what was typed into a terminal and was not read.
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        if let Self::Idle(Source::Terminal(typed)) = self {
            typed.consume(typed.buffer().len());
            #[cfg(unix)]
            rustix::termios::tcflush(typed.get_ref(), rustix::termios::QueueSelector::IFlush)?;
        }
        Ok(())
    }
}

impl Source {
    /// Reads a line on a thread of its own. There is none after the end of the source.
    fn read(mut self) -> oneshot::Receiver<(Self, io::Result<Option<String>>)> {
        let (sender, reading) = oneshot::channel();
        thread::spawn(move || {
            let line = self.line();
            // The chat may have ended.
            let _ = sender.send((self, line));
        });
        reading
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    fn line(&mut self) -> io::Result<Option<String>> {
        let source: &mut dyn BufRead = match self {
            Self::Terminal(typed) => typed,
            Self::Script(lines) => lines,
        };
        let mut line = Vec::new();
        source.take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
        if line.len() > MAX_LINE_BYTES {
            let message = "a line of the input is longer than 16 MiB, expected a shorter one";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let text = String::from_utf8_lossy(&line);
        Ok((!line.is_empty()).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
    }
}
