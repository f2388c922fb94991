//! Runs the calls of one step, concurrently except for barriers.

use std::pin::pin;
use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::join_all;
use toolwright::ToolFailure;

use super::call::{CallState, PendingCall, cancelled};
use super::dispatch::Dispatcher;
use super::stop::Stop;

/// The calls of a step in call order, and the failure that stopped them, if there is one.
pub(crate) struct Batch {
    pub(crate) calls: Vec<PendingCall>,
    pub(crate) stopped: Option<ToolFailure>,
}

/// Runs calls, concurrently except for barriers. If the run is stopped, calls that have ended keep their results and the others
/// are cancelled.
///
/// The calls run on the task of the run, so that dropping the run drops them immediately and in order. Only the tool itself may
/// run on another task: see [`Timeout`](crate::execute::Timeout).
pub(crate) async fn run_all(
    dispatcher: &Dispatcher,
    calls: Vec<PendingCall>,
    one_at_a_time: bool,
    stop: &Stop,
) -> Batch {
    let mut batch = Batch { calls: Vec::with_capacity(calls.len()), stopped: None };
    for group in groups(calls, one_at_a_time) {
        if batch.stopped.is_some() {
            batch.calls.extend(group.into_iter().map(|call| settled(dispatcher, call)));
        } else if batch.calls.iter().all(PendingCall::is_done) {
            Box::pin(run_group(dispatcher, group, stop, &mut batch)).await;
        } else {
            batch.calls.extend(group.into_iter().map(|call| postpone(dispatcher, call)));
        }
    }
    batch
}

async fn run_group(
    dispatcher: &Dispatcher,
    group: Vec<PendingCall>,
    stop: &Stop,
    batch: &mut Batch,
) {
    if stop.has_come() {
        batch.stopped = Some(stop.stopped().await);
        batch.calls.extend(group.into_iter().map(|call| settled(dispatcher, call)));
        return;
    }
    let unfinished: Vec<PendingCall> = group.iter().map(stopped).collect();
    let ended: Vec<OnceLock<PendingCall>> = group.iter().map(|_| OnceLock::new()).collect();
    let running = group.into_iter().zip(&ended).map(|(pending, slot)| async move {
        // Each slot is set once, by its own call.
        let _ = slot.set(dispatcher.advance(pending).await);
    });
    {
        let mut running = pin!(join_all(running));
        batch.stopped = stop.run_until(running.as_mut().map(Ok)).await.err();
        // Poll once more: some calls may have ended at the same moment. No tool begins then.
        if batch.stopped.is_some() {
            let _ = running.now_or_never();
        }
    }
    let calls = ended
        .into_iter()
        .zip(unfinished)
        .map(|(slot, call)| slot.into_inner().unwrap_or_else(|| settled(dispatcher, call)));
    batch.calls.extend(calls);
}

/// Postpones a call because a call before it waits. A call that already has an outcome ends at once.
fn postpone(dispatcher: &Dispatcher, pending: PendingCall) -> PendingCall {
    let PendingCall { call, tool, state } = settled(dispatcher, pending);
    let state = match state {
        CallState::Postponed | CallState::Ready | CallState::NeedsAnswer => CallState::Postponed,
        state => state,
    };
    PendingCall { call, tool, state }
}

/// Returns the state of a call if its run is stopped before it goes on: it keeps its outcome, or else is cancelled.
fn stopped(PendingCall { call, tool, state }: &PendingCall) -> PendingCall {
    let state = match state {
        CallState::Settled(outcome) => CallState::Settled(outcome.clone()),
        CallState::Done(outcome) => CallState::Done(outcome.clone()),
        _ => CallState::Done(Err(cancelled("the call"))),
    };
    PendingCall::new(call.clone(), tool.clone(), state)
}

/// Ends a call that already has an outcome.
fn settled(dispatcher: &Dispatcher, pending: PendingCall) -> PendingCall {
    match pending {
        PendingCall { call, tool, state: CallState::Settled(outcome) } => {
            dispatcher.settle(call, tool.as_ref(), outcome)
        }
        pending => pending,
    }
}

/// Splits calls into groups that run one after another. A barrier is a group of its own.
fn groups(calls: Vec<PendingCall>, one_at_a_time: bool) -> Vec<Vec<PendingCall>> {
    let mut groups: Vec<Vec<PendingCall>> = Vec::new();
    let mut after_barrier = true;
    for call in calls {
        let barrier = one_at_a_time || call.is_barrier();
        match groups.last_mut() {
            Some(group) if !barrier && !after_barrier => group.push(call),
            _ => groups.push(vec![call]),
        }
        after_barrier = barrier;
    }
    groups
}
