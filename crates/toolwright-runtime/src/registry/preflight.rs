//! Checks before a run that the tools and toolsets of an agent exist, that no two tools have the same name, and that toolsets
//! can be created and listed.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright::call::fresh_id;
use toolwright::{BoxError, RegistrationError, Scope};

use super::{Entries, ProviderUse, Registry, TOOL, TOOLSET, missing_executor};
use crate::agent::Agent;
use crate::tools::{EnteredToolset, Filtered, SEPARATOR, ToolEntry, Toolset, find_clash};

/// A tool of an agent, with the name of its source for errors.
type Listed = (String, ToolEntry);

impl Registry {
    /// Checks the tools and toolsets that an agent lists, as far as they are known before any run. Registering an agent includes
    /// this check.
    ///
    /// ```
    /// use toolwright::{RegistrationError, ToolSpec};
    /// use toolwright_runtime::{Agent, FunctionTool, Registry};
    ///
    /// let registry = Registry::new();
    /// let saw = || FunctionTool::new(ToolSpec::new("saw"), async || true);
    /// registry.register_toolset("box", saw())?;
    /// registry.register_toolset("shed", saw())?;
    ///
    /// let agent = Agent::new("carpenter", "workshop").with_toolsets(["box", "shed"]);
    /// let Err(RegistrationError::AmbiguousTool { tool, sources, .. }) = registry.preflight(&agent) else {
    ///     panic!("there are two saws")
    /// };
    /// assert_eq!((tool.as_str(), sources), ("saw", vec!["box".to_owned(), "shed".to_owned()]));
    /// # Ok::<(), RegistrationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every error: unknown names, names of the wrong kind (a toolset in place of a tool, or the reverse), tools that are not
    /// registered, several tools with one name (or with names that are the same for a model provider), and names in the
    /// approval list that no tool has. Names with a prefix may be of tools of the catalog, and are checked when a run begins.
    pub fn preflight(&self, agent: &Agent) -> Result<(), RegistrationError> {
        RegistrationError::all(self.read().preflight(agent))
    }

    /// Does the checks of [`preflight`](Self::preflight), also for tools that are listed only during a run: creates, enters, lists
    /// and exits every toolset, as a run would.
    ///
    /// # Errors
    ///
    /// Those of [`preflight`](Self::preflight), toolsets that cannot be created, entered or listed, and tools that are
    /// unavailable now.
    pub async fn preflight_listing(&self, agent: &Agent) -> Result<(), RegistrationError> {
        let (mut errors, uses, mut listed) = {
            let entries = self.read();
            (entries.missing(agent), entries.provider_uses(agent), entries.own_tools(agent))
        };
        let unavailable = |entry: &str, kind, reason: String| RegistrationError::Unavailable {
            entry: entry.to_owned(),
            kind,
            reason,
            needed_by: needed_by(agent),
        };
        let mut all_listed = errors.is_empty();
        for used in uses {
            match list(&used).await {
                Ok(tools) => {
                    for (tool, is_available) in tools {
                        if !is_available {
                            let reason = "its toolset says so".to_owned();
                            errors.push(unavailable(tool.name(), TOOL, reason));
                        }
                        listed.push((used.source_of(&tool), tool));
                    }
                }
                Err(error) => {
                    all_listed = false;
                    errors.push(unavailable(&used.provider.name, TOOLSET, error.to_string()));
                }
            }
        }
        errors.extend(ambiguous(agent, &listed));
        if all_listed {
            errors.extend(unlisted_approvals(agent, &listed));
        }
        RegistrationError::all(errors)
    }
}

impl Registry {
    /// Returns the tools of an agent, if all of them are known before any run.
    pub(crate) fn known_tools(&self, agent: &Agent) -> Option<Vec<ToolEntry>> {
        let (listed, all_known) = self.read().known_tools(agent);
        all_known.then(|| listed.into_iter().map(|(_, tool)| tool).collect())
    }

