//! Answers calls of an agent-backed tool with runs of its agent. Never makes a call itself: the run
//! does.

use std::sync::{Arc, OnceLock, Weak};

use toolwright::{
    BoxFuture, Executor, FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolResult,
};

use crate::runtime::Inner;

/// How deep runs may be nested. An agent that calls itself without end would otherwise use up the
/// stack, which no failure could report.
const MAX_DEPTH: u32 = 16;

tokio::task_local! {
    /// How many agent-backed calls the current one is inside of.
    static DEPTH: u32;
}

/// The way from a registered executor to the runtime it is registered in. Weak, because the runtime
/// owns the executor.
#[derive(Clone, Default)]
pub(crate) struct RuntimeLink(Arc<OnceLock<Weak<Inner>>>);

/// The executor of an agent's exported tools.
pub(crate) struct Delegate {
    agent: &'static str,
    link: RuntimeLink,
}

impl RuntimeLink {
    /// Ties the link; a registry becomes a runtime once, so there is nothing to replace.
    pub(crate) fn tie(&self, runtime: &Arc<Inner>) {
        self.0.get_or_init(|| Arc::downgrade(runtime));
    }

    fn runtime(&self) -> Option<Arc<Inner>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

impl Delegate {
    pub(crate) fn new(agent: &'static str, link: RuntimeLink) -> Self {
        Self { agent, link }
    }

    async fn answer(&self, call: &ToolCall) -> Result<Payload, ToolFailure> {
        let depth = DEPTH.try_with(|depth| *depth).unwrap_or(0);
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let run = self.link.runtime().and_then(|runtime| runtime.child_run(self.agent, call));
        let run = run.ok_or_else(|| self.gone())?;
        DEPTH.scope(depth + 1, run.drive()).await.0
    }

    fn gone(&self) -> ToolFailure {
        let message = format!("agent `{}` cannot be reached", self.agent);
        ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
            .with_detail("the runtime it was registered in does not exist any more")
    }
}

impl Executor for Delegate {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.answer(call).await {
                Ok(payload) => ToolResult::payload(call, payload),
                Err(failure) => ToolResult::failure(call, failure),
            }
        })
    }
}

fn too_deep() -> ToolFailure {
    let message =
        format!("agents call agents {MAX_DEPTH} deep already; answer without another agent");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}
