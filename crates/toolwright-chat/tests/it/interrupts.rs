//! Ctrl-C, in a process of its own.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use toolwright::{Payload, ToolCall, described};
use toolwright_chat::Chat;
use toolwright_runtime::{Agent, Registry, Runtime, Script};

described! {
    struct Nothing {}
}

/// The chat of the test below.
#[tokio::test]
#[ignore = "the process of another test"]
async fn a_chat_whose_tool_hangs() {
    let registry = Registry::new();
    registry
        .tool("hang", "Hang.", async |_: Nothing| std::future::pending::<bool>().await)
        .unwrap();
    let planner = Script::new()
        .call([ToolCall::new("hang", Payload::new("{}"))])
        .finish(Payload::new(r#""not reached""#));
    registry
        .register_agent(Agent::new("waiter", "lab").with_tools(["hang"]), planner.into())
        .unwrap();
    Chat::new(Runtime::new(registry), "waiter").run().await.unwrap();
}

/// The chat of the last test. The calls of each request have the same ids.
#[tokio::test]
#[ignore = "the process of another test"]
async fn a_chat_that_opens_two_doors() {
    let open = |door: &str| {
        ToolCall::new("open", Payload::new(format!(r#"{{"name":"{door}"}}"#))).with_id(door)
    };
    let planner = Script::new().call([open("gate"), open("shed")]).finish(Payload::new("null"));
    Chat::new(crate::runtime(planner), "janitor").run().await.unwrap();
}

/// A chat in a process, and what it writes.
struct Process {
    chat: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(test: &str) -> Self {
        let mut chat = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", test, "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = chat.stdin.take().unwrap();
        let output = BufReader::new(chat.stdout.take().unwrap());
        Self { chat, input, output }
    }

    fn interrupt(&self) {
        let id = self.chat.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    fn write(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).unwrap();
    }

    fn until(&mut self, end: &str) -> String {
        let mut read = String::new();
        while !read.ends_with(end) {
            let mut byte = [0];
            self.output.read_exact(&mut byte).unwrap();
            read.push(char::from(byte[0]));
        }
        read
    }

    /// Interrupts a chat that waits for a request.
    fn end(mut self) {
        self.interrupt();
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "\n");
        assert!(self.chat.wait().unwrap().success());
    }
}

#[test]
fn ctrl_c_cancels_a_request_and_then_ends_the_chat() {
    let mut chat = Process::start("interrupts::a_chat_whose_tool_hangs");
    chat.until("> ");
    chat.write("Wait\n");
    chat.until("  hang {}\n");
    chat.interrupt();
    assert_eq!(
        chat.until("> "),
        "  hang failed: the call was cancelled before it ended\n  cancelled\n> "
    );
    chat.end();
}

#[test]
fn a_call_is_shown_though_one_with_its_id_was_denied_in_an_earlier_request() {
    let mut chat = Process::start("interrupts::a_chat_that_opens_two_doors");
    chat.until("> ");
    chat.write("Open\n");
    chat.until("against it] ");
    chat.write("n\n");
    chat.until("against it] ");
    chat.interrupt();
    chat.until("not answered\n> ");
    chat.write("Open again\n");
    chat.until("against it] ");
    chat.write("y\n");
    chat.until("against it] ");
    chat.write("n\n");
    let shown = chat.until("null\n> ");
    assert!(shown.contains("  open {\"name\":\"gate\"}\n"), "{shown}");
    chat.end();
}
