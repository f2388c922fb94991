//! The requests of a host to a runtime, and the outcomes of runs.

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
use crate::agent::{Agent, CallRecord, PastRun, StepRecord};
use crate::approval::{Answer, Approver};
use crate::run::{Checkpoints, Environment, Options, Run, SessionTools, SuspendedRun, child_scope};
use crate::tools::{IntoSource, Source, ToolSpecRef, unknown_approval};
use crate::watch::EventSink;

/// A request for a run of an agent.
#[derive(Clone)]
pub struct RunRequest {
    pub(crate) target: Target,
    pub(crate) input: Payload,
    pub(crate) run_id: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) one_at_a_time: bool,
    pub(super) past: Vec<PastRun>,
    pub(super) host: HostOptions,
}

/// A request to resume a suspended run, with the answers to all its questions. Agent, input, ids and labels are those of the
/// suspended run.
#[derive(Clone)]
pub struct ResumeRequest {
    pub(super) run: SuspendedRun,
    pub(super) answers: Vec<Answer>,
    pub(super) host: HostOptions,
}

/// The options of a run that the host sets each time it is started or resumed.
#[derive(Clone, Default)]
pub(super) struct HostOptions {
    pub(super) events: Option<Arc<dyn EventSink>>,
    approver: Option<Arc<dyn Approver>>,
    pub(super) approval_list: Vec<String>,
    session: Option<SessionTools>,
    /// The options of the run or session that makes the call for which the run is started.
    parent: Option<Options>,
    extra_toolsets: Vec<(String, Source)>,
    checkpoints: Option<Checkpoints>,
    cancelled: CancellationToken,
}

/// The agent of a request.
#[derive(Clone)]
pub(crate) enum Target {
    /// The agent with this name.
    Agent(String),
    /// The agent that implements this tool. Input and final payload must match the schemas of the tool.
    Tool(ToolSpecRef),
}

/// A request for a call outside of runs.
#[derive(Clone)]
pub struct CallRequest {
    pub(crate) call: ToolCall,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// The options of the run or session that makes the call for which this one is made.
    pub(super) parent: Option<Options>,
    /// The ids of the calls in which the call is nested, if another process makes it.
    pub(super) outer_calls: Arc<[String]>,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The id of the run.
    pub run_id: String,
    /// The input of the run.
    pub input: Payload,
    /// The end of the run: finished, failed or suspended.
    pub end: RunEnd,
    /// The completed steps, in order. If the run was stopped during a step, or failed before its calls went on, the calls of that
    /// step that had not ended have failed as cancelled.
    pub steps: Vec<StepRecord>,
}

/// The end of a run: finished, failed or suspended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// The planner finished with this payload.
    Finished(Payload),
    /// The run failed.
    Failed(ToolFailure),
    /// The run waits for answers.
    Suspended(SuspendedRun),
}

/// Why a run could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such agent.
    UnknownAgent {
        /// The name in the request.
        agent: String,
        /// The names of all agents.
        available: Vec<String>,
    },
    /// No agent implements the tool.
    UnknownTool {
        /// The name in the request.
        tool: String,
        /// The names of the tools that agents implement.
        available: Vec<String>,
    },
    /// The approval list of the request has names that no tool has. If some tools are listed only during the run, the run
    /// fails instead, with the code `unknown_approval`.
    UnknownApproval {
        /// The unknown names.
        tools: Vec<String>,
        /// The names of the agent's tools.
        available: Vec<String>,
    },
    /// The input is not valid under the tool's schema.
    InvalidInput {
        /// The tool.
        tool: String,
        /// The errors in the input.
        issues: InvalidPayload,
    },
}

debug!(RunRequest, request => { input: request.input, run_id: request.run_id, scope: request.scope });
debug!(ResumeRequest, request => { run: request.run, answers: request.answers });
debug!(CallRequest, request => { call: request.call });

impl RunRequest {
    /// Requests a run of an agent with an input. The input is not checked; [`of`](Self::of) checks input and final payload
    /// against the schemas of a tool.
    pub fn new(agent: impl Into<String>, input: Payload) -> Self {
        Self::to(Target::Agent(agent.into()), input)
    }

