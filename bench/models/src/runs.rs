//! Runs of an agent that makes many calls one after another, beside the same with rig and with pydantic-ai. Each run is a process
//! of its own, so that its memory can be compared, too.

use std::future::ready;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use rig_core::completion::CompletionRequest;
use rig_core::message::{Message, ToolName};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::tool::{DynamicTool, ToolOutput, ToolResult};
use rig_core::transcript::tool_result_output;
use serde_json::{Value, json};
use toolwright::{Payload, described};
use toolwright_model::{Client, ModelPlanner, Preset};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_prerequisites::{NotInstalled, PyPi};
use toolwright_runtime::{Agent, Registry, RunRequest, Runtime};
use wait4::Wait4;

use crate::report::Comparison;

/// The number of calls of a run.
const CALLS: usize = 50;
/// The number of runs; the fastest counts, and the one with the least memory.
const RUNS: usize = 5;

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }
}

/// A library that runs the agent in this program.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Library {
    Toolwright,
    Rig,
}

/// The seconds of a run, and the most memory of its process in MB.
struct Measured {
    seconds: f64,
    megabytes: f64,
}

/// Compares runs on a stage.
pub(crate) async fn compare() -> io::Result<Vec<Comparison>> {
    let this = std::env::current_exe()?;
    let of_library = |library: &str| {
        let mut command = shell(&this);
        command.args(["--run", library, "--base"]);
        command
    };
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dialects-python");
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/peers");
    let python = PyPi::install(&pins, &target).map_err(|error| match error {
        NotInstalled::Missing(why) => io::Error::other(why),
        NotInstalled::Failed(error) => error,
    })?;
    let of_python = || {
        let mut command = shell(&python.program("python"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/run.py"));
        command
    };
    let ours = fastest(|| of_library("toolwright")).await?;
    let rig = fastest(|| of_library("rig")).await?;
    let pydantic = fastest(of_python).await?;
    let mut all = Vec::new();
    for (peer, peer_name) in [(&rig, "rig-core 0.44"), (&pydantic, "pydantic-ai 2.68 (Python)")] {
        for (what, unit, ours, theirs) in [
            ("run", "ms", ours.seconds * 1e3, peer.seconds * 1e3),
            ("memory of a run", "MB", ours.megabytes, peer.megabytes),
        ] {
            let (name, ratio) = (format!("{what} of {CALLS} calls"), ours / theirs);
            all.push(Comparison { name, ours, peer: theirs, peer_name, unit, ratio, target: None });
        }
    }
    Ok(all)
}

async fn fastest(command: impl Fn() -> Command) -> io::Result<Measured> {
    let mut best = Measured { seconds: f64::MAX, megabytes: f64::MAX };
    for _ in 0..RUNS {
        let call = || Reply::call("add", r#"{"a":1,"b":2}"#);
        let script = (0..CALLS).fold(Script::new(), |script, _| script.reply(call()));
        let stage = Stage::start(script.reply(Reply::text("done"))).await?;
        let mut command = command();
        command.arg(stage.base()).stdout(Stdio::piped());
        let (printed, megabytes) = tokio::task::spawn_blocking(move || run(command)).await??;
        let seconds = printed.trim().parse::<f64>();
        best.seconds = best.seconds.min(seconds.map_err(|_| io::Error::other("the run failed"))?);
        best.megabytes = best.megabytes.min(megabytes);
    }
    Ok(best)
}

/// Returns a command that a shell executes, as the kernel counts the memory of the parent at the start as the child's.
fn shell(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\""]).arg(program);
    command
}

/// Runs a command, and returns its output and the most memory of its process in MB.
#[expect(clippy::cast_precision_loss, reason = "it has no petabytes")]
fn run(mut command: Command) -> io::Result<(String, f64)> {
    let mut child = command.spawn()?;
    let mut printed = String::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_string(&mut printed)?;
    }
    Ok((printed, child.wait4()?.rusage.maxrss as f64 / 1e6))
}

/// Runs the agent once, and prints the seconds.
pub(crate) async fn once(library: Library, base: &str) -> io::Result<()> {
    let start = Instant::now();
    match library {
        Library::Toolwright => with_toolwright(base).await?,
        Library::Rig => with_rig(base).await?,
    }
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

async fn with_toolwright(base: &str) -> io::Result<()> {
    let preset = Preset::find("openai").map_err(io::Error::other)?;
    let client = Client::builder(preset, "a-model").with_base(base).with_key("none");
    let registry = Registry::new();
    let add = async |Numbers { a, b }: Numbers| a + b;
    registry.tool("add", "Add two numbers.", add).map_err(io::Error::other)?;
    let planner = ModelPlanner::new(client.build().map_err(io::Error::other)?);
    let agent = Agent::new("counter", "bench").with_tools(["add"]);
    registry.register_agent(agent, planner.into()).map_err(io::Error::other)?;
    let request = RunRequest::new("counter", Payload::new(r#""Add.""#));
    let outcome = Runtime::new(registry).run(request).await.map_err(io::Error::other)?;
    outcome.result().map(drop).map_err(io::Error::other)
}

/// The loop of an agent over rig's client, as its crate for agents is another one.
async fn with_rig(base: &str) -> io::Result<()> {
    let model = OpenAIConfig::new("none").with_base_url(base).client().chat("a-model");
    let name = ToolName::new("add").map_err(io::Error::other)?;
    let number = json!({ "type": "integer" });
    let schema = json!({
        "type": "object",
        "properties": { "a": number, "b": number },
        "required": ["a", "b"],
    });
    let add = DynamicTool::new(name, "Add two numbers.", schema, |args: Value| {
        let number = |key: &str| args.get(key).and_then(Value::as_i64).unwrap_or_default();
        let sum = ToolOutput::text((number("a") + number("b")).to_string());
        Box::pin(ready(Ok(sum))) as _
    });
    let mut request = CompletionRequest::new("Add.").tools(vec![add.definition()]);
    loop {
        let answer = model.call(request.clone()).await.map_err(io::Error::other)?;
        let mut results = Vec::new();
        for call in answer.tool_calls() {
            let (id, name) = (call.id.clone(), call.function.name.clone());
            let outcome = add.execute(call.function.arguments_value()).await;
            let result = outcome.map_or_else(ToolResult::failed, ToolResult::success);
            results.push(tool_result_output(id, name, &result));
        }
        if results.is_empty() {
            return Ok(());
        }
        request
            .chat_history
            .push(answer.message().ok_or_else(|| io::Error::other("an empty answer"))?);
        request.chat_history.push(Message::User { content: results });
    }
}
