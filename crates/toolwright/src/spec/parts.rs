//! The parts of a spec that have fields of their own.

use std::borrow::Cow;
use std::time::Duration;

/// A text of a spec: in a static written [`text("…")`](text), at run time made of a `String` with `into`.
pub type Text = Cow<'static, str>;

/// A text that lives as long as the program.
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// The name, description and service of a toolset. Generated code has them as `specs::TOOLSET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolsetInfo {
    /// Its globally unique name.
    pub name: &'static str,
    /// The purpose of its tools, in words for people and models; may be empty.
    pub description: &'static str,
    /// The service that owns it.
    pub service: &'static str,
}

/// The implementation of a tool. It is provenance and never part of the tool's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// A method of a service.
    Method {
        /// The service.
        service: Text,
        /// The method.
        method: Text,
    },
    /// An agent of a service.
    Agent {
        /// The service.
        service: Text,
        /// The agent.
        agent: Text,
    },
    /// A tool of a remote MCP server.
    Mcp {
        /// The name the host knows the server by.
        server: Text,
    },
    /// An executor the host brings.
    External,
}

/// MCP's hints on what a tool does (`ToolAnnotations` of the MCP specification); `None` says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond the system it belongs to.
    pub open_world: Option<bool>,
}

/// minijinja templates over `args`, `result` and `tool`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Shown when a call starts.
    pub call: Option<Text>,
    /// Shown when its result is there.
    pub result: Option<Text>,
}

/// The words of an approval request: minijinja templates over `args` and `tool`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approval {
    /// The question to the approver.
    pub prompt: Option<Text>,
    /// The answer to the model when approval is denied.
    pub denied: Option<Text>,
    /// Whatever else the approver's side needs, such as `risk_level`: a JSON object, as text.
    pub metadata: Option<Text>,
}

/// How calls of a tool are run; `None` leaves the choice to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// How many attempts a transient failure gets in all.
    pub attempts: Option<u32>,
    /// Whether the tool is a barrier among concurrent calls.
    pub sequential: bool,
}

/// Why a tool should no longer be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// The version since when.
    pub since: Option<Text>,
    /// The tool to use instead.
    pub replacement: Option<Text>,
}

impl ToolAnnotations {
    /// Nothing said.
    pub const UNKNOWN: Self =
        Self { read_only: None, destructive: None, idempotent: None, open_world: None };
}

impl CallLimits {
    /// Everything left to the host.
    pub const UNLIMITED: Self = Self { timeout: None, attempts: None, sequential: false };
}

impl Hints {
    /// Nothing to show.
    pub(super) const NONE: Self = Self { call: None, result: None };
}
