//! The trait [`Toolset`], which everything that offers tools implements, and combinators, which wrap a toolset.

mod approval_required;
mod available;
mod clearance;
mod combined;
mod delegation;
mod entry;
mod error;
mod executor_toolset;
mod factory;
mod filtered;
mod function;
mod handles;
mod instructed;
mod lifecycle;
mod per_step;
mod prefixed;
mod prepared;
mod renamed;
mod seen;
mod source;
mod templates;
mod types;
mod until_stopped;

use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult};

use approval_required::ApprovalRequired;
pub(crate) use available::{Available, unavailable};
pub(crate) use clearance::{check_cleared, cleared, digest, tool_digest};
pub use combined::Combined;
pub(crate) use combined::find_clash;
pub use delegation::Delegation;
pub(crate) use entry::SEPARATOR;
pub use entry::{ToolEntry, ToolSpecRef};
pub use error::ToolsetError;
pub(crate) use error::unknown_approval;
pub(crate) use executor_toolset::ExecutorToolset;
pub(crate) use filtered::Filtered;
pub use function::{FunctionTool, ToolFunction};
pub use handles::Handles;
pub(crate) use instructed::Instructed;
pub(crate) use lifecycle::{EnteredToolset, exit};
use per_step::PerStep;
pub(crate) use prefixed::Prefixed;
use prepared::Prepared;
use renamed::Renamed;
pub use source::{IntoSource, Source};
pub(crate) use templates::fill;
#[cfg(feature = "schemars")]
pub use types::Json;
#[cfg(feature = "macros")]
pub use types::Parameters;
pub use types::{ToolArgs, ToolOutput};
pub(crate) use until_stopped::UntilStopped;

/// A set of tools with a common lifecycle.
///
/// A run enters the toolset, lists its tools before each step, calls some of them, and exits it. Each successful `enter` is
/// followed by exactly one `exit`. An instance that several runs share is entered by each of them.
///
/// Most toolsets wrap another one, such as a [`Combined`] of functions, and add state or a lifecycle:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult, ToolSpec};
/// use toolwright_runtime::{FunctionTool, ToolEntry, Toolset};
///
/// /// Counts calls, also over a suspension of the run.
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
    /// Lists the current tools. Called once in each step.
    ///
    /// # Errors
    ///
    /// The tools cannot be listed. The error ends the run.
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>>;

    /// Returns the tools if they are the same in every run and known before `enter`. Then an agent that uses the toolset is
    /// checked against them when it is registered.
    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        None
    }

    /// Runs a call. A failure is part of the result. Dropping the future cancels the call.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;

    /// Prepares for a run. An instance that runs share through a [catalog](crate::Catalog) is neither entered nor exited, and its state
    /// is neither saved nor restored.
    ///
    /// # Errors
    ///
    /// The toolset cannot be used in the run, and the run fails. `exit` is not called then.
    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Cleans up after a run, whether or not the run failed. It goes on if the run is dropped meanwhile, and is
    /// itself dropped after a minute.
    ///
    /// # Errors
    ///
    /// The cleanup failed. The error is logged, and other toolsets are still exited.
    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns whether `exit` limits the time of each part itself, as [`Combined`] does, so that one part does not use up the
    /// time of the others.
    #[doc(hidden)]
    fn limits_exits(&self) -> bool {
        false
    }

    /// Returns the state to restore when the run is resumed, as JSON. Called before a suspended run exits, and after each step of
    /// a run with checkpoints. An instance that several runs share saves only what belongs to this run or scope, or nothing:
    /// what it saves is restored later, whatever other runs have changed meanwhile.
    ///
    /// # Errors
    ///
    /// The state cannot be saved. The error ends the run.
    fn save<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let _ = scope;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Restores the state that [`save`](Self::save) returned. Called when a run is resumed, after `enter` and before the tools are
    /// listed.
    ///
    /// # Errors
    ///
    /// The state cannot be restored. The error ends the run.
    fn restore<'a>(
        &'a self,
        scope: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = (scope, saved);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns the open handles that are not part of the saved state, such as transactions or processes. Approval requests list
    /// them, since they become invalid if the run is suspended.
    fn open_handles(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns instructions for the planner, in addition to those of the agent. Empty text is ignored.
    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let _ = scope;
        Box::pin(std::future::ready(None))
    }

    /// Returns whether a tool is available now.
    fn is_available(&self, tool: &str) -> bool {
        let _ = tool;
        true
    }

    /// Keeps only the tools whose names the function accepts. The others are not listed and cannot be called.
    fn filtered(self, keep: impl Fn(&str) -> bool + Send + Sync) -> impl Toolset
    where
        Self: Sized,
    {
        Filtered::new(self, keep)
    }

    /// Publishes the tools as `<prefix>.<tool>`.
    fn prefixed(self, prefix: impl Into<String>) -> impl Toolset
    where
        Self: Sized,
    {
        Prefixed::new(prefix.into(), self)
    }

    /// Renames tools, by pairs of an old and a new name. Two tools may swap their names.
    ///
    /// # Errors
    ///
    /// A tool is renamed twice, or two tools are renamed to the same name. Collisions with tools that are not renamed are
    /// errors when the tools are listed.
    fn renamed<O: Into<String>, N: Into<String>>(
        self,
        names: impl IntoIterator<Item = (O, N)>,
    ) -> Result<impl Toolset, ToolsetError>
    where
        Self: Sized,
    {
        Renamed::new(self, names.into_iter().map(|(old, new)| (old.into(), new.into())))
    }

    /// Passes the listed tools to a function before each step. It may remove tools, change their order, or require approvals. A tool
    /// that it removed cannot be called.
    fn prepared(
        self,
        prepare: impl Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        Prepared::new(self, prepare)
    }

    /// Sets a function that tells by name whether a tool is available. While it is not, calls fail as unavailable, and a runtime
    /// that [skips unavailable tools](crate::RuntimeBuilder::skipping_unavailable) hides it from planners.
    fn available_while(self, available: impl Fn(&str) -> bool + Send + Sync) -> impl Toolset
    where
        Self: Sized,
    {
        Available::new(self, available)
    }

    /// Adds instructions for planners after those of the toolset. The function is called before each step.
    fn instructed(
        self,
        instructions: impl Fn(&Scope) -> Option<String> + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        Instructed::new(self, instructions)
    }

    /// Requires an approval for the tools that a function selects by name. Tools that already require one keep their own prompt,
    /// and are asked about only once.
    fn requiring_approval(
        self,
        approval: Approval,
        applies: impl Fn(&str) -> bool + Send + Sync,
    ) -> impl Toolset
    where
        Self: Sized,
    {
        ApprovalRequired::new(self, approval, applies)
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

    fn limits_exits(&self) -> bool {
        (**self).limits_exits()
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

/// A toolset that its owner enters and exits: here these methods do nothing.
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

/// Implements the named methods of [`Toolset`] by calling the wrapped toolset.
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

        fn limits_exits(&self) -> bool {
            self.$to.limits_exits()
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
