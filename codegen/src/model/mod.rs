//! The meaning of a project: services, types, toolsets, tools, agents and servers, with all references resolved and all
//! rules of the language checked. It has no Rust names.

mod http;

use std::collections::BTreeMap;
use std::ops::Index;
use std::time::Duration;

pub use http::Route;
use toolwright::http::{Part, Status};
use toolwright::outcome::Recovery;
use toolwright::remote::{ListedTool, Provenance};
pub use toolwright::spec::{Approval, CallLimits, Hints, Strictness, ToolAnnotations};

use crate::schema::{NamedType, NodeId, Schemas, TypeId};
use crate::source::{Span, Spanned};

/// Everything that the schema files declare, in declared order.
#[derive(Debug, Default)]
pub struct Project {
    /// All schemas: of types, payloads, arguments and results; and the types of all services.
    pub schemas: Schemas,
    /// The services, in the order of their first mention.
    pub services: Vec<Service>,
    /// Methods of all services.
    pub methods: Vec<Method>,
    /// Toolsets, implicit ones included.
    pub toolsets: Vec<Toolset>,
    /// Tools of all toolsets.
    pub tools: Vec<Tool>,
    /// Agents of all services.
    pub agents: Vec<Agent>,
    /// MCP servers of all services.
    pub servers: Vec<McpServer>,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident => $field:ident: $item:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(u32);

        impl $id {
            /// Returns the id of the item at a position of its list in [`Project`].
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("a project has fewer than 2^32 items of a kind"))
            }

            /// Returns the position of the item in its list.
            pub fn position(self) -> usize {
                self.0 as usize
            }

            /// Returns the ids of the first `count` items.
            pub fn first(count: usize) -> impl Iterator<Item = Self> {
                (0..count).map(Self::at)
            }
        }

        impl Index<$id> for Project {
            type Output = $item;

            fn index(&self, id: $id) -> &$item {
                &self.$field[id.0 as usize]
            }
        }
    )*};
}

ids! {
    /// The id of a [`Service`].
    ServiceId => services: Service;
    /// The id of a [`Method`].
    MethodId => methods: Method;
    /// The id of a [`Toolset`].
    ToolsetId => toolsets: Toolset;
    /// The id of a [`Tool`].
    ToolId => tools: Tool;
    /// The id of an [`Agent`].
    AgentId => agents: Agent;
    /// The id of an [`McpServer`].
    ServerId => servers: McpServer;
}

/// A provider: it owns types, methods and toolsets.
#[derive(Debug)]
pub struct Service {
    /// Its name, at its first mention.
    pub name: Spanned<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// Its types, in declared order.
    pub types: Vec<TypeId>,
    /// Its methods, in declared order.
    pub methods: Vec<MethodId>,
}

/// An operation of a service.
#[derive(Debug)]
pub struct Method {
    /// The service it belongs to.
    pub service: ServiceId,
    /// Its name.
    pub name: Spanned<String>,
    /// Its effect.
    pub description: Option<String>,
    /// Its payload, which is always an object.
    pub payload: NodeId,
    /// Its result.
    pub result: NodeId,
    /// Its declared errors.
    pub errors: Vec<MethodError>,
    /// Its HTTP request, if its service is reached over HTTP.
    pub http: Option<Route>,
}

impl Method {
    /// Returns its payload, its result, and the payloads of its errors.
    pub fn schemas(&self) -> impl Iterator<Item = NodeId> {
        let errors = self.errors.iter().filter_map(|error| error.payload);
        [self.payload, self.result].into_iter().chain(errors)
    }
}

/// A declared error of a method.
#[derive(Debug)]
pub struct MethodError {
    /// Its name.
    pub name: Spanned<String>,
    /// Its meaning, if described.
    pub description: Option<String>,
    /// The message to the caller; its properties are required properties of the payload.
    pub message: Vec<Part<String>>,
    /// Its payload, which is always an object.
    pub payload: Option<NodeId>,
    /// The advice to the caller.
    pub recovery: Recovery<()>,
    /// The HTTP status that means it.
    pub status: Option<Status>,
}

impl MethodError {
    /// Returns the message, with its properties in braces.
    pub fn template(&self) -> String {
        self.message_with(|name| format!("{{{name}}}"))
    }

