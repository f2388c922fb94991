//! Ctrl-C, in a process of its own.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

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

#[test]
fn ctrl_c_cancels_a_request_and_then_ends_the_chat() {
    let test = "interrupts::a_chat_whose_tool_hangs";
    let mut chat = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let id = chat.id().to_string();
    let interrupt = || {
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    };
    let mut input = chat.stdin.take().unwrap();
    let mut output = BufReader::new(chat.stdout.take().unwrap());
    let mut until = |end: &str| {
        let mut read = String::new();
        while !read.ends_with(end) {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            read.push(char::from(byte[0]));
        }
        read
    };
    until("> ");
    input.write_all(b"Wait\n").unwrap();
    until("  hang {}\n");
    interrupt();
    assert_eq!(
        until("> "),
        "  hang failed: the call was cancelled before it ended\n  cancelled\n> "
    );
    interrupt();
    let mut rest = String::new();
    output.read_line(&mut rest).unwrap();
    assert_eq!(rest, "\n");
    assert!(chat.wait().unwrap().success());
}
