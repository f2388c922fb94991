//! A toolset's crate. Planned from the definition alone: who uses the toolset changes nothing here
//! (G19).

use std::time::Duration;

use super::types::Types;
use super::{Contents, Crate, Planner, docs};
use crate::model::{
    Approval, ArgsShape, Binding, Example, Hints, Implementation, Injection, InjectionSource,
    MethodId, ServiceId, Tool, ToolAnnotations, ToolId, ToolsetId,
};
use crate::naming::{Scope, additional_field, identifier, pascal, screaming, toolset_package};
use crate::schema::{Additional, NodeId, ObjectShape, Shape, published};

/// What a toolset's crate holds.
#[derive(Debug)]
pub struct ToolsetCrate {
    /// The toolset's name.
    pub toolset: String,
    /// Its types.
    pub types: Types,
    /// Its tools in declared order.
    pub tools: Vec<ToolPlan>,
    /// What runs its method-backed tools, where it has any.
    pub executor: Option<ExecutorPlan>,
    /// Arguments and results whose shape differs from their method's.
    pub transforms: Vec<Transform>,
}

/// The type of arguments, a payload or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootType {
    /// A type of some `types` module.
    Named(String),
    /// Any JSON value.
    Value,
    /// `null`
    Unit,
}

impl RootType {
    /// Whether it stands in some `types` module.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }
}

/// A root type and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedType {
    /// The path of its module; the `types` beside, where there is none.
    pub path: Option<String>,
    /// The type.
    pub ty: RootType,
}

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

/// What runs method-backed tools.
#[derive(Debug)]
pub struct ExecutorPlan {
    /// The executor's name.
    pub name: String,
    /// The service's name.
    pub service: String,
    /// The path of the service's crate.
    pub service_path: String,
    /// The trait's name.
    pub trait_name: String,
    /// One arm a tool.
    pub arms: Vec<Arm>,
}

/// How one tool runs.
#[derive(Debug)]
pub struct Arm {
    /// The names it answers to, its own first.
    pub names: Vec<String>,
    /// Its type-level identity.
    pub marker: String,
    /// The method.
    pub method: String,
    /// The transform of its arguments, where their shape differs.
    pub args: Option<String>,
    /// The transform of its result, where its shape differs.
    pub result: Option<String>,
}

/// One function of `transforms.rs`.
#[derive(Debug)]
pub struct Transform {
    /// The tool's name.
    pub tool: String,
    /// The tool's type-level identity.
    pub marker: String,
    /// The function's name.
    pub function: String,
    /// The tool's side.
    pub tool_type: RootType,
    /// The method's side.
    pub method_type: LocatedType,
    /// What it does.
    pub body: TransformBody,
}

/// How one shape becomes the other.
#[derive(Debug)]
pub enum TransformBody {
    /// Field by field.
    Move(Move),
    /// By way of JSON, with injected properties added.
    Reshape(Vec<InjectedValue>),
    /// A result, by way of JSON.
    ReshapeResult,
}

/// A payload built field by field.
#[derive(Debug)]
pub struct Move {
    /// The fields moved over.
    pub fields: Vec<String>,
    /// The fields filled in: the field, its value.
    pub injected: Vec<(String, InjectedValue)>,
    /// The fields for what stands beside the properties: the payload's, the arguments'.
    pub additional: Option<(String, String)>,
}

/// A value from the call's metadata.
#[derive(Clone, Debug)]
pub struct InjectedValue {
    /// The property.
    pub property: String,
    /// What it is called in messages.
    pub source: String,
    /// The method of `ToolCall` that gives it, and its argument.
    pub getter: (&'static str, Option<String>),
    /// Whether the payload requires it.
    pub required: bool,
    /// The path of the type to wrap the string in.
    pub wrapper: Option<String>,
}

impl<'a> Planner<'a> {
    pub(super) fn toolset(self, id: ToolsetId) -> Crate {
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
            transforms: bound.iter().flat_map(|&&tool| self.transforms(tool)).collect(),
            toolset: name.clone(),
        };
        Crate {
            package: toolset_package(&name),
            about: format!("Types, codecs, specs and calls of the {name} toolset"),
            dependencies: self.dependencies(&dir, &["toolwright"], generated),
            dir,
            workspace_lints: self.options.workspace_lints,
            tools: self.tool_table(&toolset.tools),
            contents: Contents::Toolset(contents),
        }
    }

