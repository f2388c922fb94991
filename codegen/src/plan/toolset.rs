//! The crate of a toolset. Agents and servers that use the toolset do not change it (G19 in docs/requirements.md).

use super::tool::ToolPlan;
use super::transform::{Transform, payload_function, result_function};
use super::types::{Import, Types};
use super::{Contents, Crate, Generated, Plans, docs};
use crate::model::{ArgsShape, McpOrigin, Tool, ToolId, ToolsetId};
use crate::naming::{
    Identifier, Scope, TypeName, file_name, identifier, pascal, pascal_with, toolset_package,
};

/// The contents of a toolset's crate.
#[derive(Debug)]
pub struct ToolsetCrate<'a> {
    /// The toolset's name.
    pub toolset: String,
    /// Its description.
    pub description: &'a str,
    /// The name of the service that owns it.
    pub service: &'a str,
    /// Its types.
    pub types: Types,
    /// Its tools in declared order.
    pub tools: Vec<ToolPlan<'a>>,
    /// The executor of its method-backed tools, if it has any.
    pub executor: Option<ExecutorPlan<'a>>,
    /// The name of the executor that runs its tools on an MCP server.
    pub mcp_executor: Identifier,
    /// The MCP server that runs its tools, if the schema names one.
    pub remote: Option<&'a McpOrigin>,
    /// The conversions of arguments and results that differ in type from those of their method.
    pub transforms: Vec<Transform>,
}

/// The executor of method-backed tools.
#[derive(Debug)]
pub struct ExecutorPlan<'a> {
    /// The executor's name.
    pub name: Identifier,
    /// The path of the service's crate.
    pub service_path: String,
    /// The trait's name.
    pub trait_name: Identifier,
    /// The path of the trait, for the root of the crate.
    pub trait_path: String,
    /// One arm for each tool.
    pub arms: Vec<Arm<'a>>,
}

/// The arm of an executor that runs one tool.
#[derive(Debug)]
pub struct Arm<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// The type that implements `toolwright::Tool`.
    pub marker: Identifier,
    /// The method that the tool calls.
    pub method: Identifier,
    /// The function that converts its arguments, if they differ in type.
    pub args: Option<Identifier>,
    /// The function that converts its result, if it differs in type.
    pub result: Option<Identifier>,
}

impl<'a> Plans<'a> {
    pub(super) fn toolset(&self, id: ToolsetId) -> Crate<'a> {
        let toolset = &self.project[id];
        let service = &self.project[toolset.service].name.value;
        let name = toolset.name.value.clone();
        let dir = format!("{}/tools/{}", file_name(service), file_name(&name));
        let foreign = self.names.foreign(self.project, id);
        let owner = |name: &&TypeName| match name.scope {
            Scope::Service(service) => Some(self.service_crate(service)),
            Scope::Toolset(_) => None,
        };
        let mut generated: Vec<Generated> = foreign.iter().filter_map(owner).collect();
        let bound: Vec<_> =
            toolset.tools.iter().filter(|&&tool| self.project[tool].binding.is_some()).collect();
        if !bound.is_empty() {
            generated.push(self.service_crate(toolset.service));
        }
        let description = toolset.description.as_deref().unwrap_or_default();
        let contents = ToolsetCrate {
            types: self.types(Scope::Toolset(id), self.imports(&foreign)),
            tools: toolset.tools.iter().map(|&tool| self.tool(tool)).collect(),
            executor: (!bound.is_empty()).then(|| self.executor(id)),
            mcp_executor: pascal_with(
                &name,
                if toolset.mcp.is_some() { "Executor" } else { "McpExecutor" },
            ),
            remote: toolset.mcp.as_ref(),
            transforms: bound.iter().flat_map(|&&tool| self.transforms(tool)).collect(),
            toolset: name.clone(),
            description,
            service,
        };
        let contains = if contents.types.definitions.is_empty() {
            "Specs, calls and executors"
        } else {
            "Types, codecs, specs, calls and executors"
        };
        Crate {
            package: self.package(toolset_package(&name)),
            about: format!("{contains} of the {name} toolset"),
            docs: docs::prose(description),
            dependencies: self.dependencies(
                &dir,
                &["toolwright"],
                generated,
                &contents.types.extra_crates(),
            ),
            dir,
            options: self.options,
            tools: toolset.tools.iter().map(|&tool| &self.project[tool]).collect(),
            contents: Contents::Toolset(contents),
        }
    }

    /// Returns the imports of types of services.
    pub(super) fn imports(&self, foreign: &[&TypeName]) -> Vec<Import> {
        let mut imports = Vec::<Import>::new();
        for name in foreign {
            let module = self.types_path(name.scope);
            match imports.iter_mut().find(|import| import.module == module) {
                Some(import) => import.names.push(name.name.clone()),
                None => imports.push(Import { module, names: vec![name.name.clone()] }),
            }
        }
        imports
    }

    fn executor(&self, id: ToolsetId) -> ExecutorPlan<'a> {
        let toolset = &self.project[id];
        let service = &self.project[toolset.service].name.value;
        let arms = toolset.tools.iter().filter_map(|&tool| self.arm(tool)).collect();
        let package = self.service_crate(toolset.service).package;
        ExecutorPlan {
            name: pascal_with(&toolset.name.value, "Executor"),
            service_path: self.path(&package),
            trait_name: pascal_with(service, "Service"),
            trait_path: self.trait_path(toolset.service),
            arms,
        }
    }

    fn arm(&self, id: ToolId) -> Option<Arm<'a>> {
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
