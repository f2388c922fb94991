//! The registry of tools, toolsets and agents, and the catalog that limits which toolsets an agent may use.

mod catalog;
mod preflight;
mod settings;

use crate::debug::debug;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use toolwright::spec::Text;
use toolwright::{Executor, ExecutorFactory, Registrar, RegistrationError, Scope, ToolSpec};

use crate::agent::{Agent, Planner};
use crate::tools::{
    Combined, ExecutorToolset, FunctionTool, IntoSource, Source, ToolEntry, ToolFunction,
    ToolSpecRef,
};

pub use catalog::Catalog;
pub(crate) use catalog::Published;

/// The tools, toolsets and agents of a runtime. A registered item cannot be replaced, and only agents can be removed.
///
/// Clones share their content. Items may be registered while a runtime runs; runs that start later can use them.
#[derive(Clone, Default)]
pub struct Registry(Arc<RwLock<Entries>>);

#[derive(Default)]
struct Entries {
    /// By toolset name. A toolset may have several providers.
    toolsets: BTreeMap<String, Vec<Arc<Provider>>>,
    /// By tool name, including aliases.
    tools: BTreeMap<String, Registered>,
    /// All tools whose specs are known before any run, in the order of registration.
    listed: Vec<ToolEntry>,
    agents: BTreeMap<String, RegisteredAgent>,
}

/// A source of tools, with the name of its toolset.
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// True if its tools are known before any run. Such a toolset may have several providers.
    is_listed: bool,
}

/// A tool and its provider.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) entry: ToolEntry,
    pub(crate) provider: Arc<Provider>,
}

/// An agent and its planner.
#[derive(Clone)]
pub(crate) struct RegisteredAgent {
    pub(crate) agent: Arc<Agent>,
    pub(crate) planner: Arc<dyn Planner>,
}

/// The tools that an agent uses of one provider.
#[derive(Clone)]
pub(crate) struct ProviderUse {
    pub(crate) provider: Arc<Provider>,
    /// The names of the tools; `None` if all are used.
    pub(crate) only: Option<BTreeSet<String>>,
}

const TOOL: &str = "tool";
const TOOLSET: &str = "toolset";

