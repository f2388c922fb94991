//! A planner that follows a fixed list of steps, without a model: for tests, demos and jobs whose steps are known.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Payload, ToolCall};

use super::{Planner, Step, Turn};

type StepFn = Arc<dyn Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync>;

/// A planner that returns its steps one after another. A run that needs a step after the last one fails.
#[derive(Clone, Default)]
pub struct Script(Vec<StepFn>);

debug!(Script, script => { steps: script.0.len() });

impl Script {
    /// Creates a script without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step that makes calls. All runs of the script use the same call ids.
    #[must_use]
    pub fn call(self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let calls: Vec<_> = calls.into_iter().collect();
        self.then(move |_| Ok(Step::call(calls.clone())))
    }

    /// Adds a step that a function decides. The function sees all results so far.
    #[must_use]
    pub fn then(
        mut self,
        step: impl Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.0.push(Arc::new(step));
        self
    }

    /// Adds a step that ends the run.
    #[must_use]
    pub fn finish(self, payload: Payload) -> Self {
        self.then(move |_| Ok(Step::Finish(payload.clone())))
    }
}

impl Planner for Script {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        let step = match self.0.get(turn.step()) {
            Some(step) => step(turn),
            None => {
                Err(format!("the script has {} steps and none ended the run", self.0.len()).into())
            }
        };
        Box::pin(std::future::ready(step))
    }
}

impl From<Script> for Arc<dyn Planner> {
    fn from(script: Script) -> Self {
        Arc::new(script)
    }
}
