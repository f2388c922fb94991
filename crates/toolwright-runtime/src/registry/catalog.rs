//! The catalog: the toolsets of a registry that are published under prefixes, and the toolsets that each agent may use.

use crate::debug::debug;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::{BoxError, Scope};

use super::{Provider, Registry};
use crate::tools::{
    Borrowed, Combined, Filtered, Prefixed, SEPARATOR, ToolEntry, Toolset, ToolsetError,
};

/// Publishes toolsets of a registry under prefixes, and holds the allowlist of each agent. Clones share their content.
///
/// In a runtime with a catalog an agent may use only the toolsets in its allowlist, in sessions and in runs. Its tools are
/// called `<prefix>.<tool>`. Tools and toolsets that an agent lists itself must be in the allowlist, too. In runs of the agent
/// they have their own names only, so that hooks and approval lists with these names cannot be bypassed by another name.
#[derive(Clone, Default)]
pub struct Catalog {
    registry: Registry,
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    /// By toolset name.
    published: BTreeMap<String, Published>,
    /// The names of toolsets, by agent name.
    allowed: BTreeMap<String, BTreeSet<String>>,
}

/// A published toolset.
#[derive(Clone)]
pub(crate) struct Published {
    toolset: String,
    prefix: String,
    /// The published tools; `None` if all are.
    only: Option<Arc<BTreeSet<String>>>,
}

debug!(Catalog, catalog => { allowed: catalog.lock().allowed });

impl Registry {
    /// Creates an empty catalog for this registry.
    pub fn catalog(&self) -> Catalog {
        Catalog { registry: self.clone(), entries: Arc::default() }
    }
}

impl Catalog {
    /// Publishes the tools of a registered toolset as `<prefix>.<tool>`. All sessions share an instance that was registered; a
    /// factory creates an instance for each session.
    ///
    /// # Errors
    ///
    /// The toolset is not registered or is already published, or the prefix is used, empty or has a dot.
    pub fn publish(&self, toolset: &str, prefix: &str) -> Result<(), ToolsetError> {
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
    ) -> Result<(), ToolsetError> {
        let only = Some(Arc::new(tools.into_iter().map(Into::into).collect()));
        self.insert(Published { toolset: toolset.to_owned(), prefix: prefix.to_owned(), only })
    }

    fn insert(&self, published: Published) -> Result<(), ToolsetError> {
        if self.registry.toolset(&published.toolset).is_empty() {
            let available = self.registry.toolset_names();
            return Err(ToolsetError::UnknownToolset { toolset: published.toolset, available });
        }
        let mut entries = self.lock();
        entries.check(&published)?;
        entries.published.insert(published.toolset.clone(), published);
        Ok(())
    }

    /// Connects to a remote toolset, lists its tools, registers it as a shared toolset and publishes it. Returns its tools.
    ///
    /// # Errors
    ///
    /// Those of [`Catalog::publish`], or the connection or the listing failed. Then nothing is registered.
    pub async fn connect<T, E>(
        &self,
        toolset: &str,
        prefix: &str,
        connecting: impl Future<Output = Result<T, E>>,
    ) -> Result<Vec<ToolEntry>, ToolsetError>
    where
        T: Toolset + 'static,
        E: Into<BoxError>,
    {
        let unreachable = |cause| ToolsetError::Unreachable { toolset: toolset.to_owned(), cause };
        let remote = connecting.await.map_err(|error| unreachable(error.into()))?;
        let tools = remote.tools(&Scope::default()).await.map_err(unreachable)?;
        let published =
            Published { toolset: toolset.to_owned(), prefix: prefix.to_owned(), only: None };
        let mut entries = self.lock();
        entries.check(&published)?;
        self.registry.register_toolset(toolset, remote).map_err(ToolsetError::Registration)?;
        entries.published.insert(published.toolset.clone(), published);
        Ok(tools)
    }