debug!(Registry, registry => {
    toolsets: registry.toolset_names(),
    tools: registry.read().tools.keys(),
    agents: registry.read().agents.keys()
});

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a tool by its name only; the toolset of its spec is not registered.
    ///
    /// # Errors
    ///
    /// The name is already used.
    pub fn register_tool(&self, tool: FunctionTool) -> Result<(), RegistrationError> {
        check_types(&tool)?;
        let entry = tool.entry().clone();
        let name = entry.spec().toolset().to_owned();
        let source = tool.into_source();
        self.write().insert(vec![entry], Provider { name, source, is_listed: true }, false)
    }

    /// Registers an async function as a tool, with its name and its description for the model. The schemas come from the types
    /// of its argument and result: see [`ToolFunction`].
    ///
    /// ```
    /// use toolwright::described;
    /// use toolwright_runtime::Registry;
    ///
    /// described! {
    ///     struct Numbers {
    ///         a: i64,
    ///         b: i64,
    ///     }
    ///
    ///     struct Sum {
    ///         sum: i64,
    ///     }
    /// }
    ///
    /// let registry = Registry::new();
    /// registry.tool("add", "Add two numbers.", |Numbers { a, b }| async move { Sum { sum: a + b } })?;
    /// # Ok::<(), toolwright::RegistrationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The name is already used, or the schema of a type cannot be used.
    pub fn tool<K>(
        &self,
        name: impl Into<Text>,
        description: impl Into<Text>,
        function: impl ToolFunction<K>,
    ) -> Result<(), RegistrationError> {
        let mut spec = ToolSpec::new(name);
        spec.set_description(description);
        self.register_tool(FunctionTool::new(spec, function))
    }

    /// Registers tools by their names, and the toolsets of their specs with these tools.
    ///
    /// # Errors
    ///
    /// Every name that is already used, and every function with a type whose schema cannot be used. Then nothing is registered.
    pub fn register_tools(
        &self,
        tools: impl IntoIterator<Item = FunctionTool>,
    ) -> Result<(), RegistrationError> {
        let tools: Vec<_> = tools.into_iter().collect();
        let mut entries = self.write();
        let mut errors: Vec<_> = tools.iter().filter_map(|tool| check_types(tool).err()).collect();
        let listed: Vec<_> = tools.iter().map(|tool| tool.entry().clone()).collect();
        errors.extend(entries.duplicates(&listed));
        let mut toolsets: BTreeMap<String, (Vec<ToolEntry>, Combined)> = BTreeMap::new();
        for tool in tools {
            let name = tool.entry().spec().toolset().to_owned();
            if entries.toolsets.contains_key(&name) {
                errors.push(RegistrationError::DuplicateToolset { toolset: name.clone() });
            }
            let (listed, all) = toolsets.entry(name.clone()).or_default();
            listed.push(tool.entry().clone());
            all.push(name, Arc::new(tool));
        }
        RegistrationError::all(errors)?;
        for (name, (listed, all)) in toolsets {
            let provider = Provider { name, source: all.into_source(), is_listed: true };
            entries.insert(listed, provider, true)?;
        }
        Ok(())
    }

    /// Registers a toolset under a name: an instance, which runs share, or a sync or async factory. A factory is called once in
    /// each run; with [`Source::per_step`] once in each step. The tools are listed during the run.
    ///
    /// # Errors
    ///
    /// The name is already used.
    pub fn register_toolset<K>(
        &self,
        name: impl Into<String>,
        toolset: impl IntoSource<K>,
    ) -> Result<(), RegistrationError> {
        let (name, source) = (name.into(), toolset.into_source());
        let mut entries = self.write();
        if entries.toolsets.contains_key(&name) {
            return Err(RegistrationError::DuplicateToolset { toolset: name });
        }
        let provider = Provider { name: name.clone(), source, is_listed: false };
        entries.toolsets.insert(name, vec![Arc::new(provider)]);
        Ok(())
    }

    /// Registers an agent, and the tools that it implements. A tool can register agents during a run; see [`FunctionTool::delegating`].
    ///
    /// # Errors
    ///
    /// Every name that is already used, and every error of [`preflight`](Self::preflight). Then nothing is registered.
    pub fn register_agent(
        &self,
        agent: impl Into<Agent>,
        planner: Arc<dyn Planner>,
    ) -> Result<(), RegistrationError> {
        self.register_agents([(agent.into(), planner)])
    }

    /// Registers several agents, as [`register_agent`](Self::register_agent) does one. An agent may use tools that the agents
    /// before it implement.
    ///
    /// # Errors
    ///
    /// The errors of all agents. Then none is registered.
    pub fn register_agents(
        &self,
        agents: impl IntoIterator<Item = (Agent, Arc<dyn Planner>)>,
    ) -> Result<(), RegistrationError> {
        let agents: Vec<_> = agents.into_iter().collect();
        let mut entries = self.write();
        let (mut errors, mut registered) = (Vec::new(), Vec::new());
        for (agent, planner) in agents {
            let name = agent.name.clone();
            match entries.insert_agent(agent, planner) {
                Ok(()) => registered.push(name),
                Err(error) => errors.extend_from_slice(error.each()),
            }
        }
        if !errors.is_empty() {
            for name in &registered {
                entries.remove_agent(name);
            }
        }
        RegistrationError::all(errors)
    }

    /// Removes an agent and the tools that it implements, and returns the agent if there was one. Its active runs continue. Its
    /// suspended runs can be resumed once an agent with this name is registered again.
    pub fn remove_agent(&self, name: &str) -> Option<Arc<Agent>> {
        self.write().remove_agent(name)
    }

    /// Returns the spec of a tool by its name or an alias. Tools that are listed only during a run are not found.
    pub fn spec(&self, name: &str) -> Option<ToolSpecRef> {
        Some(self.read().tools.get(name)?.entry.spec_ref().clone())
    }

    /// Returns the specs of all tools that are known before any run, in the order of registration.
    pub fn specs(&self) -> Vec<ToolSpecRef> {
        self.read().listed.iter().map(|entry| entry.spec_ref().clone()).collect()
    }

    /// Returns the toolsets in the order of their names, each with its source. Tools that were registered one at a time each have
    /// a source, so that a name may occur more than once.
    pub fn toolsets(&self) -> Vec<(String, Source)> {
        let entries = self.read();
        let alone = entries.tools.values().map(|tool| &tool.provider);
        let mut providers: Vec<_> = entries.toolsets.values().flatten().chain(alone).collect();
        providers.sort_by_key(|provider| (&provider.name, Arc::as_ptr(provider)));
        providers.dedup_by(|one, other| Arc::ptr_eq(one, other));
        providers.iter().map(|provider| (provider.name.clone(), provider.source.clone())).collect()
    }

    /// Returns all agents, sorted by name.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.read().agents.values().map(|registered| Arc::clone(&registered.agent)).collect()
    }

    /// Checks that each of these tools is registered. `needed_by` names their user in errors.
    ///
    /// # Errors
    ///
    /// Every tool that is not registered.
    pub fn require<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
        needed_by: &str,
    ) -> Result<(), RegistrationError> {
        let entries = self.read();
        let missing = specs.into_iter().filter(|spec| !entries.has(spec));
        RegistrationError::all(missing.map(|spec| missing_executor(spec, needed_by)).collect())
    }

    pub(crate) fn registered(&self, name: &str) -> Option<Registered> {
        self.read().tools.get(name).cloned()
    }

    pub(crate) fn agent(&self, name: &str) -> Option<RegisteredAgent> {
        self.read().agents.get(name).cloned()
    }

    /// Returns the agent that implements a tool, and the tool's spec.
    pub(crate) fn implementer(&self, tool: &str) -> Option<(RegisteredAgent, ToolSpecRef)> {
        let entries = self.read();
        let entry = &entries.tools.get(tool)?.entry;
        Some((entries.agents.get(entry.agent()?)?.clone(), entry.spec_ref().clone()))
    }

    /// Returns the names of the tools that agents implement, in the order of registration.
    pub(crate) fn implemented(&self) -> Vec<String> {
        let entries = self.read();
        let implemented = entries.listed.iter().filter(|entry| entry.agent().is_some());
        implemented.map(|entry| entry.name().to_owned()).collect()
    }

    /// Returns the providers that an agent uses. Each occurs once, so that its tools share one instance in a run.
    pub(crate) fn provider_uses(&self, agent: &Agent) -> Vec<ProviderUse> {
        self.read().provider_uses(agent)
    }

    /// Returns the providers of a toolset; none if there is no such toolset.
    fn toolset(&self, name: &str) -> Vec<Arc<Provider>> {
        self.read().toolsets.get(name).cloned().unwrap_or_default()
    }

    fn toolset_names(&self) -> Vec<String> {
        self.read().toolsets.keys().cloned().collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn insert_agent(
        &mut self,
        agent: Agent,
        planner: Arc<dyn Planner>,
    ) -> Result<(), RegistrationError> {
        let mut errors = Vec::new();
        if self.agents.contains_key(&agent.name) {
            errors.push(RegistrationError::DuplicateAgent { agent: agent.name.clone() });
        }
        let entry = |spec| ToolEntry::new(spec).run_by(&agent.name);
        let implemented: Vec<_> = agent.implements.iter().cloned().map(entry).collect();
        errors.extend(self.preflight(&agent));
        errors.extend(self.duplicates(&implemented));
        let toolsets: BTreeSet<_> = implemented.iter().map(|tool| tool.spec().toolset()).collect();
        let is_taken = |toolset: &&str| self.is_registered_whole(toolset);
        let taken = toolsets.into_iter().filter(is_taken).map(str::to_owned);
        errors.extend(taken.map(|toolset| RegistrationError::DuplicateToolset { toolset }));
        RegistrationError::all(errors)?;
        self.insert_implemented(implemented)?;
        let name = agent.name.clone();
        self.agents.insert(name, RegisteredAgent { agent: Arc::new(agent), planner });
        Ok(())
    }

    fn remove_agent(&mut self, name: &str) -> Option<Arc<Agent>> {
        let RegisteredAgent { agent, .. } = self.agents.remove(name)?;
        let is_its = |entry: &ToolEntry| entry.agent().is_some_and(|agent| *agent == *name);
        let mut removed = Vec::new();
        self.tools.retain(|_, tool| {
            if is_its(&tool.entry) {
                removed.push(Arc::clone(&tool.provider));
            }
            !is_its(&tool.entry)
        });
        self.listed.retain(|entry| !is_its(entry));
        self.toolsets.retain(|_, providers| {
            providers.retain(|one| !removed.iter().any(|removed| Arc::ptr_eq(removed, one)));
            !providers.is_empty()
        });
        Some(agent)
    }

    /// Inserts the tools that an agent implements, under the names of their toolsets.
    fn insert_implemented(&mut self, tools: Vec<ToolEntry>) -> Result<(), RegistrationError> {
        let mut by_toolset: BTreeMap<String, Vec<ToolEntry>> = BTreeMap::new();
        for entry in tools {
            by_toolset.entry(entry.spec().toolset().to_owned()).or_default().push(entry);
        }
        for (name, entries) in by_toolset {
            let source = ExecutorToolset::without_executor(entries.clone()).into_source();
            self.insert(entries, Provider { name, source, is_listed: true }, true)?;
        }
        Ok(())
    }

    fn provider_uses(&self, agent: &Agent) -> Vec<ProviderUse> {
        let mut seen = BTreeSet::new();
        let names = agent.toolsets.iter().filter(|name| seen.insert(*name));
        let whole = names.filter_map(|name| self.toolsets.get(name)).flatten();
        let use_all = |provider| ProviderUse { provider: Arc::clone(provider), only: None };
        let mut uses: Vec<_> = whole.map(use_all).collect();
        for tool in agent.tools.iter().filter_map(|name| self.tools.get(name)) {
            let name = tool.entry.name().to_owned();
            match uses.iter_mut().find(|used| Arc::ptr_eq(&used.provider, &tool.provider)) {
                Some(ProviderUse { only: Some(names), .. }) => {
                    names.insert(name);
                }
                Some(ProviderUse { only: None, .. }) => {}
                None => uses.push(ProviderUse {
                    provider: Arc::clone(&tool.provider),
                    only: Some(BTreeSet::from([name])),
                }),
            }
        }
        uses
    }

    /// Returns whether a tool with the name and the toolset of a spec is registered.
    fn has(&self, spec: &ToolSpec) -> bool {
        let found = self.tools.get(spec.name()).map(|tool| tool.entry.spec());
        found.is_some_and(|found| found.name() == spec.name() && found.toolset() == spec.toolset())
    }

    /// Returns whether a toolset has a provider whose tools are not known before a run, and so can have no other.
    fn is_registered_whole(&self, toolset: &str) -> bool {
        let providers = self.toolsets.get(toolset);
        providers.is_some_and(|providers| providers.iter().any(|provider| !provider.is_listed))
    }

    /// Inserts tools with their provider, either all or none.
    fn insert(
        &mut self,
        entries: Vec<ToolEntry>,
        provider: Provider,
        as_toolset: bool,
    ) -> Result<(), RegistrationError> {
        RegistrationError::all(self.duplicates(&entries))?;
        if as_toolset && self.is_registered_whole(&provider.name) {
            return Err(RegistrationError::DuplicateToolset { toolset: provider.name });
        }
        let provider = Arc::new(provider);
        for entry in &entries {
            for name in names(entry) {
                let (entry, provider) = (entry.clone(), Arc::clone(&provider));
                self.tools.insert(name.to_owned(), Registered { entry, provider });
            }
        }
        self.listed.extend(entries);
        if as_toolset {
            self.toolsets.entry(provider.name.clone()).or_default().push(provider);
        }
        Ok(())
    }

    /// Returns an error for every name of these tools that a registered tool or another one of them has.
    fn duplicates(&self, entries: &[ToolEntry]) -> Vec<RegistrationError> {
        let mut seen: BTreeMap<&str, &ToolEntry> = BTreeMap::new();
        let mut errors = Vec::new();
        for entry in entries {
            for name in names(entry) {
                let registered = self.tools.get(name).map(|tool| &tool.entry);
                match registered.or(seen.get(name).copied()) {
                    Some(other) => errors.push(duplicate(name, other.spec(), entry.spec())),
                    None => drop(seen.insert(name, entry)),
                }
            }
        }
        errors
    }
}

