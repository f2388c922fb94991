//! Runs random schemas in batches, checks every payload with every implementation, and collects counts and findings.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fastrand::Rng;
use toolwright::Value;

use crate::batch::{self, Batch, Subject};
use crate::oracle::Oracle;
use crate::peer::Peer;
use crate::record::Outcome;
use crate::verdict::{Fault, Questions, Side, Verdict, verdicts};
use crate::{payloads, schemas};

/// The number of tools in one program.
const BATCH: usize = 250;

/// The documented codes with which the compiler may refuse a random schema (docs/mistakes/README.md), and the reasons.
const DOCUMENTED: [(&str, &str); 10] = [
    ("bad-pattern", "a pattern that the engine cannot match"),
    ("default-breaks-schema", "a random default"),
    ("empty-range", "bounds that no value keeps"),
    ("endless-reference", "a cycle of references"),
    ("example-breaks-schema", "a random example"),
    ("impossible-property", "a required property that is not allowed"),
    ("name-clash", "names that are one identifier"),
    ("wrong-type-for-value", "a constant beside another `type`"),
    ("no-effect", "a keyword without effect"),
    ("not-an-object", "arguments that need not be an object"),
];

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of schemas.
    pub schemas: usize,
    /// The maximum number of payloads for each schema.
    pub payloads: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// True if the schemas that are made to take long are checked, too.
    pub adversaries: bool,
    /// The maximum number of findings of each kind that are shrunk.
    pub cases: usize,
}

/// A disagreement with the oracle, or a schema that cannot be used.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The implementation that is wrong.
    pub side: Side,
    /// The kind of fault.
    pub fault: Fault,
    /// The schema of the arguments.
    pub schema: Value,
    /// The payload, unless the finding is only about the schema.
    pub payload: Option<String>,
    /// The oracle's verdict on the payload.
    pub expected: Option<bool>,
    /// The message or the encoding of the implementation.
    pub message: String,
}

/// The counts and findings of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of schemas.
    pub schemas: usize,
    /// The number of payloads.
    pub payloads: usize,
    /// The number of payloads that the oracle accepts.
    pub valid: usize,
    /// The number of payloads that the oracle does not decide.
    pub undecided: usize,
    /// The number of verdicts of each implementation, and how many of them are right.
    pub verdicts: BTreeMap<Side, [usize; 2]>,
    /// The number of accepted payloads with numbers that were rounded to doubles.
    pub rounded: usize,
    /// The number of schemas that the compiler refuses for a documented reason, by code.
    pub refused: BTreeMap<String, usize>,
    /// All faults that random schemas show.
    pub findings: Vec<Finding>,
    /// The errors of the oracle.
    pub failures: Vec<String>,
    /// The faults of the schemas that are made to take long.
    pub adversaries: Vec<Finding>,
    /// Some of the findings, shrunk.
    pub cases: Vec<Finding>,
}

/// The folder and the oracle of a run.
pub(crate) struct Tools<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) oracle: Oracle,
}

/// Runs all batches below a folder, which is created if it does not exist.
///
/// # Errors
///
/// Returns an error if Python or cargo cannot be run, or the folder cannot be written.
pub fn run(options: Options, folder: &Path, progress: impl Fn(&Summary)) -> io::Result<Summary> {
    let folder = std::path::absolute(folder)?;
    let mut tools = Tools { folder: &folder, oracle: Oracle::install(&folder)? };
    let mut summary = Summary::default();
    while summary.schemas < options.schemas {
        let first = summary.schemas;
        let last = (first + BATCH).min(options.schemas);
        let trials: Vec<Trial> = (first..last).map(|index| Trial::new(index, options)).collect();
        tools.judge(&trials, &mut summary)?;
        summary.schemas = last;
        progress(&summary);
    }
    summary.failures = std::mem::take(&mut tools.oracle.failures);
    if options.adversaries {
        summary.adversaries = tools.adversaries()?;
    }
    if options.cases > 0 {
        summary.cases = tools.shrink(chosen(&summary.findings, options.cases))?;
    }
    Ok(summary)
}

