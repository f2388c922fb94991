//! `cargo xtask bench models [--json]`: writes requests, reads streams, searches tools, and runs an agent on a stage, which
//! pydantic-ai does, too.

#[allow(unreachable_pub, reason = "it is the module of a library")]
#[path = "../../codecs/src/report.rs"]
mod report;
#[allow(unreachable_pub, dead_code, reason = "other benches have it, too")]
#[path = "../../codecs/src/timing.rs"]
mod timing;

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use toolwright::spec::Strictness;
use toolwright::{Payload, ToolSpec, described};
use toolwright_dialect::{
    Dialect, Policy, Projection, Projections, Request, Subject, place, project,
};
use toolwright_model::{Client, Message, ModelFacts, ModelPlanner, Preset, Question, ToolIndex};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_prerequisites::{NotInstalled, PyPi};
use toolwright_runtime::{Agent, Registry, RunRequest, Runtime};

use report::{Comparison, json_lines, table};
use timing::{goal, nanoseconds};

/// Measure requests, streams, searches and runs.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench models")]
struct Arguments {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// The number of tools of a request.
const TOOLS: usize = 100;
/// The number of tools that are searched.
const INDEXED: usize = 1_000;
/// The number of calls of a run.
const CALLS: usize = 50;
/// The bytes of a stream.
const STREAM: usize = 1 << 20;
/// The number of runs; the fastest counts.
const RUNS: usize = 5;

const PRESETS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

const ARGS: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"The most results."},"state":{"type":"string","enum":["open","closed","all"]}},"required":["query"],"additionalProperties":false}"#;

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }
}

fn main() -> ExitCode {
    let Arguments { json } = Arguments::parse();
    match run() {
        Ok(comparisons) if json => print!("{}", json_lines(&comparisons)),
        Ok(comparisons) => println!("{}", table("models", &comparisons)),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(3);
        }
    }
    ExitCode::SUCCESS
}

fn run() -> io::Result<Vec<Comparison>> {
    let mut all = Vec::new();
    for name in PRESETS {
        all.push(request(name)?);
    }
    for name in ["openai", "anthropic"] {
        all.push(stream(name)?);
    }
    all.push(search());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    all.push(runtime.block_on(runs())?);
    Ok(all)
}

fn facts(preset: &Preset) -> io::Result<ModelFacts> {
    let dialect = Dialect::find(preset.dialect).map_err(io::Error::other)?;
    let (provider, model) = (preset.name.to_owned(), "a-model".to_owned());
    Ok(ModelFacts { provider, model, dialect })
}

/// Times a request with many tools.
fn request(name: &str) -> io::Result<Comparison> {
    let preset = Preset::find(name).map_err(io::Error::other)?;
    let facts = facts(preset)?;
    let names: Vec<String> = (0..TOOLS).map(|number| format!("find_{number}")).collect();
    let of = |name: &str, dialect: &Dialect| -> Projection {
        let subject = Subject { name, description: "Finds issues by their words.", args: ARGS };
        project(&subject, dialect, &Policy::default())
    };
    let both: Vec<_> = names
        .iter()
        .map(|name| (of(name, facts.dialect), of(name, facts.dialect.plain())))
        .collect();
    let tools = names.iter().zip(&both).map(|(name, (strict, plain))| Projections {
        name,
        strict,
        plain,
        strictness: Strictness::Prefer,
        is_deferred: false,
    });
    let tools: Vec<_> = tools.collect();
    let tools = place(&tools, facts.dialect);
    let messages = [Message::User("Find it.".to_owned())];
    let question = Question::new(&messages, &tools);
    preset.wire.request(&facts, &question, true).map_err(io::Error::other)?;
    let time = nanoseconds(100, || drop(black_box(preset.wire.request(&facts, &question, true))));
    Ok(goal(&format!("request with {TOOLS} tools, {name}"), time / 1e3, 100.0, "CPU µs"))
}

