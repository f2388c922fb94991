//! Checks schemas and payloads that take exponential time in a validator that visits everything again at each level. Only the
//! growth of the time is checked, so that slow machines do not matter.

use std::io;

use toolwright::Value;
use toolwright::value::Map;

use crate::batch::{self, Batch, Subject};
use crate::json::{object, string, words};
use crate::run::{Finding, Tools};
use crate::verdict::{Fault, Questions, Reply, Side, ask};

/// The maximum factor by which the time may grow if the size doubles. It is 4 for quadratic time and 8 for cubic time; the rest is
/// for noise.
const GROWTH: u64 = 12;

/// Times below this, in nanoseconds, are too short to compare.
const NOISE: u64 = 2_000_000;

/// The number of times that each payload is checked. The fastest time counts.
const TIMES: usize = 5;

/// A schema of one size, and payloads with the expected verdicts.
struct Member {
    schema: Value,
    payloads: [(String, bool); 2],
}

/// Schemas of one form, each twice the size of the one before.
struct Set {
    name: &'static str,
    members: Vec<Member>,
}

impl Tools<'_> {
    /// Checks all sets with all implementations.
    pub(crate) fn adversaries(&mut self) -> io::Result<Vec<Finding>> {
        let sets = [
            Set { name: "chain", members: [10, 20, 40].map(chain).into() },
            Set { name: "nest", members: [15, 30, 60].map(nest).into() },
        ];
        let mut subjects = Vec::new();
        for set in &sets {
            for (index, member) in set.members.iter().enumerate() {
                subjects.push(Subject {
                    name: format!("{}{index}", set.name),
                    schema: member.schema.to_string(),
                });
            }
        }
        let Batch { program, .. } = batch::compile(&subjects, self.folder)?;
        let mut program = program.map_err(io::Error::other)?;
        let mut findings = Vec::new();
        let mut subjects = subjects.iter();
        for set in &sets {
            let subjects: Vec<&Subject> = subjects.by_ref().take(set.members.len()).collect();
            for side in [Side::Direct, Side::Imported, Side::RunTime] {
                for payload in 0..2 {
                    let mut before: Option<u64> = None;
                    for (member, subject) in set.members.iter().zip(&subjects) {
                        let (text, is_valid) = &member.payloads[payload];
                        let payloads = vec![text.clone(); TIMES];
                        let (name, schema) = (&*subject.name, &*subject.schema);
                        let questions = Questions { side, name, schema, payloads: &payloads };
                        let mut wrong = |fault, message: String| {
                            findings.push(Finding {
                                side,
                                fault,
                                schema: member.schema.clone(),
                                payload: Some(text.clone()),
                                expected: Some(*is_valid),
                                message,
                            });
                        };
                        match fastest(ask(questions, &mut program)?, *is_valid) {
                            Err((fault, message)) => {
                                wrong(fault, message);
                                // Larger ones only take longer.
                                break;
                            }
                            Ok(nanos) => {
                                let grown =
                                    before.map(|before| nanos / before.max(1)).unwrap_or_default();
                                if nanos > NOISE && grown > GROWTH {
                                    wrong(
                                        Fault::Slow,
                                        format!("{grown} times as long as half the size"),
                                    );
                                }
                                before = Some(nanos);
                            }
                        }
                    }
                }
            }
        }
        Ok(findings)
    }
}

/// The shortest time of several, unless an answer is wrong.
fn fastest(replies: Vec<Reply>, is_valid: bool) -> Result<u64, (Fault, String)> {
    let mut fastest = u64::MAX;
    for reply in replies {
        match reply {
            Reply::Wrong(fault, message) => return Err((fault, message)),
            Reply::Judged { accepted: true, text, .. } if !is_valid => {
                return Err((Fault::WronglyAccepted, text));
            }
            Reply::Judged { accepted: false, text, .. } if is_valid => {
                return Err((Fault::WronglyRefused, text));
            }
            Reply::Judged { nanos, .. } => fastest = fastest.min(nanos),
        }
    }
    Ok(fastest)
}

fn reference(name: &str) -> Value {
    object([("$ref", string(format!("#/$defs/{name}")))])
}

/// A chain of types. Each has two alternatives, which are both the next type; the last is a string.
fn chain(length: usize) -> Member {
    let mut definitions = Map::new();
    for index in 0..length {
        let next = reference(&format!("T{}", index + 1));
        definitions.insert(
            format!("T{index}"),
            object([("anyOf", Value::Array(vec![next.clone(), next]))]),
        );
    }
    definitions.insert(format!("T{length}"), object([("type", string("string"))]));
    let schema = object([
        ("type", string("object")),
        ("properties", object([("a", reference("T0"))])),
        ("$defs", Value::Object(definitions)),
    ]);
    Member {
        schema,
        payloads: [(r#"{"a":"x"}"#.to_owned(), true), (r#"{"a":1}"#.to_owned(), false)],
    }
}

/// A recursive `anyOf` with members that overlap, and payloads of this depth.
fn nest(depth: usize) -> Member {
    let properties = |names: &[&str]| -> Value {
        Value::Object(names.iter().map(|name| (*name, reference("A"))).collect())
    };
    let members = vec![
        object([("type", string("string"))]),
        object([
            ("type", string("object")),
            ("properties", properties(&["a", "b"])),
            ("additionalProperties", Value::Boolean(false)),
        ]),
        object([
            ("type", string("object")),
            ("properties", properties(&["a"])),
            ("required", words(["c"])),
        ]),
    ];
    let schema = object([
        ("type", string("object")),
        ("properties", object([("value", reference("A"))])),
        ("$defs", object([("A", object([("anyOf", Value::Array(members))]))])),
    ]);
    let payload = |leaf: &str| {
        format!("{{\"value\":{}{leaf}{}}}", "{\"a\":".repeat(depth), "}".repeat(depth))
    };
    Member { schema, payloads: [(payload("\"x\""), true), (payload("1"), false)] }
}
