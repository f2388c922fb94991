//! The calls of one step, run side by side where they may be. Never decides which calls run: see
//! `run`.

use futures_util::future::join_all;

use crate::dispatch::{Ticket, dispatch};
use crate::planner::Exchange;
use crate::sink::Publisher;

/// Runs calls, concurrently but for barriers, and gives what came of them in call order.
///
/// They share the run's task, so that dropping the run drops them in place and in order; work that
/// blocks belongs on a thread of its own, which is its executor's to arrange.
pub(crate) async fn run_all(
    publisher: &Publisher,
    tickets: Vec<Ticket>,
    one_at_a_time: bool,
) -> Vec<Exchange> {
    let mut done = Vec::with_capacity(tickets.len());
    for group in groups(tickets, one_at_a_time) {
        let calls = group.into_iter().map(|ticket| dispatch(publisher, ticket));
        done.extend(join_all(calls).await);
    }
    done
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
