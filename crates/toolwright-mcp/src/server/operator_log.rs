//! Writes lines for operators to standard error, in a thread of its own, so that calls never wait for a reader. Lines
//! that come faster than they are read are dropped and counted.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// The number of lines that may wait to be written.
const MAX_WAITING: usize = 256;

/// The maximum length of a line in bytes.
const MAX_LINE: usize = 8 << 10;

/// How long a server that ends waits for its last lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

/// The log on standard error, shared by all servers of the process.
static LOG: LazyLock<OperatorLog> = LazyLock::new(|| OperatorLog::new(io::stderr()));

/// Lines that a thread writes to an output.
struct OperatorLog {
    entries: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

enum Entry {
    Line(String),
    /// Signals when everything before it is written.
    Flush(oneshot::Sender<()>),
}

/// Queues a line for standard error. Errors of writing are ignored.
pub(crate) fn log(line: &str) {
    LOG.log(line);
}

/// Waits until the queued lines are written, or a timeout has passed.
pub(crate) async fn flush() {
    LOG.flush().await;
}

impl OperatorLog {
    fn new(output: impl Write + Send + 'static) -> Self {
        let (entries, waiting) = sync_channel(MAX_WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        // If the thread cannot be started, every line is dropped.
        let _ = thread::Builder::new()
            .name("operators".to_owned())
            .spawn(move || write(output, &waiting, &counter));
        Self { entries, dropped }
    }

    fn log(&self, line: &str) {
        if self.entries.try_send(Entry::Line(escaped(line))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn flush(&self) {
        let flushing = async {
            let (written, waiting) = oneshot::channel();
            let mut entry = Entry::Flush(written);
            while let Err(TrySendError::Full(returned)) = self.entries.try_send(entry) {
                entry = returned;
                tokio::time::sleep(FLUSH_TIMEOUT / 20).await;
            }
            let _ = waiting.await;
        };
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, flushing).await;
    }
}

fn write(mut output: impl Write, entries: &Receiver<Entry>, dropped: &AtomicU64) {
    for entry in entries {
        let missing = dropped.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = writeln!(
                output,
                "{missing} lines were dropped here: they came faster than they were read"
            );
        }
        match entry {
            Entry::Line(line) => drop(writeln!(output, "{line}")),
            Entry::Flush(written) => {
                let _ = output.flush();
                let _ = written.send(());
            }
        }
    }
}

/// Escapes a text into one line. Line breaks, control characters, direction marks and other unprintable characters are
/// escaped as in Rust (`\n`, `\u{202e}`), so that a text cannot forge lines, control a terminal or hide words.
fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_LINE));
    for character in text.chars() {
        if line.len() > MAX_LINE {
            line.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => line.push(character),
            _ => drop(write!(line, "{}", character.escape_debug())),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex, mpsc};

    use super::{MAX_LINE, MAX_WAITING, OperatorLog, escaped};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Blocks writes until a message arrives or the sender is dropped.
    struct Blocked(mpsc::Receiver<()>, Written);

    impl Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn an_unread_log_blocks_nobody_and_counts_dropped_lines() {
        let (unblock, blocked) = mpsc::channel();
        let written = Written::default();
        let log = OperatorLog::new(Blocked(blocked, written.clone()));
        let sent = MAX_WAITING + 100;
        for number in 0..sent {
            log.log(&format!("line {number}"));
        }
        // Nobody reads, so this returns after its timeout.
        log.flush().await;
        drop(unblock);
        log.log("the last");
        while !written.text().contains("the last") {
            tokio::task::yield_now().await;
            log.log("the last");
        }
        let text = written.text();
        let lines = text.lines().filter(|line| line.starts_with("line ")).count();
        let missing = text.lines().find_map(|line| {
            line.strip_suffix(" lines were dropped here: they came faster than they were read")
        });
        let missing: usize =
            missing.expect("a line has the number of dropped lines").parse().unwrap();
        assert!(lines >= MAX_WAITING && lines + missing >= sent, "{lines} and {missing} of {sent}");
    }

    #[test]
    fn a_line_for_operators_cannot_be_forged() {
        let cases = [
            (
                r#"the disk of "db7" at a\b is full: größer"#,
                r#"the disk of "db7" at a\b is full: größer"#,
            ),
            ("x\nforged: line\r\u{1b}[31m", r"x\nforged: line\r\u{1b}[31m"),
            (
                "a\u{202e}b\u{2028}c\u{2066}d\u{e0041}e\u{85}f",
                r"a\u{202e}b\u{2028}c\u{2066}d\u{e0041}e\u{85}f",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected);
        }
        assert!(escaped(&"x".repeat(MAX_LINE * 2)).len() < MAX_LINE + 10);
    }
}
