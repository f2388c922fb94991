//! The types of a spec's parts.

use std::borrow::Cow;
use std::time::Duration;

/// A text of a spec: in a static [`text("…")`](text), at run time a `String` converted with `into`.
pub type Text = Cow<'static, str>;

/// Wraps a `'static` text.
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// The name, description and service of a toolset: `specs::TOOLSET` in generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolsetInfo {
    /// Its globally unique name.
    pub name: &'static str,
    /// Its description for people and models; may be empty.
    pub description: &'static str,
    /// The service that owns it.
    pub service: &'static str,
}

/// The implementation of a tool. It is not a part of the tool's identity.
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
        /// The server's name in the host's configuration.
        server: Text,
    },
    /// An executor that the host provides.
    External,
}

/// Hints on the effects of a tool (`ToolAnnotations` of the MCP specification); `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// The tool changes nothing.
    pub read_only: Option<bool>,
    /// The tool may destroy something.
    pub destructive: Option<bool>,
    /// A second equal call has no further effect.
    pub idempotent: Option<bool>,
    /// The tool interacts with systems other than its own.
    pub open_world: Option<bool>,
}

/// Texts that show the progress of a call: minijinja templates over `args`, `result` and `tool`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Shown when a call starts.
    pub call: Option<Text>,
    /// Shown when the call returns its result.
    pub result: Option<Text>,
}

/// The texts of an approval request: minijinja templates over `args` and `tool`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approval {
    /// The question for the approver.
    pub prompt: Option<Text>,
    /// The message for the model when approval is denied.
    pub denied: Option<Text>,
    /// Further data for the approver, such as `risk_level`: a JSON object, as text.
    pub metadata: Option<Text>,
}

/// The limits of a tool's calls; for `None` the host decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// The time limit of one attempt.
    pub timeout: Option<Duration>,
    /// The total number of attempts when failures are transient.
    pub attempts: Option<u32>,
    /// If true, a call of the tool never runs at the same time as another call of the same answer of the model.
    pub sequential: bool,
}

/// How much a tool needs a model provider to enforce the schema of its arguments, where the provider bounds the number
/// of tools for which it does so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strictness {
    /// Enforced before tools that only prefer it.
    Always,
    /// Enforced as far as the bounds allow.
    #[default]
    Prefer,
    /// Never.
    Never,
}

/// The amount of reasoning that a model should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The word for it in schemas and in the APIs of all providers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The deprecation of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// The version since which the tool is deprecated.
    pub since: Option<Text>,
    /// The tool to use instead.
    pub replacement: Option<Text>,
    /// The last day on which the tool is there, as `YYYY-MM-DD`.
    pub until: Option<Text>,
}

impl ToolAnnotations {
    /// Every hint is unknown.
    pub const UNKNOWN: Self =
        Self { read_only: None, destructive: None, idempotent: None, open_world: None };

    /// Returns true if a call that may have run can be made again without harm: the tool is read-only or idempotent.
    pub fn may_run_again(self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }
}

impl CallLimits {
    /// No limits: the host decides.
    pub const UNLIMITED: Self = Self { timeout: None, attempts: None, sequential: false };
}

impl Hints {
    /// No hints.
    pub(super) const NONE: Self = Self { call: None, result: None };
}
