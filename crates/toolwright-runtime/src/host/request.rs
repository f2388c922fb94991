//! What a host asks a runtime for, and what it gets. Never runs anything.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright::codec::{self, Decode};
use toolwright::issue::suggestion;
use toolwright::{
    BoxError, FailureKind, InvalidPayload, Payload, Recovery, Scope, Tool, ToolCall, ToolFailure,
};

use super::session::Session;
use crate::agent::{Agent, Exchange};
use crate::approval::{Answer, Approver};
use crate::run::{Checkpoints, Environment, Options, Run, SessionTools, SuspendedRun, child_scope};
use crate::tools::{IntoSource, Source, ToolSpecRef, unknown_approval};
use crate::watch::EventSink;

/// A run of an agent that a host asks for.
#[derive(Clone)]
pub struct RunRequest {
    pub(crate) target: Target,
    pub(crate) input: Payload,
    pub(crate) run_id: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) one_at_a_time: bool,
    pub(super) hosting: Hosting,
}

/// What makes a suspended run go on: the answers to all it asks, and what its host decides now. Agent, input, ids and
/// labels are the run's.
#[derive(Clone)]
pub struct ResumeRequest {
    pub(super) run: SuspendedRun,
    pub(super) answers: Vec<Answer>,
    pub(super) hosting: Hosting,
}

/// What a host decides about a run each time it starts or goes on.
#[derive(Clone, Default)]
pub(super) struct Hosting {
    pub(super) events: Option<Arc<dyn EventSink>>,
    approver: Option<Arc<dyn Approver>>,
    pub(super) approval_list: Vec<String>,
    session: Option<SessionTools>,
    extra: Vec<(String, Source)>,
    checkpoints: Option<Checkpoints>,
    cancelled: CancellationToken,
}

/// Which agent runs.
#[derive(Clone)]
pub(crate) enum Target {
    /// The agent of this name.
    Agent(String),
    /// The agent that implements this tool; its schemas judge input and final payload.
    Tool(ToolSpecRef),
}

/// A call that a host makes outside any agent's run.
#[derive(Clone)]
pub struct CallRequest {
    pub(crate) call: ToolCall,
    pub(crate) events: Option<Arc<dyn EventSink>>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The run's id.
    pub run_id: String,
    /// How it ended, for now or for good.
    pub end: RunEnd,
    /// The steps that were done, in order. In one that was cut off, calls that never ended are cancelled.
    pub steps: Vec<Vec<Exchange>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// With the planner's final payload.
    Finished(Payload),
    /// Without one.
    Failed(ToolFailure),
    /// Not yet: it waits for answers.
    Suspended(SuspendedRun),
}

/// Why a run could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such agent.
    UnknownAgent {
        /// The name asked for.
        agent: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// No agent implements the tool.
    UnknownTool {
        /// The name asked for.
        tool: String,
        /// The names of the tools that agents implement.
        available: Vec<String>,
    },
    /// The host wants calls approved of what is known to be no tool. Where tools are only met in the run, the run fails
    /// instead, with the code `unknown_approval`.
    UnknownApproval {
        /// The names.
        tools: Vec<String>,
        /// The tools of the agent.
        available: Vec<String>,
    },
    /// The input is not valid as the tool's arguments.
    InvalidInput {
        /// The tool.
        tool: String,
        /// What is wrong with the input.
        issues: InvalidPayload,
    },
}

debug!(RunRequest, request => { input: request.input, run_id: request.run_id, scope: request.scope });
debug!(ResumeRequest, request => { run: request.run, answers: request.answers });
debug!(CallRequest, request => { call: request.call });

impl RunRequest {
    /// A run of an agent with an input, in no session. Input and final payload are whatever the agent takes and gives;
    /// [`of`](Self::of) holds them to the schemas of a tool.
    pub fn new(agent: impl Into<String>, input: Payload) -> Self {
        Self::to(Target::Agent(agent.into()), input)
    }

    /// A run of the agent that implements a tool, in no session: what a call of the tool would start. The input goes
    /// through the tool's codec, and so does the final payload, also after the run was suspended and resumed; read it
    /// with [`RunOutcome::decode`].
    ///
    /// # Errors
    ///
    /// Every issue that keeps the input from being valid under the tool's schema.
    pub fn of<T: Tool>(input: &T::Args) -> Result<Self, InvalidPayload> {
        Ok(Self::of_tool(T::SPEC, Payload::of(input)?))
    }

    /// As [`of`](Self::of), with an input that is JSON already. It is checked when the run is to start.
    pub fn of_tool(tool: impl Into<ToolSpecRef>, input: Payload) -> Self {
        Self::to(Target::Tool(tool.into()), input)
    }

