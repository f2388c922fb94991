//! Hooks, which run before and after calls, for all tools, a toolset or a tool.

use crate::caught::Caught;
use crate::debug::debug;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure,
};

use crate::tools::ToolEntry;

/// Code that runs before and after a call. Both methods are optional.
pub trait Hook: Send + Sync {
    /// Returns its name, for the messages of failures.
    fn name(&self) -> &str;

    /// Runs before the tool, and returns the arguments to use.
    ///
    /// # Errors
    ///
    /// An error refuses the call. The tool does not run, and the `after` hooks get a failure with the name of this hook. A
    /// [`ToolFailure`] keeps its kind and recovery.
    fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        Box::pin(std::future::ready(Ok(call.args().clone())))
    }

    /// Runs after the tool, whether or not it failed, and returns the outcome to use. It may turn a failure into a result.
    ///
    /// # Errors
    ///
    /// An error makes the outcome a failure with the name of this hook.
    fn after<'a>(
        &'a self,
        call: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        let _ = call;
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// The hooks of a runtime. Before a call those for all tools run first, then those for its toolset, then those for the tool.
/// After a call the hooks for the tool run first, then those for its toolset, then those for all tools.
///
/// ```
/// use toolwright::{BoxError, BoxFuture, Payload, ToolCall};
/// use toolwright_runtime::{Hook, Hooks, Registry, Runtime};
///
/// struct ByDay;
///
/// impl Hook for ByDay {
///     fn name(&self) -> &str {
///         "by_day"
///     }
///
///     fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
///         let day = call.label("time") == Some("day");
///         let args = if day { Ok(call.args().clone()) } else { Err("we are closed".into()) };
///         Box::pin(std::future::ready(args))
///     }
/// }
///
/// let hooks = Hooks::new().with_for_toolset("shop", ByDay);
/// let runtime = Runtime::builder(Registry::new()).with_hooks(hooks).build();
/// # drop(runtime);
/// ```
#[derive(Clone, Default)]
pub struct Hooks {
    global: Vec<Arc<dyn Hook>>,
    by_toolset: BTreeMap<String, Vec<Arc<dyn Hook>>>,
    by_tool: BTreeMap<String, Vec<Arc<dyn Hook>>>,
}

debug!(Hooks, hooks => { global: hooks.global.len(), by_toolset: hooks.by_toolset.keys(), by_tool: hooks.by_tool.keys() });

impl Hooks {
    /// Creates an empty set of hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hook for all tools.
    #[must_use]
    pub fn with(mut self, hook: impl Hook + 'static) -> Self {
        self.global.push(Arc::new(hook));
        self
    }

    /// Adds a hook for the tool with a name, which is the name it is published under.
    #[must_use]
    pub fn with_for(mut self, tool: impl Into<String>, hook: impl Hook + 'static) -> Self {
        self.by_tool.entry(tool.into()).or_default().push(Arc::new(hook));
        self
    }

    /// Adds a hook for the tools of a toolset: all tools whose specs name it, however they are registered and published.
    #[must_use]
    pub fn with_for_toolset(
        mut self,
        toolset: impl Into<String>,
        hook: impl Hook + 'static,
    ) -> Self {
        self.by_toolset.entry(toolset.into()).or_default().push(Arc::new(hook));
        self
    }

    /// Returns whether there is a hook for a tool. If the tool no longer exists, only its name is given.
    pub fn has_for(&self, name: &str, tool: Option<&ToolEntry>) -> bool {
        self.matching(name, tool).iter().any(|hooks| !hooks.is_empty())
    }

    /// Returns the hooks for all tools, for the tool's toolset, and for the tool.
    fn matching(&self, name: &str, tool: Option<&ToolEntry>) -> [&[Arc<dyn Hook>]; 3] {
        let of_toolset = tool.and_then(|tool| self.by_toolset.get(tool.spec().toolset()));
        let of_tool = self.by_tool.get(name);
        [&self.global, of_toolset.map_or(&[], Vec::as_slice), of_tool.map_or(&[], Vec::as_slice)]
    }

    /// Runs the hooks before a call, and returns the arguments to use. A [`Runtime`](crate::Runtime) does that for the calls that it
    /// makes; an adapter that makes a call in another way can do it, too.
    ///
    /// # Errors
    ///
    /// Returns the failure of the first hook that refuses the call.
    pub async fn before(&self, call: &ToolCall, tool: &ToolEntry) -> Outcome {
        let hooks = self.matching(call.tool(), Some(tool));
        let mut call = Cow::Borrowed(call);
        for hook in hooks.into_iter().flatten() {
            let hooked = Caught::new(async { hook.before(&call).await }).await;
            match hooked {
                Ok(Ok(args)) if args == *call.args() => {}
                Ok(Ok(args)) => call = Cow::Owned(call.into_owned().with_args(args)),
                Ok(Err(error)) => return Err(failed(&**hook, error)),
                Err(_) => return Err(failed(&**hook, "it panicked".into())),
            }
        }
        Ok(call.args().clone())
    }

    /// Runs the hooks after a call, and returns the outcome to use. A result that they changed is checked by the tool's schema.
    ///
    /// # Errors
    ///
    /// Returns the failure of the call or of a hook, unless a later hook turned it into a result.
    pub async fn after(
        &self,
        call: &ToolCall,
        tool: Option<&ToolEntry>,
        mut outcome: Outcome,
    ) -> Outcome {
        let [global, of_toolset, of_tool] = self.matching(call.tool(), tool);
        let before = outcome.clone();
        for hook in of_tool.iter().chain(of_toolset).chain(global) {
            let hooked = async { hook.after(call, outcome).await };
            outcome = match Caught::new(hooked).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => Err(failed(&**hook, error)),
                Err(_) => Err(failed(&**hook, "it panicked".into())),
            };
        }
        match tool {
            Some(tool) if outcome != before => tool.spec_ref().checked(outcome),
            _ => outcome,
        }
    }
}

/// Creates the failure of a hook, with its name. The text of an error other than a [`ToolFailure`] is for operators only.
fn failed(hook: &dyn Hook, error: BoxError) -> ToolFailure {
    match error.downcast::<ToolFailure>() {
        Ok(failure) => {
            let message = format!("hook `{}`: {}", hook.name(), failure.message);
            ToolFailure { message, ..*failure }
        }
        Err(error) => {
            let message = format!("hook `{}` failed", hook.name());
            ToolFailure::new(FailureKind::Internal, message, Recovery::Replan)
                .with_detail(error.to_string())
        }
    }
}
