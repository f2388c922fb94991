//! Suspended runs in the memory of one process. They end with it.

use std::collections::BTreeMap;

use toolwright::{BoxError, BoxFuture};

use super::sync::{Mutex, PoisonError};
use super::{MAX_CLOCK_SKEW, SuspendedRuns};

/// What a runtime and its clones have unless they are given another store.
#[derive(Default)]
pub(crate) struct InMemory(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// By id: a state and when it expires.
    states: BTreeMap<String, (Vec<u8>, u64)>,
    /// When questions that were taken expire, by their ids.
    taken: BTreeMap<String, u64>,
}

impl Entries {
    fn remove_expired(&mut self, now: u64) {
        let is_kept = |expires_at: u64| expires_at.saturating_add(MAX_CLOCK_SKEW) > now;
        self.states.retain(|_, (_, expires_at)| is_kept(*expires_at));
        self.taken.retain(|_, expires_at| is_kept(*expires_at));
    }

    fn take(&mut self, questions: &[(&str, u64)], now: u64) -> Option<String> {
        if let Some((id, _)) = questions.iter().find(|(id, _)| self.taken.contains_key(*id)) {
            return Some((*id).to_owned());
        }
        self.remove_expired(now);
        self.taken.extend(questions.iter().map(|(id, expires_at)| ((*id).to_owned(), *expires_at)));
        None
    }
}

impl SuspendedRuns for InMemory {
    fn put<'a>(
        &'a self,
        id: &'a str,
        state: &'a [u8],
        expires_at: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.remove_expired(now);
        entries.states.insert(id.to_owned(), (state.to_owned(), expires_at));
        Box::pin(std::future::ready(Ok(())))
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = entries.states.get(id).map(|(state, _)| state.clone());
        Box::pin(std::future::ready(Ok(state)))
    }

    fn take<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).take(questions, now);
        Box::pin(std::future::ready(Ok(before)))
    }
}