    pub(super) fn tool_table(self, tools: &[ToolId]) -> Vec<(String, String)> {
        let row = |&id: &ToolId| {
            (self.project[id].name.value.clone(), self.project[id].description.clone())
        };
        tools.iter().map(row).collect()
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

    fn tool(self, id: ToolId) -> ToolPlan {
        let tool = &self.project[id];
        let name = &tool.name.value;
        let schema = |side: &str, node: NodeId| {
            (format!("{name}.{side}.json"), published(self.project, node).pretty())
        };
        let mut docs = docs::prose(&tool.description);
        match docs.first_mut() {
            Some(first) => *first = format!("`{name}`: {first}"),
            None => docs.push(format!("`{name}`")),
        }
        ToolPlan {
            marker: pascal(name),
            constant: screaming(name),
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
            deprecated: tool
                .deprecated
                .as_ref()
                .map(|why| (why.since.clone(), why.replacement.map(name_of))),
        }
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

    fn executor(self, id: ToolsetId) -> ExecutorPlan {
        let toolset = &self.project[id];
        let service = self.project[toolset.service].name.value.clone();
        let arms = toolset.tools.iter().filter_map(|&tool| self.arm(tool)).collect();
        ExecutorPlan {
            name: format!("{}Executor", pascal(&toolset.name.value)),
            service_path: self.path(&self.service_dependency(toolset.service).0),
            trait_name: format!("{}Service", pascal(&service)),
            service,
            arms,
        }
    }

    fn arm(self, id: ToolId) -> Option<Arm> {
        let tool = &self.project[id];
        let binding = tool.binding.as_ref()?;
        let name = &tool.name.value;
        let own = std::iter::once(name.clone());
        Some(Arm {
            names: own.chain(aliases(tool)).collect(),
            marker: pascal(name),
            method: identifier(&self.project[binding.method].name.value),
            args: (binding.args != ArgsShape::Same).then(|| payload_function(name)),
            result: binding.reshapes_result.then(|| result_function(name)),
        })
    }

    fn transforms(self, id: ToolId) -> Vec<Transform> {
        let tool = &self.project[id];
        let Some(binding) = &tool.binding else { return Vec::new() };
        let args = (binding.args != ArgsShape::Same).then(|| self.payload_transform(tool, binding));
        let result = binding.reshapes_result.then(|| self.result_transform(tool, binding.method));
        args.into_iter().chain(result).collect()
    }

    fn payload_transform(self, tool: &Tool, binding: &Binding) -> Transform {
        let name = tool.name.value.clone();
        let payload = self.project[binding.method].payload;
        let injected: Option<Vec<_>> =
            binding.inject.iter().map(|injection| self.injected(injection, payload)).collect();
        let moved = (binding.args == ArgsShape::Derived)
            .then(|| self.field_moves(tool.args, payload, injected?))
            .flatten();
        let body = match moved {
            Some(moved) => TransformBody::Move(moved),
            None => TransformBody::Reshape(binding.inject.iter().map(injected_value).collect()),
        };
        Transform {
            marker: pascal(&name),
            function: payload_function(&name),
            tool_type: self.root_type(tool.args),
            method_type: self.located_type(payload, None),
            body,
            tool: name,
        }
    }

    fn result_transform(self, tool: &Tool, method: MethodId) -> Transform {
        let name = tool.name.value.clone();
        Transform {
            marker: pascal(&name),
            function: result_function(&name),
            tool_type: self.root_type(tool.result),
            method_type: self.located_type(self.project[method].result, None),
            body: TransformBody::ReshapeResult,
            tool: name,
        }
    }

    /// A type with the path of its module, unless that is the `types` of the scope itself.
    pub(super) fn located_type(self, node: NodeId, own: Option<Scope>) -> LocatedType {
        let node = self.resolved(node);
        let foreign = self.names.get(node).filter(|name| Some(name.scope) != own);
        LocatedType {
            path: foreign.map(|name| self.types_path(name.scope)),
            ty: self.root_type(node),
        }
    }

    /// The node behind references that have no type of their own.
    fn resolved(self, node: NodeId) -> NodeId {
        match self.project.schemas[node].shape {
            Shape::Named(id) => self.resolved(self.project[id].schema),
            Shape::Local(target) => self.resolved(target),
            _ => node,
        }
    }

    /// The object a node accepts; arguments and payloads always are objects.
    fn object(self, node: NodeId) -> Option<&'a ObjectShape> {
        match &self.project.schemas[self.resolved(node)].shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    fn field_moves(
        self,
        args: NodeId,
        payload: NodeId,
        injected: Vec<InjectedValue>,
    ) -> Option<Move> {
        let (args, payload) = (self.object(args)?, self.object(payload)?);
        let is_injected = |key: &str| injected.iter().any(|value| value.property == key);
        let keys =
            payload.fields(&self.project.schemas).map(|property| property.name.value.as_str());
        let fields = keys.filter(|key| !is_injected(key)).map(identifier).collect();
        let additional = (payload.additional != Additional::Closed)
            .then(|| (additional_field_of(payload), additional_field_of(args)));
        let injected =
            injected.into_iter().map(|value| (identifier(&value.property), value)).collect();
        Some(Move { fields, injected, additional })
    }

    /// An injected value as a typed field; none where the field is more than a string.
    fn injected(self, injection: &Injection, payload: NodeId) -> Option<InjectedValue> {
        let object = self.object(payload)?;
        let key = &injection.property.value;
        let property = object.properties.iter().find(|property| property.name.value == *key)?;
        let node = self.resolved(property.schema);
        if !matches!(self.project.schemas[node].shape, Shape::String(_)) {
            return None;
        }
        let wrapper = self
            .names
            .get(node)
            .map(|name| format!("{}::{}", self.types_path(name.scope), name.name));
        Some(InjectedValue { wrapper, ..injected_value(injection) })
    }
}

fn additional_field_of(object: &ObjectShape) -> String {
    additional_field(object.properties.iter().map(|property| property.name.value.as_str()))
}

fn payload_function(tool: &str) -> String {
    format!("{tool}_payload")
}

fn result_function(tool: &str) -> String {
    format!("{tool}_result")
}

fn aliases(tool: &Tool) -> Vec<String> {
    tool.aliases.iter().map(|alias| alias.value.clone()).collect()
}

fn example(example: &Example) -> ExamplePlan {
    ExamplePlan {
        args: example.args.to_string(),
        result: example.result.as_ref().map(ToString::to_string),
    }
}

fn injected_value(injection: &Injection) -> InjectedValue {
    let (source, getter) = match &injection.source {
        InjectionSource::RunId => ("run id".to_owned(), ("run_id", None)),
        InjectionSource::SessionId => ("session id".to_owned(), ("session_id", None)),
        InjectionSource::TurnId => ("turn id".to_owned(), ("turn_id", None)),
        InjectionSource::CallId => ("own id".to_owned(), ("id", None)),
        InjectionSource::ParentCallId => ("parent call id".to_owned(), ("parent_call_id", None)),
        InjectionSource::Label(key) => (format!("label `{key}`"), ("label", Some(key.clone()))),
    };
    InjectedValue {
        property: injection.property.value.clone(),
        source,
        getter,
        required: injection.required,
        wrapper: None,
    }
}
