//! The one trait under everything that offers tools, and the combinators over it: each wraps a toolset, none changes
//! it. Never decides whether a call may run: that is the run's.

mod approval_required;
mod available;
mod clearance;
mod combined;
mod delegation;
mod dynamic;
mod entry;
mod error;
mod executed;
mod factory;
mod filtered;
mod function;
mod handles;
mod instructed;
mod lifecycle;
mod prefixed;
mod prepared;
mod renamed;
mod source;
mod types;
mod words;

use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult};

use approval_required::ApprovalRequired;
pub(crate) use available::{Available, unavailable};
pub(crate) use clearance::{check_cleared, cleared, digest, words_digest};
pub use combined::Combined;
pub(crate) use combined::clashing;
pub use delegation::Delegation;
use dynamic::Dynamic;
pub(crate) use entry::SEPARATOR;
pub use entry::{ToolEntry, ToolSpecRef};
pub use error::ToolsetError;
pub(crate) use error::unknown_approval;
pub(crate) use executed::Executed;
pub(crate) use filtered::Filtered;
pub use function::{FunctionTool, ToolFunction};
pub use handles::Handles;
pub(crate) use instructed::Instructed;
pub(crate) use lifecycle::Entered;
pub(crate) use prefixed::Prefixed;
use prepared::Prepared;
use renamed::Renamed;
pub use source::{IntoSource, Source};
#[cfg(feature = "schemars")]
pub use types::Json;
#[cfg(feature = "macros")]
pub use types::Parameters;
pub use types::{ToolArgs, ToolOutput};
pub(crate) use words::{escaped, fill};

/// Tools that come and go together.
///
/// A run enters it, lists its tools before each step, calls some, and exits it: each entering that succeeded is
/// followed by one exit, whatever happened in between. An instance that several runs share is entered by each of them.
///
/// Most toolsets wrap another, such as a [`Combined`] of functions, and add a life of their own:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult, ToolSpec};
/// use toolwright_runtime::{FunctionTool, ToolEntry, Toolset};
///
/// /// Counts, over a suspension of the run too.
/// struct Counter {
///     count: Arc<Mutex<i64>>,
///     tool: FunctionTool,
/// }
///
/// impl Counter {
///     fn new(_: Scope) -> Self {
///         let count = Arc::new(Mutex::new(0));
///         let counted = Arc::clone(&count);
///         let tool = FunctionTool::new(ToolSpec::new("count"), move || {
///             let mut count = counted.lock().unwrap();
///             *count += 1;
///             std::future::ready(*count)
///         });
///         Self { count, tool }
///     }
/// }
///
/// impl Toolset for Counter {
///     fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
///         self.tool.tools(scope)
///     }
///
///     fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
///         self.tool.call(call)
///     }
///
///     fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
///         let saved = Payload::of(&*self.count.lock().unwrap()).map(Some);
///         Box::pin(std::future::ready(saved.map_err(Into::into)))
///     }
///
///     fn restore<'a>(
///         &'a self,
///         _: &'a Scope,
///         saved: &'a Payload,
///     ) -> BoxFuture<'a, Result<(), BoxError>> {
///         let restored = toolwright::codec::from_json(saved.as_bytes());
///         let restored = restored.map(|count| *self.count.lock().unwrap() = count);
///         Box::pin(std::future::ready(restored.map_err(Into::into)))
///     }
/// }
///
/// let registry = toolwright_runtime::Registry::new();
/// registry.register_toolset("counter", Counter::new)?;
/// # Ok::<(), toolwright::RegistrationError>(())
/// ```
pub trait Toolset: Send + Sync {
    /// The tools there are now. Asked once a step.
    ///
    /// # Errors
    ///
    /// Whatever keeps the tools from being listed; it ends the run.
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>>;

