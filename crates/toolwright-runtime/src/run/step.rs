//! The calls of one step: which of them may run, what came of them, how they wait. Never asks the planner.

use std::future::ready;
use std::sync::Arc;

use toolwright::{FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure};

use super::batch::run_all;
use super::call::{CallState, PendingCall};
use super::dispatch::Dispatcher;
use super::end::End;
use super::state::{RunState, SavedCall, SuspendedRun};
use super::stop::Stop;
use super::{Progress, Run};
use crate::agent::Exchange;
use crate::approval::ApprovalRequest;
use crate::tools::{ToolEntry, cleared, words_digest};
use crate::wire::WireCall;

impl Run {
    /// Looks at all calls of a step before any of them runs.
    pub(super) async fn admit_all(
        &self,
        calls: Vec<ToolCall>,
        dispatcher: &Dispatcher,
        tools: &[ToolEntry],
        progress: &mut Progress,
    ) -> Result<Vec<PendingCall>, ToolFailure> {
        if calls.is_empty() {
            // Asking the same question again would get the same answer, for ever.
            let failure =
                ToolFailure::new(FailureKind::Internal, self.cannot_go_on(), Recovery::Replan);
            return Err(failure.with_detail("the planner returned a step without calls"));
        }
        progress.budget.check_open()?;
        let afforded = progress.budget.take(calls.len());
        let mut admitted = Vec::with_capacity(calls.len());
        for call in calls {
            let scope = self.scope_of(&call);
            let call = call.with_scope(scope);
            let tool = find(tools, call.tool());
            admitted.push(if let Err(denied) = &afforded {
                PendingCall::refused(call, tool, denied.clone())
            } else if progress.call_ids.insert(call.id().to_owned()) {
                self.admit(call, dispatcher, tools).await
            } else {
                let failure = repeated(&call);
                PendingCall::refused(call, tool, failure)
            });
        }
        Ok(admitted)
    }

    /// The state in which a call begins whose id is new and that the run can afford.
    async fn admit(
        &self,
        call: ToolCall,
        dispatcher: &Dispatcher,
        tools: &[ToolEntry],
    ) -> PendingCall {
        let found = find(tools, call.tool()).map(|tool| tool.name().to_owned());
        let name = found.ok_or_else(|| {
            let known = tools.iter().filter(|tool| tool.spec().is_advertised());
            ToolFailure::not_found(call.tool(), known.map(ToolEntry::name))
        });
        let name = match dispatcher.fallible(|| format!("tool/{}", call.id()), ready(name)).await {
            Ok(name) => name,
            Err(failure) => return PendingCall::refused(call, None, failure),
        };
        match find(tools, &name) {
            Some(tool) => dispatcher.admit(call.with_tool(name), tool),
            None => PendingCall::new(call.with_tool(name), None, CallState::Ready),
        }
    }

    /// What is to be done about the calls of a suspended step, now that its questions are answered.
    pub(super) async fn readmit_all(
        &self,
        state: RunState,
        dispatcher: &Dispatcher,
        tools: &[ToolEntry],
    ) -> Vec<PendingCall> {
        let mut calls = Vec::with_capacity(state.step.len());
        for saved in state.step {
            calls.push(match saved {
                SavedCall::Done(exchange) => {
                    let exchange: Exchange = exchange.into();
                    PendingCall::done(exchange.call, exchange.result.outcome)
                }
                SavedCall::Postponed(call) => self.admit(call.into(), dispatcher, tools).await,
                SavedCall::Suspended { call, run } => rejoin(call, run, tools),
                SavedCall::Asked { call, request } => {
                    readmit(call.into(), request, dispatcher, tools)
                }
            });
        }
        calls
    }

