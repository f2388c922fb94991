//! Errors of making, listing and publishing toolsets.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use toolwright::issue::suggestion;
use toolwright::{BoxError, RegistrationError};

/// Why a toolset could not be made, cannot list its tools, or is not published to agents.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolsetError {
    /// Several toolsets side by side list tools of one name.
    DuplicateNames {
        /// Each name, with every toolset that lists it.
        names: BTreeMap<String, Vec<String>>,
    },
    /// Two tools side by side have names that would be one to a model provider.
    ClashingNames {
        /// The name as providers take it.
        sent: String,
        /// The names as they are listed.
        tools: [String; 2],
    },
    /// One tool would have two new names.
    RenamedTwice {
        /// The tool.
        tool: String,
    },
    /// Two tools would have one name.
    Collision {
        /// The name.
        name: String,
    },
    /// There is no tool of this name to be renamed.
    UnknownTool {
        /// The name.
        tool: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// An approval list names what is no tool, neither here nor elsewhere in the registry. A call that it was meant to stop
    /// would run.
    UnknownApproval {
        /// The names.
        tools: Vec<String>,
        /// The names there are.
        available: Vec<String>,
    },
    /// A preparation added or renamed a tool.
    UnlistedTool {
        /// The name that the toolset does not have, or has only once.
        tool: String,
    },
    /// A factory gave no toolset but an error, or panicked.
    Factory {
        /// The toolset.
        toolset: String,
        /// What it returned.
        returned: BoxError,
    },
    /// There is a toolset of this name already.
    Registration(RegistrationError),
    /// The toolset is published already.
    PublishedTwice {
        /// The toolset.
        toolset: String,
    },
    /// Another toolset has this prefix.
    DuplicatePrefix {
        /// The prefix.
        prefix: String,
        /// The toolset that has it.
        published: String,
    },
    /// A prefix that is empty, or has a dot in it.
    BadPrefix {
        /// The prefix.
        prefix: String,
    },
    /// A toolset that is not registered, or, in an allowlist, not published.
    UnknownToolset {
        /// The name asked for.
        toolset: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// A toolset that was to be reached first could not be.
    Unreachable {
        /// The toolset.
        toolset: String,
        /// Why.
        cause: BoxError,
    },
    /// A session could not be opened: a toolset was not made, or did not enter.
    Session {
        /// The agent that the session is for.
        agent: String,
        /// Why.
        cause: BoxError,
    },
}

impl fmt::Display for ToolsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateNames { names } => {
                let one = |(name, toolsets): (&String, &Vec<String>)| {
                    format!("tool `{name}` is listed by `{}`", toolsets.join("` and by `"))
                };
                let all: Vec<_> = names.iter().map(one).collect();
                write!(f, "{}; prefix, rename or filter one of them", all.join("; "))
            }
            Self::ClashingNames { sent, tools: [one, other] } => write!(
                f,
                "tools `{one}` and `{other}` are both `{sent}` to a model provider; prefix, rename or filter one of them"
            ),
            Self::RenamedTwice { tool } => {
                write!(f, "tool `{tool}` is renamed twice; give it one new name")
            }
            Self::Collision { name } => {
                write!(f, "two tools would be called `{name}`; give one of them another name")
            }
            Self::UnknownTool { tool, available } => write!(
                f,
                "there is no tool `{tool}` to be renamed, {}",
                suggestion(tool, available.iter().map(String::as_str), "there is")
            ),
            Self::UnknownApproval { tools, available } => unknown_approval(f, tools, available),
            Self::UnlistedTool { tool } => write!(
                f,
                "the preparation listed `{tool}`, which the toolset does not; it may neither add nor rename tools"
            ),
            Self::Registration(error) => error.fmt(f),
            Self::PublishedTwice { toolset } => {
                write!(f, "toolset `{toolset}` is published already; publish it once")
            }
            Self::DuplicatePrefix { prefix, published } => {
                write!(f, "prefix `{prefix}` is that of toolset `{published}`; choose another")
            }
            Self::BadPrefix { prefix } => {
                write!(f, "`{prefix}` is no prefix; it must have a letter at least and no dot")
            }
            Self::UnknownToolset { toolset, available } if available.is_empty() => {
                write!(f, "there is no toolset `{toolset}`, nor any other; register it first")
            }
            Self::UnknownToolset { toolset, available } => {
                let advice = suggestion(toolset, available.iter().map(String::as_str), "there is");
                write!(f, "there is no toolset `{toolset}`, {advice}")
            }
            Self::Unreachable { toolset, cause } => write!(
                f,
                "toolset `{toolset}` could not be reached, so it is not registered: {cause}"
            ),
            Self::Session { agent, cause } => {
                write!(f, "no session could be opened for agent `{agent}`: {cause}")
            }
            Self::Factory { toolset, returned } => {
                write!(f, "the factory of toolset `{toolset}` returned no toolset but {returned}")
            }
        }
    }
}

/// Says which names of an approval list are no tools.
pub(crate) fn unknown_approval(
    f: &mut fmt::Formatter<'_>,
    tools: &[String],
    available: &[String],
) -> fmt::Result {
    let known = || available.iter().map(String::as_str);
    let advice = match tools {
        [tool] => suggestion(tool, known(), "there is"),
        _ => suggestion("", known(), "there is"),
    };
    let tools = tools.join("`, `");
    write!(f, "calls of `{tools}` were to be approved, but there is no such tool; {advice}")
}

impl Error for ToolsetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Registration(error) => Some(error),
            Self::Factory { returned: cause, .. }
            | Self::Unreachable { cause, .. }
            | Self::Session { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}
