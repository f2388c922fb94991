//! Smaller schemas and payloads that show the same fault.

use std::io;

use toolwright::Value;
use toolwright::value::Map;

use crate::batch::{self, Batch, Subject};
use crate::peer::Peer;
use crate::record::Outcome;
use crate::run::{Finding, Tools};
use crate::verdict::{Fault, Question, Side, Verdict, verdict};

/// How often everything that still may be smaller is compiled again.
const ROUNDS: usize = 12;

/// How many smaller cases of one finding are compiled in a round.
const TRIED: usize = 20;

/// How many smaller cases are tried where nothing has to be compiled.
const STEPS: usize = 4_000;

impl Tools<'_> {
    /// Makes findings as small as they get with the effort above.
    pub(crate) fn shrink(&mut self, findings: Vec<Finding>) -> io::Result<Vec<Finding>> {
        let mut without_tools = batch::without_tools(self.folder)?;
        let mut small = Vec::new();
        for finding in findings {
            small.push(self.shrink_uncompiled(finding, &mut without_tools)?);
        }
        self.shrink_compiled(&mut small)?;
        Ok(small)
    }

    /// Without cargo: what the compiler alone shows, what shows at run time, and what a codec shows that only asks the
    /// validator. The last is a guess, so it only counts if compiled code shows the same.
    fn shrink_uncompiled(&mut self, finding: Finding, program: &mut Peer) -> io::Result<Finding> {
        let mut smallest = finding.clone();
        let mut asked = finding.clone();
        if finding.payload.is_some() {
            asked.side = Side::Met;
            if !self.shows(&asked, program)? {
                return Ok(finding);
            }
        }
        let mut steps = 0;
        'smaller: loop {
            for candidate in smaller(&asked) {
                steps += 1;
                if steps > STEPS {
                    break 'smaller;
                }
                if self.shows(&candidate, program)? {
                    asked = candidate;
                    continue 'smaller;
                }
            }
            break;
        }
        (smallest.schema, smallest.payload, smallest.expected) =
            (asked.schema, asked.payload, asked.expected);
        if finding.side == Side::Met || finding.payload.is_none() {
            return Ok(smallest);
        }
        let shown = self.show(std::slice::from_ref(&smallest))?;
        Ok(shown.into_iter().flatten().next().unwrap_or(finding))
    }

    /// Whether a finding about the compiler or about run time is one.
    fn shows(&mut self, finding: &Finding, program: &mut Peer) -> io::Result<bool> {
        let schema = finding.schema.to_string();
        let Some(payload) = &finding.payload else {
            let fate = batch::fate(&Subject { name: "t".to_owned(), schema });
            let outcome = if finding.side == Side::Direct { fate.direct } else { fate.imported };
            return Ok(match (finding.fault, outcome) {
                (Fault::Panicked, Outcome::Panicked { .. }) => true,
                (_, Outcome::Refused { code, .. }) => finding.said.starts_with(&format!("{code}:")),
                _ => false,
            });
        };
        let expected = self.oracle.accepts(&schema, payload)?;
        if expected != finding.expected {
            return Ok(false);
        }
        let question = Question { side: Side::Met, name: "", schema: &schema, payload, expected };
        let verdict = verdict(question, program, &mut self.oracle)?;
        Ok(matches!(verdict, Verdict::Wrong(fault, _) if fault == finding.fault))
    }

    /// With cargo: all findings at once, each with its smaller cases.
    fn shrink_compiled(&mut self, findings: &mut [Finding]) -> io::Result<()> {
        let mut open: Vec<usize> = (0..findings.len())
            .filter(|&index| findings[index].side != Side::Met && findings[index].payload.is_some())
            .collect();
        for _ in 0..ROUNDS {
            let (mut owners, mut candidates) = (Vec::new(), Vec::new());
            for &index in &open {
                let mut plausible = Vec::new();
                for candidate in smaller(&findings[index]) {
                    let payload = candidate.payload.as_deref().unwrap_or_default();
                    let expected = self.oracle.accepts(&candidate.schema.to_string(), payload)?;
                    if expected == candidate.expected {
                        plausible.push(candidate);
                    }
                    if plausible.len() == TRIED {
                        break;
                    }
                }
                owners.extend(plausible.iter().map(|_| index));
                candidates.extend(plausible);
            }
            if candidates.is_empty() {
                break;
            }
            let shown = self.show(&candidates)?;
            let mut still_open = Vec::new();
            // The smallest candidate of each comes first.
            for (owner, shown) in owners.into_iter().zip(shown) {
                if let Some(smaller) = shown.filter(|_| still_open.last() != Some(&owner)) {
                    findings[owner] = smaller;
                    still_open.push(owner);
                }
            }
            open = still_open;
        }
        Ok(())
    }

    /// Compiles findings, and gives those back that show the same fault.
    fn show(&mut self, findings: &[Finding]) -> io::Result<Vec<Option<Finding>>> {
        let subjects: Vec<Subject> = findings
            .iter()
            .enumerate()
            .map(|(index, finding)| Subject {
                name: format!("t{index}"),
                schema: finding.schema.to_string(),
            })
            .collect();
        let Batch { fates, program } = batch::compile(&subjects, self.folder)?;
        let mut program = program.map_err(io::Error::other)?;
        let mut shown = Vec::new();
        for ((finding, subject), fate) in findings.iter().zip(&subjects).zip(&fates) {
            let is_compiled = match finding.side {
                Side::Direct => fate.direct == Outcome::Accepted,
                Side::Imported => fate.imported == Outcome::Accepted && fate.warnings.is_empty(),
                Side::Warned => fate.imported == Outcome::Accepted && !fate.warnings.is_empty(),
                Side::Met => true,
            };
            let payload = finding.payload.as_deref().unwrap_or_default();
            let Subject { name, schema } = subject;
            let (side, expected) = (finding.side, finding.expected);
            shown.push(match is_compiled {
                false => None,
                true => match verdict(
                    Question { side, name, schema, payload, expected },
                    &mut program,
                    &mut self.oracle,
                )? {
                    Verdict::Wrong(fault, said) if fault == finding.fault => {
                        Some(Finding { said, ..finding.clone() })
                    }
                    _ => None,
                },
            });
        }
        Ok(shown)
    }
}

