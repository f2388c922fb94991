//! Compares projections with what other clients make of the same tools. Their transforms run in Python, in the versions of
//! `bench/dialects/peers/requirements.txt`.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};

use fastrand::Rng;
use serde_json::{Value, json};
use toolwright_dialect::{Class, Dialect, Policy, Projection, Subject, project};
use toolwright_prerequisites::{PyPi, or_skip};

use crate::laws::{Laws, Validators, without_nullable};
use crate::rules;
use crate::tools::{Tool, has_corpus, tools};

/// The transforms of other clients, each with the dialect that it is for.
const PEERS: [(&str, &str); 7] = [
    ("openai-python", "openai-chat-strict"),
    ("pydantic-ai, OpenAI", "openai-chat-strict"),
    ("anthropic-sdk-python", "anthropic-strict"),
    ("pydantic-ai, Anthropic", "anthropic-strict"),
    ("pydantic-ai, Bedrock", "bedrock-strict"),
    ("pydantic-ai, Google", "gemini"),
    ("pydantic-ai, Google Live", "gemini-live"),
];

/// The number of values that are tried with a schema, on each side.
const VALUES: usize = 12;

/// Keywords that restrict values, apart from those that say how a value is built.
const RULES: [&str; 24] = [
    "const",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "uniqueItems",
];

/// The process that transforms schemas.
struct Transforms {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Transforms {
    /// `None` if the packages cannot be installed; that is recorded as a skip.
    fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pins = root.join("bench/dialects/peers");
        let python = or_skip(PyPi::install(&pins, &root.join("target/dialects-python")))?;
        let mut script = python.script("transform.py");
        let mut process = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Some(Self { process, answers })
    }

    /// Returns the schema that a client sends, or why it sends none.
    fn schema(&mut self, by: &str, schema: &Value) -> Result<Value, String> {
        let question = json!({ "by": by, "schema": schema });
        writeln!(self.process.stdin.as_ref().unwrap(), "{question}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        match answer["error"].take() {
            Value::Null => Ok(answer["schema"].take()),
            error => Err(error.to_string()),
        }
    }
}

impl Drop for Transforms {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// The findings about one tool.
#[derive(Debug, Default)]
struct Found {
    is_refused: bool,
    breaks_a_rule: bool,
    /// A keyword is neither in the schema that is sent nor in the description of its node.
    drops_a_keyword: bool,
    /// The schema that is sent accepts a value that the tool refuses.
    accepts_more: bool,
    /// The schema that is sent refuses a value that the tool accepts.
    accepts_less: bool,
    /// One of these differences was not reported.
    is_unreported: bool,
}

/// The number of tools with each finding.
#[derive(Default)]
struct Counts([usize; 6]);

impl Counts {
    fn add(&mut self, found: &Found) {
        let flags = [
            found.is_refused,
            found.breaks_a_rule,
            found.drops_a_keyword,
            found.accepts_more,
            found.accepts_less,
            found.is_unreported,
        ];
        for (count, flag) in self.0.iter_mut().zip(flags) {
            *count += usize::from(flag);
        }
    }

    fn row(&self, client: &str, dialect: &str) -> String {
        let counts = self.0.map(|count| count.to_string()).join(" | ");
        format!("| {client} | {dialect} | {counts} |\n")
    }
}

/// A tool, with values of its own schema.
struct Case<'a> {
    tool: &'a Tool,
    schema: Value,
    laws: Laws,
    /// Values that the tool accepts.
    valid: Vec<String>,
}

impl<'a> Case<'a> {
    fn of(tool: &'a Tool) -> Self {
        let laws = Laws::of(&tool.schema).unwrap();
        let made = values(&tool.schema);
        let valid = tool.valid.iter().cloned().chain(made).filter(|value| laws.accepts(value));
        Self {
            tool,
            schema: serde_json::from_str(&tool.schema).unwrap(),
            valid: valid.collect(),
            laws,
        }
    }