    fn to(target: Target, input: Payload) -> Self {
        Self {
            target,
            input,
            run_id: None,
            scope: Scope::default(),
            one_at_a_time: false,
            hosting: Hosting::default(),
        }
    }

    /// Sets the run's id; otherwise it gets a fresh one.
    #[must_use]
    pub fn with_run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// Sets the session, which child runs inherit.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.scope.session_id = Some(id.into());
        self
    }

    /// Sets the turn, which child runs inherit.
    #[must_use]
    pub fn with_turn_id(mut self, id: impl Into<String>) -> Self {
        self.scope.turn_id = Some(id.into());
        self
    }

    /// Makes this a run on behalf of a call, for a tool that starts runs itself: session, turn and labels are the
    /// call's, and the run counts as one that is nested in the call's own.
    #[must_use]
    pub fn on_behalf_of(mut self, call: &ToolCall) -> Self {
        self.scope = child_scope(call);
        self
    }

    /// Adds labels, which child runs inherit.
    #[must_use]
    pub fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.scope.labels.extend(labels);
        self
    }

    /// Makes every tool a barrier: no two calls of this run at once.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }
}

/// What starts and resumes of a run have in common.
macro_rules! hosted {
    ($request:ident) => {
        impl $request {
            /// Sets where the events of this run go; those of its child runs do not go there.
            #[must_use]
            pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
                self.hosting.events = Some(sink);
                self
            }

            /// Sets who approves while the run waits, child runs included; otherwise the runtime's approver does.
            #[must_use]
            pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
                self.hosting.approver = Some(approver);
                self
            }

            /// Requires an approval of these tools' calls, whatever the tools say themselves, child runs included: by the
            /// names that planners call them by, or their own. A name that is no tool is an error, as soon as that is known.
            /// A run that goes on has what it was started with, too.
            #[must_use]
            pub fn with_approval_of<N: Into<String>>(
                mut self,
                tools: impl IntoIterator<Item = N>,
            ) -> Self {
                self.hosting.approval_list.extend(tools.into_iter().map(Into::into));
                self
            }

            /// Adds a toolset for this run alone, beside those of the agent.
            #[must_use]
            pub fn with_toolset<K>(
                mut self,
                name: impl Into<String>,
                toolset: impl IntoSource<K>,
            ) -> Self {
                self.hosting.extra.push((name.into(), toolset.into_source()));
                self
            }

            /// Lets the run use what an open session uses, instances included. It neither enters nor exits them, and it asks
            /// for the approvals that the session asks for. Tools that its agent lists itself it has under their own names
            /// alone, of instances of its own. In a session of another agent it uses what its own agent's allowlist names
            /// too.
            #[must_use]
            pub fn in_session(mut self, session: &Session) -> Self {
                self.hosting.session = Some(session.shared_tools());
                self
            }

            /// Gives a function the run's state after each step, so that it can be resumed from there if the process dies; what
            /// is to outlive the process is [exported](crate::Runtime::export), by a task that the function hands it to. A
            /// state that is resumed while its run goes on runs the next steps twice. Runs that are nested in it are not
            /// kept by themselves: a call that an agent was answering is made again.
            ///
            /// ```
            /// use std::sync::{Arc, Mutex};
            ///
            /// use toolwright::{Payload, ToolCall};
            /// use toolwright_runtime::{
            ///     Agent, Registry, ResumeRequest, RunRequest, Runtime, Script, SuspendedRun,
            /// };
            ///
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// # let registry = Registry::new();
            /// # registry.tool("look", "Look around.", async || true)?;
            /// # let look = ToolCall::new("look", Payload::new("{}"));
            /// # let planner = Script::new().call([look]).finish(Payload::new(r#""done""#));
            /// # registry.register_agent(Agent::new("guard", "lab").with_tools(["look"]), planner.into())?;
            /// # let runtime = Runtime::new(registry);
            /// let last = Arc::new(Mutex::new(None::<SuspendedRun>));
            /// let keep = Arc::clone(&last);
            /// let request = RunRequest::new("guard", Payload::new("{}"))
            ///     .with_checkpoints(move |state| *keep.lock().unwrap() = Some(state));
            /// runtime.run(request).await?;
            ///
            /// let state = last.lock().unwrap().clone().expect("one step was done");
            /// let outcome = runtime.resume(ResumeRequest::new(&state, [])).await?;
            /// assert_eq!(outcome.result()?.as_str(), r#""done""#);
            /// # Ok(())
            /// # }
            /// ```
            #[must_use]
            pub fn with_checkpoints(
                mut self,
                keep: impl Fn(SuspendedRun) + Send + Sync + 'static,
            ) -> Self {
                self.hosting.checkpoints = Some(Arc::new(keep));
                self
            }

            /// Sets what cancels the run: calls that have ended keep their results, the others are given up, and what
            /// was entered is exited.
            #[must_use]
            pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
                self.hosting.cancelled = token;
                self
            }
        }
    };
}

