//! Questions in a terminal, in a process of its own.
#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use toolwright::{BoxError, BoxFuture, Payload, ToolCall};
use toolwright_chat::Chat;
use toolwright_runtime::{ModelEvent, Planner, Step, Turn};

/// A text that imitates a question as well as a text can.
const IMITATION: &str = "\u{1b}[7m  open {\"name\":\"barn\"} needs an approval\u{1b}[0m\n\
    \u{1b}[7mOpen the barn? [123 to approve open, Enter to deny, or a reason against it]\u{1b}[0m ";

/// Writes an imitation, waits until something was typed, and opens two doors.
struct Imitator;

impl Planner for Imitator {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(async {
            if turn.step() > 0 {
                return Ok(Step::Finish(Payload::new("null")));
            }
            turn.publish(ModelEvent::Text(IMITATION.to_owned()));
            for _ in 0..500 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                if ioctl_fionread(std::io::stdin())? > 0 {
                    break;
                }
            }
            let open =
                |door| ToolCall::new("open", Payload::new(format!(r#"{{"name":"{door}"}}"#)));
            Ok(Step::call([open("gate"), open("shed")]))
        })
    }
}

/// The chat of the tests below.
#[tokio::test]
#[ignore = "the process of another test"]
async fn a_chat_with_an_imitator() {
    Chat::new(crate::runtime(Imitator), "janitor").run().await.unwrap();
}

/// A chat in a terminal.
struct Terminal {
    chat: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    /// The part of the output that was not returned.
    rest: String,
}

impl Terminal {
    fn start(test: &str) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(name.to_bytes());
        let terminal = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let chat = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", test, "--nocapture"])
            .stdin(Stdio::from(terminal.try_clone().unwrap()))
            .stdout(Stdio::from(terminal))
            .spawn()
            .unwrap();
        let keys = File::from(user);
        let mut output = keys.try_clone().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                let _ = sender.send(bytes[..length].to_vec());
            }
        });
        Self { chat, keys, shown, rest: String::new() }
    }

    fn write(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).unwrap();
    }

    /// Returns the output up to a text.
    fn until(&mut self, end: &str) -> String {
        let mut bytes = std::mem::take(&mut self.rest).into_bytes();
        loop {
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            if let Some(place) = text.find(end) {
                let (read, rest) = text.split_at(place + end.len());
                rest.clone_into(&mut self.rest);
                return read.to_owned();
            }
            let Ok(more) = self.shown.recv_timeout(Duration::from_secs(30)) else {
                panic!("found {text:?}, expected {end:?}");
            };
            bytes.extend(more);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.chat.kill();
        let _ = self.chat.wait();
    }
}

const PROMPT: &str = " to approve open, Enter to deny, or a reason against it]\u{1b}[0m ";

impl Terminal {
    /// Returns the output up to the next prompt of a question, and the number in it.
    fn question(&mut self) -> (String, String) {
        let shown = self.until(PROMPT);
        let before = shown.len() - PROMPT.len();
        (shown.clone(), shown[before - 3..before].to_owned())
    }
}

#[test]
fn only_the_number_in_a_question_approves_its_call() {
    let mut chat = Terminal::start("terminal::a_chat_with_an_imitator");
    chat.until("> ");
    chat.write("Open all doors\n");
    chat.until("barn? [123 to approve");
    chat.write("y\n");
    chat.question();
    // It is asked again, with another number. The second lines were typed before the next question.
    chat.write("y\nno\n");
    let (_, number) = chat.question();
    chat.write(&format!("{number}\ny\n"));
    chat.question();
    chat.write("yes\n");
    let (question, number) = chat.question();
    assert!(question.contains("Open the shed?"), "{question}");
    chat.write(&format!("{number}\n"));
    let shown = chat.until("null\n");
    assert!(shown.contains("  open -> {\"name\":\"gate\"}\n"), "{shown}");
    assert!(shown.contains("  open -> {\"name\":\"shed\"}\n"), "{shown}");
}

#[test]
fn no_text_of_a_model_looks_like_a_question() {
    let mut chat = Terminal::start("terminal::a_chat_with_an_imitator");
    chat.until("> ");
    chat.write("Open all doors\n");
    let imitation =
        chat.until("barn? [123 to approve open, Enter to deny, or a reason against it]");
    assert!(!imitation.contains('\u{1b}'), "{imitation:?}");
    chat.write("y\n");
    let (question, number) = chat.question();
    let lines = [
        "  \u{1b}[7mopen {\"name\":\"gate\"} needs an approval\u{1b}[0m\n",
        &format!("\u{1b}[7mOpen the gate? [{number}{PROMPT}"),
    ];
    assert!(question.ends_with(&lines.concat()), "{question:?}");
}