/// Times a long stream of small pieces.
fn stream(name: &str) -> io::Result<Comparison> {
    let preset = Preset::find(name).map_err(io::Error::other)?;
    let facts = facts(preset)?;
    let (begin, piece, end) = match name {
        "openai" => (
            "",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ),
        _ => (
            "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
    };
    let text = format!("{begin}{}{end}", piece.repeat(STREAM / piece.len()));
    let messages = [Message::User("Go on.".to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    let question = Question::new(&messages, &tools);
    let read = || {
        let mut reader = preset.wire.reader(&facts, &question);
        for chunk in text.as_bytes().chunks(16 << 10) {
            black_box(reader.feed(chunk));
        }
        reader.end()
    };
    read().map_err(io::Error::other)?;
    let time = nanoseconds(1, || drop(black_box(read())));
    Ok(goal(&format!("read a stream of 1 MiB, {name}"), time / 1e6, 5.0, "CPU ms"))
}

/// Times a search among many tools.
fn search() -> Comparison {
    let words = ["issue", "file", "user", "order", "page", "build", "alarm", "note", "map", "row"];
    let verbs = ["create", "delete", "list", "update", "search"];
    let specs: Vec<ToolSpec> = (0..INDEXED)
        .map(|number| {
            let (verb, word) = (verbs[number % 5], words[number / 5 % 10]);
            let spec = ToolSpec::new(format!("{verb}_{word}_{number}"));
            let mut spec = spec;
            spec.set_description(format!("Does {verb} for each {word} of the project {number}."));
            spec.set_args_schema(ARGS.to_owned());
            spec
        })
        .collect();
    let index = ToolIndex::new(specs.iter().map(|spec| (spec.name(), spec)));
    let query = "close the issue about the broken page";
    let time = nanoseconds(100, || drop(black_box(index.search(query, 8))));
    goal(&format!("search among {INDEXED} tools"), time / 1e3, 200.0, "CPU µs")
}

/// Times a run of many calls on a stage, and the same with pydantic-ai.
async fn runs() -> io::Result<Comparison> {
    let script = || {
        let call = || Reply::call("add", r#"{"a":1,"b":2}"#);
        let script = (0..CALLS).fold(Script::new(), |script, _| script.reply(call()));
        script.reply(Reply::text("done"))
    };
    let mut ours = f64::MAX;
    for _ in 0..RUNS {
        let stage = Stage::start(script()).await?;
        let preset = Preset::find("openai").map_err(io::Error::other)?;
        let client = Client::builder(preset, "a-model").with_base(stage.base()).with_key("none");
        let registry = Registry::new();
        let add = async |Numbers { a, b }: Numbers| a + b;
        registry.tool("add", "Add two numbers.", add).map_err(io::Error::other)?;
        let planner = ModelPlanner::new(client.build().map_err(io::Error::other)?);
        let agent = Agent::new("counter", "bench").with_tools(["add"]);
        registry.register_agent(agent, planner.into()).map_err(io::Error::other)?;
        let runtime = Runtime::new(registry);
        let start = Instant::now();
        let outcome = runtime.run(RunRequest::new("counter", Payload::new(r#""Add.""#))).await;
        ours = ours.min(start.elapsed().as_secs_f64());
        outcome.map_err(io::Error::other)?.result().map_err(io::Error::other)?;
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dialects-python");
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/peers");
    let python = PyPi::install(&pins, &target).map_err(|error| match error {
        NotInstalled::Missing(why) => io::Error::other(why),
        NotInstalled::Failed(error) => error,
    })?;
    let script_of_peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/run.py");
    let mut theirs = f64::MAX;
    for _ in 0..RUNS {
        let stage = Stage::start(script()).await?;
        let mut command = std::process::Command::new(python.program("python"));
        command.arg(&script_of_peer).arg(stage.base());
        let output = tokio::task::spawn_blocking(move || command.output()).await??;
        let seconds = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().ok();
        let failed = || io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned());
        theirs = theirs.min(seconds.ok_or_else(failed)?);
    }
    Ok(Comparison {
        peer_name: "pydantic-ai 2.68 (Python)",
        target: Some(1.0),
        ..goal(&format!("run of {CALLS} calls"), ours * 1e3, theirs * 1e3, "ms")
    })
}
