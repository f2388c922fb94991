//! A view of a registry for agents that may not use everything: which toolsets are published under which prefixes, and
//! which of them an agent may use. Never opens a session by itself.

use crate::debug::debug;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::{BoxError, Scope};

use super::{Provider, Registry};
use crate::tools::{
    Borrowed, Combined, Filtered, Prefixed, SEPARATOR, ToolEntry, Toolset, ToolsetError,
};

/// The toolsets of a registry that are published under prefixes, and the allowlists of agents. Clones are the same
/// catalog.
///
/// A runtime with a catalog lets an agent use what its allowlist names and nothing else: in sessions and in runs, as
/// `<prefix>.<tool>`. Tools and toolsets that an agent lists itself need to be allowed as well, and its runs have them
/// under their own names only: a hook or an approval list that names a tool cannot be passed by under another.
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
    ) -> Result<Vec<ToolEntry>, ToolsetError>
    where
        T: Toolset + 'static,
        E: Into<BoxError>,
    {
        let unreachable = |cause| ToolsetError::Unreachable { toolset: toolset.to_owned(), cause };
        let reached = reach.await.map_err(|error| unreachable(error.into()))?;
        let tools = reached.tools(&Scope::default()).await.map_err(unreachable)?;
        let published =
            Published { toolset: toolset.to_owned(), prefix: prefix.to_owned(), only: None };
        let mut entries = self.lock();
        entries.check(&published)?;
        self.registry.register_toolset(toolset, reached).map_err(ToolsetError::Registration)?;
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
    ) -> Result<(), ToolsetError> {
        let toolsets: BTreeSet<String> = toolsets.into_iter().map(Into::into).collect();
        let mut entries = self.lock();
        toolsets.iter().try_for_each(|toolset| entries.check_published(toolset))?;
        entries.allowed.insert(agent.to_owned(), toolsets);
        Ok(())
    }

    /// Lets an agent use one toolset more.
    ///
    /// # Errors
    ///
    /// A toolset that is not published.
    pub fn allow(&self, agent: &str, toolset: &str) -> Result<(), ToolsetError> {
        let mut entries = self.lock();
        entries.check_published(toolset)?;
        entries.allowed.entry(agent.to_owned()).or_default().insert(toolset.to_owned());
        Ok(())
    }

    /// What an agent may use now.
    pub(crate) fn allowed(&self, agent: &str) -> Vec<Published> {
        let entries = self.lock();
        let names = entries.allowed.get(agent).into_iter().flatten();
        names.filter_map(|name| entries.published.get(name)).cloned().collect()
    }

    /// Whether a tool that is known before any run is published under a name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let entries = self.lock();
        let mut bare = entries.published.values().filter_map(|published| published.bare(name));
        bare.any(|bare| self.registry.has_tool(bare))
    }

    /// Instances of a published toolset, under its prefix, to be added to others; of its providers those that a rule
    /// picks. Shared ones keep the life they have.
    pub(crate) async fn bind(
        &self,
        published: &Published,
        scope: &Scope,
        all: &mut Combined,
        picks: impl Fn(&Arc<Provider>) -> bool,
    ) -> Result<(), ToolsetError> {
        for provider in self.registry.toolset(&published.toolset).into_iter().filter(picks) {
            let source = provider.source.clone().built_once();
            let Some(mut toolset) = source.resolve(&provider.name, scope).await? else { continue };
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

    /// The tools of an instance that are published, under their own names.
    pub(crate) fn filter(&self, toolset: Arc<dyn Toolset>) -> Arc<dyn Toolset> {
        match self.only.clone() {
            None => toolset,
            Some(only) => Arc::new(Filtered::new(toolset, move |tool: &str| only.contains(tool))),
        }
    }

    /// The name inside the toolset of one that it is published under.
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
