//! The result of a delegating tool: the agent that is to run a call.

use serde::{Deserialize, Serialize};
use toolwright::{Outcome, Payload, ToolFailure};

/// The agent that is to run a call, and the input of its run; see
/// [`FunctionTool::delegating`](super::FunctionTool::delegating).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    agent: String,
    /// JSON text.
    input: String,
}

impl Delegation {
    /// Delegates a call to a registered agent, with an input for its run.
    pub fn to(agent: impl Into<String>, input: Payload) -> Self {
        Self { agent: agent.into(), input: input.to_string() }
    }

    pub(crate) fn to_payload(&self) -> Outcome {
        let json = serde_json::to_string(self).map_err(|error| ToolFailure::internal(&error))?;
        Ok(Payload::new(json))
    }

    /// Parses the payload that a toolset returned.
    pub(crate) fn from_payload(payload: &Payload) -> Result<Self, ToolFailure> {
        serde_json::from_slice(payload.as_bytes()).map_err(|error| ToolFailure::internal(&error))
    }

    /// The JSON text of the input.
    pub(crate) fn input(&self) -> &str {
        &self.input
    }

    /// Returns the agent and the input of its run.
    pub(crate) fn into_parts(self) -> (String, Payload) {
        (self.agent, Payload::new(self.input))
    }
}
