//! Smaller schemas and payloads that show the same fault.

use std::io;

use toolwright::Value;
use toolwright::value::Map;

use crate::batch::{self, Batch, Subject};
use crate::peer::Peer;
use crate::record::Outcome;
use crate::run::{Finding, Tools};
use crate::verdict::{Fault, Questions, Side, Verdict, verdicts};

/// How often everything that still may be smaller is compiled again.
const ROUNDS: usize = 8;

/// How many smaller cases of one finding are compiled in a round.
const TRIED: usize = 20;

/// How many smaller cases are tried where nothing has to be compiled.
const STEPS: usize = 2_000;

impl Tools<'_> {
    /// Makes findings as small as they get with the effort above.
    pub(crate) fn shrink(&mut self, findings: Vec<Finding>) -> io::Result<Vec<Finding>> {
        // Each try of these would take as long as the limit.
        let (hung, findings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.fault == Fault::Hung);
        let mut without_tools = batch::without_tools(self.folder)?;
        let mut small = Vec::new();
        for finding in &findings {
            small.push(self.shrink_uncompiled(finding, &mut without_tools)?);
        }
        // What was found without cargo is a guess about codecs; it only counts if compiled code shows the same.
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

    /// Without cargo: what the compiler alone shows, what shows at run time, and what a codec shows that asks its validator
    /// about the same as is asked at run time.
    fn shrink_uncompiled(&mut self, finding: &Finding, program: &mut Peer) -> io::Result<Finding> {
        let side = if finding.payload.is_some() { Side::Met } else { finding.side };
        let mut smallest = Finding { side, ..finding.clone() };
        let Some(said) = self.said(&smallest, program)? else { return Ok(finding.clone()) };
        let wanted = reason(finding.fault, &said);
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
                let said = self.said(&candidate, program)?;
                if let Some(said) = said.filter(|said| reason(finding.fault, said) == wanted) {
                    smallest = Finding { said, ..candidate };
                    continue 'smaller;
                }
            }
            break;
        }
        Ok(Finding { side: finding.side, ..smallest })
    }

    /// Whether a smaller finding is still a schema of arguments, of which the oracle says the same.
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

    /// What is said where a finding about the compiler or about run time shows.
    fn said(&mut self, finding: &Finding, program: &mut Peer) -> io::Result<Option<String>> {
        let schema = finding.schema.to_string();
        let Some(payload) = &finding.payload else {
            let fate = batch::fate(&Subject { name: "t".to_owned(), schema });
            return Ok(
                match if finding.side == Side::Direct { fate.direct } else { fate.imported } {
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
        self.said_of("", &schema, &Finding { side: Side::Met, ..finding.clone() }, payload, program)
    }

    /// What is said of a payload where that is the fault of a finding.
    fn said_of(
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
            Verdict::Wrong(fault, said) if fault == finding.fault => Some(said),
            _ => None,
        }))
    }

    /// With cargo: all findings at once, each with its smaller cases.
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
            let said = if is_compiled {
                self.said_of(&subject.name, &subject.schema, finding, payload, &mut program)?
            } else {
                None
            };
            shown.push(said.map(|said| Finding { said, ..finding.clone() }));
        }
        Ok(shown)
    }
}

/// Whether only compiled code shows a finding.
fn is_compiled(finding: &Finding) -> bool {
    finding.side != Side::Met && finding.payload.is_some()
}

/// What has to stay in what is said, so that a smaller finding is about the same: a code, or words without places.
fn reason(fault: Fault, said: &str) -> String {
    match fault {
        Fault::Refused | Fault::ImportRefused => {
            said.split(':').next().unwrap_or_default().to_owned()
        }
        Fault::Unusable => said.replace(|character: char| character.is_ascii_digit(), ""),
        _ => String::new(),
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
