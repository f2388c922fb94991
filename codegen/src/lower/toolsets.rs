//! Collects toolsets and tools with their names, and finds the owner of each toolset: the service of its file;
//! otherwise that of the methods that its tools are bound to; otherwise that of the agent that exports it.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::remote::{ListedTool, Provenance};

use super::consumers::DeclaredAgent;
use super::methods::Methods;
use super::services::Services;
use super::{ToolName, check_name, owned};
use crate::diagnostic::{Report, consumers, names, tools};
use crate::model::{AgentId, McpOrigin, MethodId, ServiceId, ToolId, Toolset, ToolsetId};
use crate::prose::MAX_KNOWN;
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entries, ToolDetails};

/// A declared toolset, or the implicit toolset of methods that are tools.
pub(super) struct WrittenToolset<'a> {
    pub(super) name: Spanned<String>,
    /// The service of its file.
    service: Option<ServiceId>,
    /// `None` for an implicit toolset.
    text: Option<&'a syntax::Toolset>,
    pub(super) tools: Vec<WrittenTool<'a>>,
}

/// A declared tool.
#[derive(Clone, Copy)]
pub(super) struct WrittenTool<'a> {
    pub(super) name: &'a Spanned<String>,
    pub(super) details: &'a ToolDetails,
    pub(super) origin: Origin<'a>,
}

/// Where a tool is declared.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// In a toolset.
    Toolset(&'a syntax::Tool),
    /// In a method.
    Method(MethodId),
}

/// The toolsets that have an owner, with their tools.
pub(super) struct Toolsets<'a> {
    /// In the order of their ids.
    pub(super) list: Vec<Toolset>,
    /// Their declarations, in the same order; `None` for implicit ones.
    pub(super) texts: Vec<Option<&'a syntax::Toolset>>,
    /// The declarations of their tools, in the order of their ids.
    pub(super) tools: Vec<WrittenTool<'a>>,
    /// All names of toolsets. The id is `None` if the owner is unknown, which has been reported.
    pub(super) toolset_names: BTreeMap<&'a str, Option<ToolsetId>>,
    /// All names and aliases of tools, with their first place.
    pub(super) tool_names: BTreeMap<&'a str, (Span, ToolName)>,
}

/// Collects declared and implicit toolsets.
pub(super) fn written<'a>(
    services: &Services<'a>,
    methods: &Methods<'a>,
) -> Vec<WrittenToolset<'a>> {
    let mut toolsets: Vec<WrittenToolset<'a>> = Vec::new();
    // The positions of the implicit toolsets.
    let mut implicit: BTreeMap<ServiceId, usize> = BTreeMap::new();
    for &(of_file, document) in &services.files {
        for (name, text) in document.toolsets.iter().flat_map(Entries::iter) {
            let tools = text.tools.0.iter().map(|(name, tool)| WrittenTool {
                name,
                details: &tool.details,
                origin: Origin::Toolset(tool),
            });
            let (name, tools) = (name.clone(), tools.collect());
            toolsets.push(WrittenToolset { name, service: of_file, text: Some(text), tools });
        }
        // A method that is a tool belongs to its service's implicit toolset.
        let Some(service) = of_file else { continue };
        for (name, text) in document.methods.iter().flat_map(Entries::iter) {
            let (Some(tool), Some(method)) = (&text.tool, methods.named(service, &name.value))
            else {
                continue;
            };
            let tool = WrittenTool { name, details: &tool.details, origin: Origin::Method(method) };
            let position = *implicit.entry(service).or_insert_with(|| {
                toolsets.push(WrittenToolset {
                    name: Spanned::new(services.name(service).value.clone(), name.span),
                    service: of_file,
                    text: None,
                    tools: Vec::new(),
                });
                toolsets.len() - 1
            });
            toolsets[position].tools.push(tool);
        }
    }
    toolsets
}

