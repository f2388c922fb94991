//! Tests of the store in memory with a model checker. Includes its source with the mutex of the model checker.

mod sync {
    //! The mutex of the model checker.

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
use toolwright_runtime::SuspendedRunStore;

/// Replaces the value of the runtime.
const MAX_CLOCK_SKEW: u64 = 7;

/// The number of schedules to try.
const SCHEDULES: usize = 2_000;

/// Marks questions as answered, and returns one that was answered before.
fn mark_answered(store: &InMemory, questions: &[(&str, u64)], now: u64) -> Option<String> {
    block_on(store.mark_answered(questions, now)).unwrap()
}

#[test]
fn h7_a_question_is_answered_once_in_every_schedule() {
    shuttle::check_random(
        || {
            let (store, taken) = (Arc::new(InMemory::default()), Arc::new(AtomicUsize::new(0)));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (store, taken) = (Arc::clone(&store), Arc::clone(&taken));
                    thread::spawn(move || {
                        if mark_answered(&store, &[("a", 10)], 5).is_none() {
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

#[test]
fn h7_all_questions_are_answered_or_none_in_every_schedule() {
    shuttle::check_pct(
        || {
            let store = Arc::new(InMemory::default());
            let taking = |questions: &'static [(&'static str, u64)]| {
                let store = Arc::clone(&store);
                thread::spawn(move || mark_answered(&store, questions, 5).is_none())
            };
            let threads = [taking(&[("a", 10), ("b", 10)]), taking(&[("b", 10), ("c", 10)])];
            let taken = threads.map(|thread| thread.join().unwrap());
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
            // The other question of the call that failed was not marked.
            let rest = if taken[0] { "c" } else { "a" };
            assert_eq!(mark_answered(&store, &[(rest, 10)], 5), None);
        },
        SCHEDULES,
        3,
    );
}

/// Otherwise the store would grow forever.
#[test]
fn expired_entries_are_removed() {
    shuttle::check_random(
        || {
            let store = InMemory::default();
            let forgotten = 10 + MAX_CLOCK_SKEW;
            assert_eq!(mark_answered(&store, &[("a", 10)], 5), None);
            block_on(store.put("state", b"{}", 10, 5)).unwrap();
            assert_eq!(mark_answered(&store, &[("c", 10)], forgotten - 1), None);
            assert_eq!(
                mark_answered(&store, &[("a", 10)], 11),
                Some("a".to_owned()),
                "other questions were answered in between"
            );
            assert!(block_on(store.get("state")).unwrap().is_some());
            assert_eq!(mark_answered(&store, &[("b", forgotten)], forgotten), None);
            assert_eq!(
                mark_answered(&store, &[("a", 30)], 11),
                None,
                "its question has expired by then"
            );
            assert_eq!(block_on(store.get("state")).unwrap(), None);
        },
        1,
    );
}
