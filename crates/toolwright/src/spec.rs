//! What is known about a tool: its words, its schemas, its provenance, its codecs. Never runs a tool.

use std::fmt;
use std::time::Duration;

use crate::codec::{self, Decode, Encode};
use crate::described::Described;
pub use crate::discovery::Discovery;
use crate::issue::InvalidPayload;

/// A tool as a type: generated code has one such type, without fields, a tool.
pub trait Tool: Copy + Send + Sync + 'static {
    /// What the model sends.
    type Args: Decode + Encode;
    /// What the tool returns.
    type Result: Decode + Encode;
    /// Everything else that is known about it.
    const SPEC: &'static ToolSpec;
}

/// Everything known about one tool, whether it was known at generation or discovered at run time.
pub struct ToolSpec {
    facts: Facts,
    check_args: Check,
    check_result: Check,
}

/// Where a spec's words are kept.
enum Facts {
    Declared(Declaration),
    Discovered(Box<Discovery>),
}

/// What judges a payload: a codec, or whatever the discoverer brought.
enum Check {
    Codec(fn(&[u8]) -> Result<(), InvalidPayload>),
    Brought(Box<dyn Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync>),
}

/// What a discovered tool does not say.
static UNSAID: Declaration = Declaration::new("", "", "");

/// What a schema file says about a tool. Generated code writes it; read it through [`ToolSpec`].
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The globally unique name.
    pub name: &'static str,
    /// A short name for people.
    pub title: Option<&'static str>,
    /// What the tool does, for the model.
    pub description: &'static str,
    /// The toolset it belongs to.
    pub toolset: &'static str,
    /// The service that owns it.
    pub service: &'static str,
    /// What runs it.
    pub implementation: Implementation,
    /// Its name on the remote MCP server it lives on.
    pub remote_name: Option<&'static str>,
    /// Words to choose tools by.
    pub tags: &'static [&'static str],
    /// Earlier names: still routed, never advertised.
    pub aliases: &'static [&'static str],
    /// What it does to the world.
    pub annotations: ToolAnnotations,
    /// Templates for showing its progress.
    pub hints: Hints,
    /// What it needs before it may run.
    pub approval: Option<Approval>,
    /// How its calls are run.
    pub limits: CallLimits,
    /// Example calls, valid under the schemas.
    pub examples: &'static [Example],
    /// Arguments that are right, made from the schema where there is no example.
    pub args_sample: Option<&'static str>,
    /// Why it should no longer be used.
    pub deprecated: Option<Deprecation>,
    /// The arguments' JSON Schema (2020-12), as text.
    pub args_schema: &'static str,
    /// The result's JSON Schema (2020-12), as text.
    pub result_schema: &'static str,
}

/// What runs a tool: provenance, never identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// A method of a service.
    Method {
        /// The service.
        service: &'static str,
        /// The method.
        method: &'static str,
    },
    /// An agent of a service.
    Agent {
        /// The service.
        service: &'static str,
        /// The agent.
        agent: &'static str,
    },
    /// A tool of a remote MCP server.
    Mcp {
        /// The name the host knows the server by.
        server: &'static str,
    },
    /// An executor the host brings.
    External,
}

/// MCP's hints on what a tool does (`ToolAnnotations` of the MCP specification); `None` says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond the system it belongs to.
    pub open_world: Option<bool>,
}

/// minijinja templates over `args`, `result` and `tool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Shown when a call starts.
    pub call: Option<&'static str>,
    /// Shown when its result is there.
    pub result: Option<&'static str>,
}

/// The words of an approval request; minijinja templates over `args` and `tool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approval {
    /// What the approver is asked.
    pub prompt: Option<&'static str>,
    /// What the model is told on a no.
    pub denied: Option<&'static str>,
}

/// How calls of a tool are run; `None` leaves the choice to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// How many attempts a transient failure gets in all.
    pub attempts: Option<u32>,
    /// Whether the tool is a barrier among concurrent calls.
    pub sequential: bool,
}

/// An example call, as JSON texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The arguments.
    pub args: &'static str,
    /// The result, where one is shown.
    pub result: Option<&'static str>,
}

/// Why a tool should no longer be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The version since when.
    pub since: Option<&'static str>,
    /// The tool to use instead.
    pub replacement: Option<&'static str>,
}

impl Declaration {
    /// A declaration that says no more than it must: described, owned, run by the host, any schema.
    pub const fn new(name: &'static str, toolset: &'static str, service: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: "",
            toolset,
            service,
            implementation: Implementation::External,
            remote_name: None,
            tags: &[],
            aliases: &[],
            annotations: ToolAnnotations::UNKNOWN,
            hints: Hints { call: None, result: None },
            approval: None,
            limits: CallLimits::UNLIMITED,
            examples: &[],
            args_sample: None,
            deprecated: None,
            args_schema: "{}",
            result_schema: "{}",
        }
    }
}

impl ToolAnnotations {
    /// Nothing said.
    pub const UNKNOWN: Self =
        Self { read_only: None, destructive: None, idempotent: None, open_world: None };
}

impl CallLimits {
    /// Everything left to the host.
    pub const UNLIMITED: Self = Self { timeout: None, attempts: None, sequential: false };
}

impl ToolSpec {
    /// The spec of a tool known at generation: its declaration, and the codecs of its types.
    pub const fn typed<T: Tool>(tool: T, declaration: Declaration) -> Self {
        let _ = tool;
        Self {
            facts: Facts::Declared(declaration),
            check_args: Check::Codec(codec::check::<T::Args>),
            check_result: Check::Codec(codec::check::<T::Result>),
        }
    }

