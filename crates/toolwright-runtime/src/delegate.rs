//! Calls of agent-backed tools, answered by runs of their agents. What such a run inherits travels with the call, so it
//! is there on whatever task the call is run.

use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use crate::run::{End, Options, Resumption};
use crate::runtime::Inner;
use crate::state::RunState;
use crate::toolset::{ToolEntry, ToolSpecRef, Toolset};

/// How deep runs may be nested. An agent that calls itself without end would otherwise use up the
/// stack, which no failure could report.
pub(crate) const MAX_DEPTH: u32 = 16;

/// The tools that an agent implements. The runtime they are registered in answers their calls itself.
pub(crate) struct AgentTools(Vec<ToolEntry>);

/// The run that is to answer one call. It goes down through the layers with its [`Invocation`](crate::execute::Invocation).
pub(crate) struct ChildRun {
    runtime: Arc<Inner>,
    agent: Arc<str>,
    tool: ToolSpecRef,
    /// What it inherits of the run that makes the call.
    options: Options,
    /// What it goes on from, where the call was suspended before. The first attempt takes it.
    resumption: Mutex<Option<Resumption>>,
    /// Its state, once it has to wait. Layers carry outcomes alone, so it is left here for the run that makes the call.
    suspended: Mutex<Option<Box<RunState>>>,
}

impl ChildRun {
    /// The run that answers a call of this tool, if an agent implements it.
    pub(crate) fn of(
        tool: &ToolEntry,
        runtime: &Arc<Inner>,
        options: &Options,
        resumption: Option<Resumption>,
    ) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            runtime: Arc::clone(runtime),
            agent: Arc::clone(tool.agent()?),
            tool: tool.spec_ref().clone(),
            options: options.clone(),
            resumption: Mutex::new(resumption),
            suspended: Mutex::default(),
        }))
    }

    /// The state of the run, if it waits for answers.
    pub(crate) fn take_suspended(&self) -> Option<Box<RunState>> {
        self.suspended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs the agent, with the call's arguments as its input.
    pub(crate) async fn answer(&self, call: &ToolCall) -> Outcome {
        let run = self.runtime.child_run(&self.agent, self.tool.clone(), call, &self.options);
        let Some(mut run) = run else { return Err(self.gone()) };
        let resumption = self.resumption.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(resumption) = &resumption {
            run.take_identity(&resumption.state);
        }
        match run.drive(resumption).await.0 {
            End::Finished(payload) => Ok(payload),
            End::Failed(failure) => Err(failure),
            End::Suspended(state) => {
                *self.suspended.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
                Err(waiting())
            }
        }
    }

    fn gone(&self) -> ToolFailure {
        let message = format!("agent `{}` cannot be reached", self.agent);
        ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan)
            .with_detail("it is not registered in the runtime that its tool was called in")
    }
}

/// The scope of a run that answers a call: session, turn and labels are the call's.
pub(crate) fn child_scope(call: &ToolCall) -> Scope {
    let (parent_call_id, depth) =
        (Some(call.id().to_owned()), call.scope().depth.saturating_add(1));
    Scope { run_id: None, parent_call_id, depth, ..call.scope().clone() }
}

impl AgentTools {
    pub(crate) fn new(tools: Vec<ToolEntry>) -> Self {
        Self(tools)
    }
}

impl Toolset for AgentTools {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }

    /// Only reached outside the runtime, which alone can run an agent.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let message =
            format!("`{}` is answered by an agent, which only its runtime runs", call.tool());
        let failure = ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan);
        Box::pin(std::future::ready(ToolResult::new(call, Err(failure))))
    }
}

pub(crate) fn too_deep() -> ToolFailure {
    let message =
        format!("agents call agents {MAX_DEPTH} deep already; answer without another agent");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// The failure that layers see when the run of a call is suspended. The caller returns the state of the run instead.
fn waiting() -> ToolFailure {
    ToolFailure::new(
        FailureKind::Denied,
        "the agent waits for an approval that nobody can give here",
        Recovery::Replan,
    )
}
