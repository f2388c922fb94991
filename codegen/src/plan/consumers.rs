//! The crates of consumers: agents and MCP servers. They refer to the crates of providers and define no types (G17 in
//! docs/requirements.md).

use std::collections::BTreeSet;

use super::{Contents, Crate, Generated, Plans, docs};
use crate::model::{Agent, AgentId, McpServer, ServerId, ToolId, ToolsetId};
use crate::naming::{
    Identifier, agent_package, file_name, identifier, identifier_with, mcp_package, spec_static,
    toolset_package,
};

/// The contents of an agent's crate.
#[derive(Debug)]
pub struct AgentCrate<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The name of the service it belongs to.
    pub service: &'a str,
    /// The tools that it uses, in declared order and without duplicates.
    pub tools: Vec<ToolPath>,
    /// The tools that it implements.
    pub exports: Vec<ToolPath>,
}

/// A tool of another crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPath {
    /// The path of the toolset's crate.
    pub path: String,
    /// The static that holds its spec.
    pub constant: Identifier,
    /// The function that builds a call.
    pub function: Identifier,
    /// Set if the tool is deprecated.
    pub is_deprecated: bool,
}

/// The contents of an MCP server's crate.
#[derive(Debug)]
pub struct ServerCrate<'a> {
    /// The server.
    pub server: &'a McpServer,
    /// The toolsets it exposes.
    pub providers: Vec<Provider>,
}

/// A toolset that a server exposes.
#[derive(Debug)]
pub struct Provider {
    /// The path of its crate, for the root of the server's crate.
    pub path: String,
    /// The parameter for the service whose methods its tools call.
    pub service: Option<ServiceParameter>,
    /// The parameter for the connection to the MCP server that runs its tools.
    pub remote: Option<Identifier>,
    /// The parameter for the executor of its other tools.
    pub executor: Option<Identifier>,
}

/// A parameter for an implementation of a service's trait.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceParameter {
    /// Its name.
    pub name: Identifier,
    /// The path of the trait, for the root of the server's crate.
    pub trait_path: String,
}

impl<'a> Plans<'a> {
    pub(super) fn agent(&self, id: AgentId) -> Crate<'a> {
        let agent = &self.project[id];
        let service = &self.project[agent.service].name.value;
        let name = &agent.name.value;
        let dir = format!("{}/agents/{}", file_name(service), file_name(name));
        let whole = agent.toolsets.iter().flat_map(|&toolset| &self.project[toolset].tools);
        let mut used: Vec<ToolId> = whole.chain(&agent.tools).copied().collect();
        let mut seen = std::collections::BTreeSet::new();
        used.retain(|&tool| seen.insert(tool));
        let exported: Vec<ToolId> =
            agent.exports.iter().flat_map(|&toolset| self.project[toolset].tools.clone()).collect();
        let toolsets = used.iter().chain(&exported).map(|&tool| self.project[tool].toolset);
        let generated = toolsets.map(|toolset| self.toolset_crate(toolset)).collect();
        Crate {
            package: self.package(agent_package(service, name)),
            about: format!("The {name} agent: the tools that it uses, and its registration"),
            docs: docs::prose(agent.description.as_deref().unwrap_or_default()),
            dependencies: self.dependencies(
                &dir,
                &["toolwright", "toolwright-runtime"],
                generated,
                &BTreeSet::new(),
            ),
            dir,
            options: self.options,
            tools: used.iter().map(|&tool| &self.project[tool]).collect(),
            contents: Contents::Agent(AgentCrate {
                agent,
                service,
                tools: used.iter().map(|&tool| self.tool_path(tool)).collect(),
                exports: exported.iter().map(|&tool| self.tool_path(tool)).collect(),
            }),
        }
    }

    pub(super) fn server(&self, id: ServerId) -> Crate<'a> {
        let server = &self.project[id];
        let service = &self.project[server.service].name.value;
        let name = &server.name.value;
        let dir = format!("{}/mcp/{}", file_name(service), file_name(name));
        let mut generated: Vec<_> =
            server.toolsets.iter().map(|&toolset| self.toolset_crate(toolset)).collect();
        let providers: Vec<_> =
            server.toolsets.iter().map(|&toolset| self.provider(toolset)).collect();
        for (&toolset, provider) in server.toolsets.iter().zip(&providers) {
            if provider.service.is_some() {
                generated.push(self.service_crate(self.project[toolset].service));
            }
        }
        let tools = server.toolsets.iter().flat_map(|&toolset| &self.project[toolset].tools);
        Crate {
            package: self.package(mcp_package(service, name)),
            about: format!("The {name} MCP server"),
            docs: Vec::new(),
            dependencies: self.dependencies(
                &dir,
                &["toolwright", "toolwright-mcp"],
                generated,
                &BTreeSet::new(),
            ),
            dir,
            options: self.options,
            tools: tools.map(|&tool| &self.project[tool]).collect(),
            contents: Contents::Server(ServerCrate { server, providers }),
        }
    }

    fn toolset_crate(&self, id: ToolsetId) -> Generated {
        let toolset = &self.project[id];
        let service = &self.project[toolset.service].name.value;
        let name = &toolset.name.value;
        Generated {
            package: self.package(toolset_package(name)),
            dir: format!("{}/tools/{}", file_name(service), file_name(name)),
        }
    }

    fn tool_path(&self, id: ToolId) -> ToolPath {
        let tool = &self.project[id];
        let toolset = &self.project[tool.toolset].name.value;
        ToolPath {
            path: self.path(&self.package(toolset_package(toolset))),
            constant: spec_static(&tool.name.value),
            function: identifier(&tool.name.value),
            is_deprecated: tool.deprecated.is_some(),
        }
    }

    fn provider(&self, id: ToolsetId) -> Provider {
        let toolset = &self.project[id];
        let name = &toolset.name.value;
        let is_bound = |&&tool: &&ToolId| self.project[tool].binding.is_some();
        let bound = toolset.tools.iter().filter(is_bound).count();
        let service = (bound > 0).then(|| {
            let service = &self.project[toolset.service].name.value;
            ServiceParameter {
                name: identifier_with(service, "service"),
                trait_path: self.trait_path(toolset.service),
            }
        });
        Provider {
            path: self.root_path(&self.package(toolset_package(name))),
            service,
            remote: toolset.mcp.is_some().then(|| identifier_with(name, "remote")),
            executor: (toolset.mcp.is_none() && bound < toolset.tools.len())
                .then(|| identifier_with(name, "executor")),
        }
    }
}
