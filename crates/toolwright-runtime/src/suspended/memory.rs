//! The default store of suspended runs, in the memory of the process.

use std::collections::BTreeMap;

use toolwright::{BoxError, BoxFuture};

use super::sync::{Mutex, PoisonError};
use super::{MAX_CLOCK_SKEW, SuspendedRunStore};

/// The store that a runtime has by default.
#[derive(Default)]
pub(crate) struct InMemory(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// States and their expiry, by id.
    states: BTreeMap<String, (Vec<u8>, u64)>,
    /// The expiry of answered questions, by id.
    answered: BTreeMap<String, u64>,
}

impl Entries {
    fn remove_expired(&mut self, now: u64) {
        let is_kept = |expires_at: u64| expires_at.saturating_add(MAX_CLOCK_SKEW) > now;
        self.states.retain(|_, (_, expires_at)| is_kept(*expires_at));
        self.answered.retain(|_, expires_at| is_kept(*expires_at));
    }

    fn mark_answered(&mut self, questions: &[(&str, u64)], now: u64) -> Option<String> {
        if let Some((id, _)) = questions.iter().find(|(id, _)| self.answered.contains_key(*id)) {
            return Some((*id).to_owned());
        }
        self.remove_expired(now);
        let questions = questions.iter().map(|(id, expires_at)| ((*id).to_owned(), *expires_at));
        self.answered.extend(questions);
        None
    }
}

impl SuspendedRunStore for InMemory {
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

    fn mark_answered<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answered_before = entries.mark_answered(questions, now);
        Box::pin(std::future::ready(Ok(answered_before)))
    }
}