    /// Requests a run of the agent that implements a tool, as a call of the tool would. Input and final payload are checked by
    /// the tool's codecs, also after the run was suspended and resumed. Read the final payload with [`RunOutcome::decode`].
    ///
    /// # Errors
    ///
    /// The input is not valid under the tool's schema. The error holds every issue.
    pub fn of<T: Tool>(input: &T::Args) -> Result<Self, InvalidPayload> {
        Ok(Self::of_tool(T::SPEC, Payload::of(input)?))
    }

    /// Does the same as [`of`](Self::of) with an input that is JSON. The input is checked when the run starts.
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
            past: Vec::new(),
            host: HostOptions::default(),
        }
    }

    /// Sets the id of the run. By default a new id is generated.
    #[must_use]
    pub fn with_run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// Sets the session id, which child runs inherit.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.scope.session_id = Some(id.into());
        self
    }

    /// Sets the turn id, which child runs inherit.
    #[must_use]
    pub fn with_turn_id(mut self, id: impl Into<String>) -> Self {
        self.scope.turn_id = Some(id.into());
        self
    }

    /// Makes this a child run of a call, for a tool that starts runs itself. Session, turn and labels are those of the call, and
    /// the run counts toward the maximum depth of nested runs. It also has the approval list of the run or session that makes the
    /// call, its approver, unless it gets another one, and is cancelled when that run or session is stopped. It does not have the
    /// approval list of the agent that makes the call. If it is suspended, give the call [again](ResumeRequest::on_behalf_of) when you
    /// resume it.
    #[must_use]
    pub fn on_behalf_of(mut self, call: &ToolCall) -> Self {
        self.scope = child_scope(call);
        self.host.parent = options_of(call);
        self
    }

    /// Adds labels, which child runs inherit.
    #[must_use]
    pub fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.scope.labels.extend(labels);
        self
    }

    /// Continues a conversation: the planner sees these runs, the oldest first. They may be runs of other agents, or come from
    /// another process, which stored them with [`PastRun::to_json`].
    ///
    /// ```
    /// use toolwright::Payload;
    /// use toolwright_runtime::{Agent, Registry, RunRequest, Runtime, Script, Step};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let planner = Script::new().then(|turn| {
    ///     let runs = u64::try_from(turn.past().len())?;
    ///     Ok(Step::Finish(Payload::of(&runs)?))
    /// });
    /// let registry = Registry::new();
    /// registry.register_agent(Agent::new("counter", "lab"), planner.into())?;
    /// let runtime = Runtime::new(registry);
    ///
    /// let mut past = Vec::new();
    /// for question in ["one", "two"] {
    ///     let request = RunRequest::new("counter", Payload::of(question)?).with_past(past.clone());
    ///     past.push(runtime.run(request).await?);
    /// }
    /// assert_eq!(past[1].result()?.as_str(), "1");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_past<R: Into<PastRun>>(mut self, runs: impl IntoIterator<Item = R>) -> Self {
        self.past.extend(runs.into_iter().map(Into::into));
        self
    }

    /// Runs the calls of each step one after another instead of concurrently.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }
}

