//! How tools and what runs them come together. The runtime's registry implements [`Registrar`]; a
//! generated `register` function calls it, and so needs no runtime.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::executor::Executor;
use crate::issue::suggestion;
use crate::spec::ToolSpec;

/// Makes what runs the tools of one run.
pub type ExecutorFactory = Arc<dyn Fn() -> Arc<dyn Executor> + Send + Sync>;

/// What makes an instance for each run: `registrar.register_factory(specs::ALL, per_run(|| TodosExecutor::new(store())))`.
pub fn per_run<E: Executor + 'static>(
    make: impl Fn() -> E + Send + Sync + 'static,
) -> ExecutorFactory {
    Arc::new(move || -> Arc<dyn Executor> { Arc::new(make()) })
}

/// Takes tools in.
pub trait Registrar {
    /// Registers every tool of a set with what runs it: one instance, which all runs share.
    ///
    /// # Errors
    ///
    /// Every name that is taken already; then nothing of the set is registered.
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError>;

    /// Registers every tool of a set with what makes an instance for each run, when it runs.
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
    /// The types of the function that runs this tool make no tool.
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
    /// Nothing runs this tool.
    MissingExecutor {
        /// The tool.
        tool: String,
        /// Its toolset.
        toolset: String,
        /// Who needs it.
        needed_by: String,
    },
    /// A name stands in the list of another kind than it is of.
    WrongKind {
        /// The name.
        entry: String,
        /// The kind of the list: `tool` or `toolset`.
        expected: &'static str,
        /// The kind that the name is of.
        found: &'static str,
        /// Whose list it is.
        needed_by: String,
    },
    /// A name that nothing of its kind has.
    Unknown {
        /// The name.
        entry: String,
        /// The kind of the list: `tool` or `toolset`.
        expected: &'static str,
        /// The names of this kind that are known.
        available: Vec<String>,
        /// Whose list it is.
        needed_by: String,
    },
    /// Several sources of tools that an agent uses have a tool of one name.
    AmbiguousTool {
        /// The name.
        tool: String,
        /// The toolsets that list it; a tool that belongs to none is its own source.
        sources: Vec<String>,
        /// Whose tools they are.
        needed_by: String,
    },
    /// Two tools that an agent uses have names that would be one to a model provider.
    ClashingTools {
        /// The name as providers take it.
        sent: String,
        /// The names of the tools.
        tools: [String; 2],
        /// Whose tools they are.
        needed_by: String,
    },
    /// An agent's approval list names a tool that the agent does not have.
    UnlistedApproval {
        /// The name.
        tool: String,
        /// The tools that the agent has.
        available: Vec<String>,
        /// Whose list it is.
        needed_by: String,
    },
    /// Something that is registered cannot be used now.
    Unavailable {
        /// The name.
        entry: String,
        /// Its kind: `tool` or `toolset`.
        kind: &'static str,
        /// Why.
        reason: String,
        /// Who needs it.
        needed_by: String,
    },
    /// More than one of these.
    Several(Vec<RegistrationError>),
}

impl RegistrationError {
    /// One error out of all that were found; none if none was.
    ///
    /// # Errors
    ///
    /// The one that was found, or all of them as [`Several`](Self::Several).
    pub fn all(mut found: Vec<Self>) -> Result<(), Self> {
        match found.len() {
            0 => Ok(()),
            1 => Err(found.swap_remove(0)),
            _ => Err(Self::Several(found)),
        }
    }

    /// The single errors, of which there may be one.
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
                write!(f, "{needed_by} wants calls of `{tool}` approved, but has no tools; list it")
            }
            Self::UnlistedApproval { tool, available, needed_by } => write!(
                f,
                "{needed_by} wants calls of `{tool}` approved, but has no such tool; {}",
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
