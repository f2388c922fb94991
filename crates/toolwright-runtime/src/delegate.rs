//! Answers calls of an agent-backed tool with runs of its agent. Never makes a call itself: the run
//! does.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use toolwright::{
    BoxFuture, Executor, FailureKind, Outcome, Recovery, ToolCall, ToolFailure, ToolResult,
};

use crate::run::{End, Options, Resumption};
use crate::runtime::Inner;
use crate::state::RunState;

/// How deep runs may be nested. An agent that calls itself without end would otherwise use up the
/// stack, which no failure could report.
const MAX_DEPTH: u32 = 16;

tokio::task_local! {
    /// The call that is being run.
    static FRAME: Arc<Frame>;
}

/// What a call knows of the run around it, for the run that may answer it.
#[derive(Default)]
pub(crate) struct Frame {
    /// How many agent-backed calls this one is inside of.
    depth: u32,
    /// What a child run inherits.
    options: Options,
    /// The child run to go on with, where the call was suspended before.
    resume: Mutex<Option<Resumption>>,
    /// The child run that has been suspended.
    suspended: Mutex<Option<Box<RunState>>>,
}

impl Frame {
    /// The frame of a call made by a run with these options.
    pub(crate) fn new(options: Options, resume: Option<Resumption>) -> Arc<Self> {
        let depth = FRAME.try_with(|outer| outer.depth + 1).unwrap_or(0);
        Arc::new(Self { depth, options, resume: Mutex::new(resume), suspended: Mutex::default() })
    }

    /// Runs a call in its frame.
    pub(crate) async fn scope<T>(self: &Arc<Self>, call: impl Future<Output = T>) -> T {
        FRAME.scope(Arc::clone(self), call).await
    }

    /// The child run that was suspended in this frame, if one was.
    pub(crate) fn take_suspended(&self) -> Option<Box<RunState>> {
        self.suspended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn take_resumption(&self) -> Option<Resumption> {
        self.resume.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn suspend(&self, state: Box<RunState>) {
        *self.suspended.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }
}

/// The way from a registered executor to the runtime it is registered in. Weak, because the runtime
/// owns the executor.
#[derive(Clone, Default)]
pub(crate) struct RuntimeLink(Arc<OnceLock<Weak<Inner>>>);

/// The executor of the tools an agent implements.
pub(crate) struct Delegate {
    agent: String,
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
    pub(crate) fn new(agent: &str, link: RuntimeLink) -> Self {
        Self { agent: agent.to_owned(), link }
    }

    async fn answer(&self, call: &ToolCall) -> Outcome {
        // Code between here and the run may have moved the call to another task.
        let frame = FRAME.try_with(Arc::clone).unwrap_or_default();
        if frame.depth >= MAX_DEPTH {
            return Outcome::Failure(too_deep());
        }
        let options = frame.options.clone();
        let run =
            self.link.runtime().and_then(|runtime| runtime.child_run(&self.agent, call, options));
        let Some(mut run) = run else { return Outcome::Failure(self.gone()) };
        let resumption = frame.take_resumption();
        if let Some(resumption) = &resumption {
            run.take_identity(&resumption.state);
        }
        match run.drive(resumption).await.0 {
            End::Finished(payload) => Outcome::Payload(payload),
            End::Failed(failure) => Outcome::Failure(failure),
            End::Suspended(state) => {
                frame.suspend(state);
                Outcome::Failure(waiting())
            }
        }
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
            let outcome = self.answer(call).await;
            ToolResult { call_id: call.id().to_owned(), outcome }
        })
    }
}

fn too_deep() -> ToolFailure {
    let message =
        format!("agents call agents {MAX_DEPTH} deep already; answer without another agent");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// Stands where a suspended child's answer will: whoever made the call finds the child's state and drops this.
fn waiting() -> ToolFailure {
    ToolFailure::new(
        FailureKind::Denied,
        "the agent waits for an approval that nobody can give here",
        Recovery::Replan,
    )
}