    /// Returns whether a tool that is known before any run has this name, either registered as a tool or in a toolset.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let entries = self.read();
        let mut known = entries.toolsets.values().flatten();
        entries.tools.contains_key(name)
            || known.any(|provider| {
                let tools = provider.source.known_tools().unwrap_or_default();
                tools.iter().any(|tool| tool.is_known_as(name))
            })
    }
}

/// The most tools, toolsets and approvals of an agent that are reported as missing. Each such error holds the names of all that are
/// there.
const MAX_MISSING: usize = 100;

impl Entries {
    pub(super) fn preflight(&self, agent: &Agent) -> Vec<RegistrationError> {
        let mut errors = self.missing(agent);
        let (listed, all_known) = self.known_tools(agent);
        let all_known = all_known && errors.is_empty();
        errors.extend(ambiguous(agent, &listed));
        if all_known {
            errors.extend(unlisted_approvals(agent, &listed));
        }
        errors
    }

    /// Returns the tools of an agent that are known before any run, and whether these are all.
    fn known_tools(&self, agent: &Agent) -> (Vec<Listed>, bool) {
        let (mut listed, mut all_known) = (self.own_tools(agent), true);
        for used in self.provider_uses(agent) {
            let tools = if used.provider.is_listed {
                let of_used = |entry: &&ToolEntry| {
                    let registered = self.tools.get(entry.name());
                    registered.is_some_and(|tool| Arc::ptr_eq(&tool.provider, &used.provider))
                };
                Some(self.listed.iter().filter(of_used).cloned().collect())
            } else {
                used.provider.source.known_tools()
            };
            all_known &= tools.is_some();
            let tools: Vec<_> = tools.unwrap_or_default();
            let tools = tools.into_iter().filter(|tool| used.has(tool.name()));
            listed.extend(tools.map(|tool| (used.source_of(&tool), tool)));
        }
        (listed, all_known)
    }

    /// Returns an error for each of the first tools and toolsets of an agent that are not registered. Tools that the agent
    /// implements itself are not missing: it may call them recursively.
    fn missing(&self, agent: &Agent) -> Vec<RegistrationError> {
        let who = needed_by(agent);
        let is_own = |name: &str| agent.implements.iter().any(|spec| spec.name() == name);
        let is_needed = |name: &str| agent.needs().iter().any(|spec| spec.name() == name);
        let needs = agent.needs().iter().filter(|spec| !is_own(spec.name()) && !self.has(spec));
        let mut errors: Vec<_> = needs.map(|spec| missing_executor(spec, &who)).collect();
        let tools = agent
            .tools
            .iter()
            .filter(|name| !is_own(name) && !is_needed(name) && !self.tools.contains_key(*name));
        errors.extend(tools.take(MAX_MISSING).map(|name| self.unresolved(name, TOOL, &who)));
        let is_own_set = |name: &str| agent.implements.iter().any(|spec| spec.toolset() == name);
        let toolsets = agent
            .toolsets
            .iter()
            .filter(|name| !is_own_set(name) && !self.toolsets.contains_key(*name));
        let toolsets = toolsets.take(MAX_MISSING);
        errors.extend(toolsets.map(|name| self.unresolved(name, TOOLSET, &who)));
        errors
    }

    /// Returns the error for a name that is unknown or of the wrong kind.
    pub(super) fn unresolved(
        &self,
        name: &str,
        expected: &'static str,
        who: &str,
    ) -> RegistrationError {
        let (other, is_other) = match expected {
            TOOL => (TOOLSET, self.toolsets.contains_key(name)),
            _ => (TOOL, self.tools.contains_key(name)),
        };
        let (entry, needed_by) = (name.to_owned(), who.to_owned());
        if is_other {
            return RegistrationError::WrongKind { entry, expected, found: other, needed_by };
        }
        let available = match expected {
            TOOL => self.tools.keys().cloned().collect(),
            _ => self.toolsets.keys().cloned().collect(),
        };
        RegistrationError::Unknown { entry, expected, available, needed_by }
    }

