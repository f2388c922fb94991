//! A toolset's crate. Planned from the definition alone: who uses the toolset changes nothing here
//! (G19).

use super::tool::ToolPlan;
use super::transform::{Transform, payload_function, result_function};
use super::types::Types;
use super::{Contents, Crate, Planner};
use crate::model::{ArgsShape, McpOrigin, Tool, ToolId, ToolsetId};
use crate::naming::{Scope, identifier, pascal, pascal_part, toolset_package};

/// What a toolset's crate holds.
#[derive(Debug)]
pub struct ToolsetCrate<'a> {
    /// The toolset's name.
    pub toolset: String,
    /// Its types.
    pub types: Types,
    /// Its tools in declared order.
    pub tools: Vec<ToolPlan<'a>>,
    /// What runs its method-backed tools, where it has any.
    pub executor: Option<ExecutorPlan<'a>>,
    /// The MCP server that runs its tools, where it stands for one.
    pub remote: Option<RemotePlan<'a>>,
    /// Arguments and results whose shape differs from their method's.
    pub transforms: Vec<Transform>,
}

/// What runs method-backed tools.
#[derive(Debug)]
pub struct ExecutorPlan<'a> {
    /// The executor's name.
    pub name: String,
    /// The path of the service's crate.
    pub service_path: String,
    /// The trait's name.
    pub trait_name: String,
    /// One arm a tool.
    pub arms: Vec<Arm<'a>>,
}

/// The MCP server a toolset stands for.
#[derive(Debug)]
pub struct RemotePlan<'a> {
    /// The executor's name.
    pub executor: String,
    /// The server, as the toolset's file describes it.
    pub mcp: &'a McpOrigin,
}

/// How one tool runs.
#[derive(Debug)]
pub struct Arm<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// Its type-level identity.
    pub marker: String,
    /// The method.
    pub method: String,
    /// The transform of its arguments, where their shape differs.
    pub args: Option<String>,
    /// The transform of its result, where its shape differs.
    pub result: Option<String>,
}

impl<'a> Planner<'a> {
    pub(super) fn toolset(self, id: ToolsetId) -> Crate<'a> {
        let toolset = &self.project[id];
        let service = &self.project[toolset.service].name.value;
        let name = toolset.name.value.clone();
        let dir = format!("{service}/tools/{name}");
        let (imports, mut generated) = self.reexports(id);
        let bound: Vec<_> =
            toolset.tools.iter().filter(|&&tool| self.project[tool].binding.is_some()).collect();
        if !bound.is_empty() {
            generated.push(self.service_dependency(toolset.service));
        }
        let contents = ToolsetCrate {
            types: self.types(Scope::Toolset(id), imports),
            tools: toolset.tools.iter().map(|&tool| self.tool(tool)).collect(),
            executor: (!bound.is_empty()).then(|| self.executor(id)),
            remote: toolset
                .mcp
                .as_ref()
                .map(|mcp| RemotePlan { executor: executor_name(&name), mcp }),
            transforms: bound.iter().flat_map(|&&tool| self.transforms(tool)).collect(),
            toolset: name.clone(),
        };
        Crate {
            package: toolset_package(&name),
            about: format!("Types, codecs, specs and calls of the {name} toolset"),
            dependencies: self.dependencies(&dir, &["toolwright"], generated),
            dir,
            needs_patterns: contents.types.needs_tables(),
            workspace_lints: self.options.workspace_lints,
            tools: toolset.tools.iter().map(|&tool| &self.project[tool]).collect(),
            contents: Contents::Toolset(contents),
        }
    }

    /// The types a toolset offers again, by path, and the packages they come from.
    #[expect(clippy::type_complexity, reason = "two lists of pairs, named in the line above")]
    fn reexports(self, id: ToolsetId) -> (Vec<(String, Vec<String>)>, Vec<(String, String)>) {
        let mut paths: Vec<(String, Vec<String>)> = Vec::new();
        let mut packages = Vec::new();
        for name in self.names.foreign(self.project, id) {
            let path = self.types_path(name.scope);
            match paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, names)) => names.push(name.name.clone()),
                None => paths.push((path, vec![name.name.clone()])),
            }
            if let Scope::Service(service) = name.scope {
                packages.push(self.service_dependency(service));
            }
        }
        (paths, packages)
    }

    fn executor(self, id: ToolsetId) -> ExecutorPlan<'a> {
        let toolset = &self.project[id];
        let service = &self.project[toolset.service].name.value;
        let arms = toolset.tools.iter().filter_map(|&tool| self.arm(tool)).collect();
        ExecutorPlan {
            name: executor_name(&toolset.name.value),
            service_path: self.path(&self.service_dependency(toolset.service).0),
            trait_name: format!("{}Service", pascal_part(service)),
            arms,
        }
    }

    fn arm(self, id: ToolId) -> Option<Arm<'a>> {
        let tool = &self.project[id];
        let binding = tool.binding.as_ref()?;
        let name = &tool.name.value;
        Some(Arm {
            tool,
            marker: pascal(name),
            method: identifier(&self.project[binding.method].name.value),
            args: (binding.args != ArgsShape::Same).then(|| payload_function(name)),
            result: binding.reshapes_result.then(|| result_function(name)),
        })
    }
}

/// What runs the tools of a toolset.
fn executor_name(toolset: &str) -> String {
    format!("{}Executor", pascal_part(toolset))
}
