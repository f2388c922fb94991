//! What toolsets there are to be bound in sessions, and which of them an agent's sessions may use. Never opens a
//! session by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{BoxError, Scope};

use crate::toolset::{IntoSource, Source, ToolEntry, Toolset};

/// A split of published names; a prefix has none of it.
pub(super) const SEPARATOR: char = '.';

/// Toolset definitions by id, and the allowlists of agents. Sessions read it when they are opened.
#[derive(Default)]
pub struct Catalog(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    definitions: BTreeMap<String, Definition>,
    allowed: BTreeMap<String, BTreeSet<String>>,
}

/// A toolset as sessions bind it: an id, the prefix its tools are published under, and a factory or a shared instance,
/// local or remote.
#[derive(Clone)]
pub struct Definition {
    id: String,
    prefix: String,
    source: Source,
    tools: Option<Arc<BTreeSet<String>>>,
}

/// Why a definition or an allowlist is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum CatalogError {
    /// There is a definition of this id.
    DuplicateId {
        /// The id.
        id: String,
    },
    /// There is a definition of this prefix.
    DuplicatePrefix {
        /// The prefix.
        prefix: String,
        /// The id of the definition that has it.
        registered: String,
    },
    /// A prefix that is empty, or has a dot in it.
    BadPrefix {
        /// The prefix.
        prefix: String,
    },
    /// An allowlist names what is not defined.
    UnknownId {
        /// The id.
        id: String,
        /// The ids there are.
        available: Vec<String>,
    },
    /// A toolset that was to be reached first could not be.
    Unreachable {
        /// The id.
        id: String,
        /// Why.
        cause: BoxError,
    },
}

impl Definition {
    /// A toolset with its id and prefix: an instance is shared by all sessions, a factory makes one for each.
    pub fn new<K>(
        id: impl Into<String>,
        prefix: impl Into<String>,
        toolset: impl IntoSource<K>,
    ) -> Self {
        let source = crate::toolset::per_run(toolset.into_source());
        Self { id: id.into(), prefix: prefix.into(), source, tools: None }
    }

    /// Publishes these tools alone.
    #[must_use]
    pub fn with_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools = Some(Arc::new(names.into_iter().map(Into::into).collect()));
        self
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The prefix.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn publishes(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }
}

impl Catalog {
    /// No definition, nothing allowed.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Takes a definition in. Nobody may use it until an allowlist names it.
    ///
    /// # Errors
    ///
    /// A taken id or prefix, an empty prefix, a prefix with a dot.
    pub fn register(&self, definition: Definition) -> Result<(), CatalogError> {
        let mut entries = self.lock();
        entries.check(&definition)?;
        entries.definitions.insert(definition.id.clone(), definition);
        Ok(())
    }

    /// Reaches a remote, lists its tools, registers it as a shared toolset, and lets an agent use it, in this order.
    /// Gives what it lists.
    ///
    /// # Errors
    ///
    /// Those of [`Catalog::register`], and whatever keeps the remote from being reached or listed; nothing is
    /// registered then.
    pub async fn connect<T, E>(
        &self,
        id: &str,
        prefix: &str,
        reach: impl Future<Output = Result<T, E>>,
        allow: Option<&str>,
    ) -> Result<Vec<ToolEntry>, CatalogError>
    where
        T: Toolset + 'static,
        E: Into<BoxError>,
    {
        let unreachable = |cause| CatalogError::Unreachable { id: id.to_owned(), cause };
        let toolset = reach.await.map_err(|error| unreachable(error.into()))?;
        let tools = toolset.tools(&Scope::default()).await.map_err(unreachable)?;
        self.register(Definition::new(id, prefix, toolset))?;
        if let Some(agent) = allow {
            self.lock().allowed.entry(agent.to_owned()).or_default().insert(id.to_owned());
        }
        Ok(tools)
    }

    /// Sets which toolsets sessions of an agent may use, by id. Sessions that are open keep what they have.
    ///
    /// # Errors
    ///
    /// The first id that is not defined; the allowlist stays as it was.
    pub fn update_allowed_toolsets<N: Into<String>>(
        &self,
        agent: &str,
        ids: impl IntoIterator<Item = N>,
    ) -> Result<(), CatalogError> {
        let mut entries = self.lock();
        let ids: BTreeSet<String> = ids.into_iter().map(Into::into).collect();
        if let Some(id) = ids.iter().find(|id| !entries.definitions.contains_key(*id)) {
            let available = entries.definitions.keys().cloned().collect();
            return Err(CatalogError::UnknownId { id: id.clone(), available });
        }
        entries.allowed.insert(agent.to_owned(), ids);
        Ok(())
    }

    /// What a new session of an agent may use.
    pub(super) fn snapshot(&self, agent: &str) -> Vec<Definition> {
        let entries = self.lock();
        let ids = entries.allowed.get(agent).into_iter().flatten();
        ids.filter_map(|id| entries.definitions.get(id)).cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn check(&self, definition: &Definition) -> Result<(), CatalogError> {
        let Definition { id, prefix, .. } = definition;
        if prefix.is_empty() || prefix.contains(SEPARATOR) {
            return Err(CatalogError::BadPrefix { prefix: prefix.clone() });
        }
        if self.definitions.contains_key(id) {
            return Err(CatalogError::DuplicateId { id: id.clone() });
        }
        match self.definitions.values().find(|other| other.prefix == *prefix) {
            None => Ok(()),
            Some(other) => Err(CatalogError::DuplicatePrefix {
                prefix: prefix.clone(),
                registered: other.id.clone(),
            }),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId { id } => {
                write!(f, "toolset id `{id}` is registered already; choose another")
            }
            Self::DuplicatePrefix { prefix, registered } => {
                write!(f, "prefix `{prefix}` is that of toolset `{registered}`; choose another")
            }
            Self::BadPrefix { prefix } => {
                write!(f, "`{prefix}` is no prefix; it must have a letter at least and no dot")
            }
            Self::UnknownId { id, available } if available.is_empty() => {
                write!(f, "there is no toolset `{id}`, nor any other; register it first")
            }
            Self::UnknownId { id, available } => {
                write!(f, "there is no toolset `{id}`, there is `{}`", available.join("`, `"))
            }
            Self::Unreachable { id, cause } => {
                write!(f, "toolset `{id}` could not be reached, so it is not registered: {cause}")
            }
        }
    }
}

impl Error for CatalogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}
