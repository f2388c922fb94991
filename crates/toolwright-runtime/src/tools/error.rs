//! Errors of creating, listing and publishing toolsets.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use toolwright::issue::suggestion;
use toolwright::{BoxError, RegistrationError};

/// A toolset cannot be created, listed or published.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolsetError {
    /// Several toolsets list tools with the same name.
    DuplicateNames {
        /// Each name, with every toolset that lists it.
        names: BTreeMap<String, Vec<String>>,
    },
    /// Two tools have names that are the same for a model provider.
    ClashingNames {
        /// The name that the provider gets.
        sent: String,
        /// The names of the tools.
        tools: [String; 2],
    },
    /// A tool is renamed to two names.
    RenamedTwice {
        /// The tool.
        tool: String,
    },
    /// Two tools would have the same name.
    Collision {
        /// The name.
        name: String,
    },
    /// A tool to rename does not exist.
    UnknownTool {
        /// The name.
        tool: String,
        /// The names of all tools.
        available: Vec<String>,
    },
    /// An approval list has names that neither a tool of the run nor any registered tool has. This is an error because the calls
    /// that the list should stop would run.
    UnknownApproval {
        /// The unknown names.
        tools: Vec<String>,
        /// The names of the tools of the run.
        available: Vec<String>,
    },
    /// The function of a prepared toolset added, duplicated or renamed a tool.
    UnlistedTool {
        /// The name that the toolset does not list, or lists only once.
        tool: String,
    },
    /// A factory returned an error or panicked.
    Factory {
        /// The toolset.
        toolset: String,
        /// The error.
        returned: BoxError,
    },
    /// A toolset with this name is already registered.
    Registration(RegistrationError),
    /// The toolset is already published.
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
    /// The prefix is empty or has a dot.
    BadPrefix {
        /// The prefix.
        prefix: String,
    },
    /// The toolset is not registered or, in an allowlist, not published.
    UnknownToolset {
        /// The name.
        toolset: String,
        /// The names of all registered or published toolsets.
        available: Vec<String>,
    },
    /// A remote toolset could not be connected or listed.
    Unreachable {
        /// The toolset.
        toolset: String,
        /// The reason.
        cause: BoxError,
    },
    /// A session could not be opened, because a toolset could not be created, entered or listed.
    Session {
        /// The agent of the session.
        agent: String,
        /// The reason.
        cause: BoxError,
    },
}

/// The most names, and the most toolsets of each, that an error shows.
const MAX_SHOWN: usize = 8;

impl fmt::Display for ToolsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateNames { names } => {
                let one = |(name, toolsets): (&String, &Vec<String>)| {
                    let first = &toolsets[..toolsets.len().min(MAX_SHOWN)];
                    let more = if first.len() < toolsets.len() { " and others" } else { "" };
                    format!("tool `{name}` is listed by `{}`{more}", first.join("` and by `"))
                };
                let mut all: Vec<_> = names.iter().take(MAX_SHOWN).map(one).collect();
                if all.len() < names.len() {
                    all.push(format!("and {} more", names.len() - all.len()));
                }
                write!(f, "{}; prefix, rename or filter one of them", all.join("; "))
            }
            Self::ClashingNames { sent, tools: [one, other] } => write!(
                f,
                "tools `{one}` and `{other}` are both called `{sent}` for a model provider; prefix, rename or filter one of them"
            ),
            Self::RenamedTwice { tool } => {
                write!(f, "tool `{tool}` is renamed twice; give it one new name")
            }
            Self::Collision { name } => {
                write!(f, "two tools would be called `{name}`; give one of them another name")
            }
            Self::UnknownTool { tool, available } => write!(
                f,
                "there is no tool `{tool}` to rename, {}",
                suggestion(tool, available.iter().map(String::as_str), "there is")
            ),
            Self::UnknownApproval { tools, available } => unknown_approval(f, tools, available),
            Self::UnlistedTool { tool } => write!(
                f,
                "the function of the prepared toolset listed `{tool}`, expected only tools that the toolset lists, each once; it may not add or rename tools"
            ),
            Self::Registration(error) => error.fmt(f),
            Self::PublishedTwice { toolset } => {
                write!(f, "toolset `{toolset}` is already published; publish it once")
            }
            Self::DuplicatePrefix { prefix, published } => {
                write!(f, "prefix `{prefix}` is that of toolset `{published}`; choose another")
            }
            Self::BadPrefix { prefix } => {
                write!(f, "`{prefix}` is not a prefix; it must not be empty or have a dot")
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
                "toolset `{toolset}` could not be reached and was not registered: {cause}"
            ),
            Self::Session { agent, cause } => {
                write!(f, "no session could be opened for agent `{agent}`: {cause}")
            }
            Self::Factory { toolset, returned } => {
                write!(f, "the factory of toolset `{toolset}` failed: {returned}")
            }
        }
    }
}

/// Writes the message for unknown names in an approval list.
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
    write!(f, "an approval list has `{tools}`, and there is no such tool; {advice}")
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
