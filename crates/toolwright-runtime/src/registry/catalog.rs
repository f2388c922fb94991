//! A view of a registry for agents that may not use everything: which toolsets are published under which prefixes, and
//! which of them an agent may use. Never opens a session by itself.

use crate::debug::debug;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::{BoxError, RegistrationError, Scope};

use super::Registry;
use crate::tools::{
    Borrowed, Combined, Filtered, Prefixed, SEPARATOR, ToolEntry, Toolset, ToolsetError,
};

/// The toolsets of a registry that are published under prefixes, and the allowlists of agents. Clones are the same
/// catalog.
///
/// A runtime with a catalog lets an agent use what its allowlist names and nothing else: in sessions and in runs, as
/// `<prefix>.<tool>`. Tools and toolsets that an agent lists itself keep their names, and need to be allowed as well.
#[derive(Clone, Default)]
pub struct Catalog {
    registry: Registry,
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    /// By the name of the toolset.
    published: BTreeMap<String, Published>,
    allowed: BTreeMap<String, BTreeSet<String>>,
}

/// A toolset as it is published.
#[derive(Clone)]
pub(crate) struct Published {
    toolset: String,
    prefix: String,
    /// The tools that are published; otherwise all are.
    only: Option<Arc<BTreeSet<String>>>,
}

/// Why a toolset is not published, or an allowlist refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum CatalogError {
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
    Unknown {
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
}

debug!(Catalog, catalog => { allowed: catalog.lock().allowed });

impl Registry {
    /// A view of this registry in which nothing is published and nothing allowed yet.
    pub fn catalog(&self) -> Catalog {
        Catalog { registry: self.clone(), entries: Arc::default() }
    }
}

impl Catalog {
    /// Publishes the tools of a registered toolset as `<prefix>.<tool>`. An instance is shared by all sessions, a
    /// factory makes one for each.
    ///
    /// # Errors
    ///
    /// A toolset that is not registered or published already, a prefix that is taken, empty or has a dot.
    pub fn publish(&self, toolset: &str, prefix: &str) -> Result<(), CatalogError> {
        self.insert(Published {
            toolset: toolset.to_owned(),
            prefix: prefix.to_owned(),
            only: None,
        })
    }

    /// Publishes some tools of a registered toolset.
    ///
    /// # Errors
    ///
    /// Those of [`Catalog::publish`].
    pub fn publish_only<N: Into<String>>(
        &self,
        toolset: &str,
        prefix: &str,
        tools: impl IntoIterator<Item = N>,
    ) -> Result<(), CatalogError> {
        let only = Some(Arc::new(tools.into_iter().map(Into::into).collect()));
        self.insert(Published { toolset: toolset.to_owned(), prefix: prefix.to_owned(), only })
    }

    fn insert(&self, published: Published) -> Result<(), CatalogError> {
        if self.registry.toolset(&published.toolset).is_empty() {
            let available = self.registry.toolset_names();
            return Err(CatalogError::Unknown { toolset: published.toolset, available });
        }
        let mut entries = self.lock();
        entries.check(&published)?;
        entries.published.insert(published.toolset.clone(), published);
        Ok(())
    }

    /// Reaches a remote, lists its tools, registers it as a shared toolset and publishes it, in this order. Gives what
    /// it lists.
    ///
    /// # Errors
    ///
    /// Those of [`Catalog::publish`], and whatever keeps the remote from being reached or listed; nothing is registered
    /// then.
    pub async fn connect<T, E>(
        &self,
        toolset: &str,
        prefix: &str,
        reach: impl Future<Output = Result<T, E>>,
    ) -> Result<Vec<ToolEntry>, CatalogError>
    where
        T: Toolset + 'static,
        E: Into<BoxError>,
    {
        let unreachable = |cause| CatalogError::Unreachable { toolset: toolset.to_owned(), cause };
        let reached = reach.await.map_err(|error| unreachable(error.into()))?;
        let tools = reached.tools(&Scope::default()).await.map_err(unreachable)?;
        let published =
            Published { toolset: toolset.to_owned(), prefix: prefix.to_owned(), only: None };
        let mut entries = self.lock();
        entries.check(&published)?;
        self.registry.register_toolset(toolset, reached).map_err(CatalogError::Registration)?;
        entries.published.insert(published.toolset.clone(), published);
        Ok(tools)
    }

