//! What all connections of a server share: its tools as they are listed, and the runtime that runs
//! them. Never answers a request: see `handler`.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use toolwright::{Outcome, ToolFailure, ToolSpec};
use toolwright_runtime::Runtime;

use super::listing;
use super::serve::ServeError;
use super::{McpServer, ServerSpec};

/// A server at work, for any number of clients.
pub(crate) struct Exposure {
    spec: &'static ServerSpec,
    tools: Vec<Exposed>,
    /// Where each name stands in `tools`, earlier names included.
    names: BTreeMap<&'static str, usize>,
    runtime: Runtime,
    at_work: TaskTracker,
}

/// An exposed tool, ready to be listed.
pub(crate) struct Exposed {
    pub(crate) spec: &'static ToolSpec,
    pub(crate) listed: Tool,
}

impl Exposure {
    pub(crate) fn new(server: McpServer) -> Result<Self, ServeError> {
        let tools = server
            .exposed()
            .map(|spec| Ok(Exposed { spec, listed: listing::tool(spec)? }))
            .collect::<Result<Vec<_>, ServeError>>()?;
        let names = tools.iter().enumerate().flat_map(|(at, tool)| {
            tool.spec.aliases().chain([tool.spec.name()]).map(move |name| (name, at))
        });
        let names = names.collect();
        let mut runtime = Runtime::builder(server.registry);
        if let Some(approver) = server.approver {
            runtime = runtime.with_approver(approver);
        }
        let (runtime, at_work) = (runtime.build(), TaskTracker::new());
        Ok(Self { spec: server.spec, tools, names, runtime, at_work })
    }

    /// Who the server is and what it can do.
    pub(crate) fn info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.spec.name, self.spec.version))
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// An exposed tool by its name or an earlier one.
    pub(crate) fn tool(&self, name: &str) -> Result<&Exposed, ErrorData> {
        self.names.get(name).and_then(|at| self.tools.get(*at)).ok_or_else(|| {
            let known: Vec<_> = self.listed().map(|tool| tool.name.as_ref()).collect();
            let message = format!("there is no tool `{name}`, there is `{}`", known.join("`, `"));
            ErrorData::invalid_params(message, None)
        })
    }

    /// Whether a tool's arguments are repeated in headers, which rmcp compares.
    pub(crate) fn reads_headers_of(&self, name: &str) -> bool {
        self.tool(name).is_ok_and(|tool| tool.spec.args_schema().contains("x-mcp-header"))
    }

    pub(crate) fn listed(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.spec.is_advertised()).map(|tool| &tool.listed)
    }

    /// What a model is not told goes to standard error, where MCP leaves room for it (2025-06-18,
    /// transports, stdio).
    pub(crate) fn tell_operators(&self, tool: &Exposed, outcome: &Outcome) {
        if let Outcome::Failure(ToolFailure { kind, detail: Some(detail), .. }) = outcome {
            eprintln!("{}: {} failed, {kind}: {detail}", self.spec.name, tool.spec.name());
        }
    }

    /// Counts a call as running until what is returned is dropped.
    pub(crate) fn work(&self) -> TaskTrackerToken {
        self.at_work.token()
    }

    /// Waits until no call runs.
    #[cfg(feature = "http-server")]
    pub(crate) async fn idle(&self) {
        self.at_work.close();
        self.at_work.wait().await;
    }
}