/// The methods that requests to start and to resume a run have in common.
macro_rules! host_options {
    ($request:ident) => {
        impl $request {
            /// Sends the events of this run to a sink, without those of its child runs.
            #[must_use]
            pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
                self.host.events = Some(sink);
                self
            }

            /// Sets the approver of this run and its child runs. The default is the approver of the runtime.
            #[must_use]
            pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
                self.host.approver = Some(approver);
                self
            }

            /// Requires an approval for calls of these tools in this run and its child runs, in addition to tools that
            /// require one themselves. A name may be the published name of a tool or the name in its spec. A name that no
            /// tool has is an error. A resumed run also keeps the names it was started with.
            #[must_use]
            pub fn with_approval_of<N: Into<String>>(
                mut self,
                tools: impl IntoIterator<Item = N>,
            ) -> Self {
                self.host.approval_list.extend(tools.into_iter().map(Into::into));
                self
            }

            /// Adds a toolset for this run only, in addition to those of the agent.
            #[must_use]
            pub fn with_toolset<K>(
                mut self,
                name: impl Into<String>,
                toolset: impl IntoSource<K>,
            ) -> Self {
                self.host.extra_toolsets.push((name.into(), toolset.into_source()));
                self
            }

            /// Runs in an open session: the run uses the instances of the session's toolsets, without entering or exiting
            /// them, and requires the same approvals as the session. Tools that the run's agent lists itself are an
            /// exception: their names get no prefix, and they have instances of this run. In a session of another agent, the run
            /// may only use tools of the session that the allowlist of its own agent has, too. The run is cancelled when the
            /// session is stopped. A run that is started has the id of the session, unless the request sets another one; its turn
            /// and its labels are those of the request. A run that is resumed is in a session only if it is given again.
            #[must_use]
            pub fn in_session(mut self, session: &Session) -> Self {
                self.host.session = Some(session.shared_tools());
                self
            }

            /// Passes the state of the run to a function after each step, so that the run can be resumed from there if the
            /// process dies. To store the state outside of the process, let the function pass it to a task that
            /// [exports](crate::Runtime::export) it. If a state is resumed while its run is still active, the next steps run
            /// twice. A checkpoint asks no question, so its holder can resume it again. Keep it in the host.
            /// Child runs have no checkpoints: a call that an agent was running is made again.
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
                self.host.checkpoints = Some(Arc::new(keep));
                self
            }

            /// Sets a token that cancels the run. Calls that have ended keep their results, other calls are cancelled, and
            /// the toolsets are exited.
            #[must_use]
            pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
                self.host.cancelled = token;
                self
            }
        }
    };
}

host_options!(RunRequest);
host_options!(ResumeRequest);

impl ResumeRequest {
    /// Requests to resume a run, with answers to all its questions.
    pub fn new(run: &SuspendedRun, answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = answers.into_iter().collect();
        Self { run: run.clone(), answers, host: HostOptions::default() }
    }

    /// Resumes a run of a tool that started it [on behalf](RunRequest::on_behalf_of) of a call. It keeps its scope and approval
    /// list. In addition it has the approval list of the run or session that makes this call, its approver, unless it gets another
    /// one, and is cancelled when that run or session is stopped.
    #[must_use]
    pub fn on_behalf_of(mut self, call: &ToolCall) -> Self {
        self.host.parent = options_of(call);
        self
    }
}

/// Returns the options of the run or session that makes a call.
pub(super) fn options_of(call: &ToolCall) -> Option<Options> {
    call.origin()?.get::<Options>().cloned()
}

impl HostOptions {
    /// Checks the names in the approval list, if all tools of the agent are known before the run.
    ///
    /// # Errors
    ///
    /// Some names are not those of tools: the error is made of them and the names that there are.
    pub(super) fn check_approval_list<E>(
        &self,
        agent: &Agent,
        environment: &Environment,
        unknown: impl FnOnce(Vec<String>, Vec<String>) -> E,
    ) -> Result<(), E> {
        if self.session.is_some() || environment.catalog.is_some() {
            return Ok(());
        }
        let extra = self.extra_toolsets.iter().map(|(_, source)| source.known_tools());
        let known = extra.chain([environment.registry.known_tools(agent)]);
        let Some(known) = known.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let known: Vec<_> = known.into_iter().flatten().collect();
        environment.check_approval_list(&self.approval_list, &known).map_err(|tools| {
            let available = known.iter().map(|tool| tool.name().to_owned()).collect();
            unknown(tools, available)
        })
    }

    /// Returns the id of the session in which the run is.
    pub(super) fn session_id(&self) -> Option<&String> {
        self.session.as_ref()?.id.as_ref()
    }

    /// Returns whether the run belongs to a session that was stopped.
    pub(super) fn is_session_stopped(&self) -> bool {
        self.outer().any(Options::is_session_stopped)
    }

    /// Returns the options of the run or session that makes the call for which the run is started, and of its own session.
    fn outer(&self) -> impl Iterator<Item = &Options> {
        self.parent.iter().chain(self.session.as_ref().map(|session| &session.options))
    }

