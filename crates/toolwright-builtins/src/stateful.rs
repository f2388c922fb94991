//! A toolset with a state that is saved when the run is suspended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{ToolEntry, Toolset};

/// A state that can be saved, as serde writes it.
pub(crate) trait Saved: Serialize + DeserializeOwned + Default + Send {
    /// Returns whether the tools could have made this state: a state that is restored may come from elsewhere.
    fn is_within_limits(&self) -> bool;
}

/// A state that the tools of one toolset share.
pub(crate) struct State<S>(Arc<Mutex<S>>);

/// Tools with a shared state, which is saved as JSON with serde.
pub(crate) struct Stateful<S> {
    state: State<S>,
    tools: Combined,
}

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> State<S> {
    /// Locks the state. After a panic of a tool the state is still valid, as every change is a single operation.
    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Saved> Stateful<S> {
    /// Creates the toolset with the default state. The function creates the tools.
    pub(crate) fn new(tools: impl FnOnce(&State<S>) -> Combined) -> Self {
        let state = State(Arc::default());
        let tools = tools(&state);
        Self { state, tools }
    }
}

impl<S: Saved> Toolset for Stateful<S> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.tools.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.tools.call(call)
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let saved = serde_json::to_string(&*self.state.lock());
        Box::pin(std::future::ready(saved.map(|json| Some(Payload::new(json))).map_err(Into::into)))
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let restored = match serde_json::from_slice::<S>(saved.as_bytes()) {
            Ok(state) if state.is_within_limits() => {
                *self.state.lock() = state;
                Ok(())
            }
            Ok(_) => Err("the saved state is beyond the limits of the tools".into()),
            Err(error) => Err(error.into()),
        };
        Box::pin(std::future::ready(restored))
    }
}
