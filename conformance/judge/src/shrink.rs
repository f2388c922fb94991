//! Shrinks findings: looks for smaller schemas and payloads with the same fault.

use std::io;

use toolwright::Value;
use toolwright::value::Map;

use crate::batch::{self, Batch, Subject};
use crate::peer::Peer;
use crate::record::Outcome;
use crate::run::{Finding, Tools};
use crate::verdict::{Fault, Questions, Side, Verdict, verdicts};

/// The maximum number of rounds, each of which compiles the candidates of all findings.
const ROUNDS: usize = 8;

/// The maximum number of candidates that one finding has in a round.
const TRIED: usize = 20;

/// The maximum number of candidates of one finding if nothing has to be compiled.
const STEPS: usize = 2_000;

impl Tools<'_> {
    /// Shrinks findings as far as these limits allow.
    pub(crate) fn shrink(&mut self, findings: Vec<Finding>) -> io::Result<Vec<Finding>> {
        // Each candidate of these would take as long as the time limit.
        let (hung, findings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.fault == Fault::Hung);
        let mut without_tools = batch::without_tools(self.folder)?;
        let mut small = Vec::new();
        for finding in &findings {
            small.push(self.shrink_uncompiled(finding, &mut without_tools)?);
        }
        // A finding about a codec that was shrunk without compiling is a guess. It only counts if the codec has the same fault.
        let compiled: Vec<usize> =
            (0..findings.len()).filter(|&at| is_compiled(&findings[at])).collect();
        let guesses: Vec<Finding> = compiled.iter().map(|&at| small[at].clone()).collect();
        for (at, shown) in compiled.iter().copied().zip(self.show(&guesses)?) {
            small[at] = shown.unwrap_or_else(|| findings[at].clone());
        }
        self.shrink_compiled(&mut small, compiled)?;
        small.extend(hung);
        Ok(small)
    }

    /// Shrinks a finding without cargo, for faults of the compiler and of the run-time validator. For a fault of a codec, the
    /// run-time validator is tried in its place.
    fn shrink_uncompiled(&mut self, finding: &Finding, program: &mut Peer) -> io::Result<Finding> {
        let side = if finding.payload.is_some() { Side::RunTime } else { finding.side };
        let mut smallest = Finding { side, ..finding.clone() };
        let Some(message) = self.fault_message(&smallest, program)? else {
            return Ok(finding.clone());
        };
        let wanted = reason(finding.fault, &message);
        let mut steps = 0;
        'smaller: loop {
            for candidate in smaller(&smallest) {
                if steps == STEPS {
                    break 'smaller;
                }
                steps += 1;
                if !self.is_plausible(&candidate)? {
                    continue;
                }
                let message = self.fault_message(&candidate, program)?;
                if let Some(message) =
                    message.filter(|message| reason(finding.fault, message) == wanted)
                {
                    smallest = Finding { message, ..candidate };
                    continue 'smaller;
                }
            }
            break;
        }
        Ok(Finding { side: finding.side, ..smallest })
    }

    /// Returns whether a candidate has a valid schema of arguments and the same verdict of the oracle.
    fn is_plausible(&mut self, finding: &Finding) -> io::Result<bool> {
        let schema = finding.schema.to_string();
        let is_object = finding.schema.get("type").and_then(Value::as_str) == Some("object");
        if !is_object || !self.oracle.is_schema(&schema)? {
            return Ok(false);
        }
        match &finding.payload {
            Some(payload) => Ok(self.oracle.accepts(&schema, payload)? == finding.expected),
            None => Ok(true),
        }
    }

    /// The message of a fault of the compiler or the run-time validator; `None` if the finding does not show the fault.
    fn fault_message(
        &mut self,
        finding: &Finding,
        program: &mut Peer,
    ) -> io::Result<Option<String>> {
        let schema = finding.schema.to_string();
        let Some(payload) = &finding.payload else {
            let compiled = batch::compiled(&Subject { name: "t".to_owned(), schema });
            return Ok(
                match if finding.side == Side::Direct { compiled.direct } else { compiled.imported }
                {
                    Outcome::Panicked { message } if finding.fault == Fault::Panicked => {
                        Some(message)
                    }
                    Outcome::Refused { code, message } if finding.fault != Fault::Panicked => {
                        Some(format!("{code}: {message}"))
                    }
                    _ => None,
                },
            );
        };
        self.message_for(
            "",
            &schema,
            &Finding { side: Side::RunTime, ..finding.clone() },
            payload,
            program,
        )
    }

    /// The message for a payload; `None` if it does not show the fault of the finding.
    fn message_for(
        &mut self,
        name: &str,
        schema: &str,
        finding: &Finding,
        payload: &str,
        program: &mut Peer,
    ) -> io::Result<Option<String>> {
        let payloads = [payload.to_owned()];
        let questions = Questions { side: finding.side, name, schema, payloads: &payloads };
        let verdicts = verdicts(questions, &[finding.expected], program, &mut self.oracle)?;
        Ok(verdicts.into_iter().find_map(|verdict| match verdict {
            Verdict::Wrong(fault, message) if fault == finding.fault => Some(message),
            _ => None,
        }))
    }

    /// Shrinks findings with cargo, which compiles the candidates of all findings at once.
    fn shrink_compiled(
        &mut self,
        findings: &mut [Finding],
        mut open: Vec<usize>,
    ) -> io::Result<()> {
        for _ in 0..ROUNDS {
            let (mut owners, mut candidates) = (Vec::new(), Vec::new());
            for &index in &open {
                let mut plausible = Vec::new();
                for candidate in smaller(&findings[index]) {
                    if self.is_plausible(&candidate)? {
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
            // The candidates of a finding are sorted by size, so the first one is the smallest.
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

    /// Compiles findings. Returns those that show the same fault, and `None` for the others.
    fn show(&mut self, findings: &[Finding]) -> io::Result<Vec<Option<Finding>>> {
        if findings.is_empty() {
            return Ok(Vec::new());
        }
        let subjects: Vec<Subject> = findings
            .iter()
            .enumerate()
            .map(|(index, finding)| Subject {
                name: format!("t{index}"),
                schema: finding.schema.to_string(),
            })
            .collect();
        let Batch { compiled, program } = batch::compile(&subjects, self.folder)?;
        let mut program = program.map_err(io::Error::other)?;
        let mut shown = Vec::new();
        for ((finding, subject), compiled) in findings.iter().zip(&subjects).zip(&compiled) {
            let is_compiled = match finding.side {
                Side::Direct => compiled.direct == Outcome::Accepted,
                Side::Imported => {
                    compiled.imported == Outcome::Accepted && compiled.warnings.is_empty()
                }
                Side::Warned => {
                    compiled.imported == Outcome::Accepted && !compiled.warnings.is_empty()
                }
                Side::RunTime => true,
            };
            let payload = finding.payload.as_deref().unwrap_or_default();
            let message = if is_compiled {
                self.message_for(&subject.name, &subject.schema, finding, payload, &mut program)?
            } else {
                None
            };
            shown.push(message.map(|message| Finding { message, ..finding.clone() }));
        }
        Ok(shown)
    }
}

/// Returns whether a finding is about compiled code.
fn is_compiled(finding: &Finding) -> bool {
    finding.side != Side::RunTime && finding.payload.is_some()
}

/// The part of a message that must stay the same while a finding shrinks: the code, or the text without numbers.
fn reason(fault: Fault, message: &str) -> String {
    match fault {
        Fault::Refused | Fault::ImportRefused => {
            message.split(':').next().unwrap_or_default().to_owned()
        }
        Fault::Unusable => message.replace(|character: char| character.is_ascii_digit(), ""),
        _ => String::new(),
    }
}

/// The candidates of a finding: those with a smaller schema or payload, the smallest first.
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

/// The values that result from removing one part of a value, or replacing a value by one of its parts.
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
    fn a_reduction_removes_one_part_or_replaces_the_whole_by_it() {
        let value = r#"{"a":[1]}"#.parse().expect("it is JSON");
        let found: Vec<String> = reductions(&value).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["[1]", "{}", r#"{"a":1}"#, r#"{"a":[]}"#]);
    }
}
