//! The methods of fake services: the results that they return, and a record of their calls.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::method::MethodError;
use crate::outcome::{FailureKind, Recovery, ToolFailure};

/// A method of a fake service. `P` is its payload, `R` what it returns: `Result<T, MethodError<E>>`.
///
/// It returns the results of [`return_next`](Self::return_next) first, each once, then that of
/// [`returning`](Self::returning) or [`answering`](Self::answering). A call without a result fails.
pub struct FakeMethod<P, R> {
    name: &'static str,
    state: Mutex<State<P, R>>,
}

struct State<P, R> {
    calls: Vec<P>,
    next: VecDeque<R>,
    answer: Option<Arc<dyn Fn(&P) -> R + Send + Sync>>,
}

impl<P, T, E> FakeMethod<P, Result<T, MethodError<E>>> {
    /// Returns this value or declared error from now on.
    pub fn returning(&self, result: Result<T, E>)
    where
        T: Clone + Send + Sync + 'static,
        E: Clone + Send + Sync + 'static,
    {
        self.answering(move |_| result.clone().map_err(MethodError::Declared));
    }

    /// Returns this value or declared error for one call of the method. Several are returned in the order in which they were set.
    pub fn return_next(&self, result: Result<T, E>) {
        self.state().next.push_back(result.map_err(MethodError::Declared));
    }

    /// Answers by a function of the payload from now on. Its errors may be internal ones:
    /// `|_| Err(MethodError::internal("the disk is full"))`.
    pub fn answering(
        &self,
        answer: impl Fn(&P) -> Result<T, MethodError<E>> + Send + Sync + 'static,
    ) {
        self.state().answer = Some(Arc::new(answer));
    }

    /// Answers a call, and records it.
    #[doc(hidden)]
    pub fn call(&self, payload: P) -> Result<T, MethodError<E>> {
        // The lock is not held while the function runs, which may call `calls`.
        let (next, answer) = {
            let mut state = self.state();
            (state.next.pop_front(), state.answer.clone())
        };
        let unanswered = || Err(MethodError::Internal(Box::new(self.unanswered())));
        let answered =
            next.or_else(|| answer.map(|answer| answer(&payload))).unwrap_or_else(unanswered);
        self.state().calls.push(payload);
        answered
    }
}

impl<P, R> FakeMethod<P, R> {
    /// A method without answers.
    #[doc(hidden)]
    pub fn new(name: &'static str) -> Self {
        let state = State { calls: Vec::new(), next: VecDeque::new(), answer: None };
        Self { name: name.trim_start_matches("r#"), state: Mutex::new(state) }
    }

    /// The payloads that the method was called with, in order.
    pub fn calls(&self) -> Vec<P>
    where
        P: Clone,
    {
        self.state().calls.clone()
    }

    fn unanswered(&self) -> ToolFailure {
        let name = self.name;
        let message =
            format!("the fake has no answer for `{name}`; give it one with `{name}.returning(…)`");
        ToolFailure::new(FailureKind::Internal, message, Recovery::Finish)
    }

    fn state(&self) -> MutexGuard<'_, State<P, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P, R> fmt::Debug for FakeMethod<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.state().calls.len();
        let mut method = f.debug_struct("FakeMethod");
        method.field("name", &self.name).field("calls", &calls).finish_non_exhaustive()
    }
}
