//! The calls of one step of a run: checks them, makes them, and saves them if the run is suspended.

use std::future::ready;
use std::sync::Arc;

use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure};

use super::batch::run_all;
use super::call::{CallState, PendingCall};
use super::dispatch::Dispatcher;
use super::end::End;
use super::state::{RunState, SavedCall, SuspendedRun};
use super::stop::Stop;
use super::{Progress, Run};
use crate::agent::{CallRecord, PlannedCall, StepRecord};
use crate::approval::{ApprovalRequest, Verdict};
use crate::tools::{ToolEntry, cleared, tool_digest};
use crate::wire::WireCall;

/// The tools of a step: those that the planner sees, and those that are hidden from it because they are unavailable.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a> {
    pub(super) visible: &'a [ToolEntry],
    pub(super) hidden: &'a [ToolEntry],
}

impl<'a> Listed<'a> {
    /// Finds a tool among all: while a tool is hidden, its name does not mean another one, whose alias it is.
    fn find(self, name: &str) -> Option<&'a ToolEntry> {
        let all: Vec<_> = self.visible.iter().chain(self.hidden).collect();
        ToolEntry::find(&all, name).copied()
    }
}

impl Run {
    /// Checks the budget and the ids of all calls of a step, before any of them runs.
    pub(super) async fn admit_all(
        &self,
        calls: Vec<PlannedCall>,
        dispatcher: &Dispatcher,
        tools: Listed<'_>,
        progress: &mut Progress,
    ) -> Result<Vec<PendingCall>, ToolFailure> {
        if calls.is_empty() {
            // The planner would see the same turn again, and the run might never end.
            let failure =
                ToolFailure::new(FailureKind::Internal, self.cannot_go_on(), Recovery::Replan);
            return Err(failure.with_detail("the planner returned a step without calls"));
        }
        progress.budget.check_not_denied()?;
        let counted = progress.budget.count_calls(calls.len());
        let mut admitted = Vec::with_capacity(calls.len());
        for PlannedCall { call, refusal } in calls {
            let scope = self.scope_of(&call);
            let call = call.with_scope(scope);
            let tool = tools.find(call.tool()).cloned();
            admitted.push(if let Err(denied) = &counted {
                PendingCall::refused(call, tool, denied.clone())
            } else if !progress.call_ids.insert(call.id().to_owned()) {
                let failure = duplicate_id(&call);
                PendingCall::refused(call, tool, failure)
            } else if let Some(failure) = refusal {
                PendingCall::refused(call, tool, failure)
            } else {
                self.admit(call, dispatcher, tools).await
            });
        }
        Ok(admitted)
    }

    /// Returns the first state of a call, or refuses a call of an unknown or hidden tool.
    async fn admit(
        &self,
        call: ToolCall,
        dispatcher: &Dispatcher,
        tools: Listed<'_>,
    ) -> PendingCall {
        let is_visible = |name: &&str| tools.visible.iter().any(|tool| tool.name() == *name);
        let found = tools.find(call.tool()).map(ToolEntry::name).filter(is_visible);
        let name = found.map(str::to_owned).ok_or_else(|| {
            let known = tools.visible.iter().filter(|tool| tool.spec().is_advertised());
            ToolFailure::not_found(call.tool(), known.map(ToolEntry::name))
        });
        let key = || format!("tool/{}", call.id());
        let name = match dispatcher.record_result(key, ready(name)).await {
            Ok(name) => name,
            Err(failure) => return PendingCall::refused(call, None, failure),
        };
        match tools.find(&name) {
            Some(tool) => dispatcher.admit(call.with_tool(name), tool.clone()).await,
            None => PendingCall::new(call.with_tool(name), None, CallState::Ready),
        }
    }

    /// Returns the calls of a suspended step, after its questions were answered.
    pub(super) async fn resume_calls(
        &self,
        saved: &[SavedCall],
        dispatcher: &Dispatcher,
        tools: &[ToolEntry],
    ) -> Vec<PendingCall> {
        let mut calls = Vec::with_capacity(saved.len());
        for saved in saved.iter().cloned() {
            calls.push(match saved {
                SavedCall::Done(record) => {
                    let record: CallRecord = record.into();
                    PendingCall::done(record.call, record.result.outcome)
                }
                SavedCall::Postponed(call) => {
                    let tools = Listed { visible: tools, hidden: &[] };
                    self.admit(call.into(), dispatcher, tools).await
                }
                SavedCall::Suspended { call, run } => resume_suspended(call, run, tools),
                SavedCall::Asked { call, request } => {
                    resume_asked(call.into(), request, dispatcher, tools).await
                }
            });
        }
        calls
    }

