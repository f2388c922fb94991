//! Lowers agents and MCP servers, which refer to toolsets and tools, but define none (G17 in docs/requirements.md).

use super::services::Services;
use super::{Declared, ToolName, check_name, owned, report_unknown};
use crate::diagnostic::{Report, consumers, names};
use crate::model::{Agent, McpServer, ModelHints, Policy, ServiceId, ToolId, ToolsetId};
use crate::source::Spanned;
use crate::syntax::{self, Disclosure, Entries, Word};

/// The tools that an MCP server with `disclosure: search` lists.
const SEARCH_TOOLS: [&str; 2] = ["search_tools", "call_tool"];

/// A declared agent.
pub(super) struct DeclaredAgent<'a> {
    pub(super) service: ServiceId,
    name: &'a Spanned<String>,
    pub(super) text: &'a syntax::Agent,
}

/// Collects the agents; the owner of a toolset may depend on the agent that exports it.
pub(super) fn declared_agents<'a>(
    services: &Services<'a>,
    report: &mut Report,
) -> Vec<DeclaredAgent<'a>> {
    let mut agents = Vec::new();
    for (service, document) in services.documents() {
        for (name, text) in document.agents.iter().flat_map(Entries::iter) {
            check_name("an agent", name, report);
            agents.push(DeclaredAgent { service, name, text });
        }
    }
    agents
}

/// Lowers every agent.
pub(super) fn agents(
    declared: Declared<'_>,
    agents: &[DeclaredAgent<'_>],
    report: &mut Report,
) -> Vec<Agent> {
    let lower = |&DeclaredAgent { service, name, text }: &DeclaredAgent<'_>| {
        let tools = text.tools.iter().flatten();
        Agent {
            service,
            name: name.clone(),
            description: owned(text.description.as_ref()),
            instructions: owned(text.instructions.as_ref()),
            toolsets: toolsets_named(declared, text.toolsets.as_ref(), report),
            tools: tools.filter_map(|name| tool_named(declared, name, report)).collect(),
            exports: toolsets_named(declared, text.exports.as_ref(), report),
            model: text.model.as_ref().map_or_else(ModelHints::default, |text| ModelHints {
                family: owned(text.family.as_ref()),
                effort: text.effort.as_ref().map(|effort| effort.0.as_str()),
            }),
            policy: text.policy.as_ref().map_or_else(Policy::default, |text| Policy {
                max_tool_calls: text.max_tool_calls,
                max_consecutive_failures: text.max_consecutive_failures,
                time_budget: text.time_budget.map(|period| period.0),
                max_model_calls: text.max_model_calls,
                max_output_tokens: text.max_output_tokens,
                max_cost: text.max_cost.map(|amount| amount.0),
            }),
        }
    };
    agents.iter().map(lower).collect()
}

/// Lowers every MCP server.
pub(super) fn servers(declared: Declared<'_>, report: &mut Report) -> Vec<McpServer> {
    let mut servers = Vec::new();
    for (service, document) in declared.services.documents() {
        for (name, text) in document.mcp_servers.iter().flat_map(Entries::iter) {
            check_name("an MCP server", name, report);
            let toolsets = toolsets_named(declared, Some(&text.toolsets.0), report);
            let version = text.version.value.clone();
            let searches =
                text.disclosure.is_some_and(|Word(disclosure)| disclosure == Disclosure::Search);
            if searches {
                report_names_of_search(declared, name, &toolsets, report);
            }
            servers.push(McpServer { service, name: name.clone(), version, toolsets, searches });
        }
    }
    servers
}

/// Reports exposed tools with the name of one that the server lists in their place.
fn report_names_of_search(
    declared: Declared<'_>,
    server: &Spanned<String>,
    toolsets: &[ToolsetId],
    report: &mut Report,
) {
    let exposed = toolsets.iter().flat_map(|id| &declared.toolsets.list[id.position()].tools);
    for tool in exposed.map(|id| &declared.toolsets.tools[id.position()]) {
        let names = tool.details.aliases.iter().flatten().chain([tool.name]);
        for name in names.filter(|name| SEARCH_TOOLS.contains(&name.value.as_str())) {
            report.add(consumers::search_name(name, server));
        }
    }
}

fn toolsets_named(
    declared: Declared<'_>,
    names: Option<&Vec<Spanned<String>>>,
    report: &mut Report,
) -> Vec<ToolsetId> {
    let known = &declared.toolsets.toolset_names;
    let mut found = Vec::new();
    for name in names.into_iter().flatten() {
        match known.get(&*name.value) {
            Some(id) => found.extend(*id),
            None => report_unknown(names::unknown_toolset, name, known.keys().copied(), report),
        }
    }
    found
}

/// Finds a tool by its name. Reports an unknown name, or an alias in its place.
pub(super) fn tool_named(
    declared: Declared<'_>,
    name: &Spanned<String>,
    report: &mut Report,
) -> Option<ToolId> {
    let known = &declared.toolsets.tool_names;
    match known.get(&*name.value) {
        Some(&(_, ToolName::Tool(id))) => id,
        Some(&(first, ToolName::Alias)) => {
            report.add(consumers::alias_used(name, first));
            None
        }
        None => {
            report_unknown(names::unknown_tool, name, known.keys().copied(), report);
            None
        }
    }
}
