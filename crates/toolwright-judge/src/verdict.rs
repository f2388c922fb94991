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

/// Asks a side, and looks at its answer.
pub(crate) fn verdict(
    question: Question<'_>,
    program: &mut Peer,
    oracle: &mut Oracle,
) -> io::Result<Verdict> {
    let Question { side, name, schema, payload, expected } = question;
    let answer = match side {
        Side::Met => program.ask(&["met", schema, payload])?,
        Side::Direct => program.ask(&["direct", name, payload])?,
        Side::Imported | Side::Warned => program.ask(&["imported", name, payload])?,
    };
    let line = match answer {
        Answer::Hung => {
            return Ok(Verdict::Wrong(Fault::Hung, "no answer within the limit".to_owned()));
        }
        Answer::Died => return Ok(Verdict::Wrong(Fault::Died, "the process died".to_owned())),
        Answer::Line(line) => line,
    };
    let mut parts = line.splitn(3, '\t');
    let (word, said) =
        (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default().to_owned());
    let accepted = match word {
        "accepted" | "stuck" | "unstable" => true,
        "refused" => false,
        "panicked" => return Ok(Verdict::Wrong(Fault::Panicked, said)),
        _ => return Ok(Verdict::Wrong(Fault::Unusable, said)),
    };
    match (accepted, expected) {
        (true, Some(false)) if side != Side::Warned => {
            return Ok(Verdict::Wrong(Fault::WronglyAccepted, said));
        }
        (false, Some(true)) => {
            // A validator that does not compile tells so with every payload.
            let fault = if said.contains("does not compile") {
                Fault::Unusable
            } else {
                Fault::WronglyRefused
            };
            return Ok(Verdict::Wrong(fault, said));
        }
        _ => {}
    }
    match word {
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