/// Some findings of each kind, with different schemas, the smallest first.
fn chosen(findings: &[Finding], most: usize) -> Vec<Finding> {
    let size = |finding: &Finding| finding.schema.to_string().len();
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (finding.side, finding.fault, size(finding)));
    let mut chosen: Vec<Finding> = Vec::new();
    for finding in sorted {
        let same_kind = chosen
            .iter()
            .filter(|other| other.side == finding.side && other.fault == finding.fault);
        let (mut count, mut is_known) = (0, false);
        for other in same_kind {
            count += 1;
            is_known |= other.schema == finding.schema;
        }
        if count < most && !is_known {
            chosen.push(finding.clone());
        }
    }
    chosen
}

/// A schema and its payloads.
struct Trial {
    subject: Subject,
    schema: Value,
    payloads: Vec<String>,
}

impl Trial {
    /// Creates a trial with its own random numbers, so that it can be repeated without the others.
    fn new(index: usize, options: Options) -> Self {
        let mut rng =
            Rng::with_seed(options.seed.wrapping_mul(1_000_003).wrapping_add(index as u64));
        let schema = schemas::arguments(&mut rng);
        let payloads = payloads::payloads(&schema, options.payloads, &mut rng);
        Self {
            subject: Subject { name: format!("t{index}"), schema: schema.to_string() },
            schema,
            payloads,
        }
    }
}

impl Tools<'_> {
    fn judge(&mut self, trials: &[Trial], summary: &mut Summary) -> io::Result<()> {
        let subjects: Vec<Subject> = trials.iter().map(|trial| trial.subject.clone()).collect();
        let Batch { compiled, program } = batch::compile(&subjects, self.folder)?;
        let mut program = program.map_err(io::Error::other)?;
        for (trial, compiled) in trials.iter().zip(compiled) {
            let mut sides = vec![Side::RunTime];
            match &compiled.direct {
                Outcome::Accepted => sides.push(Side::Direct),
                outcome => summary.not_compiled(trial, Side::Direct, outcome),
            }
            match &compiled.imported {
                Outcome::Accepted if compiled.warnings.is_empty() => sides.push(Side::Imported),
                Outcome::Accepted => sides.push(Side::Warned),
                outcome => summary.not_compiled(trial, Side::Imported, outcome),
            }
            self.judge_payloads(trial, &sides, &mut program, summary)?;
        }
        Ok(())
    }

    fn judge_payloads(
        &mut self,
        trial: &Trial,
        sides: &[Side],
        program: &mut Peer,
        summary: &mut Summary,
    ) -> io::Result<()> {
        let Subject { name, schema } = &trial.subject;
        let expected = self.oracle.accepts_each(schema, &trial.payloads)?;
        summary.payloads += expected.len();
        summary.valid += expected.iter().filter(|expected| **expected == Some(true)).count();
        summary.undecided += expected.iter().filter(|expected| expected.is_none()).count();
        for &side in sides {
            let questions = Questions { side, name, schema, payloads: &trial.payloads };
            let verdicts = verdicts(questions, &expected, program, &mut self.oracle)?;
            let [all, agreed] = summary.verdicts.entry(side).or_default();
            for ((verdict, payload), expected) in
                verdicts.into_iter().zip(&trial.payloads).zip(&expected)
            {
                *all += usize::from(verdict != Verdict::Undecided);
                *agreed += usize::from(matches!(verdict, Verdict::Agreed | Verdict::Rounded));
                summary.rounded += usize::from(verdict == Verdict::Rounded);
                if let Verdict::Wrong(fault, message) = verdict {
                    summary.findings.push(Finding {
                        side,
                        fault,
                        schema: trial.schema.clone(),
                        payload: Some(payload.clone()),
                        expected: *expected,
                        message,
                    });
                    // The schema is at fault, so the other payloads show nothing new.
                    if side == Side::RunTime && fault == Fault::Unusable {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Summary {
    /// Counts a schema that was not compiled. It is a finding unless the error has a documented code.
    fn not_compiled(&mut self, trial: &Trial, side: Side, outcome: &Outcome) {
        let (fault, message) = match outcome {
            Outcome::Accepted => return,
            Outcome::Refused { code, message } => {
                if side == Side::Direct && DOCUMENTED.iter().any(|(known, _)| known == code) {
                    *self.refused.entry(code.clone()).or_default() += 1;
                    return;
                }
                let fault =
                    if side == Side::Direct { Fault::Refused } else { Fault::ImportRefused };
                (fault, format!("{code}: {message}"))
            }
            Outcome::Panicked { message } => (Fault::Panicked, message.clone()),
        };
        let schema = trial.schema.clone();
        self.findings.push(Finding { side, fault, schema, payload: None, expected: None, message });
    }
}
