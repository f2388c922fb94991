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

/// A schema, where its generated tool is asked for, and a payload.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) side: Side,
    pub(crate) name: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) payload: &'a str,
    /// What the oracle says of it.
    pub(crate) expected: Option<bool>,
}

/// What a side says of a question.
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

/// Asks a side.
pub(crate) fn ask(question: Question<'_>, program: &mut Peer) -> io::Result<Reply> {
    let Question { side, name, schema, payload, .. } = question;
    let answer = match side {
        Side::Met => program.ask(&["met", schema, payload])?,
        Side::Direct => program.ask(&["direct", name, payload])?,
        Side::Imported | Side::Warned => program.ask(&["imported", name, payload])?,
    };
    let line = match answer {
        Answer::Hung => {
            return Ok(Reply::Wrong(Fault::Hung, "no answer within the limit".to_owned()));
        }
        Answer::Died => return Ok(Reply::Wrong(Fault::Died, "the process died".to_owned())),
        Answer::Line(line) => line,
    };
    let mut parts = line.splitn(3, '\t');
    let [word, nanos, text] = [(); 3].map(|()| parts.next().unwrap_or_default().to_owned());
    let nanos = nanos.parse().unwrap_or_default();
    Ok(match word.as_str() {
        "accepted" | "stuck" | "unstable" => Reply::Said { word, accepted: true, nanos, text },
        // A validator that does not compile tells so with every payload.
        "refused" if text.contains("its schema does not compile") => {
            Reply::Wrong(Fault::Unusable, text)
        }
        "refused" => Reply::Said { word, accepted: false, nanos, text },
        "panicked" => Reply::Wrong(Fault::Panicked, text),
        _ => Reply::Wrong(Fault::Unusable, text),
    })
}

/// Asks a side, and looks at its answer.
pub(crate) fn verdict(
    question: Question<'_>,
    program: &mut Peer,
    oracle: &mut Oracle,
) -> io::Result<Verdict> {
    let Question { side, schema, payload, expected, .. } = question;
    let (word, accepted, said) = match ask(question, program)? {
        Reply::Wrong(fault, said) => return Ok(Verdict::Wrong(fault, said)),
        Reply::Said { word, accepted, text, .. } => (word, accepted, text),
    };
    match (accepted, expected) {
        (true, Some(false)) if side != Side::Warned => {
            return Ok(Verdict::Wrong(Fault::WronglyAccepted, said));
        }
        (false, Some(true)) => return Ok(Verdict::Wrong(Fault::WronglyRefused, said)),
        _ => {}
    }
    match word.as_str() {
        "stuck" => return Ok(Verdict::Wrong(Fault::Stuck, said)),
        "unstable" => return Ok(Verdict::Wrong(Fault::EncodedWrongly, said)),
        "accepted" if side != Side::Met => {
            let likeness = oracle.compare(payload, &said)?;
            if likeness == Likeness::Other {
                return Ok(Verdict::Wrong(Fault::Changed, said));
            }
            if likeness == Likeness::Rounded {
                // Only what the schema accepts by itself has to encode to what it accepts.
                let is_refused =
                    expected == Some(true) && oracle.accepts(schema, &said)? == Some(false);
                return Ok(if is_refused {
                    Verdict::Wrong(Fault::EncodedWrongly, said)
                } else {
                    Verdict::Rounded
                });
            }
        }
        _ => {}
    }
    Ok(if expected.is_none() { Verdict::Undecided } else { Verdict::Agreed })
}