    /// Returns the message with a text for each of its properties.
    pub fn message_with(&self, shown: impl Fn(&str) -> String) -> String {
        let part = |part: &Part<String>| match part {
            Part::Text(text) => text.clone(),
            Part::Property(name) => shown(name),
        };
        self.message.iter().map(part).collect()
    }
}

/// A named set of tools with one owner.
#[derive(Debug)]
pub struct Toolset {
    /// Its globally unique name.
    pub name: Spanned<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// Its version: major, minor and patch.
    pub version: Option<[u64; 3]>,
    /// The service that owns it.
    pub service: ServiceId,
    /// The agent that exports it and implements its unbound tools, if any.
    pub agent: Option<AgentId>,
    /// The remote MCP server of its tools, if any.
    pub mcp: Option<McpOrigin>,
    /// Its tools in declared order.
    pub tools: Vec<ToolId>,
}

/// The remote MCP server of a toolset, as it was at the time of the import.
#[derive(Debug)]
pub struct McpOrigin {
    /// A name for the server, by which the host finds its connection and logs name it.
    pub server: Spanned<String>,
    /// Every tool that it listed.
    pub listed: Vec<ListedTool<String>>,
    /// The server's own name, version and protocol.
    pub from: Provenance<String>,
}

/// The implementation of a tool, which is not part of the tool's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation<'a> {
    /// A method of a service.
    Method(MethodId),
    /// An agent.
    Agent(AgentId),
    /// A tool of the MCP server of this name.
    Mcp(&'a str),
    /// An executor that the host provides.
    External,
}

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// Its globally unique name.
    pub name: Spanned<String>,
    /// The toolset it belongs to.
    pub toolset: ToolsetId,
    /// A short name for people.
    pub title: Option<String>,
    /// The description that the model reads.
    pub description: String,
    /// Its arguments, which are always an object.
    pub args: NodeId,
    /// Its result.
    pub result: NodeId,
    /// Its binding to a method, if any.
    pub binding: Option<Binding>,
    /// Its name on the remote MCP server, if it is a remote tool.
    pub remote: Option<String>,
    /// Hints about its effects, for clients.
    pub annotations: ToolAnnotations,
    /// The approval that it needs before it may run.
    pub approval: Option<Approval>,
    /// Templates for showing its progress to people.
    pub hints: Hints,
    /// Example calls.
    pub examples: Vec<Example>,
    /// How its calls are run.
    pub limits: CallLimits,
    /// How much it needs model providers to enforce the schema of its arguments.
    pub strictness: Strictness,
    /// True if it is hidden from models until they search for it.
    pub is_deferred: bool,
    /// The toolset's tags, then its own.
    pub tags: Vec<String>,
    /// Earlier names, by which it can still be called; they are not listed.
    pub aliases: Vec<Spanned<String>>,
    /// Its deprecation, if any.
    pub deprecated: Option<Deprecation>,
}

/// An example call, as JSON texts.
#[derive(Debug)]
pub struct Example {
    /// The arguments.
    pub args: String,
    /// The result, if given.
    pub result: Option<String>,
}

/// How a tool calls a method.
#[derive(Debug)]
pub struct Binding {
    /// The method.
    pub method: MethodId,
    /// How the tool's arguments become the method's payload.
    pub args: ArgsShape,
    /// True if the tool's result differs from the method's.
    pub reshapes_result: bool,
    /// Payload fields that the host fills in, hidden from the model.
    pub inject: Vec<Injection>,
}

/// How a tool's arguments relate to its method's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgsShape {
    /// They are the payload.
    Same,
    /// They are the payload without the injected properties, with the same nodes.
    Derived,
    /// They have a schema of their own.
    Declared,
}

/// A payload field filled from the call's metadata.
#[derive(Debug)]
pub struct Injection {
    /// The property of the payload.
    pub property: Spanned<String>,
    /// The source of its value.
    pub source: InjectionSource,
    /// True if the payload requires it.
    pub required: bool,
}

/// The source of an injected value: a part of the call's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InjectionSource {
    /// The run's id.
    RunId,
    /// The session's id.
    SessionId,
    /// The turn's id.
    TurnId,
    /// The call's id.
    CallId,
    /// The id of the parent call.
    ParentCallId,
    /// The label with this key.
    Label(String),
}

/// The deprecation of a tool.
#[derive(Debug)]
pub struct Deprecation {
    /// The version that deprecated it.
    pub since: Option<String>,
    /// The tool to use instead.
    pub replacement: Option<ToolId>,
    /// The last day on which it is there.
    pub until: Option<String>,
}