    /// Sets which toolsets an agent may use. Sessions and runs that are under way keep what they have.
    ///
    /// # Errors
    ///
    /// The first toolset that is not published; the allowlist stays as it was.
    pub fn update_allowed_toolsets<N: Into<String>>(
        &self,
        agent: &str,
        toolsets: impl IntoIterator<Item = N>,
    ) -> Result<(), CatalogError> {
        let mut entries = self.lock();
        let toolsets: BTreeSet<String> = toolsets.into_iter().map(Into::into).collect();
        if let Some(toolset) = toolsets.iter().find(|name| !entries.published.contains_key(*name)) {
            let available = entries.published.keys().cloned().collect();
            return Err(CatalogError::Unknown { toolset: toolset.clone(), available });
        }
        entries.allowed.insert(agent.to_owned(), toolsets);
        Ok(())
    }

    /// Lets an agent use one toolset more.
    ///
    /// # Errors
    ///
    /// A toolset that is not published.
    pub fn allow(&self, agent: &str, toolset: &str) -> Result<(), CatalogError> {
        let mut toolsets = self.lock().allowed.get(agent).cloned().unwrap_or_default();
        toolsets.insert(toolset.to_owned());
        self.update_allowed_toolsets(agent, toolsets)
    }

    /// What an agent may use now.
    pub(crate) fn allowed(&self, agent: &str) -> Vec<Published> {
        let entries = self.lock();
        let names = entries.allowed.get(agent).into_iter().flatten();
        names.filter_map(|name| entries.published.get(name)).cloned().collect()
    }

    /// Instances of a published toolset, under its prefix, to be added to others. Shared ones keep the life they have.
    pub(crate) async fn bind(
        &self,
        published: &Published,
        scope: &Scope,
        all: &mut Combined,
    ) -> Result<(), ToolsetError> {
        for provider in self.registry.toolset(&published.toolset) {
            let source = provider.source.clone().built_once();
            let Some(mut toolset) = source.resolve(&provider.name, scope).await? else { continue };
            if source.is_shared() {
                toolset = Arc::new(Borrowed(toolset));
            }
            let (prefix, of_published) = (published.prefix.clone(), published.clone());
            let filtered = Filtered::new(toolset, move |tool: &str| of_published.publishes(tool));
            all.push(provider.name.clone(), Arc::new(Prefixed::new(prefix, filtered)));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Published {
    pub(crate) fn toolset(&self) -> &str {
        &self.toolset
    }

    pub(crate) fn publishes(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(tool))
    }
}

impl Entries {
    fn check(&self, new: &Published) -> Result<(), CatalogError> {
        let Published { toolset, prefix, .. } = new;
        if prefix.is_empty() || prefix.contains(SEPARATOR) {
            return Err(CatalogError::BadPrefix { prefix: prefix.clone() });
        }
        if self.published.contains_key(toolset) {
            return Err(CatalogError::PublishedTwice { toolset: toolset.clone() });
        }
        match self.published.values().find(|other| other.prefix == *prefix) {
            None => Ok(()),
            Some(other) => Err(CatalogError::DuplicatePrefix {
                prefix: prefix.clone(),
                published: other.toolset.clone(),
            }),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
            Self::Unknown { toolset, available } if available.is_empty() => {
                write!(f, "there is no toolset `{toolset}`, nor any other; register it first")
            }
            Self::Unknown { toolset, available } => {
                let available = available.join("`, `");
                write!(f, "there is no toolset `{toolset}`, there is `{available}`")
            }
            Self::Unreachable { toolset, cause } => write!(
                f,
                "toolset `{toolset}` could not be reached, so it is not registered: {cause}"
            ),
        }
    }
}

impl Error for CatalogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Registration(error) => Some(error),
            Self::Unreachable { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}
