//! Handles, by which a model refers to open values: transactions, pages, processes.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::call::fresh_id;
use toolwright::{FailureKind, Recovery, ToolFailure};

/// A map of open values of one kind by handle: a prefix, `_` and eight hex digits, such as `txn_0f3a91bc`.
///
/// A handle is valid only in the map that created it. A toolset that is created for each run has one map for each run, so that
/// runs cannot use the values of each other.
pub struct Handles<T> {
    prefix: &'static str,
    /// The noun for a value in messages, such as `transaction`.
    noun: &'static str,
    open: Mutex<BTreeMap<String, Arc<T>>>,
}

debug!(Handles<T>, handles => { prefix: handles.prefix, noun: handles.noun, open: handles.len() });

impl<T> Handles<T> {
    /// Creates an empty map. Each handle begins with the prefix; the noun is the word for a value in errors.
    pub fn new(prefix: &'static str, noun: &'static str) -> Self {
        Self { prefix, noun, open: Mutex::default() }
    }

    /// Adds a value and returns its handle.
    pub fn open(&self, value: T) -> String {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = loop {
            let handle = short_handle(self.prefix);
            if !open.contains_key(&handle) {
                break handle;
            }
        };
        open.insert(handle.clone(), Arc::new(value));
        handle
    }

    /// Returns the value of a handle, which stays open.
    ///
    /// # Errors
    ///
    /// The handle is unknown or closed. The message is for the model.
    pub fn get(&self, handle: &str) -> Result<Arc<T>, ToolFailure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(handle).cloned().ok_or_else(|| self.unknown(handle))
    }

    /// Adds a value under the handle that it had, from the saved state of a toolset.
    pub fn restore(&self, handle: impl Into<String>, value: T) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(handle.into(), Arc::new(value));
    }

    /// Removes a handle and returns its value.
    ///
    /// # Errors
    ///
    /// Those of [`Handles::get`].
    pub fn close(&self, handle: &str) -> Result<Arc<T>, ToolFailure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(handle).ok_or_else(|| self.unknown(handle))
    }

    /// Removes and returns everything that is open, for the exit of a toolset.
    pub fn drain(&self) -> Vec<(String, Arc<T>)> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *open).into_iter().collect()
    }

    /// Returns the open handles in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.keys().cloned().collect()
    }

    /// Returns the number of open handles.
    pub fn len(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns whether there are no open handles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn unknown(&self, handle: &str) -> ToolFailure {
        let message = format!("unknown {}: {handle}", self.noun);
        ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan)
    }
}

/// Returns the prefix, `_` and eight random hex digits.
fn short_handle(prefix: &str) -> String {
    let mut handle = fresh_id(prefix);
    handle.truncate(prefix.len() + 1 + 8);
    handle
}
