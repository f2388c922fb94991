//! Questions that a run waits for, and answers to them: bound to the very bytes that were shown. Never runs a call.

mod answers;
mod ledger;
mod request;
mod sync;

use toolwright::BoxFuture;

pub use answers::ResumeError;
pub(crate) use answers::{Answers, check};
pub(crate) use ledger::Ledger;
pub use request::{Answer, ApprovalRequest, Awaits, Verdict};
pub(crate) use request::{Clock, digest, now};

/// Answers questions while the run waits: a person at a terminal, or a rule. A run with an approver is never suspended
/// for an approval.
pub trait Approver: Send + Sync {
    /// Answers one question. The siblings of the call run meanwhile.
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict>;
}

/// A rule that answers at once, such as `|_: &ApprovalRequest| Verdict::Approve`.
impl<F: Fn(&ApprovalRequest) -> Verdict + Send + Sync> Approver for F {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(self(request)))
    }
}
