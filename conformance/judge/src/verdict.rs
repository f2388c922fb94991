//! Compares the verdict of an implementation on a payload with the oracle's.

use std::io;

use crate::oracle::{Likeness, Oracle};
use crate::peer::{Answer, Peer};

/// The implementation that is compared with the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The codec of a type in a schema file.
    Direct,
    /// The codec of an imported tool without warnings.
    Imported,
    /// The codec of an imported tool with a warning. It may accept more values than the server's schema.
    Warned,
    /// The validator of a tool that is only known at run time.
    RunTime,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It accepted a payload that the schema refuses.
    WronglyAccepted,
    /// It refused a payload that the schema accepts.
    WronglyRefused,
    /// It cannot use a valid schema.
    Unusable,
    /// It decoded a payload that it cannot encode.
    Stuck,
    /// It encoded a payload to a value that the schema refuses.
    EncodedWrongly,
    /// It encoded a payload to another value.
    Changed,
    /// It did not answer within the time limit.
    Hung,
    /// It took much longer than for half the size.
    Slow,
    /// The process died.
    Died,
    /// It panicked.
    Panicked,
    /// The importer writes a file that the compiler refuses.
    ImportRefused,
    /// The compiler refuses a schema for a reason that is not documented.
    Refused,
}

/// The result for one payload and one implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The implementation and the oracle agree.
    Agreed,
    /// Both accept it, and numbers that no double holds were rounded to the nearest one.
    Rounded,
    /// The oracle does not decide, and there is no other fault.
    Undecided,
    /// A fault, with the message or the encoding of the implementation.
    Wrong(Fault, String),
}

/// The payloads of one schema for one implementation.
#[derive(Clone, Copy)]
pub(crate) struct Questions<'a> {
    pub(crate) side: Side,
    /// The name of the generated tool.
    pub(crate) name: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) payloads: &'a [String],
}

/// The answer of an implementation for one payload.
pub(crate) enum Reply {
    /// The payload was accepted or refused.
    Judged {
        /// The first word of the program's answer.
        word: String,
        /// True if the payload was accepted.
        accepted: bool,
        /// The time in nanoseconds.
        nanos: u64,
        /// The encoding of the payload, or the issues.
        text: String,
    },
    /// A fault, whatever the oracle says.
    Wrong(Fault, String),
}

/// Asks an implementation. If it hangs too often, the last payloads get no reply.
pub(crate) fn ask(questions: Questions<'_>, program: &mut Peer) -> io::Result<Vec<Reply>> {
    let Questions { side, name, schema, payloads } = questions;
    let (place, subject) = match side {
        Side::RunTime => ("run-time", schema),
        Side::Direct => ("direct", name),
        Side::Imported | Side::Warned => ("imported", name),
    };
    let lines: Vec<String> =
        payloads.iter().map(|payload| format!("{place}\t{subject}\t{payload}")).collect();
    Ok(program.ask_all(&lines)?.into_iter().map(Reply::of).collect())
}

impl Reply {
    fn of(answer: Answer) -> Self {
        let line = match answer {
            Answer::Hung => {
                return Self::Wrong(Fault::Hung, "no answer within the limit".to_owned());
            }
            Answer::Died => return Self::Wrong(Fault::Died, "the process died".to_owned()),
            Answer::Line(line) => line,
        };
        let mut parts = line.splitn(3, '\t');
        let [word, nanos, text] = [(); 3].map(|()| parts.next().unwrap_or_default().to_owned());
        let nanos = nanos.parse().unwrap_or_default();
        match word.as_str() {
            "accepted" | "stuck" | "unstable" => Self::Judged { word, accepted: true, nanos, text },
            // A validator that cannot compile its schema refuses every payload with this issue.
            "refused" if text.contains("its schema does not compile") => {
                Self::Wrong(Fault::Unusable, text)
            }
            "refused" => Self::Judged { word, accepted: false, nanos, text },
            "panicked" => Self::Wrong(Fault::Panicked, text),
            _ => Self::Wrong(Fault::Unusable, text),
        }
    }
}

/// Asks an implementation, and compares its replies with the oracle's verdicts.
pub(crate) fn verdicts(
    questions: Questions<'_>,
    expected: &[Option<bool>],
    program: &mut Peer,
    oracle: &mut Oracle,
) -> io::Result<Vec<Verdict>> {
    let Questions { side, schema, payloads, .. } = questions;
    let replies = ask(questions, program)?;
    let encoded = |reply: &Reply| match reply {
        Reply::Judged { word, text, .. } if word == "accepted" && side != Side::RunTime => {
            Some(text.clone())
        }
        _ => None,
    };
    let pairs: Vec<(String, String)> = replies
        .iter()
        .zip(payloads)
        .filter_map(|(reply, payload)| Some((payload.clone(), encoded(reply)?)))
        .collect();
    let mut likenesses = oracle.compare_each(&pairs, schema)?.into_iter();
    let mut verdicts = Vec::new();
    for (reply, expected) in replies.into_iter().zip(expected) {
        let likeness = encoded(&reply).and_then(|_| likenesses.next());
        let (word, accepted, message) = match reply {
            Reply::Wrong(fault, message) => {
                verdicts.push(Verdict::Wrong(fault, message));
                continue;
            }
            Reply::Judged { word, accepted, text, .. } => (word, accepted, text),
        };
        let fault = match (accepted, expected, word.as_str(), likeness) {
            (true, Some(false), ..) if side != Side::Warned => Some(Fault::WronglyAccepted),
            (false, Some(true), ..) => Some(Fault::WronglyRefused),
            (_, _, "stuck", _) => Some(Fault::Stuck),
            (_, _, "unstable", _) => Some(Fault::EncodedWrongly),
            (_, _, _, Some(Likeness::Other)) => Some(Fault::Changed),
            // Only a payload that the schema accepts must be encoded to a value that it accepts.
            (_, Some(true), _, Some(Likeness::Rounded))
                if oracle.accepts(schema, &message)? == Some(false) =>
            {
                Some(Fault::EncodedWrongly)
            }
            _ => None,
        };
        verdicts.push(match (fault, expected, likeness) {
            (Some(fault), ..) => Verdict::Wrong(fault, message),
            (_, None, _) => Verdict::Undecided,
            (_, _, Some(Likeness::Rounded)) => Verdict::Rounded,
            _ => Verdict::Agreed,
        });
    }
    Ok(verdicts)
}
