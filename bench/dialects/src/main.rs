//! `cargo xtask bench dialects [--json]`: projects schemas into the dialects of providers, and brings values back. pydantic-ai's
//! transformer, which runs in Python, gets the same schema.

#[allow(unreachable_pub, reason = "it is the module of a library")]
#[path = "../../codecs/src/report.rs"]
mod report;
#[allow(unreachable_pub, reason = "other benches have it, too")]
#[path = "../../codecs/src/timing.rs"]
mod timing;

use std::hint::black_box;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{ExitCode, Stdio};

use clap::Parser;
use serde_json::{Value, json};
use toolwright_dialect::{Dialect, Policy, Projection, Subject, project};
use toolwright_prerequisites::{NotInstalled, PyPi};

use report::{Comparison, json_lines, table};
use timing::{cpu_seconds, goal, nanoseconds};

/// Compare projections with goals and with pydantic-ai.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench dialects")]
struct Arguments {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// The rows of the measurement with many tools.
const ROWS: [&str; 8] = [
    "openai-chat",
    "openai-chat-strict",
    "anthropic",
    "anthropic-strict",
    "gemini",
    "gemini-schema",
    "bedrock-strict",
    "llamacpp",
];
/// The number of tools, each with the same schema of 1 KB.
const TOOLS: usize = 1_000;
/// The number of definitions that refer to each other.
const DEFINITIONS: usize = 10_000;
/// The folder of the script and the requirements of the peer.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

fn main() -> ExitCode {
    let Arguments { json } = Arguments::parse();
    match run() {
        Ok(comparisons) if json => print!("{}", json_lines(&comparisons)),
        Ok(comparisons) => println!("{}", table("dialects", &comparisons)),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(3);
        }
    }
    ExitCode::SUCCESS
}

fn run() -> io::Result<Vec<Comparison>> {
    let schema = schema();
    let size = kilobytes(&schema);
    let project = nanoseconds(100, || drop(black_box(projected(&schema, "openai-chat-strict"))));
    let name = format!("project {size:.1} KB, OpenAI strict");
    let mut all = vec![goal(&name, project / 1e3, 30.0 * size, "CPU µs")];
    all.push(Comparison {
        peer_name: "pydantic-ai 2.68 (Python)",
        target: None,
        ..goal(&name, project / 1e3, peer(&schema)? / 1e3, "CPU µs")
    });
    let many = nanoseconds(1, || {
        for _ in 0..TOOLS {
            let tool = subject(&schema).read();
            for row in ROWS {
                black_box(tool.project(dialect(row), &Policy::default()));
            }
        }
    });
    let name = format!("project {TOOLS} tools × {} rows", ROWS.len());
    all.push(goal(&name, many / 1e6, 500.0, "CPU ms"));
    all.extend(values(&schema)?);
    all.extend(hostile());
    Ok(all)
}

/// Times the conversion of a provider's values back.
fn values(schema: &str) -> io::Result<[Comparison; 2]> {
    let arguments = arguments();
    let strict = projected(schema, "openai-chat-strict");
    let wire = strict.encode(&arguments).map_err(io::Error::other)?;
    let size = kilobytes(&wire);
    let decode = nanoseconds(1_000, || drop(black_box(strict.decode(&wire))));
    let plain = projected(schema, "openai-chat");
    let unchanged = nanoseconds(1_000, || drop(black_box(plain.decode(&arguments))));
    let copy = nanoseconds(1_000, || drop(black_box(arguments.clone())));
    let name = format!("decode {size:.1} KB with a plan");
    let free = Comparison {
        peer_name: "copying it",
        target: None,
        ..goal("decode without a plan", unchanged, copy, "CPU ns")
    };
    Ok([goal(&name, decode / 1e3, 3.0 * size, "CPU µs"), free])
}

