//! The calls of one step, run side by side where they may be. Never decides which calls run: see the run's loop.

use std::pin::pin;
use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::join_all;
use toolwright::{ToolCall, ToolFailure};

use super::call::{CallState, PendingCall, cancelled};
use super::dispatch::Dispatcher;
use super::stop::Stop;

/// How far the calls of a step came, in call order; and what stopped them, if anything did.
pub(crate) struct Batch {
    pub(crate) calls: Vec<PendingCall>,
    pub(crate) stopped: Option<ToolFailure>,
}

/// Runs calls, concurrently but for barriers. When the run is stopped, calls that have ended keep their results and the
/// others are given up.
///
/// They share the run's task, so that dropping the run drops them in place and in order. What a tool does may have a task
/// of its own: see [`Timeout`](crate::execute::Timeout).
pub(crate) async fn run_all(
    dispatcher: &Dispatcher,
    calls: Vec<PendingCall>,
    one_at_a_time: bool,
    stop: &Stop,
) -> Batch {
    let mut batch = Batch { calls: Vec::with_capacity(calls.len()), stopped: None };
    for group in groups(calls, one_at_a_time) {
        if batch.stopped.is_some() {
            batch.calls.extend(group);
        } else if batch.calls.iter().all(PendingCall::is_done) {
            Box::pin(run_group(dispatcher, group, stop, &mut batch)).await;
        } else {
            batch.calls.extend(group.into_iter().map(|call| postponed(dispatcher, call)));
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
    let calls: Vec<ToolCall> = group.iter().map(|pending| pending.call.clone()).collect();
    let ended: Vec<OnceLock<PendingCall>> = calls.iter().map(|_| OnceLock::new()).collect();
    let running = group.into_iter().zip(&ended).map(|(pending, place)| async move {
        // A place is filled once, by its own call.
        let _ = place.set(dispatcher.advance(pending).await);
    });
    {
        let mut running = pin!(join_all(running));
        batch.stopped = stop.unless_reached(running.as_mut().map(Ok)).await.err();
        // What has ended at this very moment has ended.
        if batch.stopped.is_some() {
            let _ = running.now_or_never();
        }
    }
    let never_ended = |call| PendingCall::done(call, Err(cancelled("the call")));
    let reached = ended
        .into_iter()
        .zip(calls)
        .map(|(place, call)| place.into_inner().unwrap_or_else(|| never_ended(call)));
    batch.calls.extend(reached);
}

/// A call that a barrier before it keeps from running. What is not to run needs no barrier.
fn postponed(dispatcher: &Dispatcher, pending: PendingCall) -> PendingCall {
    let PendingCall { call, tool, state } = pending;
    let state = match state {
        CallState::Settled(outcome) => return dispatcher.settle(call, tool.as_ref(), outcome),
        CallState::Postponed | CallState::Ready | CallState::Unasked => CallState::Postponed,
        state @ (CallState::Asked(_) | CallState::Suspended(_) | CallState::Done(_)) => state,
    };
    PendingCall { call, tool, state }
}

/// Splits calls into groups that run one after another; a barrier is a group by itself.
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
