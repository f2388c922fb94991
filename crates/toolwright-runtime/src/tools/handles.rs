//! Things that a model refers to by a handle: open transactions, pages, processes. Never closes one by itself.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::call::fresh_id;
use toolwright::{FailureKind, Recovery, ToolFailure};

/// Open things of one kind, each under a handle: a prefix, `_` and eight hex digits, such as `txn_0f3a91bc`.
///
/// A handle means something to the map that gave it alone. A toolset whose every run has an instance has a map a run,
/// so that no run reaches the things of another.
pub struct Handles<T> {
    prefix: &'static str,
    /// What one is called in the words of the tool: `transaction`.
    noun: &'static str,
    open: Mutex<BTreeMap<String, Arc<T>>>,
}

debug!(Handles<T>, handles => { prefix: handles.prefix, noun: handles.noun, open: handles.len() });

impl<T> Handles<T> {
    /// No open thing yet. The prefix begins every handle; the noun says in errors what it stands for.
    pub fn new(prefix: &'static str, noun: &'static str) -> Self {
        Self { prefix, noun, open: Mutex::default() }
    }

    /// Takes a thing in and gives its handle.
    pub fn open(&self, thing: T) -> String {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = loop {
            let handle = short_handle(self.prefix);
            if !open.contains_key(&handle) {
                break handle;
            }
        };
        open.insert(handle.clone(), Arc::new(thing));
        handle
    }

    /// The thing of a handle, which stays open.
    ///
    /// # Errors
    ///
    /// The handle is unknown here, closed, or another map's; in words for the model.
    pub fn get(&self, handle: &str) -> Result<Arc<T>, ToolFailure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(handle).cloned().ok_or_else(|| self.unknown(handle))
    }

    /// Takes the thing of a handle out; the handle is unknown from then on.
    ///
    /// # Errors
    ///
    /// Those of [`Handles::get`].
    pub fn close(&self, handle: &str) -> Result<Arc<T>, ToolFailure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(handle).ok_or_else(|| self.unknown(handle))
    }

    /// Takes out everything that is still open: for a toolset's exit.
    pub fn drain(&self) -> Vec<(String, Arc<T>)> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *open).into_iter().collect()
    }

    /// The handles that are open, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.keys().cloned().collect()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn unknown(&self, handle: &str) -> ToolFailure {
        let message = format!("unknown {}: {handle}", self.noun);
        ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan)
    }
}

/// The prefix and the first eight of an id's random digits.
fn short_handle(prefix: &str) -> String {
    let mut handle = fresh_id(prefix);
    handle.truncate(prefix.len() + 1 + 8);
    handle
}
