//! Stores and keys for suspended runs and calls that leave the program.
//!
//! Within the program a [`SuspendedRun`](crate::SuspendedRun) is an ordinary value. To store it elsewhere,
//! [`Runtime::export`](crate::Runtime::export) converts it into text:
//!
//! | the runtime has | the text is | it is restored by |
//! |---|---|---|
//! | a [`SealKey`] | the state, encrypted and authenticated | every runtime with the key |
//! | no key | a random id of a state in the runtime's [`SuspendedRunStore`] | every runtime that shares the store |
//!
//! The holder of the text cannot change the state and, if it is sealed, cannot read it. However, the text could be used
//! twice. So the store also remembers the answered questions: among runtimes that share a store, only one can resume the run.
//! Runtimes without a shared store can each resume it once. A [checkpoint](crate::RunRequest::with_checkpoints) asks no question, so
//! its holder can resume it again. Keep it in the host.
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

/// A store of suspended runs and calls, and of answered questions. Among runtimes that share a store, each question can be
/// answered once. Its content is trusted, so that others must not be able to write to it.
///
/// Times are in milliseconds since 1970, by the clock of the calling runtime. The clocks of runtimes that share a store may
/// differ by up to five minutes.
pub trait SuspendedRunStore: Send + Sync {
    /// Stores a state under a new id, at least until it expires.
    ///
    /// # Errors
    ///
    /// The state was not stored. Then it is not exported.
    fn put<'a>(
        &'a self,
        id: &'a str,
        state: &'a [u8],
        expires_at: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Returns the state under an id, if there is one.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>>;

    /// Marks questions, given by id and expiry, as answered, and remembers them at least until they expire. If one of them was
    /// marked before, marks none and returns its id. Must be atomic: if several callers, also in other processes, mark the same
    /// question at once, only one of them succeeds.
    ///
    /// # Errors
    ///
    /// It is not certain that the questions were marked. Then the run is not resumed.
    fn mark_answered<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>>;
}

/// The largest difference between the clocks of runtimes that share a store, in milliseconds. Entries are kept for that long
/// after they have expired.
pub(crate) const MAX_CLOCK_SKEW: u64 = 5 * 60 * 1_000;