    /// Judges what a client sends. The values that a model sends go to the tool as they are.
    fn judge(&self, dialect: &Dialect, sent: &Value) -> (Found, Vec<&String>) {
        let text = without_nullable(&sent.to_string().parse().unwrap()).to_string();
        let validators = Validators::of(&text).ok();
        let accepts = |value: &String| {
            validators.as_ref().is_some_and(|wire| wire.accept(value, &mut Vec::new()))
        };
        let both: Vec<&String> = self.valid.iter().filter(|value| accepts(value)).collect();
        let found = Found {
            breaks_a_rule: validators.is_none() || !rules::broken(dialect, sent).is_empty(),
            drops_a_keyword: !dropped(&self.schema, sent, "").is_empty(),
            accepts_more: values(&text)
                .iter()
                .any(|wire| accepts(wire) && !self.laws.accepts(wire)),
            accepts_less: both.len() < self.valid.len(),
            ..Found::default()
        };
        // None of the clients returns a list of differences.
        let is_unreported = found.drops_a_keyword || found.accepts_more || found.accepts_less;
        (Found { is_unreported, ..found }, both)
    }

    /// Judges our projection, whose values are decoded before they go to the tool.
    fn judge_ours(&self, dialect: &Dialect, found: &Projection) -> Found {
        if found.class == Class::Refused {
            return Found { is_refused: true, ..Found::default() };
        }
        // A tool without a schema has no arguments.
        let nothing =
            || json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let sent = found.wire_schema.as_ref();
        let sent = sent.map_or_else(nothing, |text| serde_json::from_str(text).unwrap());
        let text = without_nullable(&sent.to_string().parse().unwrap()).to_string();
        let wire = Validators::of(&text).unwrap();
        let accepts_more = values(&text).iter().any(|value| {
            let is_valid = |value: &str| {
                let decoded = found.decode(value);
                decoded.is_ok_and(|decoded| self.laws.accepts(decoded.canonical.as_str()))
            };
            wire.accept(value, &mut Vec::new()) && !is_valid(value)
        });
        let accepts_less = self.valid.iter().any(|value| found.encode(value).is_err());
        let places = dropped(&self.schema, &sent, "");
        let reported: BTreeSet<&str> = found.losses.iter().map(|loss| loss.at.as_str()).collect();
        let is_silent = places.iter().any(|place| !reported.contains(place.as_str()));
        Found {
            is_refused: false,
            breaks_a_rule: found.wire_schema.is_some() && !rules::broken(dialect, &sent).is_empty(),
            drops_a_keyword: is_silent,
            accepts_more,
            accepts_less,
            is_unreported: is_silent
                || (accepts_more && found.class < Class::Widened)
                || (accepts_less && found.class < Class::Narrowed),
        }
    }
}

/// Random values for a schema, about half of which are valid.
fn values(schema: &str) -> Vec<String> {
    let schema = schema.parse().unwrap();
    toolwright_judge::payloads(&schema, VALUES, &mut Rng::with_seed(11))
}

/// The places of keywords of `before` that are not in the same node of `after` or one of its alternatives, nor named in its
/// description. A node whose values have become another type is not compared, nor is one that is elsewhere in `after`.
fn dropped(before: &Value, after: &Value, at: &str) -> Vec<String> {
    let same_type = before["type"].is_null()
        || after["type"].is_null()
        || rules::kinds(before).iter().any(|kind| rules::kinds(after).contains(kind));
    let (Some(entries), true) = (before.as_object(), after.is_object() && same_type) else {
        return Vec::new();
    };
    let alternatives = after["anyOf"].as_array().into_iter().flatten();
    let nodes: Vec<&Value> = alternatives.chain([after]).collect();
    let has = |keyword: &str| nodes.iter().any(|node| node.get(keyword).is_some());
    let words = after["description"].as_str().unwrap_or_default().to_lowercase();
    let is_kept = |keyword: &str| match keyword {
        "const" | "enum" => has("const") || has("enum"),
        _ => has(keyword) || words.contains(&keyword.to_lowercase()),
    };
    let own = entries.keys().filter(|keyword| RULES.contains(&keyword.as_str()));
    let own = own.filter(|keyword| !is_kept(keyword));
    let mut all: Vec<String> = own.map(|keyword| format!("{at}/{keyword}")).collect();
    for (place, inner) in rules::inner(before) {
        if let Some(same) = after.pointer(&place) {
            all.extend(dropped(inner, same, &format!("{at}{place}")));
        }
    }
    all
}