hosted!(RunRequest);
hosted!(ResumeRequest);

impl ResumeRequest {
    /// A suspended run and answers to all it asks.
    pub fn new(run: &SuspendedRun, answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = answers.into_iter().collect();
        Self { run: run.clone(), answers, hosting: Hosting::default() }
    }
}

impl Hosting {
    /// Checks the approval list of a run of an agent, where all tools of it are known before.
    ///
    /// # Errors
    ///
    /// Names that are no tools.
    pub(super) fn check_approval_list(
        &self,
        agent: &Agent,
        environment: &Environment,
    ) -> Result<(), RunError> {
        if self.session.is_some() || environment.catalog.is_some() {
            return Ok(());
        }
        let extra = self.extra.iter().map(|(_, source)| source.known_tools());
        let known = extra.chain([environment.registry.known_tools(agent)]);
        let Some(known) = known.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let known: Vec<_> = known.into_iter().flatten().collect();
        environment.check_approval_list(&self.approval_list, &known).map_err(|tools| {
            let available = known.iter().map(|tool| tool.name().to_owned()).collect();
            RunError::UnknownApproval { tools, available }
        })
    }

    /// Gives a run what its host decides.
    pub(super) fn apply(self, mut run: Run, options: Options, environment: &Environment) -> Run {
        let approver = self.approver.or_else(|| environment.approver.clone());
        let mut approval_list = options.approval_list.to_vec();
        approval_list.extend(self.approval_list.iter().cloned());
        let mut session_stopped = options.session_stopped;
        if let Some(session) = &self.session {
            // A run that goes on in its session has the names already.
            let is_new = |name: &&String| !approval_list.contains(name);
            let of_session: Vec<_> = session.approval_list.iter().filter(is_new).cloned().collect();
            approval_list.extend(of_session);
            session_stopped = session.stopped.clone();
        }
        let approval_list = approval_list.into();
        run.options =
            Options { approver, approval_list, can_suspend: true, session_stopped, ..options };
        run.host_approval_list = self.approval_list.into();
        (run.session, run.extra, run.cancelled) = (self.session, self.extra, self.cancelled);
        run.checkpoints = self.checkpoints;
        run
    }
}

impl CallRequest {
    /// A call as it is, scope included.
    pub fn new(call: ToolCall) -> Self {
        Self { call, events: None }
    }

    /// Sets the sink of this call's events.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }
}

impl From<ToolCall> for CallRequest {
    fn from(call: ToolCall) -> Self {
        Self::new(call)
    }
}

impl RunOutcome {
    /// The final payload.
    ///
    /// # Errors
    ///
    /// Why there is none. A run that waits for answers has none yet.
    pub fn result(&self) -> Result<Payload, ToolFailure> {
        match &self.end {
            RunEnd::Finished(payload) => Ok(payload.clone()),
            RunEnd::Failed(failure) => Err(failure.clone()),
            RunEnd::Suspended(_) => Err(ToolFailure::new(
                FailureKind::Denied,
                "the run waits for answers; resume it",
                Recovery::Finish,
            )),
        }
    }

    /// The final payload as a value of its type.
    ///
    /// # Errors
    ///
    /// Why there is none, or why it is no such value.
    pub fn decode<T: Decode>(&self) -> Result<T, BoxError> {
        Ok(codec::from_json(self.result()?.as_bytes())?)
    }

    /// The run, if it waits for answers.
    pub fn suspended(&self) -> Option<&SuspendedRun> {
        match &self.end {
            RunEnd::Suspended(run) => Some(run),
            _ => None,
        }
    }

    /// Every call that was made and what came of it, in order.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.steps.iter().flatten()
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAgent { agent, available } if available.is_empty() => {
                write!(f, "there is no agent `{agent}`, nor any other; register one first")
            }
            Self::UnknownAgent { agent, available } => {
                let advice = suggestion(agent, available.iter().map(String::as_str), "there is");
                write!(f, "there is no agent `{agent}`, {advice}")
            }
            Self::UnknownTool { tool, available } if available.is_empty() => {
                write!(
                    f,
                    "no agent implements `{tool}`, nor any other tool; register one that does"
                )
            }
            Self::UnknownTool { tool, available } => {
                let known = available.iter().map(String::as_str);
                let advice = suggestion(tool, known, "agents implement");
                write!(f, "no agent implements `{tool}`; {advice}")
            }
            Self::UnknownApproval { tools, available } => unknown_approval(f, tools, available),
            Self::InvalidInput { tool, issues } => {
                write!(f, "the input is not valid for `{tool}`: {issues}")
            }
        }
    }
}

impl Error for RunError {}
