//! The messages of the protocol. Each is a JSON object on a line of its own, with its content under the name of its kind: with
//! the kind among the content, serde would keep the whole message first, in up to seventy times its size.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::untrusted::{hidden, line, visible, visible_schema};
use toolwright::{FailureKind, InvalidPayload, Recovery, ToolFailure, ToolSpec, Value};

use crate::tools::ToolEntry;
use crate::wire::{WireCall, WireOutcome, WireScope};

/// The version of the protocol. The server refuses any other.
pub(super) const VERSION: u32 = 5;

/// The most bytes of a line, and of all active calls of a connection together.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;

/// The most bytes of the line that opens a connection, whose scope the server keeps as long as the connection.
pub(super) const MAX_OPEN_BYTES: usize = 64 << 10;

/// The most bytes of a message that opens a connection for a call. A client sends no scope in it, and many may wait.
pub(super) const MAX_OPEN_MESSAGE_BYTES: usize = 1 << 10;

/// The most bytes of a result. Within a line of JSON it may be twice as long.
pub(super) const MAX_RESULT_BYTES: usize = 31 << 20;

/// The most open handles that are shown, and the most bytes of each.
const MAX_HANDLES: usize = 256;
const MAX_HANDLE_BYTES: usize = 256;

/// The most bytes of the metadata of an approval.
const MAX_METADATA_BYTES: usize = 64 << 10;

/// A message of the client.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// The first message, with the scope of the client's run. The server may ignore the scope.
    Open { version: u32, scope: WireScope },
    /// Asks for the tools.
    List { id: u64 },
    /// Asks for the instructions.
    Instructions { id: u64 },
    /// Makes a call. If it was approved, `approval` is its approval code. `traceparent` is of the caller's span.
    Call {
        id: u64,
        call: WireCall,
        approval: Option<[u8; 32]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traceparent: Option<String>,
    },
    /// Asks for the state to save.
    Save { id: u64 },
    /// Restores a saved state.
    Restore { id: u64, saved: String },
    /// Cancels the request with this id.
    Cancel { id: u64 },
}

/// A message of the server.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The toolset was entered. `calls` is the most calls at once, and `nonce` is part of the data of approval codes.
    Opened { calls: usize, nonce: String },
    /// The toolset is not provided. This is the last message.
    Refused { why: String },
    /// The tools.
    Tools { id: u64, tools: Result<Vec<WireTool>, String> },
    /// The instructions.
    Instructions { id: u64, text: Option<String> },
    /// The outcome of a call.
    Outcome { id: u64, outcome: WireOutcome },
    /// The state to save, if there is one.
    Saved { id: u64, saved: Result<Option<String>, String> },
    /// The reply to `Restore`.
    Restored { id: u64, restored: Result<(), String> },
    /// The open handles. Sent before a reply if they have changed.
    OpenHandles { names: Vec<String> },
}

impl Reply {
    /// The reply in place of this one, whose line has so many bytes.
    pub(super) fn too_long(&self, bytes: usize) -> Self {
        let message = format!(
            "found a reply of {bytes} bytes, expected at most {MAX_LINE_BYTES}, as many as a line of the protocol may have"
        );
        match *self {
            Self::Outcome { id, .. } => {
                let failure = ToolFailure::new(FailureKind::Internal, message, Recovery::Replan);
                Self::Outcome { id, outcome: WireOutcome::from(&Err(failure)) }
            }
            Self::Tools { id, .. } => Self::Tools { id, tools: Err(message) },
            Self::Instructions { id, .. } => Self::Instructions { id, text: None },
            Self::Saved { id, .. } => Self::Saved { id, saved: Err(message) },
            Self::Restored { id, .. } => Self::Restored { id, restored: Err(message) },
            Self::OpenHandles { ref names } => Self::OpenHandles { names: shown_handles(names) },
            Self::Opened { .. } | Self::Refused { .. } => Self::Refused { why: message },
        }
    }
}

/// Returns a message as a line.
pub(super) fn line_of(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("texts and numbers can be serialized");
    line.push(b'\n');
    line
}

/// Returns open handles as a client shows them: the first ones, each on a short line.
pub(super) fn shown_handles(names: &[String]) -> Vec<String> {
    names.iter().take(MAX_HANDLES).map(|name| line(name, MAX_HANDLE_BYTES)).collect()
}

/// A listed tool. The server checks arguments and results with the codecs, which the client does not have.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct WireTool {
    name: String,
    /// The other names that calls may use.
    aliases: Vec<String>,
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

/// An [`Approval`].
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

