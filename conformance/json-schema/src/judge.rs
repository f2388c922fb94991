//! Instances through the generated codecs. Never decides what is right: the rows say so.

use std::collections::BTreeMap;
use std::fmt;

use toolwright::value::Number;
use toolwright::{InvalidPayload, Value};

use crate::generated;
use crate::record::{Area, Case, Outcome, Record, Row, Side, Source};
use crate::tools::{GeneratedTool, RoundTrip};

/// What came of one source.
#[derive(Debug)]
pub struct Judged<'a> {
    /// Which one.
    pub source: &'a Source,
    /// Instances on which codec and file agree.
    pub agreed: usize,
    /// Among them those whose numbers are beyond a double and came out as the nearest one.
    pub rounded: usize,
    /// Instances that the schema language decides otherwise than the file, and the codec as the language does.
    pub decided: usize,
    /// Instances on which they do not agree.
    pub disagreed: Vec<Disagreement<'a>>,
    /// Cases the compiler refused.
    pub refused: Vec<Refusal<'a>>,
    /// What must never happen: panics of the compiler, tools that are missing from the generated code.
    pub broken: Vec<String>,
}

/// A case the compiler refused.
#[derive(Debug)]
pub struct Refusal<'a> {
    /// Which one.
    pub case: &'a Case,
    /// The code of the first error.
    pub code: &'a str,
    /// Its message.
    pub message: &'a str,
}

/// An instance that a codec judges otherwise than its file, or changes on its way through.
#[derive(Debug)]
pub struct Disagreement<'a> {
    /// The file.
    pub source: &'a Source,
    /// The schema.
    pub case: &'a Case,
    /// The instance.
    pub row: &'a Row,
    /// What the codecs said.
    pub verdicts: Vec<Verdict>,
}

/// What one codec said about an instance.
#[derive(Debug)]
pub struct Verdict {
    /// Where the instance stood.
    pub place: &'static str,
    /// Whether it was accepted.
    pub checked: Result<(), InvalidPayload>,
    /// What became of it, if it was.
    pub fate: Fate,
}

/// What decoding and encoding make of a payload.
#[derive(Debug)]
pub enum Fate {
    /// The same JSON value.
    Same,
    /// The same but for numbers beyond a double, which came out as the nearest one.
    Rounded,
    /// Something else: never right.
    Changed(String),
}

/// Judges every source of an area.
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
                None => self.broken.push(format!("{name}: no generated tool stands for it")),
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

    /// How many instances the source has.
    pub fn rows(&self) -> usize {
        self.source.cases.iter().map(|case| case.rows.len()).sum()
    }

    /// How many instances belong to refused cases.
    pub fn refused_rows(&self) -> usize {
        self.refused.iter().map(|refusal| refusal.case.rows.len()).sum()
    }
}

/// A tool of a server is found by its name there.
fn is_for(tool: &GeneratedTool, case: &Case) -> bool {
    tool.spec.remote_name().unwrap_or(tool.spec.name()) == case.tool
}

/// What codecs say of an instance; `fills` says whether its schema has defaults, which encoding fills in.
fn verdicts(tool: &GeneratedTool, row: &Row, fills: bool) -> Vec<Verdict> {
    let args = |place, json: &str| {
        Verdict::of(place, tool.spec.check_args(json.as_bytes()), || fate(tool.args, json, fills))
    };
    let result = |place, json: &str| {
        Verdict::of(place, tool.spec.check_result(json.as_bytes()), || {
            fate(tool.result, json, fills)
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
        fate: impl FnOnce() -> Fate,
    ) -> Self {
        let fate = if checked.is_ok() { fate() } else { Fate::Same };
        Self { place, checked, fate }
    }

    fn is_right(&self, valid: bool) -> bool {
        self.checked.is_ok() == valid && !matches!(self.fate, Fate::Changed(_))
    }

    fn is_rounded(&self) -> bool {
        matches!(self.fate, Fate::Rounded)
    }
}

fn fate(round_trip: RoundTrip, json: &str, fills: bool) -> Fate {
    let text = match round_trip(json.as_bytes()) {
        Ok(text) => text,
        Err(issues) => return Fate::Changed(format!("an error: {issues}")),
    };
    match (json.parse(), text.parse()) {
        (Ok(before), Ok(after)) if is_alike(&before, &after, fills, |a, b| a == b) => Fate::Same,
        (Ok(before), Ok(after)) if is_alike(&before, &after, fills, is_rounded) => Fate::Rounded,
        _ => Fate::Changed(text),
    }
}

/// Whether a double is the nearest one to a number.
fn is_rounded(before: &Number, after: &Number) -> bool {
    before.as_f64().to_bits() == after.as_f64().to_bits()
}

/// Whether two values have the same numbers, texts and keys; the second may have more keys where defaults are filled in.
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
        let Self { place, checked, fate } = self;
        match checked {
            Ok(()) => writeln!(f, "  {place}: valid")?,
            Err(issues) => writeln!(f, "  {place}: {}", on_one_line(&issues.to_string()))?,
        }
        match fate {
            Fate::Changed(text) => {
                writeln!(f, "  {place}: encoded again it is {}", on_one_line(text))
            }
            Fate::Same | Fate::Rounded => Ok(()),
        }
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
