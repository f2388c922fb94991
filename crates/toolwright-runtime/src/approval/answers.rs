//! Whether answers fit the questions of a suspended run: all of them, each once, in time, about what was shown. Never
//! changes anything.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use toolwright::InvalidPayload;

use super::{Answer, ApprovalRequest, Verdict};

/// The verdicts of checked answers, by the ids of their questions.
pub(crate) type Verdicts = BTreeMap<String, Verdict>;

/// Why a suspended run cannot go on. Nothing has run then, and the same state can be tried again with other answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeError {
    /// There is no such agent any more.
    UnknownAgent {
        /// The agent.
        agent: String,
    },
    /// The call waits in a session of another agent.
    OtherAgent {
        /// The agent whose call waits.
        agent: String,
        /// The agent whose session it was to go on in.
        session_of: String,
    },
    /// The agent does not implement the tool any more that judges the run's final payload.
    UnknownTool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// An answer to a question that was not asked.
    UnknownQuestion {
        /// The id that was answered.
        id: String,
    },
    /// Two answers to one question.
    Repeated {
        /// The question's id.
        id: String,
    },
    /// Questions without an answer.
    Unanswered {
        /// The questions' ids.
        ids: Vec<String>,
    },
    /// An answer to another question than the one of its id: words, tool, arguments or another part of what was shown
    /// differ.
    OtherQuestion {
        /// The question's id.
        id: String,
    },
    /// An answer that comes too late.
    Expired {
        /// The question's id.
        id: String,
    },
    /// An answer to a question that was answered before.
    AnsweredBefore {
        /// The question's id.
        id: String,
    },
    /// The store of suspended runs failed, so that nobody knows whether the question was answered before.
    Store {
        /// Why.
        reason: String,
    },
    /// A yes where a result is waited for, or the other way round.
    WrongVerdict {
        /// The question's id.
        id: String,
        /// Whether a result is waited for.
        deferred: bool,
    },
    /// Arguments of the approver's own that break the tool's schema.
    InvalidArguments {
        /// The question's id.
        id: String,
        /// What is wrong with them.
        issues: InvalidPayload,
    },
}

/// The verdicts by question, if the answers fit.
pub(crate) fn check(
    questions: &[&ApprovalRequest],
    answers: Vec<Answer>,
    now: u64,
) -> Result<Verdicts, ResumeError> {
    let asked: BTreeMap<_, _> = questions.iter().map(|asked| (asked.id.as_str(), *asked)).collect();
    let mut checked = Verdicts::new();
    for answer in answers {
        let Some(question) = asked.get(answer.id.as_str()) else {
            return Err(ResumeError::UnknownQuestion { id: answer.id });
        };
        check_one(question, &answer, now)?;
        if checked.insert(answer.id.clone(), answer.verdict).is_some() {
            return Err(ResumeError::Repeated { id: answer.id });
        }
    }
    let missing: BTreeSet<_> = asked.keys().filter(|id| !checked.contains_key(**id)).collect();
    if missing.is_empty() {
        Ok(checked)
    } else {
        Err(ResumeError::Unanswered {
            ids: missing.into_iter().map(|id| (*id).to_owned()).collect(),
        })
    }
}

fn check_one(question: &ApprovalRequest, answer: &Answer, now: u64) -> Result<(), ResumeError> {
    let id = answer.id.clone();
    if answer.digest != question.digest {
        return Err(ResumeError::OtherQuestion { id });
    }
    if now >= question.expires_at {
        return Err(ResumeError::Expired { id });
    }
    let fits = match answer.verdict {
        Verdict::Approve | Verdict::ApproveWith(_) => !question.deferred,
        Verdict::Result(_) => question.deferred,
        Verdict::Deny(_) => true,
    };
    if fits { Ok(()) } else { Err(ResumeError::WrongVerdict { id, deferred: question.deferred }) }
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAgent { agent } => {
                write!(f, "the suspended run is of agent `{agent}`, which is not registered")
            }
            Self::OtherAgent { agent, session_of } => write!(
                f,
                "the call waits in a session of agent `{agent}`, this one is of `{session_of}`; open one of `{agent}`"
            ),
            Self::UnknownTool { agent, tool } => {
                write!(
                    f,
                    "agent `{agent}` does not implement `{tool}` any more; register the agent that did"
                )
            }
            Self::UnknownQuestion { id } => {
                write!(
                    f,
                    "`{id}` was answered, but the run does not ask it; answer what is pending"
                )
            }
            Self::Repeated { id } => write!(f, "`{id}` was answered twice; answer it once"),
            Self::Unanswered { ids } => {
                write!(f, "`{}` was not answered; answer all that is pending", ids.join("`, `"))
            }
            Self::OtherQuestion { id } => write!(
                f,
                "the answer to `{id}` is about another question than the one that was asked; show it again"
            ),
            Self::Expired { id } => write!(f, "`{id}` has expired; start a new run"),
            Self::AnsweredBefore { id } => {
                write!(f, "`{id}` was answered before; an answer counts once")
            }
            Self::Store { reason } => {
                write!(f, "the store of suspended runs failed, and nothing was run: {reason}")
            }
            Self::WrongVerdict { id, deferred: false } => {
                write!(f, "`{id}` waits for an approval, but a result was given")
            }
            Self::WrongVerdict { id, deferred: true } => {
                write!(f, "`{id}` waits for a result, but an approval was given")
            }
            Self::InvalidArguments { id, issues } => {
                write!(f, "the approver's arguments for `{id}` are not valid: {issues}")
            }
        }
    }
}

impl Error for ResumeError {}
