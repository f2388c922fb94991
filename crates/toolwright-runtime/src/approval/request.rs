//! What is asked and what can be answered. Never judges an answer: see `answers`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolwright::call::fresh_id;
use toolwright::codec;
use toolwright::{Map, Payload, ToolCall, Value};

use crate::tools::ToolEntry;
use crate::tools::fill;
use crate::wire;

/// Tells the time of day; tests bring their own.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A call that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The question's own id.
    pub id: String,
    /// Whether the call is deferred: the answer is its result. Otherwise it is a yes or a no.
    pub deferred: bool,
    /// The run that asks.
    pub run_id: String,
    /// The call that waits.
    pub call_id: String,
    /// The tool it asks for.
    pub tool: String,
    /// The toolset of that tool.
    #[serde(default)]
    pub toolset: String,
    /// The exact arguments that will run.
    #[serde(with = "wire::payload")]
    pub args: Payload,
    /// The question in words.
    pub prompt: Option<String>,
    /// What the model is told on a no, unless the answer says something else.
    pub denied: Option<String>,
    /// What else the tool says for whoever answers, such as `risk_level`.
    #[serde(default)]
    pub metadata: Map<Value>,
    /// Handles that are open in the run and end if it is suspended to wait for the answer.
    #[serde(default)]
    pub open_handles: Vec<String>,
    /// SHA-256 over run, call, tool and arguments, in hexadecimal. An answer repeats it.
    pub digest: String,
    /// When answers come too late, in milliseconds since 1970.
    pub expires_at: u64,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question's id.
    pub id: String,
    /// The digest of what was shown to whoever answers.
    pub digest: String,
    /// What is answered.
    pub verdict: Verdict,
}

/// What can be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// Run it as shown.
    Approve,
    /// Run it with other arguments, which are checked again.
    ApproveWith(#[serde(with = "wire::payload")] Payload),
    /// Do not run it. The reason is for the model.
    Deny(Option<String>),
    /// The result of a deferred call.
    Result(#[serde(with = "wire::payload")] Payload),
}

impl ApprovalRequest {
    /// The question of a call, that may be answered for so long.
    pub(crate) fn new(call: &ToolCall, tool: &ToolEntry, now: u64, lasting: Duration) -> Self {
        let words = tool.approval().cloned().unwrap_or_default();
        let filled =
            |text: Option<&str>| text.map(|text| fill(text, tool.spec(), call.args(), None));
        let lasting = u64::try_from(lasting.as_millis()).unwrap_or(u64::MAX);
        Self {
            id: fresh_id("approval"),
            deferred: tool.is_deferred(),
            run_id: call.run_id().unwrap_or_default().to_owned(),
            call_id: call.id().to_owned(),
            tool: call.tool().to_owned(),
            toolset: tool.spec().toolset().to_owned(),
            args: call.args().clone(),
            prompt: filled(words.prompt.as_deref()),
            denied: filled(words.denied.as_deref()),
            metadata: words.metadata.map_or_else(Map::new, |json| metadata(tool, &json)),
            open_handles: Vec::new(),
            digest: digest(call),
            expires_at: now.saturating_add(lasting),
        }
    }

    /// A yes to exactly what this shows.
    pub fn approve(&self) -> Answer {
        self.answer(Verdict::Approve)
    }

    /// A yes to other arguments.
    pub fn approve_with(&self, args: Payload) -> Answer {
        self.answer(Verdict::ApproveWith(args))
    }

    /// A no, in the words of the tool.
    pub fn deny(&self) -> Answer {
        self.answer(Verdict::Deny(None))
    }

    /// A no with a reason for the model.
    pub fn deny_because(&self, reason: impl Into<String>) -> Answer {
        self.answer(Verdict::Deny(Some(reason.into())))
    }

    /// The result of a deferred call.
    pub fn result(&self, payload: Payload) -> Answer {
        self.answer(Verdict::Result(payload))
    }

    fn answer(&self, verdict: Verdict) -> Answer {
        Answer { id: self.id.clone(), digest: self.digest.clone(), verdict }
    }
}

/// What an approval is bound to. Every part has its length before it, so that no two calls have one text.
pub(crate) fn digest(call: &ToolCall) -> String {
    let mut hash = Sha256::new();
    let parts = [call.run_id().unwrap_or_default(), call.id(), call.tool(), call.args().as_str()];
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A clock's time in milliseconds since 1970.
pub(crate) fn now(clock: &Clock) -> u64 {
    let since = clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The entries of a JSON object. A text that is none was not made by a schema: operators are told.
fn metadata(tool: &ToolEntry, json: &str) -> Map<Value> {
    codec::from_json(json.as_bytes()).unwrap_or_else(|error| {
        tracing::warn!(tool = tool.name(), %error, "the metadata of an approval are no JSON object");
        Map::new()
    })
}
