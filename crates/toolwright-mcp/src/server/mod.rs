//! A server before it serves: which toolsets it exposes, and what runs them. Never speaks the
//! protocol: see `handler`.

mod answer;
mod exposure;
mod handler;
#[cfg(feature = "http-server")]
mod http;
mod lines;
mod listing;
mod message;
mod serve;

#[cfg(feature = "http-server")]
pub use http::{Bearer, BearerLayer, HttpOptions};
pub use serve::ServeError;

use std::sync::Arc;

use toolwright::{Executor, ExecutorFactory, Registrar, RegistrationError, ToolSpec};
use toolwright_runtime::{Approver, Registry};

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
}

impl McpServer {
    /// A server that nothing runs the tools of yet.
    pub fn new(spec: &'static ServerSpec) -> Self {
        Self { spec, registry: Registry::new(), approver: None }
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

    /// Checks that every exposed tool has something that runs it.
    ///
    /// # Errors
    ///
    /// The first tool that nothing runs.
    pub fn complete(self) -> Result<Self, RegistrationError> {
        self.registry.require(self.exposed(), &format!("MCP server `{}`", self.spec.name))?;
        Ok(self)
    }

    /// Every exposed tool, listed or not.
    pub(crate) fn exposed(&self) -> impl Iterator<Item = &'static ToolSpec> + use<> {
        self.spec.toolsets.iter().copied().flatten().copied()
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