    /// Applies these options to a run.
    pub(super) fn apply(self, mut run: Run, options: Options, environment: &Environment) -> Run {
        let of_parent = || self.parent.as_ref()?.approver.clone();
        let approver = self.approver.clone().or_else(of_parent);
        let approver = approver.or_else(|| environment.approver.clone());
        let mut options = Options { approver, can_suspend: true, ..options };
        options.require_approval_of(&self.approval_list);
        self.outer().for_each(|outer| options.belong_to(outer));
        run.outer_stops.clone_from(&options.stops);
        run.options = options;
        run.host_approval_list = self.approval_list.into();
        (run.session, run.extra_toolsets) = (self.session, self.extra_toolsets);
        (run.cancelled, run.checkpoints) = (self.cancelled, self.checkpoints);
        run
    }
}

impl CallRequest {
    /// Requests a call with the scope it has.
    pub fn new(call: ToolCall) -> Self {
        Self { call, events: None, approver: None, parent: None, outer_calls: Arc::default() }
    }

    /// Makes this a call for another one, for a tool that makes calls itself. Run, session, turn and labels are those of the other
    /// call. It and its child runs also have the approval list of the run or session that makes the other call, its approver, unless
    /// it gets another one, and are stopped with that run or session. The call, but none of its child runs, also has the approval list
    /// of the agent that makes the other call. With a journal, the call needs an id that is the same each time the tool makes it.
    #[must_use]
    pub fn on_behalf_of(mut self, call: &ToolCall) -> Self {
        let parent_call_id = Some(call.id().to_owned());
        self.call = self.call.with_scope(Scope { parent_call_id, ..call.scope().clone() });
        self.parent = options_of(call);
        self
    }

    /// Returns the ids of the calls in which a call is nested, outermost first. A call is nested in another one if a tool makes it [on
    /// behalf](Self::on_behalf_of) of that one, or if a runtime executes that one for another runtime. Beside its own id and that of
    /// its run they tell a call from all others, also if a tool gives the same id to a nested call each time. They are not part of a
    /// call as text: send them to another process separately, and set them there by [`nested_in`](Self::nested_in).
    pub fn outer_calls(call: &ToolCall) -> Arc<[String]> {
        let options = call.origin().and_then(|origin| origin.get::<Options>());
        options.map_or_else(Arc::default, |options| Arc::clone(&options.outer_calls))
    }

    /// Sets the ids of the calls in which this one is nested, as [`outer_calls`](Self::outer_calls) returns them in the process that
    /// makes the call. A request [on behalf](Self::on_behalf_of) of a call has those of that call instead.
    #[must_use]
    pub fn nested_in(mut self, outer_calls: impl Into<Arc<[String]>>) -> Self {
        self.outer_calls = outer_calls.into();
        self
    }

    /// Sends the events of this call to a sink.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.events = Some(sink);
        self
    }

    /// Sets the approver of this call. The default is the approver of the runtime.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }
}

impl From<ToolCall> for CallRequest {
    fn from(call: ToolCall) -> Self {
        Self::new(call)
    }
}

impl RunOutcome {
    /// Returns the final payload.
    ///
    /// # Errors
    ///
    /// The run failed or is suspended.
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

    /// Decodes the final payload.
    ///
    /// # Errors
    ///
    /// The run failed or is suspended, or the payload is not a valid value of the type.
    pub fn decode<T: Decode>(&self) -> Result<T, BoxError> {
        Ok(codec::from_json(self.result()?.as_bytes())?)
    }

    /// Returns the suspended run, if the run waits for answers.
    pub fn suspended(&self) -> Option<&SuspendedRun> {
        match &self.end {
            RunEnd::Suspended(run) => Some(run),
            _ => None,
        }
    }

    /// Returns every call with its result, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallRecord> {
        self.steps.iter().flat_map(|step| &step.calls)
    }
}

impl From<RunOutcome> for PastRun {
    fn from(outcome: RunOutcome) -> Self {
        let waiting =
            || ToolFailure::new(FailureKind::Denied, "it waits for approvals", Recovery::Finish);
        let (result, step) = match &outcome.end {
            RunEnd::Suspended(SuspendedRun(state)) => (Err(waiting()), state.waiting_step(waiting)),
            _ => (outcome.result(), None),
        };
        let RunOutcome { run_id, input, mut steps, .. } = outcome;
        steps.extend(step);
        Self { run_id, input, steps, result }
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
