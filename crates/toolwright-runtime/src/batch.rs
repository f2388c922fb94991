//! The calls of one step, run side by side where they may be. Never decides which calls run: see
//! `run`.

use std::pin::pin;
use std::sync::OnceLock;

use futures_util::FutureExt;
use futures_util::future::join_all;
use toolwright::{ToolCall, ToolFailure};

use crate::dispatch::{Next, Path, Slot, Ticket, exchange};
use crate::planner::Exchange;
use crate::stop::{Stop, cancelled};

/// How far the calls of a step came, in call order; and what stopped them, if anything did.
pub(crate) struct Batch {
    pub(crate) slots: Vec<Slot>,
    pub(crate) stopped: Option<ToolFailure>,
}

/// Runs calls, concurrently but for barriers. When the run is stopped, calls that have ended keep their results and the
/// others are given up.
///
/// They share the run's task, so that dropping the run drops them in place and in order; work that
/// blocks belongs on a thread of its own, which is its executor's to arrange.
pub(crate) async fn run_all(
    path: &Path,
    tickets: Vec<Ticket>,
    one_at_a_time: bool,
    stop: &Stop,
) -> Batch {
    let mut batch = Batch { slots: Vec::with_capacity(tickets.len()), stopped: None };
    for group in groups(tickets, one_at_a_time) {
        if batch.stopped.is_some() {
            batch.slots.extend(group.into_iter().map(given_up));
        } else if batch.slots.iter().any(|slot| !matches!(slot, Slot::Done(_))) {
            batch.slots.extend(group.into_iter().map(postponed));
        } else {
            Box::pin(run_group(path, group, stop, &mut batch)).await;
        }
    }
    batch
}

async fn run_group(path: &Path, group: Vec<Ticket>, stop: &Stop, batch: &mut Batch) {
    let calls: Vec<ToolCall> = group.iter().map(|ticket| ticket.call.clone()).collect();
    let ended: Vec<OnceLock<Slot>> = calls.iter().map(|_| OnceLock::new()).collect();
    let running = group.into_iter().zip(&ended).map(|(ticket, place)| async move {
        // A place is filled once, by its own call.
        let _ = place.set(path.take(ticket).await);
    });
    {
        let mut running = pin!(join_all(running));
        batch.stopped = stop.unless_reached(running.as_mut()).await.err();
        // What has ended at this very moment has ended.
        if batch.stopped.is_some() {
            let _ = running.now_or_never();
        }
    }
    let slots = ended
        .into_iter()
        .zip(calls)
        .map(|(place, call)| place.into_inner().unwrap_or_else(|| Slot::Done(never_ended(call))));
    batch.slots.extend(slots);
}

pub(crate) fn never_ended(call: ToolCall) -> Exchange {
    exchange(call, Err(cancelled("the call")))
}

fn given_up(ticket: Ticket) -> Slot {
    match ticket.todo {
        Next::Nothing(exchange) => Slot::Done(exchange),
        _ => Slot::Done(never_ended(ticket.call)),
    }
}

fn postponed(ticket: Ticket) -> Slot {
    match ticket.todo {
        Next::Nothing(exchange) => Slot::Done(exchange),
        Next::Resume(resumption) => Slot::Child(ticket.call, resumption.state),
        _ => Slot::Waiting(ticket.call),
    }
}

/// Splits calls into groups that run one after another; a barrier is a group by itself.
fn groups(tickets: Vec<Ticket>, one_at_a_time: bool) -> Vec<Vec<Ticket>> {
    let mut groups: Vec<Vec<Ticket>> = Vec::new();
    let mut after_barrier = true;
    for ticket in tickets {
        let barrier = one_at_a_time || ticket.is_barrier();
        match groups.last_mut() {
            Some(group) if !barrier && !after_barrier => group.push(ticket),
            _ => groups.push(vec![ticket]),
        }
        after_barrier = barrier;
    }
    groups
}