impl WireApproval {
    /// Converts it into the approval of a tool that the client lists.
    fn into_approval(self) -> Result<Approval, &'static str> {
        let metadata = self.metadata.map(|json| shown_metadata(&json)).transpose()?;
        let [prompt, denied, metadata] =
            [self.prompt, self.denied, metadata].map(|text| text.map(Into::into));
        Ok(Approval { prompt, denied, metadata })
    }
}

/// Returns the metadata of an approval with visible keys and texts.
fn shown_metadata(json: &str) -> Result<String, &'static str> {
    if json.len() > MAX_METADATA_BYTES {
        return Err("the metadata of its approval is longer than 64 KiB");
    }
    let metadata: Value = json.parse().map_err(|_| "the metadata of its approval is not JSON")?;
    Ok(shown_value(metadata).to_string())
}

fn shown_value(value: Value) -> Value {
    let shown = |text: String| visible(&text).into_owned();
    match value {
        Value::String(text) => Value::String(shown(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(shown_value).collect()),
        Value::Object(entries) => {
            let entries = entries.into_iter();
            Value::Object(entries.map(|(key, value)| (shown(key), shown_value(value))).collect())
        }
        other => other,
    }
}

impl WireTool {
    pub(super) fn new(tool: &ToolEntry, available: bool) -> Self {
        let spec = tool.spec();
        let prefix = tool.alias_prefix();
        let aliases = spec.aliases().filter_map(|alias| Some(format!("{}{alias}", prefix?)));
        // Destructured in full, so that a new field causes a compile error here.
        let ToolAnnotations { read_only, destructive, idempotent, open_world } = spec.annotations();
        let CallLimits { timeout, attempts, sequential } = spec.limits();
        Self {
            name: tool.name().to_owned(),
            aliases: aliases.collect(),
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

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its name and its aliases.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    /// Returns the names of its toolset and its service.
    pub(super) fn origin(&self) -> [&str; 2] {
        [&self.toolset, &self.service]
    }

    pub(super) fn is_available(&self) -> bool {
        self.available
    }

    /// Returns the SHA-256 of its JSON, without its availability, which may change while a question is pending.
    pub(super) fn digest(&self) -> [u8; 32] {
        let tool = Self { available: false, ..self.clone() };
        Sha256::digest(serde_json::to_vec(&tool).expect("a tool can be serialized")).into()
    }

    /// Converts it into the entry that the client lists. [Hidden](toolwright::untrusted) characters of its texts become visible.
    ///
    /// # Errors
    ///
    /// Returns the reason why a schema or the metadata of the approval cannot be used.
    pub(super) fn into_entry(self) -> Result<ToolEntry, &'static str> {
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
            .with_checks(check_json, check_json);
        let shown = |text: &str| visible(text).into_owned();
        if let Some(title) = self.title {
            spec.set_title(shown(&title));
        }
        spec.set_description(shown(&self.description));
        spec.set_toolset(shown(&self.toolset));
        spec.set_toolset_description(shown(&self.toolset_description));
        spec.set_service(shown(&self.service));
        spec.set_tags(self.tags.iter().map(|tag| shown(tag)));
        spec.set_aliases(self.aliases);
        spec.set_args_schema(shown_schema(self.args_schema)?);
        spec.set_result_schema(shown_schema(self.result_schema)?);
        if let Some(approval) = self.approval {
            spec = spec.with_approval(approval.into_approval()?);
        }
        Ok(ToolEntry::new(spec))
    }
}

/// Returns a schema with visible texts.
fn shown_schema(text: String) -> Result<String, &'static str> {
    let schema: Value = text.parse().map_err(|_| "its schema is not JSON")?;
    let shown = visible_schema(&schema, &[]);
    if hidden(&shown.as_ref().unwrap_or(&schema).to_string()).next().is_some() {
        return Err("its schema has hidden characters in a name, `enum`, `const` or `pattern`");
    }
    Ok(shown.map_or(text, |shown| shown.to_string()))
}

/// Checks only that a payload is JSON. The server has the codecs and checks the rest.
fn check_json(json: &[u8]) -> Result<(), InvalidPayload> {
    toolwright::codec::check::<Value>(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_handles_that_no_line_can_hold_are_sent_as_they_are_shown() {
        let long = "x".repeat(1_000);
        let names = ["lock", &long].into_iter().chain(["a"; 400]).map(str::to_owned).collect();
        let Reply::OpenHandles { names } = (Reply::OpenHandles { names }).too_long(0) else {
            panic!("it has another kind")
        };
        assert_eq!((names[0].as_str(), names.len()), ("lock", 256));
        assert!(names[1].len() < 300, "{}", names[1].len());
    }
}
