//! The way in: what a host asks for, and the runtime that does it. Never decides what a run does next.

mod request;
mod runtime;
mod session;

pub use request::{CallRequest, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest};
pub use runtime::{Runtime, RuntimeBuilder};
pub use session::{CallEnd, Session, SessionRequest};
