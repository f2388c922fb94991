//! What is asked and what can be answered. Never judges an answer: see `answers`.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolwright::codec;
use toolwright::{Map, Payload, ToolCall, Value};

use crate::tools::{ToolEntry, digest, escaped, fill};
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
    /// The agent whose run or session asks; none for a call outside both.
    #[serde(default)]
    pub agent: Option<String>,
    /// The call that waits.
    pub call_id: String,
    /// The tool it asks for.
    pub tool: String,
    /// The toolset of that tool.
    #[serde(default)]
    pub toolset: String,
    /// The arguments that will run, to the letter but for [hidden](toolwright::untrusted) characters, which are written as
    /// escapes of the same JSON.
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
    /// When answers come too late, in milliseconds since 1970.
    pub expires_at: u64,
    /// SHA-256 over all of the above but the open handles, in hexadecimal. An answer repeats it.
    pub digest: String,
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
    /// The question that a call asks. What is shown is made of the call and its tool alone.
    pub(crate) fn new(
        call: &ToolCall,
        tool: &ToolEntry,
        agent: Option<&str>,
        id: String,
        expires_at: u64,
    ) -> Self {
        let words = tool.approval().cloned().unwrap_or_default();
        let filled =
            |text: Option<&str>| text.map(|text| fill(text, tool.spec(), call.args(), None));
        let request = Self {
            id,
            deferred: tool.is_deferred(),
            run_id: call.run_id().unwrap_or_default().to_owned(),
            agent: agent.map(str::to_owned),
            call_id: call.id().to_owned(),
            tool: call.tool().to_owned(),
            toolset: tool.spec().toolset().to_owned(),
            args: escaped(call.args()),
            prompt: filled(words.prompt.as_deref()),
            denied: filled(words.denied.as_deref()),
            metadata: words.metadata.map_or_else(Map::new, |json| metadata(tool, &json)),
            open_handles: Vec::new(),
            expires_at,
            digest: String::new(),
        };
        Self { digest: request.digest_of_shown(), ..request }
    }

    /// Whether a call still asks this question: everything that was shown, made anew, is the same.
    pub(crate) fn is_of(&self, call: &ToolCall, tool: &ToolEntry, agent: Option<&str>) -> bool {
        Self::new(call, tool, agent, self.id.clone(), self.expires_at).digest == self.digest
    }

    /// The digest of what this shows now, which an answer is about.
    fn digest_of_shown(&self) -> String {
        let optional = |text: &Option<String>| text.as_ref().map(|text| format!("={text}"));
        let [agent, prompt, denied] = [&self.agent, &self.prompt, &self.denied].map(optional);
        digest([
            self.id.as_str(),
            if self.deferred { "deferred" } else { "" },
            &self.run_id,
            &agent.unwrap_or_default(),
            &self.call_id,
            &self.tool,
            &self.toolset,
            self.args.as_str(),
            &prompt.unwrap_or_default(),
            &denied.unwrap_or_default(),
            &Value::Object(self.metadata.clone()).to_string(),
            &self.expires_at.to_string(),
        ])
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
        Answer { id: self.id.clone(), digest: self.digest_of_shown(), verdict }
    }
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
