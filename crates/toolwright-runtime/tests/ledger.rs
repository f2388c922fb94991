//! The ledger of answered questions under a model checker: its source, with the checker's lock in the place of std's.

mod sync {
    //! The checker's lock.

    pub(super) use shuttle::sync::Mutex;
    pub(super) use std::sync::PoisonError;
}

#[path = "../src/approval/ledger.rs"]
mod ledger;

use ledger::Ledger;
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

/// How many schedules are tried.
const SCHEDULES: usize = 2_000;

/// H7: however threads meet, a question is taken by one of them alone.
#[test]
fn h7_a_question_is_taken_once_in_every_schedule() {
    shuttle::check_random(
        || {
            let (ledger, taken) = (Arc::new(Ledger::default()), Arc::new(AtomicUsize::new(0)));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (ledger, taken) = (Arc::clone(&ledger), Arc::clone(&taken));
                    thread::spawn(move || {
                        if ledger.take(&[("a", 10)], 5).is_ok() {
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
            let ledger = Arc::new(Ledger::default());
            let take = |questions: &'static [(&'static str, u64)]| {
                let ledger = Arc::clone(&ledger);
                thread::spawn(move || ledger.take(questions, 5).is_ok())
            };
            let threads = [take(&[("a", 10), ("b", 10)]), take(&[("b", 10), ("c", 10)])];
            let taken = threads.map(|thread| thread.join().unwrap());
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
            // What the loser wanted beside the common one is still free.
            let rest = if taken[0] { "c" } else { "a" };
            assert!(ledger.take(&[(rest, 10)], 5).is_ok());
        },
        SCHEDULES,
        3,
    );
}

/// What has expired is forgotten, so that the ledger does not grow for ever.
#[test]
fn what_has_expired_is_forgotten() {
    shuttle::check_random(
        || {
            let ledger = Ledger::default();
            assert!(ledger.take(&[("a", 10)], 5).is_ok());
            assert!(ledger.take(&[("c", 10)], 6).is_ok());
            assert_eq!(ledger.take(&[("a", 10)], 9), Err("a".to_owned()), "others came between");
            assert!(ledger.take(&[("b", 20)], 10).is_ok());
            assert!(ledger.take(&[("a", 30)], 11).is_ok(), "its own answer comes too late by then");
        },
        1,
    );
}