    /// The spec of a tool that is met at run time, with what judges its payloads.
    pub fn discovered(
        discovery: Discovery,
        check_args: impl Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync + 'static,
        check_result: impl Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync + 'static,
    ) -> Self {
        Self {
            facts: Facts::Discovered(Box::new(discovery)),
            check_args: Check::Brought(Box::new(check_args)),
            check_result: Check::Brought(Box::new(check_result)),
        }
    }

    /// The spec of a tool that is written by hand: its types bring codecs and schemas, so the schemas of the discovery
    /// do not count.
    pub fn described<A: Described, R: Described>(discovery: Discovery) -> Self {
        let (args_schema, result_schema) = (A::schema().to_string(), R::schema().to_string());
        let discovery = Discovery { args_schema, result_schema, ..discovery };
        Self {
            facts: Facts::Discovered(Box::new(discovery)),
            check_args: Check::Codec(codec::check::<A>),
            check_result: Check::Codec(codec::check::<R>),
        }
    }

    /// What the schema file said; nothing for a discovered tool.
    fn declaration(&self) -> &Declaration {
        match &self.facts {
            Facts::Declared(declaration) => declaration,
            Facts::Discovered(_) => &UNSAID,
        }
    }

    /// The globally unique name; also its id.
    pub fn name(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.name,
            Facts::Discovered(discovery) => &discovery.name,
        }
    }

    /// A short name for people.
    pub fn title(&self) -> Option<&str> {
        match &self.facts {
            Facts::Declared(declaration) => declaration.title,
            Facts::Discovered(discovery) => discovery.title.as_deref(),
        }
    }

    /// What the tool does, for the model.
    pub fn description(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.description,
            Facts::Discovered(discovery) => &discovery.description,
        }
    }

    /// The toolset it belongs to.
    pub fn toolset(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.toolset,
            Facts::Discovered(discovery) => &discovery.toolset,
        }
    }

    /// The service that owns it.
    pub fn service(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.service,
            Facts::Discovered(discovery) => &discovery.service,
        }
    }

    /// What runs it.
    pub fn implementation(&self) -> Implementation {
        self.declaration().implementation
    }

    /// Its name on the remote MCP server it lives on, for a tool that lives on one.
    pub fn remote_name(&self) -> Option<&str> {
        match &self.facts {
            Facts::Declared(declaration) => declaration.remote_name,
            Facts::Discovered(discovery) => discovery.remote_name.as_deref(),
        }
    }

    /// Words to choose tools by: the toolset's, then its own.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let discovered: &[String] = match &self.facts {
            Facts::Declared(_) => &[],
            Facts::Discovered(discovery) => &discovery.tags,
        };
        let declared = self.declaration().tags.iter().copied();
        declared.chain(discovered.iter().map(String::as_str))
    }

    /// Earlier names: still routed, never advertised.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.declaration().aliases.iter().copied()
    }

    /// Whether a name is this tool's own or one of its earlier ones.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name() == name || self.aliases().any(|alias| alias == name)
    }

    /// What it does to the world.
    pub fn annotations(&self) -> ToolAnnotations {
        match &self.facts {
            Facts::Declared(declaration) => declaration.annotations,
            Facts::Discovered(discovery) => discovery.annotations,
        }
    }

    /// Templates for showing its progress.
    pub fn hints(&self) -> Hints {
        self.declaration().hints
    }

    /// What it needs before it may run.
    pub fn approval(&self) -> Option<Approval> {
        match &self.facts {
            Facts::Declared(declaration) => declaration.approval,
            Facts::Discovered(discovery) => discovery.approval,
        }
    }

    /// How its calls are run.
    pub fn limits(&self) -> CallLimits {
        match &self.facts {
            Facts::Declared(declaration) => declaration.limits,
            Facts::Discovered(discovery) => discovery.limits,
        }
    }

    /// Example calls, valid under the schemas.
    pub fn examples(&self) -> &[Example] {
        self.declaration().examples
    }

    /// Arguments that are right, as JSON text: those of the first example, or some made from the schema.
    pub fn args_sample(&self) -> Option<&str> {
        self.declaration()
            .examples
            .first()
            .map(|example| example.args)
            .or(self.declaration().args_sample)
    }

    /// Why it should no longer be used.
    pub fn deprecated(&self) -> Option<Deprecation> {
        self.declaration().deprecated
    }

    /// Whether it is offered to models: all but deprecated tools are.
    pub fn is_advertised(&self) -> bool {
        self.declaration().deprecated.is_none()
    }

    /// The arguments' JSON Schema (2020-12), as text.
    pub fn args_schema(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.args_schema,
            Facts::Discovered(discovery) => &discovery.args_schema,
        }
    }

    /// The result's JSON Schema (2020-12), as text.
    pub fn result_schema(&self) -> &str {
        match &self.facts {
            Facts::Declared(declaration) => declaration.result_schema,
            Facts::Discovered(discovery) => &discovery.result_schema,
        }
    }

    /// Checks arguments against their schema.
    ///
    /// # Errors
    ///
    /// Every issue found.
    pub fn check_args(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        self.check_args.judge(json)
    }

    /// Checks a result against its schema.
    ///
    /// # Errors
    ///
    /// Every issue found.
    pub fn check_result(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        self.check_result.judge(json)
    }
}

impl Check {
    fn judge(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        match self {
            Self::Codec(check) => check(json),
            Self::Brought(check) => check(json),
        }
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.facts {
            Facts::Declared(declaration) => declaration.fmt(f),
            Facts::Discovered(discovery) => discovery.fmt(f),
        }
    }
}

/// The specs of a set that are offered to models.
pub fn advertised(specs: &'static [&'static ToolSpec]) -> impl Iterator<Item = &'static ToolSpec> {
    specs.iter().copied().filter(|spec| spec.is_advertised())
}