/// Hostile schemas and values, in the row that takes longest.
fn hostile() -> Vec<Comparison> {
    let deep = format!("{}{{}}{}", "{\"properties\":{\"a\":".repeat(500), "}}".repeat(500));
    let definition = |number: usize| {
        let next = (number + 1) % DEFINITIONS;
        format!(
            "\"D{number}\":{{\"type\":\"object\",\"properties\":{{\"next\":{{\"$ref\":\"#/$defs/D{next}\"}}}}}}"
        )
    };
    let definitions: Vec<String> = (0..DEFINITIONS).map(definition).collect();
    let circle = format!(
        "{{\"type\":\"object\",\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/D0\"}}}},\"$defs\":{{{}}}}}",
        definitions.join(",")
    );
    let large = format!(
        "{{\"type\":\"object\",\"properties\":{{\"a\":{{\"type\":\"string\",\"description\":\"{}\"}}}}}}",
        "word ".repeat(2_000_000)
    );
    let mut all = Vec::new();
    for (name, schema) in [
        ("500 levels", &deep),
        ("10,000 definitions in a circle", &circle),
        ("a description of 10 MB", &large),
    ] {
        let (row, slowest) = slowest(|row| drop(black_box(projected(schema, row))));
        all.push(goal(&format!("project {name}, {row}"), slowest, 1_000.0, "CPU ms"));
    }
    let any = r#"{"type":"object","properties":{"value":{}},"required":["value"],"additionalProperties":false}"#;
    let text = format!("{{\"value\":[{}0]}}", "{\"a\":\"b c\"},".repeat(700_000));
    let (row, slowest) = slowest(|row| {
        let found = projected(any, row);
        if let Ok(wire) = found.encode(&text) {
            drop(black_box(found.decode(&wire)));
        }
    });
    all.push(goal(&format!("encode and decode 10 MB, {row}"), slowest, 1_000.0, "CPU ms"));
    all
}

/// Returns the row that takes longest, and its milliseconds.
fn slowest(mut work: impl FnMut(&'static str)) -> (&'static str, f64) {
    let time = |row: &'static Dialect| {
        let start = cpu_seconds();
        work(row.id());
        (row.id(), (cpu_seconds() - start) * 1e3)
    };
    let times = Dialect::all().map(time);
    times.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "the texts are short")]
fn kilobytes(text: &str) -> f64 {
    text.len() as f64 / 1024.0
}

fn projected(schema: &str, row: &str) -> Projection {
    project(&subject(schema), dialect(row), &Policy::default())
}

fn subject(schema: &str) -> Subject<'_> {
    Subject { name: "plan_release", description: "Plan a release.", args: schema }
}

fn dialect(row: &str) -> &'static Dialect {
    // The rows are compiled in.
    Dialect::named(row).unwrap_or_else(|| unreachable!("there is no row `{row}`"))
}

/// Returns the nanoseconds that the peer takes.
fn peer(schema: &str) -> io::Result<f64> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dialects-python");
    let python = PyPi::install(Path::new(PINS), &target).map_err(|error| match error {
        NotInstalled::Missing(why) => io::Error::other(why),
        NotInstalled::Failed(error) => error,
    })?;
    let mut process =
        python.script("transform.py").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let schema: Value = serde_json::from_str(schema)?;
    let question = json!({ "by": "pydantic-ai, OpenAI", "schema": schema, "times": 2_000 });
    if let Some(mut input) = process.stdin.take() {
        writeln!(input, "{question}")?;
    }
    let answer: Value = serde_json::from_slice(&process.wait_with_output()?.stdout)?;
    answer["ns"].as_f64().ok_or_else(|| io::Error::other(format!("the peer answered {answer}")))
}

/// A schema of a kilobyte, with the usual parts of real tools: optional properties, limits, an enum, a list of objects, a map.
fn schema() -> String {
    let step = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["title"],
        "properties": {
            "title": { "type": "string", "minLength": 1, "maxLength": 120 },
            "assignee": { "type": ["string", "null"], "description": "The login of a person." },
            "due": { "type": "string", "format": "date" },
            "effort": { "type": "integer", "minimum": 0, "maximum": 100, "default": 1 },
        },
    });
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "steps"],
        "properties": {
            "name": { "type": "string", "description": "The name of the release.", "maxLength": 80 },
            "channel": { "type": "string", "enum": ["stable", "beta", "nightly"], "default": "stable" },
            "steps": { "type": "array", "items": step, "minItems": 1, "maxItems": 50 },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "notify": { "type": "array", "items": { "type": "string", "format": "email" }, "uniqueItems": true },
            "notes": { "type": "string", "description": "What the people who use it should know. Markdown." },
            "dry_run": { "type": "boolean", "default": false },
        },
    });
    schema.to_string()
}

fn arguments() -> String {
    let step = |number: u8| json!({ "title": format!("Step {number}: build"), "assignee": null, "due": "2026-12-01", "effort": number });
    let steps: Vec<Value> = (0..10).map(step).collect();
    let labels = json!({ "area": "io", "size": "L" });
    json!({ "name": "Winter", "steps": steps, "labels": labels, "notes": "Nothing to do." })
        .to_string()
}
