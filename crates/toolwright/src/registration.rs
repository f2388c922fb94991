//! How tools and what runs them come together. The runtime's registry implements [`Registrar`]; a
//! generated `register` function calls it, and so needs no runtime.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::executor::Executor;
use crate::spec::ToolSpec;

/// Takes tools in.
pub trait Registrar {
    /// Registers every tool of a set with what runs it.
    ///
    /// # Errors
    ///
    /// A name that is taken already; then nothing of the set is registered.
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError>;
}

/// Why something could not be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistrationError {
    /// A tool of this name is registered already.
    DuplicateTool {
        /// The name.
        tool: String,
        /// The toolset that has it.
        registered: String,
        /// The toolset that wants it.
        offered: String,
    },
    /// An agent of this name is registered already.
    DuplicateAgent {
        /// The name.
        agent: String,
    },
    /// Nothing runs this tool.
    MissingExecutor {
        /// The tool.
        tool: String,
        /// Its toolset.
        toolset: String,
        /// Who needs it.
        needed_by: String,
    },
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateTool { tool, registered, offered } => write!(
                f,
                "tool `{tool}` of toolset `{offered}` is registered already, by toolset `{registered}`; register each toolset once"
            ),
            Self::DuplicateAgent { agent } => {
                write!(f, "agent `{agent}` is registered already; register each agent once")
            }
            Self::MissingExecutor { tool, toolset, needed_by } => write!(
                f,
                "{needed_by} needs tool `{tool}`, but nothing runs it; register toolset `{toolset}` first"
            ),
        }
    }
}

impl Error for RegistrationError {}
