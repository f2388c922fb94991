//! A run: random schemas in batches, every payload on every side, and the counts and findings that come of it.

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

/// How many tools are compiled into one program.
const BATCH: usize = 250;

/// The codes with which the compiler refuses a schema by the book (docs/mistakes/README.md), and why a random schema meets them.
const DOCUMENTED: [(&str, &str); 10] = [
    ("bad-pattern", "a pattern that the engine cannot match"),
    ("default-breaks-schema", "a random default"),
    ("empty-range", "bounds that no value keeps"),
    ("endless-reference", "a circle of references"),
    ("example-breaks-schema", "a random example"),
    ("impossible-property", "a required property that is not allowed"),
    ("name-clash", "names that are one identifier"),
    ("wrong-type-for-value", "a constant beside another `type`"),
    ("no-effect", "a keyword that says nothing"),
    ("not-an-object", "arguments that may be something else than an object"),
];

/// What a run is given.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many schemas.
    pub schemas: usize,
    /// How many payloads for each of them, at most.
    pub payloads: usize,
    /// Where the random numbers begin.
    pub seed: u64,
    /// Whether what is made to take long is judged, too.
    pub adversaries: bool,
    /// How many findings of each kind are made small.
    pub cases: usize,
}

/// A disagreement, or a schema that nobody can use.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Who is wrong.
    pub side: Side,
    /// How.
    pub fault: Fault,
    /// The schema of the arguments.
    pub schema: Value,
    /// The payload, unless it is about the schema alone.
    pub payload: Option<String>,
    /// What the oracle says of it.
    pub expected: Option<bool>,
    /// What was said.
    pub said: String,
}

/// What a run counted and found.
#[derive(Debug, Default)]
pub struct Outline {
    /// Schemas tried.
    pub schemas: usize,
    /// Payloads made.
    pub payloads: usize,
    /// Payloads that the oracle accepts.
    pub valid: usize,
    /// Payloads that the oracle does not decide.
    pub undecided: usize,
    /// Verdicts of each side, and those among them that agree.
    pub verdicts: BTreeMap<Side, [usize; 2]>,
    /// Accepted payloads that came out with numbers rounded to doubles.
    pub rounded: usize,
    /// Schemas that the compiler refuses by the book, by code.
    pub refused: BTreeMap<String, usize>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
    /// What went wrong inside the oracle.
    pub failures: Vec<String>,
    /// What takes too long, or is wrong, of the sets that are made to take long.
    pub adversaries: Vec<Finding>,
    /// Some of it, made as small as it gets.
    pub cases: Vec<Finding>,
}

/// What a run uses.
pub(crate) struct Tools<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) oracle: Oracle,
}

/// Runs all batches, below a folder that is made where it is not there.
///
/// # Errors
///
/// When Python or cargo cannot be run, or the folder cannot be written.
pub fn run(options: Options, folder: &Path, progress: impl Fn(&Outline)) -> io::Result<Outline> {
    let folder = std::path::absolute(folder)?;
    let mut tools = Tools { folder: &folder, oracle: Oracle::install(&folder)? };
    let mut outline = Outline::default();
    while outline.schemas < options.schemas {
        let first = outline.schemas;
        let last = (first + BATCH).min(options.schemas);
        let trials: Vec<Trial> = (first..last).map(|index| Trial::new(index, options)).collect();
        tools.judge(&trials, &mut outline)?;
        outline.schemas = last;
        progress(&outline);
    }
    outline.failures = std::mem::take(&mut tools.oracle.failures);
    if options.adversaries {
        outline.adversaries = tools.adversaries()?;
    }
    if options.cases > 0 {
        outline.cases = tools.shrink(chosen(&outline.findings, options.cases))?;
    }
    Ok(outline)
}

/// A few findings of each kind, of different schemas, the smallest first.
fn chosen(findings: &[Finding], most: usize) -> Vec<Finding> {
    let size = |finding: &Finding| finding.schema.to_string().len();
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| (finding.side, finding.fault, size(finding)));
    let mut chosen: Vec<Finding> = Vec::new();
    for finding in sorted {
        let kin = chosen
            .iter()
            .filter(|other| other.side == finding.side && other.fault == finding.fault);
        let (mut count, mut is_known) = (0, false);
        for other in kin {
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
    /// Each has random numbers of its own, so that one can be made again without the others.
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
    fn judge(&mut self, trials: &[Trial], outline: &mut Outline) -> io::Result<()> {
        let subjects: Vec<Subject> = trials.iter().map(|trial| trial.subject.clone()).collect();
        let Batch { fates, program } = batch::compile(&subjects, self.folder)?;
        let mut program = program.map_err(io::Error::other)?;
        for (trial, fate) in trials.iter().zip(fates) {
            let mut sides = vec![Side::Met];
            match &fate.direct {
                Outcome::Accepted => sides.push(Side::Direct),
                outcome => outline.not_compiled(trial, Side::Direct, outcome),
            }
            match &fate.imported {
                Outcome::Accepted if fate.warnings.is_empty() => sides.push(Side::Imported),
                Outcome::Accepted => sides.push(Side::Warned),
                outcome => outline.not_compiled(trial, Side::Imported, outcome),
            }
            self.judge_payloads(trial, &sides, &mut program, outline)?;
        }
        Ok(())
    }

    fn judge_payloads(
        &mut self,
        trial: &Trial,
        sides: &[Side],
        program: &mut Peer,
        outline: &mut Outline,
    ) -> io::Result<()> {
        let Subject { name, schema } = &trial.subject;
        let expected = self.oracle.accepts_each(schema, &trial.payloads)?;
        outline.payloads += expected.len();
        outline.valid += expected.iter().filter(|expected| **expected == Some(true)).count();
        outline.undecided += expected.iter().filter(|expected| expected.is_none()).count();
        for &side in sides {
            let questions = Questions { side, name, schema, payloads: &trial.payloads };
            let verdicts = verdicts(questions, &expected, program, &mut self.oracle)?;
            let [all, agreed] = outline.verdicts.entry(side).or_default();
            for ((verdict, payload), expected) in
                verdicts.into_iter().zip(&trial.payloads).zip(&expected)
            {
                *all += usize::from(verdict != Verdict::Undecided);
                *agreed += usize::from(matches!(verdict, Verdict::Agreed | Verdict::Rounded));
                outline.rounded += usize::from(verdict == Verdict::Rounded);
                if let Verdict::Wrong(fault, said) = verdict {
                    outline.findings.push(Finding {
                        side,
                        fault,
                        schema: trial.schema.clone(),
                        payload: Some(payload.clone()),
                        expected: *expected,
                        said,
                    });
                    // At run time that is known before there is a payload.
                    if side == Side::Met && fault == Fault::Unusable {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Outline {
    /// Counts a schema that was not compiled; it is a finding unless a documented code says why.
    fn not_compiled(&mut self, trial: &Trial, side: Side, outcome: &Outcome) {
        let (fault, said) = match outcome {
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
        self.findings.push(Finding { side, fault, schema, payload: None, expected: None, said });
    }
}