/// Returns the owner of each toolset; `None` after reporting that it has none.
pub(super) fn owners(
    services: &Services<'_>,
    methods: &Methods<'_>,
    agents: &[DeclaredAgent<'_>],
    toolsets: &[WrittenToolset<'_>],
    report: &mut Report,
) -> Vec<Option<ServiceId>> {
    let mut services_of: BTreeMap<&str, BTreeSet<ServiceId>> = BTreeMap::new();
    for (service, method) in methods.names() {
        services_of.entry(method).or_default().insert(service);
    }
    let exports = exports(agents);
    let mut owners = Vec::new();
    for toolset in toolsets {
        if toolset.service.is_some() {
            owners.push(toolset.service);
            continue;
        }
        let binds = toolset.tools.iter().filter_map(|tool| match tool.origin {
            Origin::Toolset(text) => text.bind.as_ref(),
            Origin::Method(_) => None,
        });
        let binds: Vec<&Spanned<String>> = binds.collect();
        let mut candidates: BTreeMap<ServiceId, Span> = BTreeMap::new();
        if binds.is_empty() {
            for &(agent, span) in exports.get(&*toolset.name.value).into_iter().flatten() {
                candidates.entry(agents[agent.position()].service).or_insert(span);
            }
        }
        let mut seen = BTreeSet::new();
        for bind in binds.iter().filter(|bind| seen.insert(&*bind.value)) {
            let (service, method) = match bind.value.split_once('.') {
                Some((service, method)) => (Some(services.named(service)), method),
                None => (None, bind.value.as_str()),
            };
            let Some(owners) = services_of.get(method) else { continue };
            match service {
                Some(service) => {
                    let owner = service.filter(|service| owners.contains(service));
                    candidates.extend(owner.map(|owner| (owner, bind.span)));
                }
                None => {
                    for &owner in owners {
                        candidates.entry(owner).or_insert(bind.span);
                    }
                }
            }
        }
        owners.push(candidates.keys().next().copied().filter(|_| candidates.len() == 1));
        if candidates.len() > 1 {
            let candidate = |(&service, &span): (&ServiceId, &Span)| {
                (format!("`{}`", services.name(service).value), span)
            };
            let candidates: Vec<(String, Span)> = candidates.iter().map(candidate).collect();
            report.add(tools::ambiguous_owner(&toolset.name, &candidates));
        } else if candidates.is_empty() && !binds.is_empty() {
            for bind in binds {
                report_unknown_method(services, methods, bind, report);
            }
        } else if candidates.is_empty()
            && !toolset.tools.is_empty()
            && !report.has_unread_definitions()
        {
            // A toolset without tools has been reported, and unread definitions may name its owner.
            report.add(tools::no_owner(&toolset.name));
        }
    }
    owners
}

/// Lowers the toolsets that have an owner, and collects the names of all toolsets and tools.
pub(super) fn toolsets<'a>(
    services: &Services<'_>,
    agents: &[DeclaredAgent<'_>],
    written: &'a [WrittenToolset<'a>],
    owners: &[Option<ServiceId>],
    report: &mut Report,
) -> Toolsets<'a> {
    let (mut list, mut texts, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    let (mut toolset_names, mut tool_names) = (BTreeMap::new(), BTreeMap::new());
    let exports = exports(agents);
    for (toolset, &owner) in written.iter().zip(owners) {
        let mut mcp = None;
        if let Some(text) = toolset.text {
            check_name("a toolset", &toolset.name, report);
            mcp = text.mcp.as_ref().map(|mcp| mcp_origin(mcp, report));
        }
        let id = owner.map(|_| ToolsetId::at(list.len()));
        toolset_names.entry(&*toolset.name.value).or_insert(id);
        let mut ids = Vec::new();
        for tool in &toolset.tools {
            check_name("a tool", tool.name, report);
            let id = owner.map(|_| ToolId::at(tools.len()));
            tool_names.entry(&*tool.name.value).or_insert((tool.name.span, ToolName::Tool(id)));
            if let Some(id) = id {
                tools.push(*tool);
                ids.push(id);
            }
        }
        let Some(service) = owner else { continue };
        let description = match toolset.text {
            Some(text) => owned(text.description.as_ref()),
            None => services.list[service.position()].description.clone(),
        };
        let version = toolset.text.and_then(|text| text.version).map(|version| version.0);
        let of_toolset = exports.get(&*toolset.name.value).map(Vec::as_slice);
        let agent = exporter(of_toolset.unwrap_or_default(), toolset, report);
        let name = toolset.name.clone();
        list.push(Toolset { name, description, version, service, agent, mcp, tools: ids });
        texts.push(toolset.text);
    }
    // Aliases come after names: a name that is also an alias refers to the tool of that name.
    for tool in written.iter().flat_map(|toolset| &toolset.tools) {
        for alias in tool.details.aliases.iter().flatten() {
            check_name("a tool", alias, report);
            tool_names.entry(&*alias.value).or_insert((alias.span, ToolName::Alias));
        }
    }
    Toolsets { list, texts, tools, toolset_names, tool_names }
}

/// Returns the agent that exports a toolset, and reports mistakes in its export.
fn exporter(
    exports: &[(AgentId, Span)],
    toolset: &WrittenToolset<'_>,
    report: &mut Report,
) -> Option<AgentId> {
    let &(agent, first) = exports.first()?;
    if exports.len() > 1 {
        let places = exports.iter().map(|(_, span)| *span).collect();
        report.add(consumers::exported_twice(&toolset.name.value, places));
    }
    if toolset.text.is_some_and(|text| text.mcp.is_some()) {
        report.add(consumers::remote_export(first, &toolset.name));
    }
    Some(agent)
}

/// Returns the agents that export each toolset, and the places of the exports.
fn exports<'a>(agents: &[DeclaredAgent<'a>]) -> BTreeMap<&'a str, Vec<(AgentId, Span)>> {
    let mut found: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (position, agent) in agents.iter().enumerate() {
        for name in agent.text.exports.iter().flatten() {
            found.entry(&name.value).or_default().push((AgentId::at(position), name.span));
        }
    }
    found
}

