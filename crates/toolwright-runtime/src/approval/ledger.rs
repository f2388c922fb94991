//! Which questions were answered already, so that no answer counts twice. Never knows what was asked.

use std::collections::BTreeMap;

use super::sync::{Mutex, PoisonError};

/// The ids of answered questions, each until it expires; after that its answer comes too late anyway.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<String, u64>>);

impl Ledger {
    /// Counts questions as answered, all or none. Times are milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// The id of one that was answered before.
    pub(crate) fn take(&self, questions: &[(&str, u64)], now: u64) -> Result<(), String> {
        let mut answered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, _)) = questions.iter().find(|(id, _)| answered.contains_key(*id)) {
            return Err((*id).to_owned());
        }
        answered.retain(|_, expires_at| *expires_at > now);
        answered.extend(questions.iter().map(|(id, expires_at)| ((*id).to_owned(), *expires_at)));
        Ok(())
    }
}
