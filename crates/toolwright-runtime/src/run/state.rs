//! A run that waits for answers, as data: it survives the process. Never goes on by itself: see `run`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolwright::ToolSpec;

use crate::agent::Exchange;
use crate::approval::ApprovalRequest;
use crate::wire::{WireCall, WireExchange, WireScope};

/// A run between two steps, or one that waits for answers. Resume it with [`Runtime::resume`](crate::Runtime::resume). To keep
/// it elsewhere, in a database or for another process, [export](crate::Runtime::export) it as text: only a runtime makes
/// one of these, so that nobody in between changes what was approved.
///
/// Its toolsets are entered anew and take back what they saved; handles that were not saved mean nothing any more.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedRun(pub(crate) Box<RunState>);

/// A call of a session that waits for answers. Go on with it by [`Session::resume`](crate::Session::resume), in this session
/// or another of the same agent. To keep it elsewhere, [export](crate::Session::export) it as text.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedCall(pub(crate) SessionCall);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionCall {
    /// The agent that the session is of.
    pub(crate) agent: String,
    pub(crate) call: SavedCall,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    pub(crate) run_id: String,
    pub(crate) agent: String,
    /// The tool whose schemas judge input and final payload.
    pub(crate) implements: Option<String>,
    /// Which attempt at its call the run is; 1 where it runs for no call.
    pub(crate) attempt: u32,
    /// The arguments of its call, as hooks made them.
    pub(crate) args: Option<String>,
    /// The digest of the words in which the tool of its call asked for an approval.
    #[serde(default)]
    pub(crate) words: Option<String>,
    pub(crate) input: String,
    pub(crate) scope: WireScope,
    pub(crate) history: Vec<Vec<WireExchange>>,
    /// The step that could not be done.
    pub(crate) step: Vec<SavedCall>,
    pub(crate) calls: u32,
    pub(crate) failures_in_a_row: u32,
    pub(crate) denied: bool,
    /// How long it has run, in milliseconds.
    pub(crate) elapsed: u64,
    pub(crate) one_at_a_time: bool,
    /// The tools whose calls need an approval by the run's own wish.
    pub(crate) approval_list: Vec<String>,
    /// What the toolsets saved, as JSON text.
    #[serde(default)]
    pub(crate) toolsets: Option<String>,
}

/// How far a call of the step has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedCall {
    /// It has its result.
    Done(WireExchange),
    /// It waits for a barrier before it.
    Postponed(WireCall),
    /// It waits for an answer.
    Asked { call: WireCall, request: ApprovalRequest },
    /// The run of its agent waits.
    Suspended { call: WireCall, run: Box<RunState> },
}

impl SuspendedRun {
    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// The agent that runs.
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// What is asked, in the order of the calls, questions of child runs included. Every one must be answered. Between two
    /// steps nothing is.
    pub fn pending(&self) -> Vec<&ApprovalRequest> {
        self.0.questions()
    }
}

impl SuspendedCall {
    /// The agent whose sessions it can go on in.
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// What is asked, questions of child runs included. Every one must be answered.
    pub fn pending(&self) -> Vec<&ApprovalRequest> {
        self.0.call.questions()
    }
}

impl SavedCall {
    pub(crate) fn questions(&self) -> Vec<&ApprovalRequest> {
        match self {
            Self::Asked { request, .. } => vec![request],
            Self::Suspended { run, .. } => run.questions(),
            Self::Done(_) | Self::Postponed(_) => Vec::new(),
        }
    }
}

impl RunState {
    /// Whether it is the run of a call of this tool.
    pub(super) fn implements(&self, tool: &ToolSpec) -> bool {
        self.implements.as_ref().is_some_and(|name| tool.is_called(name))
    }

    pub(crate) fn questions(&self) -> Vec<&ApprovalRequest> {
        self.step.iter().flat_map(SavedCall::questions).collect()
    }

    /// The steps that were done.
    pub(crate) fn steps(&self) -> Vec<Vec<Exchange>> {
        let exchanges = |step: &Vec<WireExchange>| step.iter().cloned().map(Into::into).collect();
        self.history.iter().map(exchanges).collect()
    }

    /// The ids of every call the run has made.
    pub(crate) fn call_ids(&self) -> BTreeSet<String> {
        let of_call = |saved: &SavedCall| match saved {
            SavedCall::Done(exchange) => exchange.call_id().to_owned(),
            SavedCall::Postponed(call)
            | SavedCall::Asked { call, .. }
            | SavedCall::Suspended { call, .. } => call.id.clone(),
        };
        let done = self.history.iter().flatten().map(|exchange| exchange.call_id().to_owned());
        done.chain(self.step.iter().map(of_call)).collect()
    }
}
