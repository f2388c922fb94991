//! The configuration of a server: which toolsets it exposes and how their tools run. `handler` implements the protocol.

mod answer;
mod content;
mod counters;
mod error;
mod exposed;
mod handler;
#[cfg(feature = "http-server")]
mod http;
mod limits;
mod lines;
mod listing;
mod message;
mod operator_log;
mod progress;
mod search;
mod serve;
#[cfg(feature = "http-server")]
mod sessions;
mod state;
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
use toolwright_runtime::{Approver, ExecutionService, Registry};

use content::Presentation;

/// The definition of one MCP server. Generated code has it as a static.
#[derive(Clone, Copy, Debug)]
pub struct ServerSpec {
    /// The name clients see.
    pub name: &'static str,
    /// The version clients see.
    pub version: &'static str,
    /// The exposed toolsets, in the order in which their tools are listed.
    pub toolsets: &'static [&'static [&'static ToolSpec]],
}

/// An MCP server that exposes existing toolsets.
///
/// Tools are registered as in any registry, by the functions of their providers. Clients see only exposed tools; tools
/// that are registered but not exposed can be used by agents.
pub struct McpServer {
    pub(crate) spec: &'static ServerSpec,
    pub(crate) registry: Registry,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) execute: ExecutionService,
    pub(crate) page_size: Option<NonZeroUsize>,
    pub(crate) searches: bool,
    pub(crate) tool_list: Option<ToolList>,
    pub(crate) limits: Limits,
    pub(crate) counters: Counters,
    /// By tool name.
    pub(crate) presentations: BTreeMap<&'static str, Presentation>,
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("spec", self.spec).finish_non_exhaustive()
    }
}

impl McpServer {
    /// Creates a server without registered tools.
    pub fn new(spec: &'static ServerSpec) -> Self {
        Self {
            spec,
            registry: Registry::new(),
            approver: None,
            execute: ExecutionService::default(),
            page_size: None,
            searches: false,
            tool_list: None,
            limits: Limits::default(),
            counters: Counters::default(),
            presentations: BTreeMap::new(),
        }
    }

    /// Returns the registry, in which agents and the tools that they use are registered.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Sets the approver of calls that need approval. Without an approver such calls are denied, because the server
    /// cannot know whether the client asked its user.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets how calls are executed: their time limit, the threads for blocking tools, and so on. The default is
    /// [`ExecutionService::default`].
    #[must_use]
    pub fn with_execution_service(mut self, execute: ExecutionService) -> Self {
        self.execute = execute;
        self
    }

    /// Sets the number of tools per page of the list. By default one page has all tools, which most clients handle best.
    #[must_use]
    pub fn with_page_size(mut self, tools: NonZeroUsize) -> Self {
        self.page_size = Some(tools);
        self
    }

    /// Lists two tools in place of all: `search_tools` finds tools by their words, and `call_tool` calls one. A model with many
    /// tools then reads the definitions of few. Calls of tools by their own names go on working.
    ///
    /// Serving fails if a tool has one of the two names.
    #[must_use]
    pub fn with_search(mut self) -> Self {
        self.searches = true;
        self
    }

    /// Sets the limits on clients. The default is [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the counters of the server, which can be read while it runs.
    pub fn counters(&self) -> Counters {
        self.counters.clone()
    }

    /// Returns a handle that hides tools and offers them again while the server runs. The server announces
    /// `tools.listChanged` only if this method was called.
    pub fn tool_list(&mut self) -> ToolList {
        self.tool_list.get_or_insert_with(|| ToolList::new(self.spec)).clone()
    }

    /// Sets the content blocks for the results of a tool: images, audio, resources. By default the content is the
    /// result's JSON text. The structured content does not change.
    ///
    /// ```
    /// # use toolwright_mcp::{Content, McpServer, ServerSpec};
    /// # static SERVER: ServerSpec = ServerSpec { name: "x", version: "1", toolsets: &[] };
    /// # let mut server = McpServer::new(&SERVER);
    /// let unknown = server.present("plot", |payload| {
    ///     // The result is one string: the image in base64.
    ///     let data = payload.as_str().trim_matches('"').to_owned();
    ///     vec![Content::Image { data, mime_type: "image/png".to_owned() }]
    /// });
    /// assert!(unknown.is_err(), "the server exposes no tool `plot`");
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server exposes no tool of this name.
    pub fn present(
        &mut self,
        tool: &str,
        show: impl Fn(&Payload) -> Vec<Content> + Send + Sync + 'static,
    ) -> Result<(), RegistrationError> {
        let name = self.spec.exposed_name(tool)?;
        self.presentations.insert(name, Presentation::new(show));
        Ok(())
    }

    /// Checks that every exposed tool is registered.
    ///
    /// # Errors
    ///
    /// Fails if an exposed tool is not registered, and names the first.
    pub fn complete(self) -> Result<Self, RegistrationError> {
        self.registry.require(self.spec.exposed(), &self.spec.to_string())?;
        Ok(self)
    }
}

impl ServerSpec {
    /// Returns all exposed tools, including those that are not listed.
    pub(crate) fn exposed(&self) -> impl Iterator<Item = &'static ToolSpec> + use<> {
        self.toolsets.iter().copied().flatten().copied()
    }

    /// Returns the name of an exposed tool, or the error for an unknown one.
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
