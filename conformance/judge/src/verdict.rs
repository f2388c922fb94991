//! What one side says of one payload, held against what the oracle says.

use std::io;

use crate::oracle::{Likeness, Oracle};
use crate::peer::{Answer, Peer};

/// Who judges a payload beside the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The codec of a type written by hand.
    Direct,
    /// The codec of an imported tool, about which the importer said nothing.
    Imported,
    /// The codec of an imported tool that the importer warned of: it may accept more than the server's schema does.
    Warned,
    /// The validator of a tool that is met at run time.
    Met,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Accepted, and the schema refuses it.
    WronglyAccepted,
    /// Refused, and the schema accepts it.
    WronglyRefused,
    /// A schema that nothing says is wrong cannot be used.
    Unusable,
    /// Decoded, and it cannot be encoded.
    Stuck,
    /// Encoded to what the schema refuses.
    EncodedWrongly,
    /// Encoded to another value.
    Changed,
    /// No answer within the limit of the run.
    Hung,
    /// Much longer than for half the size.
    Slow,
    /// The process died.
    Died,
    /// A panic.
    Panicked,
    /// The importer writes a file that the compiler refuses.
    ImportRefused,
    /// The compiler refuses a schema for a reason that is not documented.
    Refused,
}

/// What came of one payload on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Both say the same.
    Agreed,
    /// Both accept it, and numbers that no double holds came out as the nearest one.
    Rounded,
    /// The oracle does not decide, and nothing else is wrong.
    Undecided,
    /// Something is wrong, and what was said.
    Wrong(Fault, String),
}

/// A schema, where its generated tool is asked for, and payloads.
#[derive(Clone, Copy)]
pub(crate) struct Questions<'a> {
    pub(crate) side: Side,
    pub(crate) name: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) payloads: &'a [String],
}

/// The answer of a side to a question.
pub(crate) enum Reply {
    /// It is accepted or not.
    Said {
        /// The word of the program.
        word: String,
        /// Whether it is accepted.
        accepted: bool,
        /// How long that took.
        nanos: u64,
        /// What it was encoded to, or the issues.
        text: String,
    },
    /// Nothing that could be right.
    Wrong(Fault, String),
}

/// Asks a side. Where it hangs too often, the last payloads have no reply.
pub(crate) fn ask(questions: Questions<'_>, program: &mut Peer) -> io::Result<Vec<Reply>> {
    let Questions { side, name, schema, payloads } = questions;
    let (place, subject) = match side {
        Side::Met => ("met", schema),
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
            "accepted" | "stuck" | "unstable" => Self::Said { word, accepted: true, nanos, text },
            // A validator that does not compile tells so with every payload.
            "refused" if text.contains("its schema does not compile") => {
                Self::Wrong(Fault::Unusable, text)
            }
            "refused" => Self::Said { word, accepted: false, nanos, text },
            "panicked" => Self::Wrong(Fault::Panicked, text),
            _ => Self::Wrong(Fault::Unusable, text),
        }
    }
}

/// Asks a side, and holds its replies against what the oracle says of each payload.
pub(crate) fn verdicts(
    questions: Questions<'_>,
    expected: &[Option<bool>],
    program: &mut Peer,
    oracle: &mut Oracle,
) -> io::Result<Vec<Verdict>> {
    let Questions { side, schema, payloads, .. } = questions;
    let replies = ask(questions, program)?;
    let encoded = |reply: &Reply| match reply {
        Reply::Said { word, text, .. } if word == "accepted" && side != Side::Met => {
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
        let (word, accepted, said) = match reply {
            Reply::Wrong(fault, said) => {
                verdicts.push(Verdict::Wrong(fault, said));
                continue;
            }
            Reply::Said { word, accepted, text, .. } => (word, accepted, text),
        };
        let fault = match (accepted, expected, word.as_str(), likeness) {
            (true, Some(false), ..) if side != Side::Warned => Some(Fault::WronglyAccepted),
            (false, Some(true), ..) => Some(Fault::WronglyRefused),
            (_, _, "stuck", _) => Some(Fault::Stuck),
            (_, _, "unstable", _) => Some(Fault::EncodedWrongly),
            (_, _, _, Some(Likeness::Other)) => Some(Fault::Changed),
            // Only what the schema accepts by itself has to encode to what it accepts.
            (_, Some(true), _, Some(Likeness::Rounded))
                if oracle.accepts(schema, &said)? == Some(false) =>
            {
                Some(Fault::EncodedWrongly)
            }
            _ => None,
        };
        verdicts.push(match (fault, expected, likeness) {
            (Some(fault), ..) => Verdict::Wrong(fault, said),
            (_, None, _) => Verdict::Undecided,
            (_, _, Some(Likeness::Rounded)) => Verdict::Rounded,
            _ => Verdict::Agreed,
        });
    }
    Ok(verdicts)
}