    /// Makes the calls of a step and takes their results into account.
    pub(super) async fn make_calls(
        &self,
        dispatcher: &Dispatcher,
        calls: Vec<PendingCall>,
        progress: &mut Progress,
        stop: &Stop,
    ) -> Result<(), End> {
        let mut batch = run_all(dispatcher, calls, self.options.one_at_a_time, stop).await;
        if batch.stopped.is_none() && !batch.calls.iter().all(PendingCall::is_done) {
            // Calls beside a question may have opened some after it was asked.
            let handles = dispatcher.toolset.open_handles();
            for call in &mut batch.calls {
                if let CallState::Asked(request) = &mut call.state {
                    Arc::make_mut(request).open_handles.clone_from(&handles);
                }
            }
            match stop.unless_reached(self.save(dispatcher)).await {
                Ok(saved) => return Err(End::Suspended(self.export(batch.calls, progress, saved))),
                Err(failure) => batch.stopped = Some(failure),
            }
        }
        batch.calls.iter().for_each(|pending| dispatcher.give_up(pending));
        let exchanges: Vec<_> = batch.calls.into_iter().map(PendingCall::into_exchange).collect();
        let verdict = progress.budget.close_step(&exchanges);
        progress.steps.push(exchanges);
        batch.stopped.map_or(Ok(()), |failure| Err(End::Failed(failure)))?;
        verdict?;
        if let Some(keep) = &self.checkpoints {
            let saved = stop.unless_reached(self.save(dispatcher)).await?;
            keep(SuspendedRun(self.export(Vec::new(), progress, saved)));
        }
        Ok(())
    }

    /// What the toolsets save.
    async fn save(&self, dispatcher: &Dispatcher) -> Result<Option<Payload>, ToolFailure> {
        let saved = dispatcher.toolset.save(&self.scope).await;
        saved.map_err(|error| self.internal(&*error))
    }

    /// The run as data: the steps that were done, the calls of the one that could not be, and what the toolsets saved.
    fn export(
        &self,
        calls: Vec<PendingCall>,
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
            words: None,
            input: self.input.to_string(),
            scope: (&*self.scope).into(),
            history: progress
                .steps
                .iter()
                .map(|step| step.iter().map(Into::into).collect())
                .collect(),
            step: calls.into_iter().map(PendingCall::into_saved).collect(),
            calls: progress.budget.calls,
            failures_in_a_row: progress.budget.failures_in_a_row,
            denied: progress.budget.denied,
            elapsed: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            one_at_a_time: self.options.one_at_a_time,
            approval_list: self.options.approval_list.to_vec(),
            toolsets: toolsets.map(|saved| saved.to_string()),
        })
    }

    /// The run's scope, with what the planner may add: a parent call of its own choice, labels that
    /// do not contradict the run's.
    fn scope_of(&self, call: &ToolCall) -> Scope {
        let mut scope = Scope::clone(&self.scope);
        if let Some(parent) = call.parent_call_id() {
            scope.parent_call_id = Some(parent.to_owned());
        }
        for (key, value) in &call.scope().labels {
            scope.labels.entry(key.clone()).or_insert_with(|| value.clone());
        }
        scope
    }
}

/// The state in which a call goes on whose question was answered.
pub(crate) fn readmit(
    call: ToolCall,
    request: ApprovalRequest,
    dispatcher: &Dispatcher,
    tools: &[ToolEntry],
) -> PendingCall {
    let verdict = dispatcher.verdicts.get(&request.id).cloned();
    let (Some(verdict), Some(tool)) = (verdict, find(tools, call.tool())) else {
        // Answers were checked to be whole, so it is the tool that has gone.
        let failure = ToolFailure::not_found(call.tool(), tools.iter().map(ToolEntry::name));
        return PendingCall::refused(call, None, failure);
    };
    dispatcher.judge(call, tool, &Arc::new(request), verdict)
}

/// The state in which a call goes on whose agent's run waited. If it was approved before that began, it still is, unless its
/// tool asks in other words now.
pub(crate) fn rejoin(saved: WireCall, run: Box<RunState>, tools: &[ToolEntry]) -> PendingCall {
    let tool = find(tools, &saved.tool);
    let (approved, mut call) = (saved.approved, ToolCall::from(saved));
    let asks_as_before = |tool: &&ToolEntry| run.words == Some(words_digest(tool.approval()));
    if approved && let Some(tool) = tool.as_ref().filter(asks_as_before) {
        call = cleared(call, tool.spec());
    }
    PendingCall::new(call, tool, CallState::Suspended(run))
}

/// The tool of a name; a published name goes before an earlier one.
fn find(tools: &[ToolEntry], name: &str) -> Option<ToolEntry> {
    let exact = tools.iter().find(|tool| tool.name() == name);
    exact.or_else(|| tools.iter().find(|tool| tool.is_called(name))).cloned()
}

/// The failure of a call whose id another call of its run has.
pub(crate) fn repeated(call: &ToolCall) -> ToolFailure {
    let message = format!("call id `{}` was used before in this run; use a new one", call.id());
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(call))
}
