//! How suspended runs leave a runtime and come back: sealed by a key, or kept in a store under an id that nobody guesses.
//! Never resumes one.
//!
//! A [`SuspendedRun`](crate::SuspendedRun) that is passed on within the program is a value like any other. What leaves the
//! program is a text from [`Runtime::export`](crate::Runtime::export):
//!
//! | the runtime has | the text is | it is restored by |
//! |---|---|---|
//! | a [`SealKey`] | the state, encrypted and authenticated | every runtime with the key |
//! | none | a random id of a state in the runtime's [`SuspendedRuns`] | every runtime that shares the store |
//!
//! Whoever holds the text can neither change the state nor, where it is sealed, read it. What they can do is use it twice.
//! So the store also remembers which questions were answered: of all runtimes that share one, a single one goes on. Runtimes
//! that share no store do not know of each other, and each of them goes on.
//!
//! ```
//! use std::sync::Arc;
//!
//! use toolwright::{Payload, ToolCall};
//! use toolwright_runtime::suspended::{InDirectory, SealKey};
//! use toolwright_runtime::{Agent, Registry, ResumeError, ResumeRequest, RunRequest, Runtime, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("toolwright-doc-{}", std::process::id()));
//! # let (path, secret) = (folder.as_path(), [7; 32]);
//! // Two processes of one service, here in one: `secret` comes from its configuration.
//! let process = || -> Result<Runtime, Box<dyn std::error::Error>> {
//!     let registry = Registry::new();
//!     registry.tool("wipe", "Wipe the disk.", async || true)?;
//!     let wipe = ToolCall::new("wipe", Payload::new("{}"));
//!     let planner = Script::new().call([wipe]).finish(Payload::new(r#""done""#));
//!     let agent = Agent::new("janitor", "lab").with_tools(["wipe"]).with_approval_of(["wipe"]);
//!     registry.register_agent(agent, planner.into())?;
//!     Ok(Runtime::builder(registry)
//!         .with_seal_keys([SealKey::new(secret)?])
//!         .with_suspended_runs(Arc::new(InDirectory::open(path)?))
//!         .build())
//! };
//!
//! let first = process()?;
//! let outcome = first.run(RunRequest::new("janitor", Payload::new("{}"))).await?;
//! let text = first.export(outcome.suspended().expect("it waits")).await?;
//!
//! let second = process()?;
//! let waiting = second.restore(&text).await?;
//! let answers = [waiting.pending()[0].approve()];
//! let outcome = second.resume(ResumeRequest::new(&waiting, answers.clone())).await?;
//! assert_eq!(outcome.result()?.as_str(), r#""done""#);
//!
//! let again = first.resume(ResumeRequest::new(&waiting, answers)).await;
//! assert!(matches!(again, Err(ResumeError::AnsweredBefore { .. })));
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```

mod directory;
mod error;
mod memory;
mod seal;
mod sync;

use toolwright::{BoxError, BoxFuture};

pub use directory::InDirectory;
pub use error::StateError;
pub(crate) use memory::InMemory;
pub use seal::SealKey;
pub(crate) use seal::random_id;

/// Where runtimes keep suspended runs and calls, and the questions that were answered. Those that share one take each
/// question once among them. What is in it is trusted: nobody else may write there.
///
/// Times are milliseconds since 1970, by the clock of the runtime that asks. The clocks of runtimes that share a store should
/// agree to five minutes.
pub trait SuspendedRuns: Send + Sync {
    /// Keeps a state under an id that nothing was kept under before, at least until it expires.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being kept; then the state does not leave the runtime.
    fn put<'a>(
        &'a self,
        id: &'a str,
        state: &'a [u8],
        expires_at: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// The state that is kept under an id.
    ///
    /// # Errors
    ///
    /// Whatever keeps the store from being read.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>>;

    /// Takes questions, each with when it expires, all or none, and remembers them at least until then. Gives the id of one
    /// that was taken before, if there is one. Of callers at the same time, in this process or another, one alone takes a
    /// question.
    ///
    /// # Errors
    ///
    /// Whatever keeps the store from being sure; then nothing runs.
    fn take<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>>;
}

/// How far the clocks of runtimes that share a store may be apart, in milliseconds. What is taken is remembered for that long
/// after it has expired.
pub(crate) const MAX_CLOCK_SKEW: u64 = 5 * 60 * 1_000;
