//! Approval requests (questions), and the answers to them. A digest binds each answer to exactly what was shown.
//!
//! A question holds the prompt and the metadata of the tool's spec. The tool can see that its call was approved:
//!
//! ```
//! use toolwright::spec::Approval;
//! use toolwright::{Payload, ToolCall, ToolSpec, Value, described};
//! use toolwright_runtime::{Agent, FunctionTool, Registry, ResumeRequest, RunRequest, Runtime, Script};
//!
//! described! {
//!     struct Nothing {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let words = Approval {
//!     prompt: Some("Wipe the disk?".into()),
//!     metadata: Some(r#"{"risk_level":"high"}"#.into()),
//!     ..Approval::default()
//! };
//! let spec = ToolSpec::new("wipe").with_approval(words);
//! let wipe = FunctionTool::new(spec, async |_: Nothing, call: ToolCall| call.is_approved());
//! let planner = Script::new()
//!     .call([ToolCall::new("wipe", Payload::new("{}"))])
//!     .finish(Payload::new(r#""done""#));
//!
//! let registry = Registry::new();
//! registry.register_tool(wipe)?;
//! registry.register_agent(Agent::new("janitor", "lab").with_tools(["wipe"]), planner.into())?;
//! let runtime = Runtime::new(registry);
//!
//! let outcome = runtime.run(RunRequest::new("janitor", Payload::new("{}"))).await?;
//! let waiting = outcome.suspended().expect("it waits");
//! let question = waiting.pending()[0];
//! assert_eq!(question.prompt.as_deref(), Some("Wipe the disk?"));
//! assert_eq!(question.metadata.get("risk_level"), Some(&Value::from("high")));
//!
//! let outcome = runtime.resume(ResumeRequest::new(waiting, [question.approve()])).await?;
//! let wiped = &outcome.calls().next().unwrap().result;
//! assert_eq!(wiped.outcome.as_ref().unwrap().as_str(), "true", "the tool saw the approval");
//! # Ok(())
//! # }
//! ```

mod answers;
mod key;
mod request;

use toolwright::BoxFuture;

pub use answers::ResumeError;
pub(crate) use answers::{Verdicts, check};
pub use key::ApprovalKey;
pub use request::{Answer, ApprovalRequest, Verdict};
pub(crate) use request::{Clock, now};

/// Answers questions while the run is active, such as a person at a terminal or a rule. A run with an approver is not
/// suspended for approvals.
pub trait Approver: Send + Sync {
    /// Answers one question. Other calls of the same step run in the meantime. If the question expires first, the future is
    /// dropped and the call is denied.
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict>;
}

/// A rule that answers at once, such as `|_: &ApprovalRequest| Verdict::Approve`.
impl<F: Fn(&ApprovalRequest) -> Verdict + Send + Sync> Approver for F {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(self(request)))
    }
}
