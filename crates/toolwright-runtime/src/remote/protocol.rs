//! What is said over the wire: one JSON object a line. Never reads from or writes to one.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::{InvalidPayload, ToolSpec};

use crate::tools::ToolEntry;
use crate::wire::{WireCall, WireOutcome, WireScope};

/// The version of the protocol. The server refuses any other.
pub(super) const VERSION: u32 = 4;

/// The longest line that is read, in bytes, and the most that all calls of a connection under way may have been.
pub(super) const LONGEST: usize = 64 << 20;

/// What a client says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "say")]
pub(super) enum Request {
    /// First of all: who speaks, and for which run. The server decides what of that it believes.
    Open { version: u32, scope: WireScope },
    /// Which tools there are now.
    List { id: u64 },
    /// What the planner is to be told.
    Instructions { id: u64 },
    /// Run this. A call that was approved says so with a code, made with the key that both sides have.
    Call { id: u64, call: WireCall, approval: Option<[u8; 32]> },
    /// Give the state that is to survive a suspension.
    Save { id: u64 },
    /// Take back a state that was saved.
    Restore { id: u64, saved: String },
    /// Give up what was asked under this id.
    Cancel { id: u64 },
}

/// What a server says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "say")]
pub(super) enum Reply {
    /// The toolset is entered. So many calls may be under way at once, and codes of approvals are made over this nonce.
    Opened { calls: usize, nonce: String },
    /// It could not be: nothing follows.
    Refused { why: String },
    /// The tools.
    Tools { id: u64, tools: Result<Vec<WireTool>, String> },
    /// The instructions.
    Instructions { id: u64, text: Option<String> },
    /// What came of a call.
    Outcome { id: u64, outcome: WireOutcome },
    /// The state, if there is one to keep.
    Saved { id: u64, saved: Result<Option<String>, String> },
    /// Whether the state was taken back.
    Restored { id: u64, restored: Result<(), String> },
    /// The handles that are open from now on. Said before the reply to a request, where they have changed.
    OpenHandles { names: Vec<String> },
}

/// One tool, as it is listed. Codecs stay with the server: it judges arguments and results.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct WireTool {
    name: String,
    title: Option<String>,
    description: String,
    toolset: String,
    #[serde(default)]
    toolset_description: String,
    service: String,
    tags: Vec<String>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    approval: Option<WireApproval>,
    timeout_ms: Option<u64>,
    attempts: Option<u32>,
    sequential: bool,
    available: bool,
    args_schema: String,
    result_schema: String,
}

/// The words of an approval request, and what comes with them.
#[derive(Clone, Serialize, Deserialize)]
struct WireApproval {
    prompt: Option<String>,
    denied: Option<String>,
    metadata: Option<String>,
}

impl From<&Approval> for WireApproval {
    fn from(Approval { prompt, denied, metadata }: &Approval) -> Self {
        let [prompt, denied, metadata] =
            [prompt, denied, metadata].map(|text| text.as_deref().map(str::to_owned));
        Self { prompt, denied, metadata }
    }
}

impl From<WireApproval> for Approval {
    fn from(WireApproval { prompt, denied, metadata }: WireApproval) -> Self {
        let [prompt, denied, metadata] =
            [prompt, denied, metadata].map(|text| text.map(Into::into));
        Self { prompt, denied, metadata }
    }
}

impl WireTool {
    pub(super) fn new(tool: &ToolEntry, available: bool) -> Self {
        let spec = tool.spec();
        // In full, so that a new part cannot be forgotten here.
        let ToolAnnotations { read_only, destructive, idempotent, open_world } = spec.annotations();
        let CallLimits { timeout, attempts, sequential } = spec.limits();
        Self {
            name: tool.name().to_owned(),
            title: spec.title().map(str::to_owned),
            description: spec.description().to_owned(),
            toolset: spec.toolset().to_owned(),
            toolset_description: spec.toolset_description().to_owned(),
            service: spec.service().to_owned(),
            tags: spec.tags().map(str::to_owned).collect(),
            read_only,
            destructive,
            idempotent,
            open_world,
            approval: tool.approval().map(Into::into),
            timeout_ms: timeout.and_then(|limit| u64::try_from(limit.as_millis()).ok()),
            attempts,
            sequential,
            available,
            args_schema: spec.args_schema().to_owned(),
            result_schema: spec.result_schema().to_owned(),
        }
    }

    pub(super) fn is_available(&self) -> bool {
        self.available
    }

    /// The SHA-256 of its JSON, as of a tool that cannot be used: whether it can changes while a question is asked.
    pub(super) fn digest(&self) -> [u8; 32] {
        let told = Self { available: false, ..self.clone() };
        Sha256::digest(serde_json::to_vec(&told).expect("a tool is JSON")).into()
    }

    /// The tool as this side lists it.
    pub(super) fn into_entry(self) -> ToolEntry {
        let annotations = ToolAnnotations {
            read_only: self.read_only,
            destructive: self.destructive,
            idempotent: self.idempotent,
            open_world: self.open_world,
        };
        let limits = CallLimits {
            timeout: self.timeout_ms.map(std::time::Duration::from_millis),
            attempts: self.attempts,
            sequential: self.sequential,
        };
        let mut spec = ToolSpec::new(self.name)
            .with_annotations(annotations)
            .with_limits(limits)
            .with_checks(judged_there, judged_there);
        if let Some(title) = self.title {
            spec.set_title(title);
        }
        spec.set_description(self.description);
        spec.set_toolset(self.toolset);
        spec.set_toolset_description(self.toolset_description);
        spec.set_service(self.service);
        spec.set_tags(self.tags);
        spec.set_args_schema(self.args_schema);
        spec.set_result_schema(self.result_schema);
        if let Some(approval) = self.approval {
            spec = spec.with_approval(approval.into());
        }
        ToolEntry::new(spec)
    }
}

/// The server has the codecs and says what is wrong; this side sees to it that it is JSON at all.
fn judged_there(json: &[u8]) -> Result<(), InvalidPayload> {
    toolwright::codec::check::<toolwright::Value>(json)
}
