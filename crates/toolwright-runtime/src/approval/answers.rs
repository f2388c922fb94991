//! Checks the answers to the questions of a suspended run: each question must have one answer, which was given before the
//! question expired and has the digest of the question.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use toolwright::InvalidPayload;

use super::{Answer, ApprovalRequest, Verdict};
use crate::tools::unknown_approval;

/// The verdicts of checked answers, by the ids of their questions.
pub(crate) type Verdicts = BTreeMap<String, Verdict>;

/// Why a suspended run or call cannot be resumed. Nothing has run, so that it can be resumed again with other answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeError {
    /// The agent is no longer registered.
    UnknownAgent {
        /// The agent.
        agent: String,
    },
    /// The call is from a session of another agent.
    OtherAgent {
        /// The agent whose session the call is from.
        agent: String,
        /// The agent of the session that was to resume it.
        session_of: String,
    },
    /// The agent no longer implements the tool that the run was started for.
    UnknownTool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The approval list of the request has names that no tool has. The answers were not used. If some tools are listed only
    /// during the run, the run fails instead, with the code `unknown_approval`.
    UnknownApproval {
        /// The unknown names.
        tools: Vec<String>,
        /// The names of the agent's tools.
        available: Vec<String>,
    },
    /// The session that was to resume a call was stopped. The answers were not used: another session can.
    SessionStopped,
    /// The session has a journal, and another of its calls has the id of the call. The answers were not used: another session
    /// can.
    UsedCallId {
        /// The id of the call.
        id: String,
    },
    /// An answer has an id that no question has.
    UnknownQuestion {
        /// The id of the answer.
        id: String,
    },
    /// A question has two answers.
    Repeated {
        /// The question's id.
        id: String,
    },
    /// Some questions have no answer.
    Unanswered {
        /// The ids of the questions.
        ids: Vec<String>,
    },
    /// The digest of an answer is not that of its question: the arguments, the tool or other parts of what the approver saw
    /// differ.
    OtherQuestion {
        /// The question's id.
        id: String,
    },
    /// An answer is too late.
    Expired {
        /// The question's id.
        id: String,
    },
    /// A question was answered before.
    AnsweredBefore {
        /// The question's id.
        id: String,
    },
    /// The store of suspended runs failed, so that it is unknown whether the questions were answered before.
    Store {
        /// The error of the store.
        reason: String,
    },
    /// A call that the host runs was approved, or a call that needs an approval got a result.
    WrongVerdict {
        /// The question's id.
        id: String,
        /// True if the host runs the call, so that the answer must be its result.
        expects_result: bool,
    },
    /// The approver changed the arguments, and the new ones are not valid under the tool's schema.
    InvalidArguments {
        /// The question's id.
        id: String,
        /// The errors in the arguments.
        issues: InvalidPayload,
    },
}

/// Checks that each question has one answer, and returns the verdicts by question.
pub(crate) fn check(
    questions: &[&ApprovalRequest],
    answers: Vec<Answer>,
    now: u64,
) -> Result<Verdicts, ResumeError> {
    let by_id: BTreeMap<_, _> =
        questions.iter().map(|question| (question.id.as_str(), *question)).collect();
    let mut checked = Verdicts::new();
    for answer in answers {
        let Some(question) = by_id.get(answer.id.as_str()) else {
            return Err(ResumeError::UnknownQuestion { id: answer.id });
        };
        check_one(question, &answer, now)?;
        if checked.insert(answer.id.clone(), answer.verdict).is_some() {
            return Err(ResumeError::Repeated { id: answer.id });
        }
    }
    let missing: BTreeSet<_> = by_id.keys().filter(|id| !checked.contains_key(**id)).collect();
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
        Verdict::Approve | Verdict::ApproveWith(_) => !question.expects_result,
        Verdict::Result(_) => question.expects_result,
        Verdict::Deny(_) => true,
    };
    if fits {
        Ok(())
    } else {
        Err(ResumeError::WrongVerdict { id, expects_result: question.expects_result })
    }
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAgent { agent } => {
                write!(f, "the suspended run is of agent `{agent}`, which is not registered")
            }
            Self::OtherAgent { agent, session_of } => write!(
                f,
                "the call is from a session of agent `{agent}`, and this session is one of `{session_of}`; open one of `{agent}`"
            ),
            Self::UnknownTool { agent, tool } => {
                write!(
                    f,
                    "agent `{agent}` no longer implements `{tool}`; register the agent that did"
                )
            }
            Self::UnknownApproval { tools, available } => unknown_approval(f, tools, available),
            Self::SessionStopped => {
                f.write_str("the session was stopped; resume in another session of the agent")
            }
            Self::UsedCallId { id } => write!(
                f,
                "another call of the session has the id `{id}`; resume in another session of the agent"
            ),
            Self::UnknownQuestion { id } => {
                write!(
                    f,
                    "there is an answer to `{id}`, and the run has no such question; answer the pending ones"
                )
            }
            Self::Repeated { id } => write!(f, "`{id}` was answered twice; answer it once"),
            Self::Unanswered { ids } => {
                write!(f, "`{}` has no answer; answer all pending questions", ids.join("`, `"))
            }
            Self::OtherQuestion { id } => write!(
                f,
                "the answer to `{id}` is to another question than the pending one; show the question again"
            ),
            Self::Expired { id } => write!(f, "`{id}` has expired; start a new run"),
            Self::AnsweredBefore { id } => {
                write!(f, "`{id}` was answered before; each question can be answered once")
            }
            Self::Store { reason } => {
                write!(f, "the store of suspended runs failed, and nothing was run: {reason}")
            }
            Self::WrongVerdict { id, expects_result: false } => {
                write!(f, "`{id}` waits for an approval, but a result was given")
            }
            Self::WrongVerdict { id, expects_result: true } => {
                write!(f, "`{id}` waits for a result, but an approval was given")
            }
            Self::InvalidArguments { id, issues } => {
                write!(f, "the approver's arguments for `{id}` are not valid: {issues}")
            }
        }
    }
}

impl Error for ResumeError {}
