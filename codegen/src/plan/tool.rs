//! One tool: its names, its types, what its spec says.

use std::time::Duration;

use super::roots::RootType;
use super::toolset::aliases;
use super::{Planner, docs};
use crate::model::{Approval, Example, Hints, Implementation, ServiceId, ToolAnnotations, ToolId};
use crate::naming::{identifier, pascal, spec_static};
use crate::schema::{NodeId, Style, published, sample};

/// One tool.
#[derive(Debug)]
pub struct ToolPlan {
    /// The tool's type-level identity.
    pub marker: String,
    /// The static that holds its spec.
    pub constant: String,
    /// Its call builder.
    pub function: String,
    /// What it does, as doc lines.
    pub docs: Vec<String>,
    /// The type of its arguments.
    pub args: RootType,
    /// The type of its result.
    pub result: RootType,
    /// Whether a method backs it.
    pub is_bound: bool,
    /// What its spec says.
    pub declaration: DeclarationPlan,
    /// The file its arguments' schema stands in, and the schema.
    pub args_schema: (String, String),
    /// The file its result's schema stands in, and the schema.
    pub result_schema: (String, String),
}

/// What a spec says, as literals.
#[derive(Debug)]
pub struct DeclarationPlan {
    /// The tool's name.
    pub name: String,
    /// The toolset's name.
    pub toolset: String,
    /// The owner's name.
    pub service: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// The variant of `spec::Implementation` and its fields.
    pub implementation: (&'static str, Vec<(&'static str, String)>),
    /// Its name on the remote server.
    pub remote_name: Option<String>,
    /// Words to choose it by.
    pub tags: Vec<String>,
    /// Earlier names.
    pub aliases: Vec<String>,
    /// What it does to the world.
    pub annotations: ToolAnnotations,
    /// Templates: of a call, of a result.
    pub hints: (Option<String>, Option<String>),
    /// Words of an approval request: the prompt, the denial.
    pub approval: Option<(Option<String>, Option<String>)>,
    /// How long an attempt may take.
    pub timeout: Option<Duration>,
    /// How many attempts there are.
    pub attempts: Option<u32>,
    /// Whether it is a barrier.
    pub sequential: bool,
    /// Example calls.
    pub examples: Vec<ExamplePlan>,
    /// Arguments that are right, as JSON text.
    pub args_sample: Option<String>,
    /// Since when it is deprecated, and what replaces it.
    pub deprecated: Option<(Option<String>, Option<String>)>,
}

/// An example, as JSON texts.
#[derive(Debug)]
pub struct ExamplePlan {
    /// The arguments.
    pub args: String,
    /// The result.
    pub result: Option<String>,
}

impl Planner<'_> {
    pub(super) fn tool(self, id: ToolId) -> ToolPlan {
        let tool = &self.project[id];
        let name = &tool.name.value;
        let schema = |side: &str, node: NodeId| {
            (format!("{name}.{side}.json"), published(&self.project.schemas, node, Style::Pretty))
        };
        let mut docs = docs::prose(&tool.description);
        match docs.first_mut() {
            Some(first) => *first = format!("`{name}`: {first}"),
            None => docs.push(format!("`{name}`")),
        }
        ToolPlan {
            marker: pascal(name),
            constant: spec_static(name),
            function: identifier(name),
            docs,
            args: self.root_type(tool.args),
            result: self.root_type(tool.result),
            is_bound: tool.binding.is_some(),
            declaration: self.declaration(id),
            args_schema: schema("args", tool.args),
            result_schema: schema("result", tool.result),
        }
    }

    fn declaration(self, id: ToolId) -> DeclarationPlan {
        let tool = &self.project[id];
        let toolset = &self.project[tool.toolset];
        let Hints { call, result } = &tool.hints;
        let approval = tool.approval.as_ref();
        let name_of = |id: ToolId| self.project[id].name.value.clone();
        DeclarationPlan {
            name: tool.name.value.clone(),
            toolset: toolset.name.value.clone(),
            service: self.project[toolset.service].name.value.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            implementation: self.implementation(id),
            remote_name: tool.remote.clone(),
            tags: tool.tags.clone(),
            aliases: aliases(tool),
            annotations: tool.annotations,
            hints: (call.clone(), result.clone()),
            approval: approval.map(|Approval { prompt, denied }| (prompt.clone(), denied.clone())),
            timeout: tool.timeout,
            attempts: tool.attempts,
            sequential: tool.sequential,
            examples: tool.examples.iter().map(example).collect(),
            args_sample: self.args_sample(id),
            deprecated: tool
                .deprecated
                .as_ref()
                .map(|why| (why.since.clone(), why.replacement.map(name_of))),
        }
    }

    /// An example's arguments where there is an example, else some made from the schema.
    fn args_sample(self, id: ToolId) -> Option<String> {
        let tool = &self.project[id];
        let made = || sample(&self.project.schemas, tool.args);
        tool.examples
            .first()
            .map(|example| example.args.clone())
            .or_else(made)
            .map(|args| args.to_string())
    }

    fn implementation(self, id: ToolId) -> (&'static str, Vec<(&'static str, String)>) {
        let service = |id: ServiceId| self.project[id].name.value.clone();
        match self.project.implementation(id) {
            Implementation::Method(method) => {
                let method = &self.project[method];
                (
                    "Method",
                    vec![
                        ("service", service(method.service)),
                        ("method", method.name.value.clone()),
                    ],
                )
            }
            Implementation::Agent(agent) => {
                let agent = &self.project[agent];
                (
                    "Agent",
                    vec![("service", service(agent.service)), ("agent", agent.name.value.clone())],
                )
            }
            Implementation::Mcp(server) => ("Mcp", vec![("server", server.to_owned())]),
            Implementation::External => ("External", Vec::new()),
        }
    }
}

fn example(example: &Example) -> ExamplePlan {
    ExamplePlan {
        args: example.args.to_string(),
        result: example.result.as_ref().map(ToString::to_string),
    }
}
