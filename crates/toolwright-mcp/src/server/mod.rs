//! A server before it serves: which toolsets it exposes, and what runs them. Never speaks the
//! protocol: see `handler`.

mod answer;
mod content;
mod counters;
mod error;
mod exposure;
mod handler;
#[cfg(feature = "http-server")]
mod http;
mod limits;
mod lines;
mod listing;
mod message;
mod operators;
mod progress;
mod serve;
#[cfg(feature = "http-server")]
mod sessions;
mod tool_list;
mod wrapping;

pub use content::Content;
pub use counters::{Counters, Counts};
pub use error::ServeError;
#[cfg(feature = "http-server")]
pub use http::{Bearer, BearerLayer, HttpOptions};
pub use limits::Limits;
pub use tool_list::ToolList;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use toolwright::{Executor, ExecutorFactory, Payload, Registrar, RegistrationError, ToolSpec};
use toolwright_runtime::{Approver, Execute, Registry};

use content::Presentation;

/// What a schema file says about one MCP server. Generated code writes it as a static.
#[derive(Clone, Copy, Debug)]
pub struct ServerSpec {
    /// The name clients see.
    pub name: &'static str,
    /// The version clients see.
    pub version: &'static str,
    /// The toolsets it exposes, in the order of their tools' listing.
    pub toolsets: &'static [&'static [&'static ToolSpec]],
}

/// An MCP server of existing toolsets.
///
/// Tools are registered as with any registry, by the providers' own functions; what is registered
/// but not exposed is there for agents alone.
pub struct McpServer {
    pub(crate) spec: &'static ServerSpec,
    pub(crate) registry: Registry,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) execute: Execute,
    pub(crate) page_size: Option<NonZeroUsize>,
    pub(crate) tool_list: Option<ToolList>,
    pub(crate) limits: Limits,
    pub(crate) counters: Counters,
    /// By the tool's own name.
    pub(crate) presentations: BTreeMap<&'static str, Presentation>,
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("spec", self.spec).finish_non_exhaustive()
    }
}

impl McpServer {
    /// A server that nothing runs the tools of yet.
    pub fn new(spec: &'static ServerSpec) -> Self {
        Self {
            spec,
            registry: Registry::new(),
            approver: None,
            execute: Execute::default(),
            page_size: None,
            tool_list: None,
            limits: Limits::default(),
            counters: Counters::default(),
            presentations: BTreeMap::new(),
        }
    }

    /// Where agents and the tools they need are registered.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Sets who approves calls that need it. Without an approver they are denied: a client's own consent is not seen
    /// here.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets what runs the calls, such as how long a call may take and how many threads those that block may occupy; otherwise
    /// it is [`Execute::default`].
    #[must_use]
    pub fn with_execute(mut self, execute: Execute) -> Self {
        self.execute = execute;
        self
    }

    /// Lists so many tools at a time; otherwise all of them at once, as clients do best with.
    #[must_use]
    pub fn with_page_size(mut self, tools: NonZeroUsize) -> Self {
        self.page_size = Some(tools);
        self
    }

    /// Sets what clients may take of the server; otherwise it is [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What tells, while the server runs, how often its limits were met.
    pub fn counters(&self) -> Counters {
        self.counters.clone()
    }

    /// What hides and offers tools while the server runs. Clients are told that the list may change only if this was
    /// asked for.
    pub fn tool_list(&mut self) -> ToolList {
        self.tool_list.get_or_insert_with(|| ToolList::new(self.spec)).clone()
    }

    /// Sets what the results of a tool are shown as: pictures, sounds, resources. Otherwise they are shown as their
    /// JSON text. The structured result stays beside it as it is.
    ///
    /// ```
    /// # use toolwright_mcp::{Content, McpServer, ServerSpec};
    /// # static SERVER: ServerSpec = ServerSpec { name: "x", version: "1", toolsets: &[] };
    /// # let mut server = McpServer::new(&SERVER);
    /// let unknown = server.present("plot", |payload| {
    ///     // A result that is one string: the picture in base64.
    ///     let data = payload.as_str().trim_matches('"').to_owned();
    ///     vec![Content::Image { data, mime_type: "image/png".to_owned() }]
    /// });
    /// assert!(unknown.is_err(), "this server has no such tool");
    /// ```
    ///
    /// # Errors
    ///
    /// The server exposes no tool of this name.
    pub fn present(
        &mut self,
        tool: &str,
        show: impl Fn(&Payload) -> Vec<Content> + Send + Sync + 'static,
    ) -> Result<(), RegistrationError> {
        let name = self.spec.exposed_name(tool)?;
        self.presentations.insert(name, Presentation::new(show));
        Ok(())
    }

    /// Checks that every exposed tool has something that runs it.
    ///
    /// # Errors
    ///
    /// The first tool that nothing runs.
    pub fn complete(self) -> Result<Self, RegistrationError> {
        self.registry.require(self.spec.exposed(), &self.spec.to_string())?;
        Ok(self)
    }
}

impl ServerSpec {
    /// Every exposed tool, listed or not.
    pub(crate) fn exposed(&self) -> impl Iterator<Item = &'static ToolSpec> + use<> {
        self.toolsets.iter().copied().flatten().copied()
    }

    /// The name of an exposed tool.
    fn exposed_name(&self, tool: &str) -> Result<&'static str, RegistrationError> {
        let found = self.exposed().map(ToolSpec::name).find(|name| *name == tool);
        found.ok_or_else(|| RegistrationError::Unknown {
            entry: tool.to_owned(),
            expected: "tool",
            available: self.exposed().map(|spec| spec.name().to_owned()).collect(),
            needed_by: self.to_string(),
        })
    }
}

impl fmt::Display for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server `{}`", self.name)
    }
}

impl Registrar for McpServer {
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        self.registry.register(specs, executor)
    }

    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError> {
        self.registry.register_factory(specs, factory)
    }
}