    /// Replaces the allowlist of an agent. Active sessions and runs are not affected.
    ///
    /// # Errors
    ///
    /// A toolset is not published. Then the allowlist is not changed.
    pub fn update_allowed_toolsets<N: Into<String>>(
        &self,
        agent: &str,
        toolsets: impl IntoIterator<Item = N>,
    ) -> Result<(), ToolsetError> {
        let toolsets: BTreeSet<String> = toolsets.into_iter().map(Into::into).collect();
        let mut entries = self.lock();
        toolsets.iter().try_for_each(|toolset| entries.check_published(toolset))?;
        entries.allowed.insert(agent.to_owned(), toolsets);
        Ok(())
    }

    /// Adds a toolset to the allowlist of an agent.
    ///
    /// # Errors
    ///
    /// The toolset is not published.
    pub fn allow(&self, agent: &str, toolset: &str) -> Result<(), ToolsetError> {
        let mut entries = self.lock();
        entries.check_published(toolset)?;
        entries.allowed.entry(agent.to_owned()).or_default().insert(toolset.to_owned());
        Ok(())
    }

    /// Returns the toolsets that an agent may use.
    pub(crate) fn allowed(&self, agent: &str) -> Vec<Published> {
        let entries = self.lock();
        let names = entries.allowed.get(agent).into_iter().flatten();
        names.filter_map(|name| entries.published.get(name)).cloned().collect()
    }

    /// Returns whether a tool that is known before any run is published under this name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let entries = self.lock();
        let mut bare = entries.published.values().filter_map(|published| published.bare(name));
        bare.any(|bare| self.registry.has_tool(bare))
    }

    /// Adds instances of a published toolset to `all`, with its prefix. `picks` selects among its providers. Shared instances are
    /// added such that they are not entered and exited.
    pub(crate) async fn bind(
        &self,
        published: &Published,
        scope: &Scope,
        all: &mut Combined,
        picks: impl Fn(&Arc<Provider>) -> bool,
    ) -> Result<(), ToolsetError> {
        for provider in self.registry.toolset(&published.toolset).into_iter().filter(picks) {
            let source = provider.source.clone().per_run();
            let Some(mut toolset) = source.resolve(&provider.name, scope).await? else {
                all.push_absent(provider.name.clone());
                continue;
            };
            if source.is_shared() {
                toolset = Arc::new(Borrowed(toolset));
            }
            let filtered = published.filter(toolset);
            let prefixed = Prefixed::new(published.prefix.clone(), filtered);
            all.push(provider.name.clone(), Arc::new(prefixed));
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

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Removes the tools that are not published from an instance. The names stay without prefix.
    pub(crate) fn filter(&self, toolset: Arc<dyn Toolset>) -> Arc<dyn Toolset> {
        match self.only.clone() {
            None => toolset,
            Some(only) => Arc::new(Filtered::new(toolset, move |tool: &str| only.contains(tool))),
        }
    }

    /// Returns a published name without the prefix, if it is one of this toolset.
    pub(crate) fn bare<'n>(&self, name: &'n str) -> Option<&'n str> {
        let bare = name.strip_prefix(&self.prefix)?.strip_prefix(SEPARATOR)?;
        self.only.as_ref().is_none_or(|only| only.contains(bare)).then_some(bare)
    }
}

impl Entries {
    fn check_published(&self, toolset: &str) -> Result<(), ToolsetError> {
        if self.published.contains_key(toolset) {
            return Ok(());
        }
        let available = self.published.keys().cloned().collect();
        Err(ToolsetError::UnknownToolset { toolset: toolset.to_owned(), available })
    }

    fn check(&self, new: &Published) -> Result<(), ToolsetError> {
        let Published { toolset, prefix, .. } = new;
        if prefix.is_empty() || prefix.contains(SEPARATOR) {
            return Err(ToolsetError::BadPrefix { prefix: prefix.clone() });
        }
        if self.published.contains_key(toolset) {
            return Err(ToolsetError::PublishedTwice { toolset: toolset.clone() });
        }
        match self.published.values().find(|other| other.prefix == *prefix) {
            None => Ok(()),
            Some(other) => Err(ToolsetError::DuplicatePrefix {
                prefix: prefix.clone(),
                published: other.toolset.clone(),
            }),
        }
    }
}
