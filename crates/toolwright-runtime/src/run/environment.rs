//! What all runs of a runtime share. Never changes once the runtime is built.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use toolwright::Scope;

use super::Journal;
use crate::approval::{Approver, Clock, Ledger};
use crate::execute::Execute;
use crate::hooks::Hooks;
use crate::registry::{Catalog, Registry};
use crate::tools::ToolEntry;
use crate::watch::{EventSink, Publisher, RunInfo};

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
    /// The questions that were answered.
    pub(crate) answered: Ledger,
}

impl Environment {
    /// What runs a tool.
    pub(crate) fn execute_for(&self, tool: &ToolEntry) -> &Execute {
        self.execute_of.get(tool.spec().toolset()).unwrap_or(&self.execute)
    }

    pub(crate) fn publisher(
        &self,
        run_id: &str,
        agent: Option<Arc<str>>,
        scope: &Scope,
        events: Option<Arc<dyn EventSink>>,
    ) -> Publisher {
        let run = RunInfo {
            id: run_id.to_owned(),
            agent,
            parent_call_id: scope.parent_call_id.clone(),
            session_id: scope.session_id.clone(),
            turn_id: scope.turn_id.clone(),
        };
        let sequence = Arc::clone(&self.sequence);
        Publisher { run: Arc::new(run), sequence, sinks: [self.events.clone(), events] }
    }
}