/// Lowers the remote MCP server of a toolset.
fn mcp_origin(text: &syntax::McpBacking, report: &mut Report) -> McpOrigin {
    // An empty name has been reported as an empty value.
    if !text.server.value.is_empty() {
        check_name("an MCP server", &text.server, report);
    }
    let listed = text.listed.iter().flat_map(Entries::iter);
    let from = text.from.as_ref().map_or_else(Provenance::default, |from| Provenance {
        name: owned(from.name.as_ref()),
        version: owned(from.version.as_ref()),
        protocol: owned(from.protocol.as_ref()),
        date: owned(from.date.as_ref()),
    });
    McpOrigin {
        server: text.server.clone(),
        listed: listed
            .map(|(name, digests)| ListedTool {
                name: name.value.clone(),
                all: digests.all.0.clone(),
                capabilities: digests.capabilities.0.clone(),
            })
            .collect(),
        from,
    }
}

/// Reports a binding to an unknown method.
pub(super) fn report_unknown_method(
    services: &Services<'_>,
    methods: &Methods<'_>,
    bind: &Spanned<String>,
    report: &mut Report,
) {
    if bind.value.is_empty() || report.has_unread_definitions() || report.is_full() {
        return;
    }
    // Known methods are written like the binding, with or without their service.
    let is_qualified = bind.value.contains('.');
    let word = |(service, method): (ServiceId, &str)| {
        let service = &services.name(service).value;
        if is_qualified { format!("{service}.{method}") } else { method.to_owned() }
    };
    // `advice` compares no more names than these.
    let known: BTreeSet<String> = methods.names().map(word).take(MAX_KNOWN).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    report.add(names::unknown_method(bind, &known));
}
