//! Code that runs before and after calls, for all tools or for one. Never runs the tool.

use crate::debug::debug;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure,
};

use crate::tools::ToolEntry;

/// Something to do before and after a call; either half may be left out.
pub trait Hook: Send + Sync {
    /// What failures call it by.
    fn name(&self) -> &str;

    /// Runs before the tool. What it returns are the arguments from then on.
    ///
    /// # Errors
    ///
    /// Whatever speaks against the call: the tool does not run, and the hooks after it see a failure with this hook's
    /// name. A [`ToolFailure`] keeps its kind and advice.
    fn before<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        Box::pin(std::future::ready(Ok(call.args().clone())))
    }

    /// Runs after the tool, whatever came of it. What it returns is the outcome from then on, so that a failure can be
    /// changed or recovered from.
    ///
    /// # Errors
    ///
    /// Whatever went wrong in it: the outcome is then a failure with this hook's name.
    fn after<'a>(
        &'a self,
        call: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        let _ = call;
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// The hooks of a runtime. Before a call: those for all tools, then those of its toolset, then those of the tool. After
/// it: those of the tool, then those of its toolset, then those for all.
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
    of_toolsets: BTreeMap<String, Vec<Arc<dyn Hook>>>,
    of_tools: BTreeMap<String, Vec<Arc<dyn Hook>>>,
}

debug!(Hooks, hooks => { global: hooks.global.len(), of_toolsets: hooks.of_toolsets.keys(), of_tools: hooks.of_tools.keys() });

impl Hooks {
    /// No hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hook for all tools.
    #[must_use]
    pub fn with(mut self, hook: impl Hook + 'static) -> Self {
        self.global.push(Arc::new(hook));
        self
    }

    /// Adds a hook for the tool of a name, the one it is published under.
    #[must_use]
    pub fn with_for(mut self, tool: impl Into<String>, hook: impl Hook + 'static) -> Self {
        self.of_tools.entry(tool.into()).or_default().push(Arc::new(hook));
        self
    }

    /// Adds a hook for the tools of a toolset: the one of this name in their specs, wherever they are registered and
    /// under whatever name.
    #[must_use]
    pub fn with_for_toolset(
        mut self,
        toolset: impl Into<String>,
        hook: impl Hook + 'static,
    ) -> Self {
        self.of_toolsets.entry(toolset.into()).or_default().push(Arc::new(hook));
        self
    }

    /// Whether there is a hook for a tool, which is not there any more where only its name is known.
    pub(crate) fn are_for(&self, name: &str, tool: Option<&ToolEntry>) -> bool {
        self.of(name, tool).iter().any(|hooks| !hooks.is_empty())
    }

    /// The hooks for all tools, those of the tool's toolset, and those of the tool.
    fn of(&self, name: &str, tool: Option<&ToolEntry>) -> [&[Arc<dyn Hook>]; 3] {
        let of_toolset = tool.and_then(|tool| self.of_toolsets.get(tool.spec().toolset()));
        let of_tool = self.of_tools.get(name);
        [&self.global, of_toolset.map_or(&[], Vec::as_slice), of_tool.map_or(&[], Vec::as_slice)]
    }

    /// Lets every hook see and change the arguments of a call before it runs.
    pub(crate) async fn before(&self, call: &ToolCall, tool: &ToolEntry) -> Outcome {
        let hooks = self.of(call.tool(), Some(tool));
        let mut call = Cow::Borrowed(call);
        for hook in hooks.into_iter().flatten() {
            let hooked = AssertUnwindSafe(async { hook.before(&call).await }).catch_unwind().await;
            match hooked {
                Ok(Ok(args)) if args == *call.args() => {}
                Ok(Ok(args)) => call = Cow::Owned(call.into_owned().with_args(args)),
                Ok(Err(error)) => return Err(failed(&**hook, error)),
                Err(_) => return Err(failed(&**hook, "it panicked".into())),
            }
        }
        Ok(call.args().clone())
    }

    /// Lets every hook see and change what came of a call.
    pub(crate) async fn after(
        &self,
        call: &ToolCall,
        tool: Option<&ToolEntry>,
        mut outcome: Outcome,
    ) -> Outcome {
        let [global, of_toolset, of_tool] = self.of(call.tool(), tool);
        for hook in of_tool.iter().chain(of_toolset).chain(global) {
            let hooked = async { hook.after(call, outcome).await };
            outcome = match AssertUnwindSafe(hooked).catch_unwind().await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => Err(failed(&**hook, error)),
                Err(_) => Err(failed(&**hook, "it panicked".into())),
            };
        }
        outcome
    }
}

/// A failing hook is a failure with its name. A foreign error's text is for operators only.
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
