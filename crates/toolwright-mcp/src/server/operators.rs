//! Lines for operators, on standard error. A thread of its own writes them, so that no call waits for whoever should
//! read them: of lines that come faster than they are read, some are left out and counted.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// How many lines may wait to be written.
const WAITING: usize = 256;

/// How many bytes of one line are written.
const LONGEST: usize = 8 << 10;

/// How long the end of a server waits for its last lines to be written.
const LAST_LINES: Duration = Duration::from_millis(200);

/// Standard error belongs to the process, and so does its writer.
static OPERATORS: LazyLock<Operators> = LazyLock::new(|| Operators::reading(io::stderr()));

/// Those who read an output.
struct Operators {
    entries: SyncSender<Entry>,
    left_out: Arc<AtomicU64>,
}

enum Entry {
    Line(String),
    /// Answered when everything before it is written.
    Flush(oneshot::Sender<()>),
}

/// Writes one line to standard error, some time. Nobody may be listening there, which is no reason to fail.
pub(crate) fn tell(line: &str) {
    OPERATORS.tell(line);
}

/// Waits until what was told is written, if somebody reads it.
pub(crate) async fn flush() {
    OPERATORS.flush().await;
}

impl Operators {
    fn reading(output: impl Write + Send + 'static) -> Self {
        let (entries, waiting) = sync_channel(WAITING);
        let left_out = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&left_out);
        // Without a thread nothing is read, and so every line is left out.
        let _ = thread::Builder::new()
            .name("operators".to_owned())
            .spawn(move || write(output, &waiting, &counted));
        Self { entries, left_out }
    }

    fn tell(&self, line: &str) {
        if self.entries.try_send(Entry::Line(escaped(line))).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn flush(&self) {
        let flushing = async {
            let (written, waiting) = oneshot::channel();
            let mut entry = Entry::Flush(written);
            while let Err(TrySendError::Full(refused)) = self.entries.try_send(entry) {
                entry = refused;
                tokio::time::sleep(LAST_LINES / 20).await;
            }
            let _ = waiting.await;
        };
        let _ = tokio::time::timeout(LAST_LINES, flushing).await;
    }
}

fn write(mut output: impl Write, entries: &Receiver<Entry>, left_out: &AtomicU64) {
    for entry in entries {
        let missing = left_out.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = writeln!(
                output,
                "{missing} lines are left out here: they came faster than they were read"
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

/// A text as one line that cannot pass for several, steer a terminal or hide words: line ends, control characters, marks
/// of direction and all else that does not print is written as Rust writes it (`\n`, `\u{202e}`).
fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    for character in text.chars() {
        if line.len() > LONGEST {
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

    use super::{LONGEST, Operators, WAITING, escaped};

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

    /// Takes nothing until it is let go on.
    struct Unread(mpsc::Receiver<()>, Written);

    impl Write for Unread {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn operators_that_do_not_read_hold_nobody_up_and_are_told_how_much_they_missed() {
        let (go_on, held) = mpsc::channel();
        let written = Written::default();
        let operators = Operators::reading(Unread(held, written.clone()));
        let told = WAITING + 100;
        for number in 0..told {
            operators.tell(&format!("line {number}"));
        }
        // Nobody reads, so this returns when its time is over.
        operators.flush().await;
        drop(go_on);
        operators.tell("the last");
        while !written.text().contains("the last") {
            tokio::task::yield_now().await;
            operators.tell("the last");
        }
        let text = written.text();
        let lines = text.lines().filter(|line| line.starts_with("line ")).count();
        let missing = text.lines().find_map(|line| {
            line.strip_suffix(" lines are left out here: they came faster than they were read")
        });
        let missing: usize = missing.expect("it is said that lines are missing").parse().unwrap();
        assert!(lines >= WAITING && lines + missing >= told, "{lines} and {missing} of {told}");
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
        assert!(escaped(&"x".repeat(LONGEST * 2)).len() < LONGEST + 10);
    }
}
