//! The environment that all runs of a runtime share, and the options of each run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::Scope;

use super::journal::Journal;
use super::state::SavedCall;
use super::stop::Stop;
use crate::approval::{Answer, Approver, Clock, ResumeError, Verdict, Verdicts, check, now};
use crate::execute::ExecutionService;
use crate::hooks::Hooks;
use crate::registry::{Catalog, Registry};
use crate::suspended::{SealKey, SuspendedRunStore};
use crate::tools::ToolEntry;
use crate::watch::{EventSink, Publisher};

/// The registry and the settings of a runtime.
pub(crate) struct Environment {
    pub(crate) registry: Registry,
    /// The catalog that limits the toolsets of agents, if there is one.
    pub(crate) catalog: Option<Catalog>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    pub(crate) hooks: Hooks,
    pub(crate) execute: ExecutionService,
    /// The `ExecutionService`s for single toolsets, by toolset name.
    pub(crate) execution_by_toolset: BTreeMap<String, ExecutionService>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) question_lifetime: Duration,
    pub(crate) clock: Clock,
    pub(crate) skip_unavailable: bool,
    pub(crate) record_content: bool,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// The number of the next event.
    pub(crate) sequence: Arc<AtomicU64>,
    /// The store of suspended runs and answered questions.
    pub(crate) suspended_runs: Arc<dyn SuspendedRunStore>,
    /// The keys for exported states. The first one seals, and each of them can open.
    pub(crate) seal_keys: Vec<SealKey>,
}

impl Environment {
    /// Returns the `ExecutionService` for the toolset of a tool.
    pub(crate) fn execution_for(&self, tool: &ToolEntry) -> &ExecutionService {
        self.execution_by_toolset.get(tool.spec().toolset()).unwrap_or(&self.execute)
    }

    /// Checks answers, and marks either all of their questions as answered or none.
    pub(crate) async fn accept_answers(
        &self,
        waiting: &[SavedCall],
        answers: Vec<Answer>,
    ) -> Result<Verdicts, ResumeError> {
        let questions: Vec<_> = waiting.iter().flat_map(SavedCall::questions).collect();
        let now = now(&self.clock);
        let checked = check(&questions, answers, now)?;
        // Check arguments that the approver changed. Those of tools that are listed only during a run are checked there.
        for question in &questions {
            let Some(Verdict::ApproveWith(args)) = checked.get(&question.id) else { continue };
            let registered = self.registry.spec(&question.tool);
            let Some(spec) = registered.filter(|spec| spec.toolset() == question.toolset) else {
                continue;
            };
            let id = question.id.clone();
            spec.check_args(args.as_bytes())
                .map_err(|issues| ResumeError::InvalidArguments { id, issues })?;
        }
        let answered: Vec<_> =
            questions.iter().map(|question| (question.id.as_str(), question.expires_at)).collect();
        match self.suspended_runs.mark_answered(&answered, now).await {
            Ok(None) => Ok(checked),
            Ok(Some(id)) => Err(ResumeError::AnsweredBefore { id }),
            Err(error) => Err(ResumeError::Store { reason: error.to_string() }),
        }
    }

    /// Checks that each name of an approval list is one of these tools or of any registered tool, since child runs have the
    /// same list.
    ///
    /// # Errors
    ///
    /// The names without a tool.
    pub(crate) fn check_approval_list<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
        tools: &[ToolEntry],
    ) -> Result<(), Vec<String>> {
        let is_known = |name: &str| {
            tools.iter().any(|tool| tool.is_known_as(name))
                || self.registry.has_tool(name)
                || self.catalog.as_ref().is_some_and(|catalog| catalog.has_tool(name))
        };
        let unknown = names.into_iter().filter(|name| !is_known(name));
        let unknown: Vec<_> = unknown.cloned().collect();
        if unknown.is_empty() { Ok(()) } else { Err(unknown) }
    }

    pub(crate) fn publisher(
        &self,
        agent: Option<Arc<str>>,
        scope: Arc<Scope>,
        events: Option<Arc<dyn EventSink>>,
    ) -> Publisher {
        let (sequence, sinks) = (Arc::clone(&self.sequence), [self.events.clone(), events]);
        Publisher { agent, scope, sequence, sinks }
    }
}

/// The options of a run, which child runs inherit.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) one_at_a_time: bool,
    /// The tools whose calls need an approval in this run.
    pub(crate) approval_list: Arc<[String]>,
    /// The approval list of the agent that makes the calls. It also applies to calls on behalf of these. Each run has its own.
    pub(crate) agent_approval_list: Arc<[String]>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// True if the run can be suspended.
    pub(crate) can_suspend: bool,
    /// The sessions that the run belongs to, or the call that it answers. Each is cancelled once its session is stopped.
    pub(crate) sessions: Vec<CancellationToken>,
    /// The stops of the run and of the runs above it, also of those that make the call for which it is made. Once one of them has
    /// come, no call begins.
    pub(crate) stops: Vec<Stop>,
    /// The ids of the calls in which the call is nested that has these options from its origin, outermost first.
    pub(crate) outer_calls: Arc<[String]>,
}

impl Options {
    /// Adds the approval list, the sessions and the stops of a run or session that this run belongs to.
    pub(crate) fn belong_to(&mut self, outer: &Self) {
        self.require_approval_of(&outer.approval_list);
        self.sessions.extend_from_slice(&outer.sessions);
        self.stops.extend_from_slice(&outer.stops);
    }

    /// Returns whether a session that the run belongs to was stopped.
    pub(crate) fn is_session_stopped(&self) -> bool {
        self.sessions.iter().any(CancellationToken::is_cancelled)
    }

    /// Adds the names to the approval list that it does not have yet.
    pub(crate) fn require_approval_of(&mut self, names: &[String]) {
        let mut all = self.approval_list.to_vec();
        all.extend(names.iter().filter(|name| !self.approval_list.contains(name)).cloned());
        self.approval_list = all.into();
    }
}
