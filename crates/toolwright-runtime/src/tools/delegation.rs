//! Which agent answers a call, as the function of a tool says it. Never runs the agent: that is the run's.

use serde::{Deserialize, Serialize};
use toolwright::{BoxError, Payload};

/// The agent whose run answers a call, and the input of that run; see
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

    pub(super) fn to_payload(&self) -> Result<Payload, BoxError> {
        Ok(Payload::new(serde_json::to_string(self)?))
    }

    /// The agent and the input, as a toolset returned them.
    pub(crate) fn of_payload(payload: &Payload) -> Result<(String, Payload), BoxError> {
        let Self { agent, input } = serde_json::from_slice(payload.as_bytes())?;
        Ok((agent, Payload::new(input)))
    }
}