    /// The tools it lists in every run, if they are known before it is entered: then an agent that uses it is checked against
    /// them when it is registered.
    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        None
    }

    /// Runs one call. A failure is a result. Dropping the future gives the call up.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;

    /// Gets ready for a run.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being ready. It is not exited then.
    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Cleans up after a run, successful or not.
    ///
    /// # Errors
    ///
    /// Whatever could not be cleaned up; it is logged, fails nothing and keeps no other toolset from its cleanup.
    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(())))
    }

    /// The state that is to survive a suspension of the run, as JSON. Asked before the exit of a run that is suspended,
    /// and after each step of one whose state is kept then.
    ///
    /// # Errors
    ///
    /// Whatever keeps the state from being saved; it ends the run.
    fn save<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Takes back what [`save`](Self::save) gave, in the run that goes on: after it was entered, before its tools are
    /// listed.
    ///
    /// # Errors
    ///
    /// Whatever keeps the state from being restored; it ends the run.
    fn restore<'a>(
        &'a self,
        scope: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = (scope, saved);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Handles that were given out and end with the instance, not saved with its state: open transactions, processes.
    /// A question names them, since they end where the run is suspended to wait for its answer.
    fn open_handles(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the planner is told beside the agent's own instructions. Empty text counts as none.
    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let _ = scope;
        Box::pin(std::future::ready(None))
    }

    /// Whether a tool of it can be used now.
    fn is_available(&self, tool: &str) -> bool {
        let _ = tool;
        true
    }

    /// The tools whose names a rule keeps; the others are not listed and not run.
    fn filtered(self, keep: impl Fn(&str) -> bool + Send + Sync) -> impl Toolset
    where
        Self: Sized,
    {
        Filtered::new(self, keep)
    }

    /// The tools as `<prefix>.<tool>`.
    fn prefixed(self, prefix: impl Into<String>) -> impl Toolset
    where
        Self: Sized,
    {
        Prefixed::new(prefix.into(), self)
    }

    /// The tools, some of which go by other names: each old name with its new one. Two tools may swap theirs.
    ///
    /// # Errors
    ///
    /// A tool renamed twice, or two tools renamed to one name. Collisions with tools that keep their names are found
    /// when the tools are listed.
    fn renamed<O: Into<String>, N: Into<String>>(
        self,
        names: impl IntoIterator<Item = (O, N)>,
    ) -> Result<impl Toolset, ToolsetError>
    where
        Self: Sized,
    {
        Renamed::new(self, names.into_iter().map(|(old, new)| (old.into(), new.into())))
    }

    /// The tools that a function leaves of each list, before each step: it may leave some out, change their order, or
    /// ask for approval.
    fn prepared(
        self,
        prepare: impl Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        Prepared::new(self, prepare)
    }

    /// The tools, of which those that a rule refuses by name cannot be used now: a call is refused as unavailable, and a
    /// runtime that skips unavailable tools does not show them.
    fn available_while(self, available: impl Fn(&str) -> bool + Send + Sync) -> impl Toolset
    where
        Self: Sized,
    {
        Available::new(self, available)
    }

    /// The tools, with what planners are told beside the toolset's own instructions, asked before each step.
    fn instructed(
        self,
        instructions: impl Fn(&Scope) -> Option<String> + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        Instructed::new(self, instructions)
    }

    /// The tools, of which those that a rule picks need an approval, in these words where they have none of their own.
    /// It marks what is listed, so that asking twice asks no more than once.
    fn requiring_approval(
        self,
        words: Approval,
        applies: impl Fn(&str) -> bool + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        ApprovalRequired::new(self, words, applies)
    }
}

impl<T: Toolset + ?Sized> Toolset for Arc<T> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        (**self).tools(scope)
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        (**self).known_tools()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        (**self).call(call)
    }

    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        (**self).enter(scope)
    }

    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        (**self).exit(scope)
    }

    fn save<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        (**self).save(scope)
    }

    fn restore<'a>(
        &'a self,
        scope: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        (**self).restore(scope, saved)
    }

    fn open_handles(&self) -> Vec<String> {
        (**self).open_handles()
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        (**self).instructions(scope)
    }

    fn is_available(&self, tool: &str) -> bool {
        (**self).is_available(tool)
    }
}

/// A toolset that is entered and exited by somebody else.
pub(crate) struct Borrowed(pub(crate) Arc<dyn Toolset>);

impl Toolset for Borrowed {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.0.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.call(call)
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        self.0.instructions(scope)
    }

    fn is_available(&self, tool: &str) -> bool {
        self.0.is_available(tool)
    }
}

/// Hands every method of [`Toolset`] that is not named to the wrapped toolset.
macro_rules! forward {
    ($to:ident: $($method:ident),+) => { $(crate::tools::forward!(@ $to $method);)+ };
    (@ $to:ident tools) => {
        fn tools<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
        ) -> toolwright::BoxFuture<'a, Result<Vec<crate::ToolEntry>, toolwright::BoxError>> {
            self.$to.tools(scope)
        }
    };
    (@ $to:ident call) => {
        fn call<'a>(
            &'a self,
            call: &'a toolwright::ToolCall,
        ) -> toolwright::BoxFuture<'a, toolwright::ToolResult> {
            self.$to.call(call)
        }
    };
    (@ $to:ident lifecycle) => {
        fn enter<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
        ) -> toolwright::BoxFuture<'a, Result<(), toolwright::BoxError>> {
            self.$to.enter(scope)
        }

        fn exit<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
        ) -> toolwright::BoxFuture<'a, Result<(), toolwright::BoxError>> {
            self.$to.exit(scope)
        }

        fn save<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
        ) -> toolwright::BoxFuture<'a, Result<Option<toolwright::Payload>, toolwright::BoxError>> {
            self.$to.save(scope)
        }

        fn restore<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
            saved: &'a toolwright::Payload,
        ) -> toolwright::BoxFuture<'a, Result<(), toolwright::BoxError>> {
            self.$to.restore(scope, saved)
        }

        fn open_handles(&self) -> Vec<String> {
            self.$to.open_handles()
        }
    };
    (@ $to:ident instructions) => {
        fn instructions<'a>(
            &'a self,
            scope: &'a toolwright::Scope,
        ) -> toolwright::BoxFuture<'a, Option<String>> {
            self.$to.instructions(scope)
        }
    };
    (@ $to:ident is_available) => {
        fn is_available(&self, tool: &str) -> bool {
            self.$to.is_available(tool)
        }
    };
}

pub(crate) use forward;