impl Registry {
    fn insert_specs(
        &self,
        specs: &'static [&'static ToolSpec],
        source: Source,
    ) -> Result<(), RegistrationError> {
        let entries: Vec<_> = specs.iter().map(|spec| ToolEntry::new(*spec)).collect();
        let name = specs.first().map_or("", |spec| spec.toolset()).to_owned();
        self.write().insert(entries, Provider { name, source, is_listed: true }, true)
    }
}

impl Registrar for Registry {
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        let toolset = ExecutorToolset::new(specs.iter().copied(), executor);
        self.insert_specs(specs, toolset.into_source())
    }

    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError> {
        let make = move |_: Scope| ExecutorToolset::new(specs.iter().copied(), factory());
        self.insert_specs(specs, make.into_source())
    }
}

/// Checks that the schemas of a function's types can be used.
fn check_types(tool: &FunctionTool) -> Result<(), RegistrationError> {
    let Some(reason) = tool.type_error() else { return Ok(()) };
    let (tool, reason) = (tool.entry().name().to_owned(), reason.to_owned());
    Err(RegistrationError::UnusableTool { tool, reason })
}

/// Returns the name of a tool and its aliases.
fn names(entry: &ToolEntry) -> impl Iterator<Item = &str> {
    std::iter::once(entry.name()).chain(entry.spec().aliases())
}

fn missing_executor(spec: &ToolSpec, needed_by: &str) -> RegistrationError {
    RegistrationError::MissingExecutor {
        tool: spec.name().to_owned(),
        toolset: spec.toolset().to_owned(),
        needed_by: needed_by.to_owned(),
    }
}

fn duplicate(name: &str, registered: &ToolSpec, offered: &ToolSpec) -> RegistrationError {
    RegistrationError::DuplicateTool {
        tool: name.to_owned(),
        registered: registered.toolset().to_owned(),
        offered: offered.toolset().to_owned(),
    }
}