/// The text of the page above its table.
const PAGE: &str = "# Tools of real servers in other clients

The other clients that fit schemas to providers, on the tools of 42 real MCP servers, as `cargo xtask dialects --peers` counts them.
2026-11-25; the versions are in [`requirements.txt`](../bench/dialects/peers/requirements.txt). Numbers of tools; twelve random values
were tried on each side of a schema, besides recorded arguments.

- *fails*: the client raises an error, or the projection is refused.
- *breaks a rule*: the schema that is sent breaks a rule of the [dialect](guide/dialects.md), so the provider is expected to refuse it.
- *drops a keyword*: a rule is neither in the schema that is sent nor in a description.
- *accepts more*: a value that fits the schema that is sent is refused by the tool.
- *accepts less*: a value that the tool accepts does not fit the schema that is sent.
- *unreported*: one of the last three, and the caller is not told. Projections list each as a loss; the other clients return a schema.

Clients accept less mostly because they require optional arguments without a form for their absence. Projections accept more
where they keep maps and values of any type, as arrays of pairs and JSON text: two pairs with one key, and text that is not JSON,
are found by decoding. The other clients close such objects, so that only `{}` is left.

";

/// Clients accept at most what projections accept: each value of a tool that a client lets through by a schema within the rules
/// of the dialect has a form in the projection, too. `UPDATE_EXPECT=1` writes the page if all tools are tried.
#[test]
fn no_client_lets_a_value_through_that_a_projection_cannot_say() {
    if !has_corpus() {
        return;
    }
    let Some(mut transforms) = Transforms::start() else { return };
    let every = std::env::var("TOOLWRIGHT_EVERY_TOOL").map_or(8, |every| every.parse().unwrap());
    let tools: Vec<Tool> = tools().into_iter().step_by(every).collect();
    let cases: Vec<Case<'_>> = tools.iter().map(Case::of).collect();
    let mut rows = String::new();
    let mut broken = Vec::new();
    for (by, id) in PEERS {
        let dialect = Dialect::named(id).unwrap();
        let (mut theirs, mut ours) = (Counts::default(), Counts::default());
        for case in &cases {
            let Tool { server, name, description, schema, .. } = case.tool;
            let projection =
                project(&Subject { name, description, args: schema }, dialect, &Policy::default());
            let found = case.judge_ours(dialect, &projection);
            if found.is_unreported || found.breaks_a_rule {
                broken.push(format!("{id} {server}/{name}: {found:?}"));
            }
            ours.add(&found);
            let Ok(sent) = transforms.schema(by, &case.schema) else {
                theirs.add(&Found { is_refused: true, ..Found::default() });
                continue;
            };
            let (found, both) = case.judge(dialect, &sent);
            if !found.breaks_a_rule {
                let unsaid = both.iter().filter_map(|value| projection.encode(value).err());
                broken.extend(unsaid.map(|error| format!("{by} {server}/{name}: {error}")));
            }
            theirs.add(&found);
        }
        rows.push_str(&theirs.row(by, id));
        if PEERS.iter().rfind(|(_, other)| *other == id) == Some(&(by, id)) {
            rows.push_str(&ours.row("toolwright", id));
        }
    }
    eprintln!("{rows}");
    for line in broken.iter().take(40) {
        eprintln!("{}", line.chars().take(400).collect::<String>());
    }
    assert_eq!(broken.len(), 0);
    if every == 1 {
        let head = "client | dialect | fails | breaks a rule | drops a keyword | accepts more | accepts less | unreported";
        let page = format!(
            "{PAGE}Of {} tools:\n\n| {head} |\n|---|---|{}\n{rows}",
            tools.len(),
            "--:|".repeat(6)
        );
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dialects-peers.md");
        expect_test::expect_file![path].assert_eq(&page);
    }
}
