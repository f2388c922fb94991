//! Agents and MCP servers: what they use, export and expose. They never define anything (G17).

use std::collections::BTreeMap;

use super::{DeclaredAgent, Lowering, owned, unknown};
use crate::model::{Agent, McpServer, Policy, ServiceId, ToolId, ToolsetId};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Document};

impl<'a> Lowering<'a> {
    /// Lowers every agent and MCP server.
    pub(super) fn consumers(&mut self) {
        for DeclaredAgent { service, name, text } in std::mem::take(&mut self.agents) {
            let agent = Agent {
                service,
                name: name.clone(),
                description: owned(text.description.as_ref()),
                instructions: owned(text.instructions.as_ref()),
                toolsets: self.toolsets_named(text.toolsets.as_ref()),
                tools: self.tools_named(text.tools.as_ref()),
                exports: self.toolsets_named(text.exports.as_ref()),
                policy: policy(text.policy.as_ref()),
            };
            self.project.agents.push(agent);
        }
        self.servers();
    }

    fn servers(&mut self) {
        let documents: &'a [Document] = self.documents;
        let mut first: BTreeMap<(ServiceId, &'a str), Span> = BTreeMap::new();
        for (position, document) in documents.iter().enumerate() {
            let (Some(service), Some(servers)) = (self.homes[position], &document.mcp_servers)
            else {
                continue;
            };
            for (name, text) in servers.iter() {
                match first.get(&(service, name.value.as_str())) {
                    Some(&span) => {
                        let what = "MCP servers of one service";
                        self.duplicate("duplicate-mcp-server", what, name, span);
                    }
                    None => {
                        first.insert((service, name.value.as_str()), name.span);
                    }
                }
                self.server(service, name, text);
            }
        }
    }

    fn server(&mut self, service: ServiceId, name: &Spanned<String>, text: &syntax::McpServer) {
        self.check_name("an MCP server", name);
        if text.toolsets.is_empty() {
            let message = format!("the MCP server `{}` exposes no toolset", name.value);
            self.error("empty-server", name.span, message);
        }
        let toolsets = self.toolsets_named(Some(&text.toolsets));
        let version = text.version.value.clone();
        self.project.servers.push(McpServer { service, name: name.clone(), version, toolsets });
    }

    fn toolsets_named(&mut self, names: Option<&Vec<Spanned<String>>>) -> Vec<ToolsetId> {
        let mut found = Vec::new();
        for name in names.into_iter().flatten() {
            if let Some((_, id)) = self.toolset_names.known.get(&name.value) {
                found.extend(*id);
                continue;
            }
            if self.report.is_full() {
                continue;
            }
            let finding = unknown("unknown-toolset", "toolset", name, self.toolset_names.words());
            self.report.add(finding);
        }
        found
    }

    fn tools_named(&mut self, names: Option<&Vec<Spanned<String>>>) -> Vec<ToolId> {
        names.into_iter().flatten().filter_map(|name| self.tool_named(name)).collect()
    }
}

fn policy(text: Option<&syntax::Policy>) -> Policy {
    text.map_or_else(Policy::default, |text| Policy {
        max_tool_calls: text.max_tool_calls,
        max_consecutive_failures: text.max_consecutive_failures,
        time_budget: text.time_budget.map(|period| period.0),
    })
}
