//! Approval requests and the possible answers. `answers` checks the answers.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolwright::codec;
use toolwright::{Map, Payload, ToolCall, Value};

use crate::tools::{ToolEntry, digest, fill, tool_digest};
use crate::wire;

/// Returns the current time. Tests replace it.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A question about a call: may it run or, for a call that the host runs, what is its result?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The question's own id.
    pub id: String,
    /// True if the host runs the call, so that the answer is its result. Otherwise the answer approves or denies the call.
    pub expects_result: bool,
    /// The run that made the call.
    pub run_id: String,
    /// The agent whose run or session made the call; none for a call outside of both.
    #[serde(default)]
    pub agent: Option<String>,
    /// The id of the call.
    pub call_id: String,
    /// The tool that is called.
    pub tool: String,
    /// The toolset of that tool.
    #[serde(default)]
    pub toolset: String,
    /// SHA-256 over the tool's name, toolset, title, description, schemas, annotations and approval, in hexadecimal. If one of
    /// them has changed when the question is answered, the call is denied.
    #[serde(default)]
    pub tool_digest: String,
    /// The arguments of the call, byte for byte, except that [hidden](toolwright::untrusted) characters are shown as JSON
    /// escapes.
    #[serde(with = "wire::payload")]
    pub args: Payload,
    /// The question in words.
    pub prompt: Option<String>,
    /// The message for the model if the call is denied without a reason.
    pub denied: Option<String>,
    /// Further data of the tool for the approver, such as `risk_level`.
    #[serde(default)]
    pub metadata: Map<Value>,
    /// Open values of the run's toolsets, such as transactions or processes
    /// ([`Toolset::open_handles`](crate::Toolset::open_handles)), which are lost if the run is suspended.
    #[serde(default)]
    pub open_handles: Vec<String>,
    /// When the question expires, in milliseconds since 1970. Later answers are refused.
    pub expires_at: u64,
    /// SHA-256 over all of the above except the open handles, in hexadecimal. The answer must have the same digest.
    pub digest: String,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question's id.
    pub id: String,
    /// The digest of the question that the approver saw.
    pub digest: String,
    /// The decision.
    pub verdict: Verdict,
}

/// The decision of an approver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// Runs the call as shown.
    Approve,
    /// Runs the call with other arguments, which are checked again.
    ApproveWith(#[serde(with = "wire::payload")] Payload),
    /// Denies the call. The reason is for the model.
    Deny(Option<String>),
    /// The result of a call that the host runs.
    Result(#[serde(with = "wire::payload")] Payload),
}

impl ApprovalRequest {
    /// Creates the question about a call.
    pub(crate) fn new(
        call: &ToolCall,
        tool: &ToolEntry,
        agent: Option<&str>,
        id: String,
        expires_at: u64,
    ) -> Self {
        let approval = tool.approval().cloned().unwrap_or_default();
        let filled =
            |text: Option<&str>| text.map(|text| fill(text, tool.spec(), call.args(), None));
        let request = Self {
            id,
            expects_result: tool.is_run_by_host(),
            run_id: call.run_id().unwrap_or_default().to_owned(),
            agent: agent.map(str::to_owned),
            call_id: call.id().to_owned(),
            tool: call.tool().to_owned(),
            toolset: tool.spec().toolset().to_owned(),
            tool_digest: tool_digest(tool.spec(), tool.approval()),
            args: call.args().clone().visible(),
            prompt: filled(approval.prompt.as_deref()),
            denied: filled(approval.denied.as_deref()),
            metadata: approval.metadata.map_or_else(Map::new, |json| metadata(tool, &json)),
            open_handles: Vec::new(),
            expires_at,
            digest: String::new(),
        };
        Self { digest: request.digest_of_shown(), ..request }
    }

    /// Returns whether a new question about the call would show the same as this one.
    pub(crate) fn is_of(&self, call: &ToolCall, tool: &ToolEntry, agent: Option<&str>) -> bool {
        Self::new(call, tool, agent, self.id.clone(), self.expires_at).digest == self.digest
    }

    /// Computes the digest of the fields that the approver sees.
    fn digest_of_shown(&self) -> String {
        let optional = |text: &Option<String>| text.as_ref().map(|text| format!("={text}"));
        let [agent, prompt, denied] = [&self.agent, &self.prompt, &self.denied].map(optional);
        digest([
            self.id.as_str(),
            if self.expects_result { "expects_result" } else { "" },
            &self.run_id,
            &agent.unwrap_or_default(),
            &self.call_id,
            &self.tool,
            &self.toolset,
            &self.tool_digest,
            self.args.as_str(),
            &prompt.unwrap_or_default(),
            &denied.unwrap_or_default(),
            &Value::Object(self.metadata.clone()).to_string(),
            &self.expires_at.to_string(),
        ])
    }

    /// Approves the call as shown.
    pub fn approve(&self) -> Answer {
        self.answer(Verdict::Approve)
    }

    /// Approves the call with other arguments.
    pub fn approve_with(&self, args: Payload) -> Answer {
        self.answer(Verdict::ApproveWith(args))
    }

    /// Denies the call, with the message of the tool.
    pub fn deny(&self) -> Answer {
        self.answer(Verdict::Deny(None))
    }

    /// Denies the call, with a reason for the model.
    pub fn deny_because(&self, reason: impl Into<String>) -> Answer {
        self.answer(Verdict::Deny(Some(reason.into())))
    }

    /// Answers a call that the host runs with its result.
    pub fn result(&self, payload: Payload) -> Answer {
        self.answer(Verdict::Result(payload))
    }

    fn answer(&self, verdict: Verdict) -> Answer {
        Answer { id: self.id.clone(), digest: self.digest_of_shown(), verdict }
    }
}

/// Returns the time of a clock in milliseconds since 1970.
pub(crate) fn now(clock: &Clock) -> u64 {
    let since = clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Parses the metadata of an approval. Logs a warning and returns an empty map if it is not a JSON object, which only a spec
/// that is made at run time can have.
fn metadata(tool: &ToolEntry, json: &str) -> Map<Value> {
    codec::from_json(json.as_bytes()).unwrap_or_else(|error| {
        tracing::warn!(tool = tool.name(), %error, "the metadata of an approval is not a JSON object and was left out");
        Map::new()
    })
}
