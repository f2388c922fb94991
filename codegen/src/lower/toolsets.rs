//! Which toolsets and tools there are, under which names and owners. Never what a tool takes or does.

use super::claims::Kind;
use super::{DeclaredAgent, Lowering, owned};
use crate::diagnostic::consumers;
use crate::model::{
    AgentId, McpOrigin, McpProvenance, MethodId, ServiceId, ToolId, Toolset, ToolsetId,
};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Document, Entries, ToolDetails};

/// A toolset as written, or as implied by methods that are tools.
pub(super) struct DeclaredToolset<'a> {
    pub(super) name: Spanned<String>,
    /// The service of its file.
    pub(super) home: Option<ServiceId>,
    /// Nothing for an implicit one.
    pub(super) text: Option<&'a syntax::Toolset>,
    pub(super) tools: Vec<DeclaredTool<'a>>,
    /// Its owner, once found.
    pub(super) owner: Option<ServiceId>,
}

/// A tool as written.
#[derive(Clone, Copy)]
pub(super) struct DeclaredTool<'a> {
    pub(super) name: &'a Spanned<String>,
    pub(super) details: &'a ToolDetails,
    pub(super) origin: Origin<'a>,
}

/// Where a tool was written.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// In a toolset.
    Toolset(&'a syntax::Tool),
    /// In a method.
    Method(MethodId),
}

impl<'a> Lowering<'a> {
    /// Names the agents: toolsets need to know who exports them.
    pub(super) fn agents(&mut self) {
        let documents: &'a [Document] = self.documents;
        for (position, document) in documents.iter().enumerate() {
            let (Some(service), Some(agents)) = (self.homes[position], &document.agents) else {
                continue;
            };
            for (name, text) in agents.iter() {
                self.check_name("an agent", name);
                self.claims.give(Kind::Agent, Some(service), name);
                self.agents.push(DeclaredAgent { service, name, text });
            }
        }
    }

    /// Lowers every toolset, and names its tools.
    pub(super) fn toolsets(&mut self) {
        let mut declared = self.declared_toolsets();
        for toolset in &mut declared {
            self.check_toolset(toolset);
            toolset.owner = self.owner(toolset);
        }
        self.name_toolsets(&declared);
        self.name_tools(&declared);
        declared.retain(|toolset| toolset.owner.is_some());
        self.toolsets = declared;
        self.push_toolsets();
    }