    /// Returns the tools that an agent both implements and uses, unless they are already registered.
    fn own_tools(&self, agent: &Agent) -> Vec<Listed> {
        let uses = |entry: &ToolEntry| {
            let toolset = entry.spec().toolset();
            agent.tools.iter().any(|name| name == entry.name())
                || agent.toolsets.iter().any(|name| name == toolset)
        };
        let own = agent.implements.iter().cloned().map(ToolEntry::new);
        own.filter(|entry| uses(entry) && !self.tools.contains_key(entry.name()))
            .map(|entry| (entry.spec().toolset().to_owned(), entry))
            .collect()
    }
}

impl ProviderUse {
    fn has(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(tool))
    }

    /// Returns the name of a tool's source for errors.
    fn source_of(&self, tool: &ToolEntry) -> String {
        let toolset = &self.provider.name;
        if toolset.is_empty() { tool.name().to_owned() } else { toolset.clone() }
    }
}

/// Creates, enters, lists and exits the toolset of a provider. Returns the tools that the agent uses, with whether each is
/// available.
async fn list(used: &ProviderUse) -> Result<Vec<(ToolEntry, bool)>, BoxError> {
    let provider = &used.provider;
    let scope = Arc::new(Scope { run_id: Some(fresh_id("preflight")), ..Scope::default() });
    let Some(toolset) = provider.source.resolve(&provider.name, &scope).await? else {
        return Ok(Vec::new());
    };
    let of_used = used.clone();
    let keep = move |tool: &str| of_used.has(tool);
    let toolset: Arc<dyn Toolset> = Arc::new(Filtered::new(toolset, keep));
    let entered = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(&scope)).await?;
    let tools = toolset.tools(&scope).await;
    let with_availability = |tool: ToolEntry| {
        let is_available = toolset.is_available(tool.name());
        (tool, is_available)
    };
    let tools = tools.map(|tools| tools.into_iter().map(with_availability).collect());
    entered.close().await;
    tools
}

fn needed_by(agent: &Agent) -> String {
    format!("agent `{}`", agent.name)
}

/// Returns an error for each name that several tools have, and for two names that are the same for a model provider.
fn ambiguous(agent: &Agent, listed: &[Listed]) -> Vec<RegistrationError> {
    let mut sources: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (source, tool) in listed {
        sources.entry(tool.name()).or_default().push(source.clone());
    }
    let clash = find_clash(sources.keys().copied()).map(|(sent, tools)| {
        RegistrationError::ClashingTools { sent, tools, needed_by: needed_by(agent) }
    });
    let several = sources.into_iter().filter(|(_, sources)| sources.len() > 1);
    let error = |(tool, sources): (&str, Vec<String>)| RegistrationError::AmbiguousTool {
        tool: tool.to_owned(),
        sources,
        needed_by: needed_by(agent),
    };
    several.map(error).chain(clash).collect()
}

/// Returns an error for each of the first names in an agent's approval list that none of its tools has. Names with a prefix are skipped:
/// they may be of tools of the catalog.
fn unlisted_approvals(agent: &Agent, listed: &[Listed]) -> Vec<RegistrationError> {
    let is_listed = |name: &str| listed.iter().any(|(_, tool)| tool.is_known_as(name));
    let is_prefixed = |name: &str| {
        let parts = name.split_once(SEPARATOR);
        parts.is_some_and(|(prefix, name)| !prefix.is_empty() && !name.is_empty())
    };
    let unlisted = agent.approval_list.iter();
    let unlisted = unlisted.filter(|name| !is_listed(name) && !is_prefixed(name));
    let error = |name: &String| RegistrationError::UnlistedApproval {
        tool: name.clone(),
        available: listed.iter().map(|(_, tool)| tool.name().to_owned()).collect(),
        needed_by: needed_by(agent),
    };
    unlisted.take(MAX_MISSING).map(error).collect()
}
