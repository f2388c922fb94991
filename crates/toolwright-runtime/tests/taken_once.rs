//! The store of suspended runs in memory under a model checker: its source, with the checker's lock in the place of std's.

mod sync {
    //! The checker's lock.

    pub(super) use shuttle::sync::Mutex;
    pub(super) use std::sync::PoisonError;
}

#[path = "../src/suspended/memory.rs"]
mod memory;

use memory::InMemory;
use shuttle::future::block_on;
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use toolwright_runtime::SuspendedRuns;

/// How much longer than needed the store remembers, in place of the runtime's minutes.
const MAX_CLOCK_SKEW: u64 = 7;

/// How many schedules are tried.
const SCHEDULES: usize = 2_000;

/// The question that was taken before, if one was.
fn take(store: &InMemory, questions: &[(&str, u64)], now: u64) -> Option<String> {
    block_on(store.take(questions, now)).unwrap()
}

/// H7: however threads meet, a question is taken by one of them alone.
#[test]
fn h7_a_question_is_taken_once_in_every_schedule() {
    shuttle::check_random(
        || {
            let (store, taken) = (Arc::new(InMemory::default()), Arc::new(AtomicUsize::new(0)));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (store, taken) = (Arc::clone(&store), Arc::clone(&taken));
                    thread::spawn(move || {
                        if take(&store, &[("a", 10)], 5).is_none() {
                            taken.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(taken.load(Ordering::SeqCst), 1);
        },
        SCHEDULES,
    );
}

/// H7: answers to several questions count together or not at all.
#[test]
fn h7_questions_are_taken_together_or_not_at_all_in_every_schedule() {
    shuttle::check_pct(
        || {
            let store = Arc::new(InMemory::default());
            let taking = |questions: &'static [(&'static str, u64)]| {
                let store = Arc::clone(&store);
                thread::spawn(move || take(&store, questions, 5).is_none())
            };
            let threads = [taking(&[("a", 10), ("b", 10)]), taking(&[("b", 10), ("c", 10)])];
            let taken = threads.map(|thread| thread.join().unwrap());
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
            // What the loser wanted beside the common one is still free.
            let rest = if taken[0] { "c" } else { "a" };
            assert_eq!(take(&store, &[(rest, 10)], 5), None);
        },
        SCHEDULES,
        3,
    );
}

/// What has expired on every clock is forgotten, so that the store does not grow for ever.
#[test]
fn what_has_expired_is_forgotten() {
    shuttle::check_random(
        || {
            let store = InMemory::default();
            let forgotten = 10 + MAX_CLOCK_SKEW;
            assert_eq!(take(&store, &[("a", 10)], 5), None);
            block_on(store.put("state", b"{}", 10, 5)).unwrap();
            assert_eq!(take(&store, &[("c", 10)], forgotten - 1), None);
            assert_eq!(take(&store, &[("a", 10)], 11), Some("a".to_owned()), "others came between");
            assert!(block_on(store.get("state")).unwrap().is_some());
            assert_eq!(take(&store, &[("b", forgotten)], forgotten), None);
            assert_eq!(
                take(&store, &[("a", 30)], 11),
                None,
                "its own answer comes too late by then"
            );
            assert_eq!(block_on(store.get("state")).unwrap(), None);
        },
        1,
    );
}
