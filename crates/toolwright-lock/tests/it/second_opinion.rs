//! Asks jsoncompat about the schemas of all pairs of tests/cases and of changed tools of real servers. Each verdict that differs
//! from ours needs one of the reasons in tests/second_opinion/reasons.json. `UPDATE_EXPECT=1` writes the counts to docs/contract.md.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_lock::Finding;
use toolwright_prerequisites::{Npm, or_skip};

use crate::page;
use crate::pairs::{Pair, Role, listed, pairs_of_cases, pairs_of_listings};

/// Why the verdicts may differ. It applies if all its conditions do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    because: String,
    /// Whose verdict is that the change breaks something.
    breaks: Whose,
    /// All our findings that break something have one of these rules.
    rules: Option<Vec<String>>,
    /// The validator of jsoncompat accepts our witness by the schema of its writer, and refuses it by that of its reader.
    #[serde(default)]
    witness: bool,
    /// jsoncompat agrees if the objects of the writer that say nothing of further keys are closed.
    #[serde(default)]
    closed: bool,
    /// toolwright agrees if both schemas have no formats.
    #[serde(default)]
    formats: bool,
    /// jsoncompat does not answer, with a message that contains this.
    error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Whose {
    Toolwright,
    Jsoncompat,
    /// jsoncompat returns an error.
    Undecided,
}

/// The process that asks jsoncompat.
struct Jsoncompat {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Jsoncompat {
    /// `None` if the package cannot be installed; that is recorded as a skip.
    fn start() -> Option<Self> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = crates.join("../../target/second-opinion");
        let npm = or_skip(Npm::install(&crates.join("tests/second_opinion"), &folder))?;
        let mut script = npm.script("check.mjs").expect("the script can be copied");
        script.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = script.spawn().expect("node runs");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Some(Self { process, answers })
    }

    fn ask(&mut self, question: &Value) -> Value {
        let mut input = self.process.stdin.as_ref().expect("a pipe");
        writeln!(input, "{question}").expect("the script reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the script answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Returns whether a change is compatible, or why jsoncompat does not say so.
    fn is_compatible(&mut self, role: Role, old: &Value, new: &Value) -> Result<bool, String> {
        let role = if role == Role::Deserializer { "deserializer" } else { "serializer" };
        let question = json!({ "old": old.to_string(), "new": new.to_string(), "role": role });
        let answer = self.ask(&question);
        answer["compatible"].as_bool().ok_or_else(|| answer["error"].to_string())
    }

    fn is_valid(&mut self, schema: &Value, value: &str) -> bool {
        self.ask(&json!({ "schema": schema.to_string(), "value": value }))["valid"] == true
    }
}

impl Drop for Jsoncompat {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().expect("the script ends");
    }
}

impl Pair {
    /// Sorts the versions: that of who writes the values first.
    fn written<T>(&self, old: T, new: T) -> [T; 2] {
        if self.role == Role::Deserializer { [old, new] } else { [new, old] }
    }

    /// Returns whether the validator of jsoncompat confirms a witness of a finding that breaks.
    fn has_witness(&self, jsoncompat: &mut Jsoncompat) -> bool {
        self.breaking().into_iter().any(|finding| {
            let Some(value) = &finding.witness else { return false };
            // A property that one version does not have is shown by its object.
            let object = |place: &Option<String>| {
                place
                    .as_ref()
                    .and_then(|place| Some(place.rsplit_once("/properties/")?.0.to_owned()))
            };
            let (old, new) = match (&finding.at.old, &finding.at.new) {
                (Some(old), Some(new)) => (old.clone(), new.clone()),
                (old, new) => {
                    let place = object(old).or_else(|| object(new)).unwrap_or_default();
                    (place.clone(), place)
                }
            };
            let [writer, reader] = self.written(part(&self.old, &old), part(&self.new, &new));
            jsoncompat.is_valid(&writer, value) && !jsoncompat.is_valid(&reader, value)
        })
    }

    fn agrees_if_closed(&self, jsoncompat: &mut Jsoncompat) -> bool {
        let (mut old, mut new) = (self.old.clone(), self.new.clone());
        match self.role {
            Role::Deserializer => close(&mut old),
            Role::Serializer => close(&mut new),
        }
        jsoncompat.is_compatible(self.role, &old, &new) == Ok(true)
    }

