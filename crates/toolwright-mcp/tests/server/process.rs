//! Tests the server as a process whose parent does not read its standard streams.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::lab::lab;
use crate::wire::INITIALIZE;

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
#[ignore = "other tests run it as a process"]
async fn the_lab_on_standard_streams() {
    lab().serve_stdio().await.unwrap();
}

struct Server {
    process: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Server {
    async fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        // With one thread the test harness would print on the line of the first message.
        command.args([
            "--exact",
            "process::the_lab_on_standard_streams",
            "--ignored",
            "--nocapture",
        ]);
        command.env("RUST_TEST_THREADS", "2").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut server = Self { process, to, from: BufReader::new(from).lines() };
        server.send(INITIALIZE).await;
        server.answer(0).await;
        server
    }

    async fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Skips output of the test harness.
    async fn answer(&mut self, id: usize) -> String {
        let id = format!(r#""id":{id},"#);
        loop {
            let line = timeout(LONG, self.from.next_line()).await.expect("the server goes on");
            let line = line.unwrap().expect("the server goes on");
            if line.contains(&id) {
                return line;
            }
        }
    }
}

fn failing(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"fail"}}}}"#)
}

/// Writes many times the capacity of a pipe.
#[tokio::test]
async fn an_unread_standard_error_does_not_stop_the_server() {
    let mut server = Server::start().await;
    for id in 1..=5_000 {
        server.send(&failing(id)).await;
        assert!(server.answer(id).await.contains("not today"));
    }
    // The output ends with the number of dropped lines.
    let mut stderr = BufReader::new(server.process.stderr.take().unwrap()).lines();
    let missing = " lines were dropped here: they came faster than they were read";
    loop {
        let line = timeout(LONG, stderr.next_line()).await.expect("lines are written").unwrap();
        if line.expect("a line has the number of dropped lines").ends_with(missing) {
            break;
        }
    }
    drop(server.to);
    assert!(timeout(LONG, server.process.wait()).await.unwrap().unwrap().success());
}

#[tokio::test]
async fn the_server_flushes_standard_error_before_it_ends() {
    let mut server = Server::start().await;
    server.send(&failing(1)).await;
    server.answer(1).await;
    drop(server.to);
    let ended = timeout(LONG, server.process.wait_with_output()).await.unwrap().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    let expected = "lab: fail failed, unavailable: disk of host db7 is full\n";
    assert!(stderr.contains(expected), "{stderr}");
}

#[tokio::test]
async fn closing_the_output_ends_the_server() {
    let Server { mut process, mut to, from } = Server::start().await;
    drop(from);
    to.write_all(format!("{}\n", failing(1)).as_bytes()).await.unwrap();
    timeout(LONG, process.wait()).await.expect("it ends though its input goes on").unwrap();
}
