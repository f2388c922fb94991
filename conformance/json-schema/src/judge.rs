//! Runs instances through the generated codecs and compares the verdicts with those of the rows.

use std::collections::BTreeMap;
use std::fmt;

use toolwright::value::Number;
use toolwright::{InvalidPayload, Value};

use crate::generated;
use crate::record::{Area, Case, Outcome, Record, Row, Side, Source};
use crate::tools::{GeneratedTool, RoundTrip};

/// The results for one source.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The source.
    pub source: &'a Source,
    /// The number of instances on which codec and file agree.
    pub agreed: usize,
    /// The number of these with numbers that no double holds, which were rounded to the nearest one.
    pub rounded: usize,
    /// The number of instances for which the schema language differs from the file, and the codec follows the language.
    pub decided: usize,
    /// The instances on which codec and file disagree.
    pub disagreed: Vec<Disagreement<'a>>,
    /// The cases that the compiler refused.
    pub refused: Vec<Refusal<'a>>,
    /// Faults such as panics of the compiler and tools that are missing from the generated code.
    pub broken: Vec<String>,
}

/// A case that the compiler refused.
#[derive(Debug)]
pub struct Refusal<'a> {
    /// The case.
    pub case: &'a Case,
    /// The code of the first error.
    pub code: &'a str,
    /// Its message.
    pub message: &'a str,
}

/// An instance for which a codec disagrees with the file, or which it changes when it encodes it again.
#[derive(Debug)]
pub struct Disagreement<'a> {
    /// The file.
    pub source: &'a Source,
    /// The schema.
    pub case: &'a Case,
    /// The instance.
    pub row: &'a Row,
    /// The verdicts of the codecs.
    pub verdicts: Vec<Verdict>,
}

/// The verdict of one codec on an instance.
#[derive(Debug)]
pub struct Verdict {
    /// The place of the instance in the payload.
    pub place: &'static str,
    /// `Ok` if the codec accepted it, else the issues.
    pub checked: Result<(), InvalidPayload>,
    /// The result of comparing the accepted instance with its encoding.
    pub reencoded: Reencoded,
}

/// The result of decoding and encoding a payload.
#[derive(Debug)]
pub enum Reencoded {
    /// The same JSON value.
    Same,
    /// The same value, except that numbers that no double holds were rounded to the nearest one.
    Rounded,
    /// Another value, which is always a fault.
    Changed(String),
}

/// Judges all sources of an area.
pub fn judge(record: &Record, area: Area) -> Vec<Judged<'_>> {
    let modules: BTreeMap<_, _> = generated::all().into_iter().collect();
    let sources = record.sources.iter().filter(|source| source.area == area);
    sources
        .map(|source| {
            let tools = modules.get(source.module.as_str());
            Judged::of(source, tools.map_or(&[], Vec::as_slice))
        })
        .collect()
}

impl<'a> Judged<'a> {
    fn of(source: &'a Source, tools: &[GeneratedTool]) -> Self {
        let mut judged = Self {
            source,
            agreed: 0,
            rounded: 0,
            decided: 0,
            disagreed: Vec::new(),
            refused: Vec::new(),
            broken: Vec::new(),
        };
        if let Some(message) = &source.together {
            judged.broken.push(format!("{}: the cases clash: {message}", source.name));
        }
        for case in &source.cases {
            judged.take(case, tools);
        }
        judged
    }

    fn take(&mut self, case: &'a Case, tools: &[GeneratedTool]) {
        let name = format!("{}: {}", self.source.name, case.title);
        match &case.outcome {
            Outcome::Refused { code, message } => {
                self.refused.push(Refusal { case, code, message });
            }
            Outcome::Panicked { message } => self.broken.push(format!("{name}: {message}")),
            Outcome::Accepted => match tools.iter().find(|tool| is_for(tool, case)) {
                Some(tool) => self.take_rows(case, tool),
                None => self.broken.push(format!("{name}: no tool was generated for it")),
            },
        }
    }

    fn take_rows(&mut self, case: &'a Case, tool: &GeneratedTool) {
        for row in &case.rows {
            let verdicts = verdicts(tool, row, case.schema.contains("\"default\""));
            if !verdicts.iter().all(|verdict| verdict.is_right(row.valid)) {
                self.disagreed.push(Disagreement { source: self.source, case, row, verdicts });
                continue;
            }
            self.rounded += usize::from(verdicts.iter().any(Verdict::is_rounded));
            self.decided += usize::from(row.decided);
            self.agreed += usize::from(!row.decided);
        }
    }

