//! Who runs what, by name: tools and toolsets in namespaces of their own, and agents; and a view of it for agents that may
//! not use everything. Never runs a call.

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
    Combined, Executed, FunctionTool, IntoSource, Source, ToolEntry, ToolFunction, ToolSpecRef,
};

pub use catalog::Catalog;
pub(crate) use catalog::Published;

/// Every tool, toolset and agent of a runtime. Nothing is registered but by a call here, and nothing
/// replaces what is registered. Agents alone can be removed again.
///
/// Clones are the same registry: what is registered while a runtime runs is there for the runs that start from then on.
#[derive(Clone, Default)]
pub struct Registry(Arc<RwLock<Entries>>);

#[derive(Default)]
struct Entries {
    /// By toolset name: a toolset may be provided in parts.
    toolsets: BTreeMap<String, Vec<Arc<Provider>>>,
    /// By tool name, earlier names included.
    tools: BTreeMap<String, Registered>,
    /// Every tool whose spec is known before any run, in the order of registration.
    listed: Vec<ToolEntry>,
    agents: BTreeMap<String, RegisteredAgent>,
}

/// A source of tools, and the name that errors call it by.
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// Whether its tools are known before any run. Such a toolset may be provided in parts.
    is_listed: bool,
}

/// A tool and where it comes from.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) entry: ToolEntry,
    pub(crate) provider: Arc<Provider>,
}

/// An agent and what decides for it.
#[derive(Clone)]
pub(crate) struct RegisteredAgent {
    pub(crate) agent: Arc<Agent>,
    pub(crate) planner: Arc<dyn Planner>,
}

/// What an agent uses of one provider: everything, or tools of these names.
#[derive(Clone)]
pub(crate) struct Use {
    pub(crate) provider: Arc<Provider>,
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
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers one tool, in the namespace of tools alone.
    ///
    /// # Errors
    ///
    /// A name that is taken already.
    pub fn register_tool(&self, tool: FunctionTool) -> Result<(), RegistrationError> {
        check(&tool)?;
        let entry = tool.entry().clone();
        let name = entry.spec().toolset().to_owned();
        let source = tool.into_source();
        self.write().insert(vec![entry], Provider { name, source, is_listed: true }, false)
    }

    /// Registers an async function as a tool of a name, with what it does in words for the model. Its types say what it
    /// takes and gives: see [`ToolFunction`].
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
    /// A name that is taken already, or types that make no tool.
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

    /// Registers tools, each by its name and all by the name of the toolset that its spec says.
    ///
    /// # Errors
    ///
    /// Every name that is taken already, and every function whose types make no tool; nothing is registered then.
    pub fn register_tools(
        &self,
        tools: impl IntoIterator<Item = FunctionTool>,
    ) -> Result<(), RegistrationError> {
        let tools: Vec<_> = tools.into_iter().collect();
        let mut entries = self.write();
        let mut wrong: Vec<_> = tools.iter().filter_map(|tool| check(tool).err()).collect();
        let listed: Vec<_> = tools.iter().map(|tool| tool.entry().clone()).collect();
        wrong.extend(entries.taken(&listed));
        let mut toolsets: BTreeMap<String, (Vec<ToolEntry>, Combined)> = BTreeMap::new();
        for tool in tools {
            let name = tool.entry().spec().toolset().to_owned();
            if entries.toolsets.contains_key(&name) {
                wrong.push(RegistrationError::DuplicateToolset { toolset: name.clone() });
            }
            let (listed, all) = toolsets.entry(name.clone()).or_default();
            listed.push(tool.entry().clone());
            all.push(name, Arc::new(tool));
        }
        RegistrationError::all(wrong)?;
        for (name, (listed, all)) in toolsets {
            let provider = Provider { name, source: all.into_source(), is_listed: true };
            entries.insert(listed, provider, true)?;
        }
        Ok(())
    }

    /// Registers a toolset under a name: an instance, which runs share, or a factory, sync or async. A factory builds
    /// once a run; [`Source::per_step`] makes it build once a step. Its tools are met when they are listed.
    ///
    /// # Errors
    ///
    /// A name that is taken already.
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

