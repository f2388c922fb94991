//! The client and the planner with servers by other people that speak the APIs of providers. The servers are installed from
//! their registries. `UPDATE_EXPECT=1` writes what was read.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use expect_test::expect_file;
use toolwright_dialect::Request;
use toolwright_model::{
    Client, ClientBuilder, Message, Model as _, ModelPlanner, Preset, Question,
};
use toolwright_prerequisites::{Npm, PyPi, or_skip};

use crate::answers::shown;
use crate::planner::{KEY, agent, run};

/// The models of `mock-ai-api`, which answer as their names say, by preset and application.
const MODELS: [(&str, &str, &[&str]); 3] = [
    (
        "openai",
        "app.openai_app:app",
        &[
            "mock-text",
            "mock-tool-stream",
            "mock-delay",
            "mock-400",
            "mock-401",
            "mock-429",
            "mock-500",
            "mock-503",
        ],
    ),
    ("openai-responses", "app.openai_app:app", &["mock-text", "mock-delay", "mock-429"]),
    (
        "anthropic",
        "app.anthropic_app:app",
        &[
            "mock-text",
            "mock-anthropic-stream",
            "mock-tool-use",
            "mock-tool-stream",
            "mock-delay",
            "mock-stream-error",
            "mock-400",
            "mock-401",
            "mock-429",
            "mock-500",
            "mock-503",
        ],
    ),
];

#[tokio::test]
async fn answers_of_a_server_by_others_are_read() {
    let Some(python) = or_skip(PyPi::install(&pins(), &target().join("strangers-python"))) else {
        return;
    };
    let mut found = String::new();
    for (preset, application, models) in MODELS {
        let mut command = Command::new(python.program("python"));
        command.args(["-m", "uvicorn", application, "--host", "127.0.0.1", "--port", "0"]);
        let server = Server::start(command.stderr(Stdio::piped()), "Uvicorn running on ");
        for model in models {
            let client = client(preset, &format!("a-model:{model}"), &server.base);
            let client = client.with_attempts(1).build().unwrap();
            let messages = [Message::User("What is the weather in Paris?".to_owned())];
            let tools = Request { tools: Vec::new(), findings: Vec::new() };
            let deltas = Mutex::new(Vec::new());
            let question = Question::new(&messages, &tools);
            let result = client.ask(&question, &|delta| deltas.lock().unwrap().push(delta)).await;
            writeln!(found, "# {preset} {model}").unwrap();
            let text = shown(&(deltas.into_inner().unwrap(), result));
            let without_id = |line: &str| match line.strip_prefix("call ") {
                Some(call) => format!("call{}\n", &call[call.find(' ').unwrap()..]),
                None => format!("{line}\n"),
            };
            found.extend(text.lines().map(without_id));
        }
    }
    expect_file!["../strangers.txt"].assert_eq(&found);
}

#[tokio::test]
async fn a_run_with_a_server_by_others_corrects_a_call_and_ends() {
    let Some(npm) = or_skip(Npm::install(&pins(), &target().join("strangers-npm"))) else {
        return;
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = npm.program("openai-mock-api/dist/cli.js");
    command.env("NODE_OPTIONS", format!("--require={}", pins().join("loopback.cjs").display()));
    command.args(["--port", &port.to_string(), "--config"]).arg(pins().join("conversation.yaml"));
    let mut server = Server::start(command.stdout(Stdio::piped()), "Server started on port ");
    server.base = format!("http://127.0.0.1:{port}");
    let client = client("openai", "gpt-4", &server.base).build().unwrap();
    let outcome = run(agent(false), ModelPlanner::new(client)).await;
    let results: Vec<String> = outcome
        .calls()
        .map(|record| match &record.result.outcome {
            Ok(result) => result.to_string(),
            Err(failure) => failure.to_string(),
        })
        .collect();
    assert_eq!(results.len(), 2, "{results:?} {outcome:?}");
    assert!(results[0].contains("expected a"), "{results:?}");
    assert_eq!(results[1], r#"{"sum":3}"#);
    assert_eq!(outcome.result().unwrap().as_str(), r#""The sum is 3.""#);
}

fn client(preset: &str, model: &str, base: &str) -> ClientBuilder {
    let client = Client::builder(Preset::find(preset).unwrap(), model)
        .with_base(format!("{base}{}", if preset == "anthropic" { "" } else { "/v1" }))
        .with_key(KEY);
    client.with_idle_timeout(Duration::from_secs(5))
}

fn pins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strangers")
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// A server in a process, which ends with it.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    /// Starts a server and waits for the line in which it says that it listens; the word after `mark` is its address.
    fn start(command: &mut Command, mark: &str) -> Self {
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let lines: Box<dyn BufRead + Send> = match (child.stdout.take(), child.stderr.take()) {
            (Some(output), _) => Box::new(BufReader::new(output)),
            (_, output) => Box::new(BufReader::new(output.unwrap())),
        };
        let mut lines = lines.lines().map_while(Result::ok);
        let address = lines
            .find_map(|line| line.split_once(mark)?.1.split_whitespace().next().map(str::to_owned));
        // It would stop if nobody read its log.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, base: address.expect("the server starts") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
