//! Which agent runs a call, as the function of a tool says it. Never runs the agent: that is the run's.

use serde::{Deserialize, Serialize};
use toolwright::{Outcome, Payload, ToolFailure};

/// The agent that runs a call, and the input of that run; see
/// [`FunctionTool::delegating`](super::FunctionTool::delegating).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    agent: String,
    /// JSON, as it was written.
    input: String,
}

impl Delegation {
    /// A run of a registered agent with an input.
    pub fn to(agent: impl Into<String>, input: Payload) -> Self {
        Self { agent: agent.into(), input: input.to_string() }
    }

    pub(crate) fn to_payload(&self) -> Outcome {
        let json = serde_json::to_string(self).map_err(|error| ToolFailure::internal(&error))?;
        Ok(Payload::new(json))
    }

    /// The delegation that a toolset returned.
    pub(crate) fn of_payload(payload: &Payload) -> Result<Self, ToolFailure> {
        serde_json::from_slice(payload.as_bytes()).map_err(|error| ToolFailure::internal(&error))
    }

    /// The agent and the input of its run.
    pub(crate) fn into_parts(self) -> (String, Payload) {
        (self.agent, Payload::new(self.input))
    }
}