    /// Registers an agent, and itself as what runs the tools it implements. That can be done while a runtime runs, by a
    /// tool too; see [`FunctionTool::delegating`].
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it: names that are taken already, and what [`preflight`](Self::preflight) finds. Then
    /// nothing is registered.
    pub fn register_agent(
        &self,
        agent: impl Into<Agent>,
        planner: Arc<dyn Planner>,
    ) -> Result<(), RegistrationError> {
        self.register_agents([(agent.into(), planner)])
    }

    /// Registers agents, all or none, as [`register_agent`](Self::register_agent) does it with one. An agent may use what
    /// those before it implement.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with any of them; then nothing is registered.
    pub fn register_agents(
        &self,
        agents: impl IntoIterator<Item = (Agent, Arc<dyn Planner>)>,
    ) -> Result<(), RegistrationError> {
        let agents: Vec<_> = agents.into_iter().collect();
        let mut entries = self.write();
        let (mut wrong, mut registered) = (Vec::new(), Vec::new());
        for (agent, planner) in agents {
            let name = agent.name.clone();
            match entries.insert_agent(agent, planner) {
                Ok(()) => registered.push(name),
                Err(error) => wrong.extend_from_slice(error.each()),
            }
        }
        if !wrong.is_empty() {
            for name in &registered {
                entries.remove_agent(name);
            }
        }
        RegistrationError::all(wrong)
    }

    /// Removes an agent with the tools that it implements, and returns it if there was one. Its runs that are under way go
    /// on; one that is suspended can be resumed once an agent of this name is registered again.
    pub fn remove_agent(&self, name: &str) -> Option<Arc<Agent>> {
        self.write().remove_agent(name)
    }

    /// The spec a name stands for, be it the tool's own or an earlier one; of tools that are known before any run.
    pub fn spec(&self, name: &str) -> Option<ToolSpecRef> {
        Some(self.read().tools.get(name)?.entry.spec_ref().clone())
    }

    /// Every tool that is known before any run, in the order of registration.
    pub fn specs(&self) -> Vec<ToolSpecRef> {
        self.read().listed.iter().map(|entry| entry.spec_ref().clone()).collect()
    }

    /// Every agent, by name.
    pub fn agents(&self) -> Vec<Arc<Agent>> {
        self.read().agents.values().map(|registered| Arc::clone(&registered.agent)).collect()
    }

    /// Checks that something runs each of these tools.
    ///
    /// # Errors
    ///
    /// Every one that nothing runs.
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

    /// The agent that implements a tool, and the tool's spec.
    pub(crate) fn implementer(&self, tool: &str) -> Option<(RegisteredAgent, ToolSpecRef)> {
        let entries = self.read();
        let entry = &entries.tools.get(tool)?.entry;
        Some((entries.agents.get(&**entry.agent()?)?.clone(), entry.spec_ref().clone()))
    }

    /// The names of the tools that agents implement, in the order of registration.
    pub(crate) fn implemented(&self) -> Vec<String> {
        let entries = self.read();
        let implemented = entries.listed.iter().filter(|entry| entry.agent().is_some());
        implemented.map(|entry| entry.name().to_owned()).collect()
    }

    /// What an agent uses, one entry a provider, so that its tools share one instance in a run.
    pub(crate) fn uses_of(&self, agent: &Agent) -> Vec<Use> {
        self.read().uses_of(agent)
    }