    /// The number of instances of the source.
    pub fn rows(&self) -> usize {
        self.source.cases.iter().map(|case| case.rows.len()).sum()
    }

    /// The number of instances of refused cases.
    pub fn refused_rows(&self) -> usize {
        self.refused.iter().map(|refusal| refusal.case.rows.len()).sum()
    }
}

/// Returns whether a tool was generated for a case. An imported tool has the name of the case on its server.
fn is_for(tool: &GeneratedTool, case: &Case) -> bool {
    tool.spec.remote_name().unwrap_or(tool.spec.name()) == case.tool
}

/// The verdicts of the codecs on an instance. `fills` is true if its schema has defaults, which decoding fills in.
fn verdicts(tool: &GeneratedTool, row: &Row, fills: bool) -> Vec<Verdict> {
    let args = |place, json: &str| {
        Verdict::of(place, tool.spec.check_args(json.as_bytes()), || {
            reencoded(tool.args, json, fills)
        })
    };
    let result = |place, json: &str| {
        Verdict::of(place, tool.spec.check_result(json.as_bytes()), || {
            reencoded(tool.result, json, fills)
        })
    };
    match row.side {
        Side::Args => vec![args("args", &row.json)],
        Side::Result => vec![result("result", &row.json)],
        Side::Both => {
            let nested = format!("{{\"value\":{}}}", row.json);
            vec![args("property", &nested), result("root", &row.json)]
        }
    }
}

impl Verdict {
    fn of(
        place: &'static str,
        checked: Result<(), InvalidPayload>,
        reencoded: impl FnOnce() -> Reencoded,
    ) -> Self {
        let reencoded = if checked.is_ok() { reencoded() } else { Reencoded::Same };
        Self { place, checked, reencoded }
    }

    fn is_right(&self, valid: bool) -> bool {
        self.checked.is_ok() == valid && !matches!(self.reencoded, Reencoded::Changed(_))
    }

    fn is_rounded(&self) -> bool {
        matches!(self.reencoded, Reencoded::Rounded)
    }
}

fn reencoded(round_trip: RoundTrip, json: &str, fills: bool) -> Reencoded {
    let text = match round_trip(json.as_bytes()) {
        Ok(text) => text,
        Err(issues) => return Reencoded::Changed(format!("an error: {issues}")),
    };
    match (json.parse(), text.parse()) {
        (Ok(before), Ok(after)) if is_alike(&before, &after, fills, |a, b| a == b) => {
            Reencoded::Same
        }
        (Ok(before), Ok(after)) if is_alike(&before, &after, fills, is_rounded) => {
            Reencoded::Rounded
        }
        _ => Reencoded::Changed(text),
    }
}

/// Returns whether two numbers have the same nearest double.
fn is_rounded(before: &Number, after: &Number) -> bool {
    before.as_f64().to_bits() == after.as_f64().to_bits()
}

/// Returns whether two values are equal; with `fills`, objects of the second may have more keys.
fn is_alike(
    before: &Value,
    after: &Value,
    fills: bool,
    is_same: fn(&Number, &Number) -> bool,
) -> bool {
    match (before, after) {
        (Value::Number(before), Value::Number(after)) => is_same(before, after),
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(a, b)| is_alike(a, b, fills, is_same))
        }
        (Value::Object(before), Value::Object(after)) => {
            (fills || before.len() == after.len())
                && before.iter().all(|(key, before)| {
                    after.get(key).is_some_and(|after| is_alike(before, after, fills, is_same))
                })
        }
        _ => before == after,
    }
}

impl fmt::Display for Disagreement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, case, row, verdicts } = self;
        writeln!(f, "{} / {} / {}", source.name, case.title, row.title)?;
        writeln!(f, "  schema:   {}", on_one_line(&case.schema))?;
        writeln!(f, "  instance: {}", on_one_line(&row.json))?;
        writeln!(f, "  expected: {}", if row.valid { "valid" } else { "invalid" })?;
        verdicts.iter().try_for_each(|verdict| write!(f, "{verdict}"))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, checked, reencoded } = self;
        match checked {
            Ok(()) => writeln!(f, "  {place}: valid")?,
            Err(issues) => writeln!(f, "  {place}: {}", on_one_line(&issues.to_string()))?,
        }
        match reencoded {
            Reencoded::Changed(text) => {
                writeln!(f, "  {place}: encoded again it is {}", on_one_line(text))
            }
            Reencoded::Same | Reencoded::Rounded => Ok(()),
        }
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
