//! The environment that all runs of a runtime share, and the options of each run. Neither changes once a run has begun.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::Scope;

use super::effects::Journal;
use super::state::SavedCall;
use crate::approval::{Answer, Approver, Clock, ResumeError, Verdict, Verdicts, check, now};
use crate::execute::Execute;
use crate::hooks::Hooks;
use crate::registry::{Catalog, Registry};
use crate::suspended::{SealKey, SuspendedRuns};
use crate::tools::ToolEntry;
use crate::watch::{EventSink, Publisher};

/// What is registered, and what a host decides about all runs.
pub(crate) struct Environment {
    pub(crate) registry: Registry,
    /// What agents may use, where they may not use everything.
    pub(crate) catalog: Option<Catalog>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    pub(crate) hooks: Hooks,
    pub(crate) execute: Execute,
    /// What runs the tools of single toolsets, by their names.
    pub(crate) execute_of: BTreeMap<String, Execute>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) approvals_last: Duration,
    pub(crate) clock: Clock,
    pub(crate) skip_unavailable: bool,
    pub(crate) record_content: bool,
    /// What keeps what runs get from outside.
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// The number of the next event.
    pub(crate) sequence: Arc<AtomicU64>,
    /// Where states are kept, and which questions were answered.
    pub(crate) suspended_runs: Arc<dyn SuspendedRuns>,
    /// The keys of states that leave the program: the first seals them, each of them opens them.
    pub(crate) seal_keys: Vec<SealKey>,
}

impl Environment {
    /// What runs a tool.
    pub(crate) fn execute_for(&self, tool: &ToolEntry) -> &Execute {
        self.execute_of.get(tool.spec().toolset()).unwrap_or(&self.execute)
    }

    /// Checks answers and counts their questions as answered, all or none.
    pub(crate) async fn take_answers(
        &self,
        waiting: &[SavedCall],
        answers: Vec<Answer>,
    ) -> Result<Verdicts, ResumeError> {
        let questions: Vec<_> = waiting.iter().flat_map(SavedCall::questions).collect();
        let now = now(&self.clock);
        let checked = check(&questions, answers, now)?;
        // Arguments of an approver's own must be right; those of tools that are only met in a run are checked there.
        for asked in &questions {
            let Some(Verdict::ApproveWith(args)) = checked.get(&asked.id) else { continue };
            let registered = self.registry.spec(&asked.tool);
            let Some(spec) = registered.filter(|spec| spec.toolset() == asked.toolset) else {
                continue;
            };
            spec.check_args(args.as_bytes())
                .map_err(|issues| ResumeError::InvalidArguments { id: asked.id.clone(), issues })?;
        }
        let taken: Vec<_> =
            questions.iter().map(|asked| (asked.id.as_str(), asked.expires_at)).collect();
        match self.suspended_runs.take(&taken, now).await {
            Ok(None) => Ok(checked),
            Ok(Some(id)) => Err(ResumeError::AnsweredBefore { id }),
            Err(error) => Err(ResumeError::Store { reason: error.to_string() }),
        }
    }

    /// Checks that each name of an approval list means a tool: one of these or, since runs that are nested in this one have
    /// the list too, any that is registered.
    ///
    /// # Errors
    ///
    /// The names that mean none.
    pub(crate) fn check_approval_list<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
        tools: &[ToolEntry],
    ) -> Result<(), Vec<String>> {
        let is_known = |name: &str| {
            tools.iter().any(|tool| tool.is_meant_by(name))
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

/// What a host decides about a run, and child runs inherit.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) one_at_a_time: bool,
    /// The tools whose calls need an approval by the run's own wish.
    pub(crate) approval_list: Arc<[String]>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// Whether somebody can take the run's state and bring it back.
    pub(crate) can_suspend: bool,
    /// Cancelled once the session is stopped, if there is one.
    pub(crate) session_stopped: CancellationToken,
}