/// An agent: it uses tools and may implement toolsets.
#[derive(Debug)]
pub struct Agent {
    /// The service it belongs to.
    pub service: ServiceId,
    /// Its name.
    pub name: Spanned<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// Its instructions.
    pub instructions: Option<String>,
    /// Whole toolsets it uses.
    pub toolsets: Vec<ToolsetId>,
    /// Single tools it uses.
    pub tools: Vec<ToolId>,
    /// Toolsets it implements.
    pub exports: Vec<ToolsetId>,
    /// Hints about the model to use.
    pub model: ModelHints,
    /// Its limits.
    pub policy: Policy,
}

/// Hints about the model of an agent.
#[derive(Clone, Debug, Default)]
pub struct ModelHints {
    /// The family of models.
    pub family: Option<String>,
    /// The amount of reasoning: `low`, `medium` or `high`.
    pub effort: Option<&'static str>,
}

/// The limits of an agent's run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// The most tool calls in total.
    pub max_tool_calls: Option<u32>,
    /// The number of failures in a row that ends the run.
    pub max_consecutive_failures: Option<u32>,
    /// The most time in total.
    pub time_budget: Option<Duration>,
    /// The number of questions to a model after which it gets one last question, for its final answer.
    pub max_model_calls: Option<u32>,
    /// The most tokens of a model's answers.
    pub max_output_tokens: Option<u32>,
    /// The most that its model may cost, in millionths of the currency of the host's prices.
    pub max_cost: Option<u64>,
}

/// An MCP server: it exposes existing toolsets.
#[derive(Debug)]
pub struct McpServer {
    /// The service it belongs to.
    pub service: ServiceId,
    /// Its name.
    pub name: Spanned<String>,
    /// The version it reports.
    pub version: String,
    /// The toolsets it exposes.
    pub toolsets: Vec<ToolsetId>,
    /// True if clients search for tools instead of listing all of them.
    pub searches: bool,
}

impl Project {
    /// Returns the implementation of a tool.
    pub fn implementation(&self, tool: ToolId) -> Implementation<'_> {
        let toolset = &self[self[tool].toolset];
        match (&self[tool].binding, toolset.agent, &toolset.mcp) {
            (Some(binding), _, _) => Implementation::Method(binding.method),
            (None, Some(agent), _) => Implementation::Agent(agent),
            (None, None, Some(mcp)) => Implementation::Mcp(&mcp.server.value),
            (None, None, None) => Implementation::External,
        }
    }

    /// Returns the schemas of the arguments and results of a toolset's tools.
    pub fn payloads(&self, toolset: ToolsetId) -> impl Iterator<Item = NodeId> {
        self[toolset].tools.iter().flat_map(|&tool| [self[tool].args, self[tool].result])
    }

    /// Returns the tools that an agent uses.
    pub fn tools_of<'a>(&'a self, agent: &'a Agent) -> impl Iterator<Item = ToolId> + 'a {
        let of_toolsets = agent.toolsets.iter().flat_map(|toolset| &self[*toolset].tools);
        of_toolsets.chain(&agent.tools).copied()
    }

    /// Returns whether an agent implements a tool, so that the model of the agent answers with the tool's result.
    pub fn is_answered(&self, tool: &Tool) -> bool {
        tool.binding.is_none() && self[tool.toolset].agent.is_some()
    }

    /// Returns the types of one service, in declared order.
    pub fn types_of(&self, service: ServiceId) -> impl Iterator<Item = TypeId> {
        self[service].types.iter().copied()
    }

    /// Returns the types of all services by their names, as `service.Type`.
    pub fn named_types(&self) -> BTreeMap<String, TypeId> {
        let types = self.services.iter().flat_map(|service| &service.types);
        let named = |&id: &TypeId| {
            let NamedType { service, name, .. } = &self.schemas[id];
            (format!("{service}.{}", name.value), id)
        };
        types.map(named).collect()
    }

    /// Returns the methods of one service, in declared order.
    pub fn methods_of(&self, service: ServiceId) -> impl Iterator<Item = MethodId> {
        self[service].methods.iter().copied()
    }

    /// Returns the span of a service's first mention.
    pub fn service_span(&self, service: ServiceId) -> Span {
        self[service].name.span
    }
}