/// Findings with a smaller schema or payload, the smallest first.
fn smaller(finding: &Finding) -> Vec<Finding> {
    let schemas =
        reductions(&finding.schema).into_iter().map(|schema| Finding { schema, ..finding.clone() });
    let payload = finding.payload.as_ref().and_then(|payload| payload.parse::<Value>().ok());
    let payloads = payload.map(|payload| reductions(&payload)).unwrap_or_default();
    let payloads = payloads
        .into_iter()
        .map(|payload| Finding { payload: Some(payload.to_string()), ..finding.clone() });
    let size = |finding: &Finding| {
        finding.schema.to_string().len() + finding.payload.as_ref().map_or(0, String::len)
    };
    let mut all: Vec<Finding> =
        schemas.chain(payloads).filter(|candidate| size(candidate) < size(finding)).collect();
    all.sort_by_key(size);
    all
}

/// Values with one part taken out, or put in the place of what it stands in.
fn reductions(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(entries) => {
            found.extend(entries.values().filter(|below| !below.is_null()).cloned());
            for (name, below) in entries {
                let without = entries.iter().filter(|(other, _)| *other != name);
                found.push(Value::Object(
                    without.map(|(key, value)| (key, value.clone())).collect(),
                ));
                for reduced in reductions(below) {
                    let mut changed: Map<Value> = entries.clone();
                    changed.insert(name, reduced);
                    found.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            found.extend(items.iter().cloned());
            for at in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(at);
                found.push(Value::Array(fewer));
                for reduced in reductions(&items[at]) {
                    let mut changed = items.clone();
                    changed[at] = reduced;
                    found.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::reductions;

    #[test]
    fn a_reduction_takes_one_part_out_or_puts_it_in_the_place_of_the_whole() {
        let value = r#"{"a":[1]}"#.parse().expect("it is JSON");
        let found: Vec<String> = reductions(&value).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["[1]", "{}", r#"{"a":1}"#, r#"{"a":[]}"#]);
    }
}