    /// Makes the calls of a step. The error is the end of the run, or its suspension.
    pub(super) async fn make_calls(
        &self,
        dispatcher: &Dispatcher,
        (calls, note): (Vec<PendingCall>, Option<Payload>),
        progress: &mut Progress,
        stop: &Stop,
    ) -> Result<(), End> {
        progress.may_have_effect |= calls.iter().any(PendingCall::may_have_effect);
        let mut batch = run_all(dispatcher, calls, self.options.one_at_a_time, stop).await;
        if batch.stopped.is_none() && !batch.calls.iter().all(PendingCall::is_done) {
            // Other calls of the step may have opened handles after a question was asked.
            let handles = dispatcher.toolset.open_handles();
            for call in &mut batch.calls {
                if let CallState::Asked(request) = &mut call.state {
                    Arc::make_mut(request).open_handles.clone_from(&handles);
                }
            }
            match stop.run_until(self.save(dispatcher)).await {
                Ok(saved) => {
                    return Err(End::Suspended(self.state((batch.calls, note), progress, saved)));
                }
                Err(failure) => batch.stopped = Some(failure),
            }
        }
        for pending in &batch.calls {
            dispatcher.environment.cancel_suspended(&dispatcher.publisher, pending);
        }
        let records: Vec<_> = batch.calls.into_iter().map(PendingCall::into_record).collect();
        let counted = progress.budget.count_failures(&records);
        progress.steps.push(StepRecord { calls: records, note });
        batch.stopped.map_or(Ok(()), |failure| Err(End::Failed(failure)))?;
        counted?;
        if let Some(keep) = &self.checkpoints {
            let saved = stop.run_until(self.save(dispatcher)).await?;
            keep(SuspendedRun(self.state((Vec::new(), None), progress, saved)));
        }
        Ok(())
    }

    /// Returns the state that the toolsets save.
    async fn save(&self, dispatcher: &Dispatcher) -> Result<Option<Payload>, ToolFailure> {
        let saved = dispatcher.toolset.save(&self.scope).await;
        saved.map_err(|error| self.failure_of(&*error))
    }

    /// Creates the state of the run, from the calls and the note of the step that waits and the saved state of the toolsets.
    fn state(
        &self,
        (calls, note): (Vec<PendingCall>, Option<Payload>),
        progress: &Progress,
        toolsets: Option<Payload>,
    ) -> Box<RunState> {
        let elapsed = progress.elapsed + progress.since.elapsed();
        Box::new(RunState {
            run_id: self.id.clone(),
            agent: self.agent.agent.name.clone(),
            implements: self.implements.as_ref().map(|tool| tool.name().to_owned()),
            attempt: 1,
            args: None,
            tool_digest: None,
            input: self.input.to_string(),
            past: self.past.iter().map(Into::into).collect(),
            scope: (&*self.scope).into(),
            history: progress.steps.iter().map(Into::into).collect(),
            step: calls.into_iter().map(PendingCall::into_saved).collect(),
            note: note.map(|note| note.to_string()),
            calls: progress.budget.calls,
            failures_in_a_row: progress.budget.failures_in_a_row,
            denied: progress.budget.denied,
            elapsed: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            one_at_a_time: self.options.one_at_a_time,
            approval_list: self.options.approval_list.to_vec(),
            toolsets: toolsets.map(|saved| saved.to_string()),
        })
    }

    /// Returns the scope of a call: that of the run, with the parent call that the planner set. Tools may take their arguments from
    /// labels, so those of a planner are ignored.
    fn scope_of(&self, call: &ToolCall) -> Scope {
        let mut scope = Scope::clone(&self.scope);
        if let Some(parent) = call.parent_call_id() {
            scope.parent_call_id = Some(parent.to_owned());
        }
        scope
    }
}

/// Returns a call whose question was answered, with its new state.
pub(crate) async fn resume_asked(
    call: ToolCall,
    request: ApprovalRequest,
    dispatcher: &Dispatcher,
    tools: &[ToolEntry],
) -> PendingCall {
    let verdict = dispatcher.verdicts.get(&request.id).cloned();
    let tool = ToolEntry::find(tools, call.tool()).cloned();
    let (Some(verdict), Some(tool)) = (verdict.clone(), tool) else {
        // All questions have answers, which was checked before. So the tool no longer exists.
        let failure = ToolFailure::not_found(call.tool(), tools.iter().map(ToolEntry::name));
        return match verdict {
            // The host has run the call.
            Some(Verdict::Result(_)) => {
                let failure = failure.with_possible_effect(ToolAnnotations::UNKNOWN);
                PendingCall::refused(call, None, failure)
            }
            _ => dispatcher.refuse(call, None, failure).await,
        };
    };
    dispatcher.apply_verdict(call, tool, &Arc::new(request), verdict).await
}

/// Returns a call whose agent's run was suspended. If the call was approved, it remains approved unless the tool has
/// changed.
pub(crate) fn resume_suspended(
    saved: WireCall,
    run: Box<RunState>,
    tools: &[ToolEntry],
) -> PendingCall {
    let tool = ToolEntry::find(tools, &saved.tool).cloned();
    let (approved, mut call) = (saved.approved, ToolCall::from(saved));
    let is_unchanged =
        |tool: &&ToolEntry| run.tool_digest == Some(tool_digest(tool.spec(), tool.approval()));
    if approved && let Some(tool) = tool.as_ref().filter(is_unchanged) {
        call = cleared(call, tool.spec());
    }
    PendingCall::new(call, tool, CallState::Suspended(run))
}

/// The failure of a call with the id of another call of the run.
pub(crate) fn duplicate_id(call: &ToolCall) -> ToolFailure {
    let message = format!("call id `{}` was used before in this run; use a new one", call.id());
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(call))
}
