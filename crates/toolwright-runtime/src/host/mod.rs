//! The interface for hosts: the runtime, its requests and their outcomes, and sessions.

mod request;
mod runtime;
mod session;

pub use request::{CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest};
pub use runtime::{Runtime, RuntimeBuilder};
pub use session::{CallEnd, Session, SessionRequest};