    /// The parts of a toolset; none where there is no such toolset.
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
        let mut wrong = Vec::new();
        if self.agents.contains_key(&agent.name) {
            wrong.push(RegistrationError::DuplicateAgent { agent: agent.name.clone() });
        }
        let entry = |spec| ToolEntry::new(spec).run_by(&agent.name);
        let own: Vec<_> = agent.implements.iter().cloned().map(entry).collect();
        wrong.extend(self.preflight(&agent));
        wrong.extend(self.taken(&own));
        RegistrationError::all(wrong)?;
        self.insert_own(own)?;
        let name = agent.name.clone();
        self.agents.insert(name, RegisteredAgent { agent: Arc::new(agent), planner });
        Ok(())
    }

    fn remove_agent(&mut self, name: &str) -> Option<Arc<Agent>> {
        let RegisteredAgent { agent, .. } = self.agents.remove(name)?;
        let is_own = |entry: &ToolEntry| entry.agent().is_some_and(|by| **by == *name);
        let mut own = Vec::new();
        self.tools.retain(|_, tool| {
            if is_own(&tool.entry) {
                own.push(Arc::clone(&tool.provider));
            }
            !is_own(&tool.entry)
        });
        self.listed.retain(|entry| !is_own(entry));
        self.toolsets.retain(|_, parts| {
            parts.retain(|part| !own.iter().any(|own| Arc::ptr_eq(own, part)));
            !parts.is_empty()
        });
        Some(agent)
    }

    /// Puts the tools that an agent implements under the names of their toolsets.
    fn insert_own(&mut self, own: Vec<ToolEntry>) -> Result<(), RegistrationError> {
        let mut by_toolset: BTreeMap<String, Vec<ToolEntry>> = BTreeMap::new();
        for entry in own {
            by_toolset.entry(entry.spec().toolset().to_owned()).or_default().push(entry);
        }
        for (name, entries) in by_toolset {
            let source = Executed::listing(entries.clone()).into_source();
            self.insert(entries, Provider { name, source, is_listed: true }, true)?;
        }
        Ok(())
    }

    fn uses_of(&self, agent: &Agent) -> Vec<Use> {
        let whole = agent.toolsets.iter().filter_map(|name| self.toolsets.get(name)).flatten();
        let mut uses: Vec<Use> =
            whole.map(|provider| Use { provider: Arc::clone(provider), only: None }).collect();
        for tool in agent.tools.iter().filter_map(|name| self.tools.get(name)) {
            let name = tool.entry.name().to_owned();
            match uses.iter_mut().find(|used| Arc::ptr_eq(&used.provider, &tool.provider)) {
                Some(Use { only: Some(names), .. }) => {
                    names.insert(name);
                }
                Some(Use { only: None, .. }) => {}
                None => uses.push(Use {
                    provider: Arc::clone(&tool.provider),
                    only: Some(BTreeSet::from([name])),
                }),
            }
        }
        uses
    }

    /// A tool of the same name from another toolset is not the tool that was asked for.
    fn has(&self, spec: &ToolSpec) -> bool {
        let found = self.tools.get(spec.name()).map(|tool| tool.entry.spec());
        found.is_some_and(|found| found.name() == spec.name() && found.toolset() == spec.toolset())
    }

    /// Takes tools in with what provides them, all or none.
    fn insert(
        &mut self,
        entries: Vec<ToolEntry>,
        provider: Provider,
        as_toolset: bool,
    ) -> Result<(), RegistrationError> {
        RegistrationError::all(self.taken(&entries))?;
        let parts = self.toolsets.get(&provider.name).filter(|_| as_toolset);
        if parts.is_some_and(|parts| parts.iter().any(|part| !part.is_listed)) {
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

    /// Every name of a set that is taken, here or within the set.
    fn taken(&self, entries: &[ToolEntry]) -> Vec<RegistrationError> {
        let mut own: BTreeMap<&str, &ToolEntry> = BTreeMap::new();
        let mut wrong = Vec::new();
        for entry in entries {
            for name in names(entry) {
                let registered = self.tools.get(name).map(|tool| &tool.entry);
                match registered.or(own.get(name).copied()) {
                    Some(taken) => wrong.push(duplicate(name, taken.spec(), entry.spec())),
                    None => drop(own.insert(name, entry)),
                }
            }
        }
        wrong
    }
}

impl Registry {
    fn insert_set(
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
        self.insert_set(specs, Executed::new(specs.iter().copied(), executor).into_source())
    }

    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError> {
        let make = move |_: Scope| Executed::new(specs.iter().copied(), factory());
        self.insert_set(specs, make.into_source())
    }
}

/// Refuses a function whose types make no tool.
fn check(tool: &FunctionTool) -> Result<(), RegistrationError> {
    let Some(reason) = tool.mistake() else { return Ok(()) };
    let (tool, reason) = (tool.entry().name().to_owned(), reason.to_owned());
    Err(RegistrationError::UnusableTool { tool, reason })
}

/// Every name of a tool, earlier ones included.
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
