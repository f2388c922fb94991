//! The result of a delegating tool: the agent that is to run a call.

use serde::{Deserialize, Serialize};
use toolwright::{Outcome, Payload, ToolFailure};

use super::clearance::digest;

/// The agent that is to run a call, and the input of its run; see
/// [`FunctionTool::delegating`](super::FunctionTool::delegating).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    agent: String,
    /// JSON text.
    input: String,
    /// The digest of the arguments of the call. The runtime sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    args: Option<String>,
}

impl Delegation {
    /// Delegates a call to a registered agent, with an input for its run.
    pub fn to(agent: impl Into<String>, input: Payload) -> Self {
        Self { agent: agent.into(), input: input.to_string(), args: None }
    }

    /// Sets the arguments of the call.
    pub(crate) fn of_args(self, args: &Payload) -> Self {
        Self { args: Some(digest([args.as_str()])), ..self }
    }

    /// Returns whether the call had these arguments. A journal of an earlier version has only the input.
    pub(crate) fn is_of_args(&self, args: &Payload) -> bool {
        match &self.args {
            Some(known) => *known == digest([args.as_str()]),
            None => self.input == args.as_str(),
        }
    }

    pub(crate) fn to_payload(&self) -> Outcome {
        let json = serde_json::to_string(self).map_err(|error| ToolFailure::internal(&error))?;
        Ok(Payload::new(json))
    }

    /// Parses the payload that a toolset returned.
    pub(crate) fn from_payload(payload: &Payload) -> Result<Self, ToolFailure> {
        serde_json::from_slice(payload.as_bytes()).map_err(|error| ToolFailure::internal(&error))
    }

    /// Returns the agent and the input of its run.
    pub(crate) fn into_parts(self) -> (String, Payload) {
        (self.agent, Payload::new(self.input))
    }
}
