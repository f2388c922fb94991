//! Registration of tools with their executors. The runtime's registry implements [`Registrar`]; generated `register`
//! functions call this trait, so they do not depend on the runtime.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::executor::Executor;
use crate::issue::suggestion;
use crate::spec::ToolSpec;

/// Creates the executor for one run.
pub type ExecutorFactory = Arc<dyn Fn() -> Arc<dyn Executor> + Send + Sync>;

/// Returns a factory that calls `make` once for each run:
/// `registrar.register_factory(specs::ALL, per_run(|| TodosExecutor::new(store())))`.
pub fn per_run<E: Executor + 'static>(
    make: impl Fn() -> E + Send + Sync + 'static,
) -> ExecutorFactory {
    Arc::new(move || -> Arc<dyn Executor> { Arc::new(make()) })
}

/// Registers tools.
pub trait Registrar {
    /// Registers all tools of a set with one executor, which all runs share.
    ///
    /// # Errors
    ///
    /// Every name that is taken already; then nothing of the set is registered.
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError>;

    /// Registers all tools of a set with a factory, which creates an executor for each run.
    ///
    /// # Errors
    ///
    /// Every name that is taken already; then nothing of the set is registered.
    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError>;
}

/// The error of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistrationError {
    /// A tool of this name is registered already.
    DuplicateTool {
        /// The name.
        tool: String,
        /// The toolset that registered it.
        registered: String,
        /// The toolset that was to register it again.
        offered: String,
    },
    /// The argument or result type of this tool's function cannot be the type of a tool.
    UnusableTool {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// A toolset of this name is registered already.
    DuplicateToolset {
        /// The name.
        toolset: String,
    },
    /// An agent of this name is registered already.
    DuplicateAgent {
        /// The name.
        agent: String,
    },
    /// This tool has no executor.
    MissingExecutor {
        /// The tool.
        tool: String,
        /// Its toolset.
        toolset: String,
        /// The agent that needs it.
        needed_by: String,
    },
    /// An agent lists a name under the wrong kind.
    WrongKind {
        /// The name.
        entry: String,
        /// The kind of the list: `tool` or `toolset`.
        expected: &'static str,
        /// The kind of the name.
        found: &'static str,
        /// The agent that lists it.
        needed_by: String,
    },
    /// A name that is not registered.
    Unknown {
        /// The name.
        entry: String,
        /// The kind of the list: `tool` or `toolset`.
        expected: &'static str,
        /// The names of this kind that are known.
        available: Vec<String>,
        /// The agent that lists it.
        needed_by: String,
    },
    /// An agent uses several tools of the same name.
    AmbiguousTool {
        /// The name.
        tool: String,
        /// The toolsets that have such a tool; for a tool without a toolset, the tool itself.
        sources: Vec<String>,
        /// The agent that uses them.
        needed_by: String,
    },
    /// Two tools that an agent uses would have the same name at a model provider.
    ClashingTools {
        /// The name that is sent to providers.
        sent: String,
        /// The names of the tools.
        tools: [String; 2],
        /// The agent that uses them.
        needed_by: String,
    },
    /// An agent's approval list names a tool that the agent does not have.
    UnlistedApproval {
        /// The name.
        tool: String,
        /// The tools of the agent.
        available: Vec<String>,
        /// The agent that lists it.
        needed_by: String,
    },
    /// A registered tool or toolset cannot be used now.
    Unavailable {
        /// The name.
        entry: String,
        /// Its kind: `tool` or `toolset`.
        kind: &'static str,
        /// The reason.
        reason: String,
        /// The agent that needs it.
        needed_by: String,
    },
    /// Several errors.
    Several(Vec<RegistrationError>),
}

impl RegistrationError {
    /// Combines all errors that were found into one result.
    ///
    /// # Errors
    ///
    /// The error that was found, or all of them as [`Several`](Self::Several).
    pub fn all(mut found: Vec<Self>) -> Result<(), Self> {
        match found.len() {
            0 => Ok(()),
            1 => Err(found.swap_remove(0)),
            _ => Err(Self::Several(found)),
        }
    }

    /// The errors of [`Several`](Self::Several), or this error alone.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(errors) => errors,
            one => std::slice::from_ref(one),
        }
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateTool { tool, registered, offered }
                if registered.is_empty() && offered.is_empty() =>
            {
                write!(f, "tool `{tool}` is registered already; give one of the two another name")
            }
            Self::UnusableTool { tool, reason } => {
                write!(f, "tool `{tool}` cannot be registered: {reason}")
            }
            Self::DuplicateTool { tool, registered, offered } => write!(
                f,
                "tool `{tool}` of toolset `{offered}` is registered already, by toolset `{registered}`; register each toolset once"
            ),
            Self::DuplicateToolset { toolset } => {
                write!(f, "toolset `{toolset}` is registered already; register each toolset once")
            }
            Self::DuplicateAgent { agent } => {
                write!(f, "agent `{agent}` is registered already; register each agent once")
            }
            Self::MissingExecutor { tool, toolset, needed_by } => write!(
                f,
                "{needed_by} needs tool `{tool}`, but nothing runs it; register toolset `{toolset}` first"
            ),
            Self::WrongKind { entry, expected, found, needed_by } => write!(
                f,
                "{needed_by} lists `{entry}` as a {expected}, but it is a {found}; list it under {found}s"
            ),
            Self::Unknown { entry, expected, available, needed_by } if available.is_empty() => {
                write!(f, "{needed_by} lists {expected} `{entry}`, but no {expected} is registered")
            }
            Self::Unknown { entry, expected, available, needed_by } => write!(
                f,
                "{needed_by} lists {expected} `{entry}`, which is unknown; {}",
                suggestion(entry, available.iter().map(String::as_str), "there is")
            ),
            Self::AmbiguousTool { tool, sources, needed_by } => write!(
                f,
                "{needed_by} has several tools called `{tool}`, from `{}`; filter, prefix or rename all but one",
                sources.join("` and `")
            ),
            Self::ClashingTools { sent, tools: [one, other], needed_by } => write!(
                f,
                "{needed_by} has tools `{one}` and `{other}`, both `{sent}` to a model provider; filter, prefix or rename one"
            ),
            Self::UnlistedApproval { tool, available, needed_by } if available.is_empty() => {
                write!(f, "{needed_by} requires approvals of `{tool}`, but has no tools; list it")
            }
            Self::UnlistedApproval { tool, available, needed_by } => write!(
                f,
                "{needed_by} requires approvals of `{tool}`, but has no such tool; {}",
                suggestion(tool, available.iter().map(String::as_str), "it has")
            ),
            Self::Unavailable { entry, kind, reason, needed_by } => {
                write!(f, "{needed_by} needs {kind} `{entry}`, which cannot be used now: {reason}")
            }
            Self::Several(errors) => {
                let lines: Vec<_> = errors.iter().map(Self::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl Error for RegistrationError {}
