//! `cargo xtask bench models [--json]`: writes requests, reads streams, searches tools, and runs an agent on a stage, which rig and
//! pydantic-ai do, too.

#[allow(unreachable_pub, reason = "it is the module of a library")]
#[path = "../../codecs/src/report.rs"]
mod report;
#[allow(unreachable_pub, dead_code, reason = "other benches have it, too")]
#[path = "../../codecs/src/timing.rs"]
mod timing;

mod runs;

use std::hint::black_box;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use toolwright::ToolSpec;
use toolwright::spec::Strictness;
use toolwright_dialect::{
    Dialect, Policy, Projection, Projections, Request, Subject, place, project,
};
use toolwright_model::{Message, ModelFacts, Preset, Question, ToolIndex};

use report::{Comparison, json_lines, table};
use timing::{goal, nanoseconds};

/// Measure requests, streams, searches and runs.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench models")]
struct Arguments {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Only run the agent once, with this library.
    #[arg(long, hide = true, requires = "base")]
    run: Option<runs::Library>,
    /// The address of the stage for this run.
    #[arg(long, hide = true)]
    base: Option<String>,
}

/// The number of tools of a request.
const TOOLS: usize = 100;
/// The number of tools that are searched.
const INDEXED: usize = 1_000;
/// The bytes of a stream.
const STREAM: usize = 1 << 20;

const PRESETS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

/// The streams that are read: the preset, the kind of events, the beginning, the event of a word, and the end. OpenAI writes the
/// keys of the second one, and others write as little as the third one.
const STREAMS: [(&str, &str, &str, &str, &str); 3] = [
    (
        "anthropic",
        "",
        "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    (
        "openai",
        "",
        "",
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1775744502,\"model\":\"gpt-5-2026\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n",
        OPENAI_END,
    ),
    (
        "openai",
        ", smallest events",
        "",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n",
        OPENAI_END,
    ),
];
const OPENAI_END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

const ARGS: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"The most results."},"state":{"type":"string","enum":["open","closed","all"]}},"required":["query"],"additionalProperties":false}"#;

fn main() -> ExitCode {
    let Arguments { json, run: once, base } = Arguments::parse();
    if let (Some(library), Some(base)) = (once, base) {
        let ran = asynchronous().and_then(|runtime| runtime.block_on(runs::once(library, &base)));
        if let Err(error) = &ran {
            eprintln!("error: {error}");
        }
        return if ran.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(3) };
    }
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
    for (preset, events, begin, piece, end) in STREAMS {
        all.push(stream(preset, events, [begin, piece, end])?);
    }
    all.push(search());
    all.extend(asynchronous()?.block_on(runs::compare())?);
    Ok(all)
}

fn asynchronous() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
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
fn stream(name: &str, events: &str, [begin, piece, end]: [&str; 3]) -> io::Result<Comparison> {
    let preset = Preset::find(name).map_err(io::Error::other)?;
    let facts = facts(preset)?;
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
    Ok(goal(&format!("read a stream of 1 MiB, {name}{events}"), time / 1e6, 5.0, "CPU ms"))
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
