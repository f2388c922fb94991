//! Whether an agent can have what it lists: every name is known and of its kind, no two tools share one, and what is only
//! met in a run can be made and listed. Never registers anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright::call::fresh_id;
use toolwright::{BoxError, RegistrationError, Scope};

use super::{Entries, Registry, TOOL, TOOLSET, Use, missing_executor};
use crate::agent::Agent;
use crate::tools::{Entered, Filtered, SEPARATOR, ToolEntry, Toolset, clashing};

/// A tool that an agent would have, with the name of its source.
type Listed = (String, ToolEntry);

impl Registry {
    /// Checks what an agent lists, as far as it is known before any run. Registering an agent does so.
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
    /// Everything that is wrong: names that are unknown or of the wrong kind, tools that nothing runs, several tools of one
    /// name (also of names that a model provider cannot tell apart), and names in its approval list that none of its tools
    /// has.
    pub fn preflight(&self, agent: &Agent) -> Result<(), RegistrationError> {
        RegistrationError::all(self.read().preflight(agent))
    }

    /// Checks what an agent lists as [`preflight`](Self::preflight) does, and tools that are only met in a run too: makes
    /// and enters every toolset, lists its tools and exits it, as a run would.
    ///
    /// # Errors
    ///
    /// Those of [`preflight`](Self::preflight), toolsets that could not be made, entered or listed, and tools that say that
    /// they cannot be used now.
    pub async fn preflight_listing(&self, agent: &Agent) -> Result<(), RegistrationError> {
        let (mut wrong, uses, mut listed) = {
            let entries = self.read();
            (entries.missing(agent), entries.uses_of(agent), entries.own_tools(agent))
        };
        let unavailable = |entry: &str, kind, reason: String| RegistrationError::Unavailable {
            entry: entry.to_owned(),
            kind,
            reason,
            needed_by: needed_by(agent),
        };
        let mut all_listed = wrong.is_empty();
        for used in uses {
            match list(&used).await {
                Ok(tools) => {
                    for (tool, is_available) in tools {
                        if !is_available {
                            let reason = "its toolset says so".to_owned();
                            wrong.push(unavailable(tool.name(), TOOL, reason));
                        }
                        listed.push((used.source_of(&tool), tool));
                    }
                }
                Err(error) => {
                    all_listed = false;
                    wrong.push(unavailable(&used.provider.name, TOOLSET, error.to_string()));
                }
            }
        }
        wrong.extend(ambiguous(agent, &listed));
        if all_listed {
            wrong.extend(unlisted_approvals(agent, &listed));
        }
        RegistrationError::all(wrong)
    }
}

impl Registry {
    /// The tools that an agent has in every run, if all are known before one.
    pub(crate) fn known_tools(&self, agent: &Agent) -> Option<Vec<ToolEntry>> {
        let (listed, all_known) = self.read().known_tools(agent);
        all_known.then(|| listed.into_iter().map(|(_, tool)| tool).collect())
    }

    /// Whether a tool that is known before any run goes by a name, in the namespace of tools or in a toolset.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let entries = self.read();
        let mut known = entries.toolsets.values().flatten();
        entries.tools.contains_key(name)
            || known.any(|provider| {
                let tools = provider.source.known_tools().unwrap_or_default();
                tools.iter().any(|tool| tool.is_meant_by(name))
            })
    }
}

impl Entries {
    pub(super) fn preflight(&self, agent: &Agent) -> Vec<RegistrationError> {
        let mut wrong = self.missing(agent);
        let (listed, all_known) = self.known_tools(agent);
        let all_known = all_known && wrong.is_empty();
        wrong.extend(ambiguous(agent, &listed));
        if all_known {
            wrong.extend(unlisted_approvals(agent, &listed));
        }
        wrong
    }

    /// The tools of an agent that are known before a run, and whether these are all.
    fn known_tools(&self, agent: &Agent) -> (Vec<Listed>, bool) {
        let (mut listed, mut all_known) = (self.own_tools(agent), true);
        for used in self.uses_of(agent) {
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

    /// What an agent needs and cannot have. It may call what it implements itself: that is recursion, not a missing
    /// tool.
    fn missing(&self, agent: &Agent) -> Vec<RegistrationError> {
        let who = needed_by(agent);
        let is_own = |name: &str| agent.implements.iter().any(|spec| spec.name() == name);
        let is_needed = |name: &str| agent.needs().iter().any(|spec| spec.name() == name);
        let needs = agent.needs().iter().filter(|spec| !is_own(spec.name()) && !self.has(spec));
        let mut wrong: Vec<_> = needs.map(|spec| missing_executor(spec, &who)).collect();
        let tools = agent
            .tools
            .iter()
            .filter(|name| !is_own(name) && !is_needed(name) && !self.tools.contains_key(*name));
        wrong.extend(tools.map(|name| self.unresolved(name, TOOL, &who)));
        let is_own_set = |name: &str| agent.implements.iter().any(|spec| spec.toolset() == name);
        let toolsets = agent
            .toolsets
            .iter()
            .filter(|name| !is_own_set(name) && !self.toolsets.contains_key(*name));
        wrong.extend(toolsets.map(|name| self.unresolved(name, TOOLSET, &who)));
        wrong
    }

    /// Why a name is not what a list says it is.
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

    /// The tools that an agent both implements and uses, as far as they are not registered yet.
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

impl Use {
    fn has(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(tool))
    }

    /// The name that errors call the source of a tool by.
    fn source_of(&self, tool: &ToolEntry) -> String {
        let toolset = &self.provider.name;
        if toolset.is_empty() { tool.name().to_owned() } else { toolset.clone() }
    }
}

/// Makes, enters, lists and exits what an agent uses of a provider. Tells of each tool whether it can be used now.
async fn list(used: &Use) -> Result<Vec<(ToolEntry, bool)>, BoxError> {
    let provider = &used.provider;
    let scope = Arc::new(Scope { run_id: Some(fresh_id("preflight")), ..Scope::default() });
    let Some(toolset) = provider.source.resolve(&provider.name, &scope).await? else {
        return Ok(Vec::new());
    };
    let of_used = used.clone();
    let keep = move |tool: &str| of_used.has(tool);
    let toolset: Arc<dyn Toolset> = Arc::new(Filtered::new(toolset, keep));
    let entered = Entered::enter(Arc::clone(&toolset), Arc::clone(&scope)).await?;
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

/// Tools that cannot be told apart: several of one name, or of names that a model provider makes one.
fn ambiguous(agent: &Agent, listed: &[Listed]) -> Vec<RegistrationError> {
    let mut sources: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (source, tool) in listed {
        sources.entry(tool.name()).or_default().push(source.clone());
    }
    let clash = clashing(sources.keys().copied()).map(|(sent, tools)| {
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

/// The names in an agent's approval list that none of its tools has. Names with a prefix are a catalog's to know.
fn unlisted_approvals(agent: &Agent, listed: &[Listed]) -> Vec<RegistrationError> {
    let is_listed = |name: &str| listed.iter().any(|(_, tool)| tool.is_meant_by(name));
    let unlisted = agent.approval_list.iter();
    let unlisted = unlisted.filter(|name| !name.contains(SEPARATOR) && !is_listed(name));
    let error = |name: &String| RegistrationError::UnlistedApproval {
        tool: name.clone(),
        available: listed.iter().map(|(_, tool)| tool.name().to_owned()).collect(),
        needed_by: needed_by(agent),
    };
    unlisted.map(error).collect()
}
