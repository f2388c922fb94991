//! A planner that follows a script: for tests, demos and jobs whose steps are known. Never talks to a model.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::{BoxError, BoxFuture, Payload, ToolCall};

use super::{Planner, Step, Turn};

type Scene = Arc<dyn Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync>;

/// Steps, one after another; after the last the run fails. The same turn always gets the same step.
#[derive(Clone, Default)]
pub struct Script(Vec<Scene>);

debug!(Script, script => { steps: script.0.len() });

impl Script {
    /// A script without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Then makes calls. A run may be made several times: every one gets the same ids.
    #[must_use]
    pub fn call(self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let calls: Vec<_> = calls.into_iter().collect();
        self.then(move |_| Ok(Step::Call(calls.clone())))
    }

    /// Then does what a function of the turn says, which sees all results so far.
    #[must_use]
    pub fn then(
        mut self,
        scene: impl Fn(&Turn<'_>) -> Result<Step, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.0.push(Arc::new(scene));
        self
    }

    /// Then ends the run.
    #[must_use]
    pub fn finish(self, payload: Payload) -> Self {
        self.then(move |_| Ok(Step::Finish(payload.clone())))
    }
}

impl Planner for Script {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        let step = match self.0.get(turn.step()) {
            Some(scene) => scene(turn),
            None => Err(format!("the script has {} steps and no end", self.0.len()).into()),
        };
        Box::pin(std::future::ready(step))
    }
}

impl From<Script> for Arc<dyn Planner> {
    fn from(script: Script) -> Self {
        Arc::new(script)
    }
}
