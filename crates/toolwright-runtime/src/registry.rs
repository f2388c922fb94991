//! Who runs what, by name. Never runs a call: see `dispatch`.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright::spec::Implementation;
use toolwright::{Executor, Registrar, RegistrationError, ToolSpec};

use crate::agent::AgentSpec;
use crate::delegate::{Delegate, RuntimeLink};
use crate::planner::Planner;

/// Every tool and agent of a runtime. Nothing is registered but by a call here, and nothing
/// replaces what is registered.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Registered>,
    /// Names and earlier names, to places in `tools`.
    names: BTreeMap<&'static str, usize>,
    agents: BTreeMap<&'static str, RegisteredAgent>,
    link: RuntimeLink,
}

/// A tool and what runs it.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) spec: &'static ToolSpec,
    pub(crate) executor: Arc<dyn Executor>,
}

/// An agent and what decides for it.
#[derive(Clone)]
pub(crate) struct RegisteredAgent {
    pub(crate) spec: &'static AgentSpec,
    pub(crate) planner: Arc<dyn Planner>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an agent, and itself as what runs the tools it implements.
    ///
    /// # Errors
    ///
    /// An agent or a tool whose name is taken already; a tool the agent calls or offers that nothing
    /// runs. Then nothing is registered.
    pub fn register_agent(
        &mut self,
        agent: &'static AgentSpec,
        planner: Arc<dyn Planner>,
    ) -> Result<(), RegistrationError> {
        if self.agents.contains_key(agent.name) {
            return Err(RegistrationError::DuplicateAgent { agent: agent.name.to_owned() });
        }
        let own: Vec<_> = agent.exports.iter().copied().filter(|spec| runs(agent, spec)).collect();
        self.check_needs(agent, &own)?;
        let executor = Arc::new(Delegate::new(agent.name, self.link.clone()));
        self.insert(&own, &(executor as Arc<dyn Executor>))?;
        self.agents.insert(agent.name, RegisteredAgent { spec: agent, planner });
        Ok(())
    }

    /// The spec a name stands for, be it the tool's own or an earlier one.
    pub fn spec(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tool(name).map(|tool| tool.spec)
    }

    /// Every tool, in the order of registration.
    pub fn specs(&self) -> impl Iterator<Item = &'static ToolSpec> {
        self.tools.iter().map(|tool| tool.spec)
    }

    /// Every agent, by name.
    pub fn agents(&self) -> impl Iterator<Item = &'static AgentSpec> {
        self.agents.values().map(|agent| agent.spec)
    }

    /// Checks that something runs each of these tools.
    ///
    /// # Errors
    ///
    /// The first one that nothing runs.
    pub fn require<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
        needed_by: &str,
    ) -> Result<(), RegistrationError> {
        match specs.into_iter().find(|spec| !self.has(spec)) {
            None => Ok(()),
            Some(spec) => Err(RegistrationError::MissingExecutor {
                tool: spec.name().to_owned(),
                toolset: spec.toolset().to_owned(),
                needed_by: needed_by.to_owned(),
            }),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Registered> {
        self.names.get(name).map(|&place| &self.tools[place])
    }

    pub(crate) fn agent(&self, name: &str) -> Option<&RegisteredAgent> {
        self.agents.get(name)
    }

    pub(crate) fn link(&self) -> &RuntimeLink {
        &self.link
    }

    /// A tool of the same name from another toolset is not the tool that was asked for.
    fn has(&self, spec: &ToolSpec) -> bool {
        self.tool(spec.name()).is_some_and(|tool| {
            tool.spec.name() == spec.name() && tool.spec.toolset() == spec.toolset()
        })
    }

    /// An agent may call what it implements itself: that is recursion, not a missing tool.
    fn check_needs(
        &self,
        agent: &AgentSpec,
        own: &[&'static ToolSpec],
    ) -> Result<(), RegistrationError> {
        let needs = agent.tools.iter().chain(agent.exports).copied();
        let others = needs.filter(|spec| own.iter().all(|own| own.name() != spec.name()));
        self.require(others, &format!("agent `{}`", agent.name))
    }

    fn insert(
        &mut self,
        specs: &[&'static ToolSpec],
        executor: &Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        let names = self.free_names(specs)?;
        self.names.extend(names);
        let tools = specs.iter().map(|spec| Registered { spec, executor: Arc::clone(executor) });
        self.tools.extend(tools);
        Ok(())
    }

    /// Every name of a set with the place it will have, if all are free.
    fn free_names(
        &self,
        specs: &[&'static ToolSpec],
    ) -> Result<BTreeMap<&'static str, usize>, RegistrationError> {
        let mut names = BTreeMap::new();
        for (offset, &spec) in specs.iter().enumerate() {
            for name in std::iter::once(spec.name()).chain(spec.aliases()) {
                let earlier = names.get(name).map(|&place: &usize| specs[place - self.tools.len()]);
                if let Some(taken) = self.spec(name).or(earlier) {
                    return Err(duplicate(name, taken, spec));
                }
                names.insert(name, self.tools.len() + offset);
            }
        }
        Ok(names)
    }
}

impl Registrar for Registry {
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        self.insert(specs, &executor)
    }
}

fn runs(agent: &AgentSpec, spec: &ToolSpec) -> bool {
    matches!(spec.implementation(), Implementation::Agent { agent: name, .. } if name == agent.name)
}

fn duplicate(name: &str, registered: &ToolSpec, offered: &ToolSpec) -> RegistrationError {
    RegistrationError::DuplicateTool {
        tool: name.to_owned(),
        registered: registered.toolset().to_owned(),
        offered: offered.toolset().to_owned(),
    }
}