    fn agrees_without_formats(&self) -> bool {
        let [old, new] = [&self.old, &self.new].map(without_formats);
        listed("", self.role, &old, &new).breaking().is_empty()
    }
}

impl Reason {
    fn explains(
        &self,
        pair: &Pair,
        whose: Whose,
        error: &str,
        jsoncompat: &mut Jsoncompat,
    ) -> bool {
        let breaking = pair.breaking();
        let is_listed = |rules: &Vec<String>| {
            breaking.iter().all(|finding| rules.iter().any(|rule| rule == finding.rule.id))
        };
        self.breaks == whose
            && self.rules.as_ref().is_none_or(is_listed)
            && self.error.as_ref().is_none_or(|part| error.contains(part))
            && (!self.witness || pair.has_witness(jsoncompat))
            && (!self.closed || pair.agrees_if_closed(jsoncompat))
            && (!self.formats || pair.agrees_without_formats())
    }
}

/// The part of a schema at a place, with the definitions that it may refer to.
fn part(schema: &Value, place: &str) -> Value {
    let mut part = schema.pointer(place).cloned().unwrap_or(Value::Bool(true));
    if let (Value::Object(part), Some(definitions)) = (&mut part, schema.get("$defs")) {
        part.insert("$defs".to_owned(), definitions.clone());
    }
    part
}

/// Closes the objects that say nothing of further keys.
fn close(schema: &mut Value) {
    const SAYING: [&str; 3] =
        ["additionalProperties", "patternProperties", "unevaluatedProperties"];
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(entries) => {
            entries.values_mut().for_each(close);
            let is_object = entries.get("properties").is_some_and(Value::is_object);
            if is_object && !SAYING.iter().any(|key| entries.contains_key(*key)) {
                entries.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        _ => {}
    }
}

/// A schema without its formats. No property is named so.
fn without_formats(schema: &Value) -> Value {
    let mut schema = schema.clone();
    match &mut schema {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_formats(item)),
        Value::Object(entries) => {
            if entries.get("format").is_some_and(Value::is_string) {
                entries.remove("format");
            }
            entries.values_mut().for_each(|entry| *entry = without_formats(entry));
        }
        _ => {}
    }
    schema
}

#[test]
fn jsoncompat_agrees_or_there_is_a_reason() {
    let Some(mut jsoncompat) = Jsoncompat::start() else { return };
    let reasons: Vec<Reason> =
        serde_json::from_str(include_str!("../second_opinion/reasons.json")).expect("reasons");
    let sources = [pairs_of_cases(), pairs_of_listings()];
    let mut agreed = [0; 2];
    let mut counts = vec![[0; 2]; reasons.len()];
    let mut unexplained = String::new();
    for (source, pairs) in sources.iter().enumerate() {
        for pair in pairs {
            let breaks = !pair.breaking().is_empty();
            let verdict = jsoncompat.is_compatible(pair.role, &pair.old, &pair.new);
            let (whose, error) = match &verdict {
                Ok(compatible) if *compatible != breaks => {
                    agreed[source] += 1;
                    continue;
                }
                Ok(true) => (Whose::Toolwright, ""),
                Ok(false) => (Whose::Jsoncompat, ""),
                Err(error) => (Whose::Undecided, error.as_str()),
            };
            let found = reasons
                .iter()
                .position(|reason| reason.explains(pair, whose, error, &mut jsoncompat));
            match found {
                Some(reason) => counts[reason][source] += 1,
                None => describe(&mut unexplained, pair, whose, error),
            }
        }
    }
    assert!(unexplained.is_empty(), "differences without a reason in reasons.json:\n{unexplained}");
    let mut table = String::from(
        "| breaking for | why the other one disagrees | pairs of cases | changed real tools |\n|---|---|--:|--:|\n",
    );
    let [cases, listings] = agreed;
    writeln!(table, "| both or none | | {cases} | {listings} |").expect("text");
    for (Reason { breaks, because, .. }, [cases, listings]) in reasons.iter().zip(counts) {
        assert!(cases + listings > 0, "no difference needs this reason: {because}");
        let whose = match breaks {
            Whose::Toolwright => "toolwright",
            Whose::Jsoncompat => "jsoncompat",
            Whose::Undecided => "jsoncompat gives no answer",
        };
        writeln!(table, "| {whose} | {because} | {cases} | {listings} |").expect("text");
    }
    page::check("second opinion", &table);
}

fn describe(text: &mut String, pair: &Pair, whose: Whose, error: &str) {
    let Pair { name, old, new, findings, .. } = pair;
    writeln!(text, "{name}: {whose:?} {error}\n  old: {old}\n  new: {new}").expect("text");
    for finding in findings {
        let Finding { rule, classes, proof, witness, at, .. } = finding;
        writeln!(
            text,
            "  {} caller={} reader={} {proof:?} {witness:?} {at:?}",
            rule.id, classes.caller, classes.reader
        )
        .expect("text");
    }
}