    fn declared_toolsets(&self) -> Vec<DeclaredToolset<'a>> {
        let documents: &'a [Document] = self.documents;
        let mut declared: Vec<DeclaredToolset<'a>> = Vec::new();
        for (document, &home) in documents.iter().zip(&self.homes) {
            for (name, text) in document.toolsets.iter().flat_map(Entries::iter) {
                let tools = text.tools.0.iter().map(|(name, tool)| DeclaredTool {
                    name,
                    details: &tool.details,
                    origin: Origin::Toolset(tool),
                });
                let (name, tools) = (name.clone(), tools.collect());
                declared.push(DeclaredToolset { name, home, text: Some(text), tools, owner: None });
            }
            for (name, text) in document.methods.iter().flat_map(Entries::iter) {
                if let (Some(service), Some(tool)) = (home, &text.tool) {
                    self.add_to_implicit(&mut declared, service, name, &tool.details);
                }
            }
        }
        declared
    }

    /// A method that is a tool joins its service's implicit toolset (G25).
    fn add_to_implicit(
        &self,
        declared: &mut Vec<DeclaredToolset<'a>>,
        service: ServiceId,
        name: &'a Spanned<String>,
        details: &'a ToolDetails,
    ) {
        let Some(&method) = self.methods.get(&(service, name.value.clone())) else { return };
        let tool = DeclaredTool { name, details, origin: Origin::Method(method) };
        let implicit = declared
            .iter_mut()
            .find(|toolset| toolset.text.is_none() && toolset.home == Some(service));
        match implicit {
            Some(toolset) => toolset.tools.push(tool),
            None => declared.push(DeclaredToolset {
                name: Spanned::new(self.project[service].name.value.clone(), name.span),
                home: Some(service),
                text: None,
                tools: vec![tool],
                owner: None,
            }),
        }
    }

    fn check_toolset(&mut self, toolset: &DeclaredToolset<'a>) {
        let Some(text) = toolset.text else { return };
        self.check_name("a toolset", &toolset.name);
        if let Some(mcp) = &text.mcp {
            self.check_given_name("an MCP server", &mcp.server);
        }
    }

    fn name_toolsets(&mut self, declared: &[DeclaredToolset<'a>]) {
        let mut next = 0;
        for toolset in declared {
            let id = toolset.owner.map(|_| ToolsetId::at(next));
            next += usize::from(id.is_some());
            self.toolset_names.give(&toolset.name, id);
            self.claims.give(Kind::Toolset, None, &toolset.name);
        }
    }

    fn name_tools(&mut self, declared: &[DeclaredToolset<'a>]) {
        let mut next = 0;
        let mut aliases = Vec::new();
        for toolset in declared {
            for tool in &toolset.tools {
                self.check_name("a tool", tool.name);
                let id = toolset.owner.map(|_| ToolId::at(next));
                next += usize::from(id.is_some());
                self.tool_names.give(tool.name, id);
                self.claims.give(Kind::Tool, None, tool.name);
                aliases.extend(tool.details.aliases.iter().flatten());
            }
        }
        // Names before aliases: what is a name and an alias means the tool of that name.
        for alias in aliases {
            self.check_name("a tool", alias);
            self.tool_names.give(alias, None);
            self.claims.give_alias(alias);
        }
    }

    fn push_toolsets(&mut self) {
        let mut next = 0;
        for position in 0..self.toolsets.len() {
            let agent = self.exporter(position);
            let toolset = &self.toolsets[position];
            let Some(service) = toolset.owner else { continue };
            let tools = (next..next + toolset.tools.len()).map(ToolId::at).collect();
            next += toolset.tools.len();
            let (description, mcp) = match toolset.text {
                Some(text) => {
                    let mcp = text.mcp.as_ref().map(origin);
                    (owned(text.description.as_ref()), mcp)
                }
                None => (self.project[service].description.clone(), None),
            };
            let name = toolset.name.clone();
            self.project.toolsets.push(Toolset { name, description, service, agent, mcp, tools });
        }
    }

    /// The one agent that implements a toolset.
    fn exporter(&mut self, position: usize) -> Option<AgentId> {
        let toolset = &self.toolsets[position];
        let is_remote = toolset.text.is_some_and(|text| text.mcp.is_some());
        let exports = self.exports_of(&toolset.name.value);
        let (agent, first) = exports.first().copied()?;
        let name = toolset.name.clone();
        if exports.len() > 1 {
            let places = exports.iter().map(|(_, span)| *span).collect();
            self.report.add(consumers::exported_twice(&name.value, places));
        }
        if is_remote {
            self.report.add(consumers::remote_export(first, &name));
        }
        Some(agent)
    }

    /// The agents that export a toolset, and where they say so.
    pub(super) fn exports_of(&self, toolset: &str) -> Vec<(AgentId, Span)> {
        let mut found = Vec::new();
        for (position, agent) in self.agents.iter().enumerate() {
            let exports = agent.text.exports.iter().flatten();
            let here = exports.filter(|name| name.value == toolset);
            found.extend(here.map(|name| (AgentId::at(position), name.span)));
        }
        found
    }
}

/// The server a toolset stands for, as it is written.
fn origin(text: &syntax::McpBacking) -> McpOrigin {
    let listed = text.listed.iter().flat_map(Entries::iter);
    let from = text.from.as_ref().map_or_else(McpProvenance::default, |from| McpProvenance {
        name: owned(from.name.as_ref()),
        version: owned(from.version.as_ref()),
        protocol: owned(from.protocol.as_ref()),
        date: owned(from.date.as_ref()),
    });
    McpOrigin {
        server: text.server.clone(),
        listed: listed.map(|(name, digest)| (name.value.clone(), digest.0.clone())).collect(),
        from,
    }
}
