//! The state that all connections of a server share: its listed tools, the runtime that runs them, limits and counters.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, Implementation, ListToolsResult, ServerCapabilities, ServerConfig, Tool,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure, ToolSpec, spec};
use toolwright_runtime::Runtime;

use super::error::ServeError;
use super::exposed::ExposedTool;
use super::listing::Era;
use super::operator_log;
use super::search::Search;
use super::tool_list::ToolList;
use super::{Counters, Limits, McpServer, ServerSpec};

/// How long a client may cache a list that never changes, in milliseconds.
const LIST_TTL: u64 = 300_000;

/// The prefix of every cursor.
const CURSOR_PREFIX: &str = "from-";

/// A running server.
pub(crate) struct ServerState {
    spec: &'static ServerSpec,
    tools: Vec<ExposedTool>,
    /// The index in `tools` of each name and alias.
    names: BTreeMap<&'static str, usize>,
    tool_list: Option<ToolList>,
    page_size: Option<NonZeroUsize>,
    search: Option<Search>,
    runtime: Runtime,
    limits: Limits,
    counters: Counters,
    /// One permit for each call that may be in flight.
    calls: Arc<Semaphore>,
    running_calls: TaskTracker,
}

/// Counts a call as in flight until it is dropped.
pub(crate) struct OpenCall {
    counters: Counters,
    _permit: OwnedSemaphorePermit,
    _running: TaskTrackerToken,
}

impl ServerState {
    pub(crate) fn new(mut server: McpServer) -> Result<Self, ServeError> {
        let expose = |spec: &'static ToolSpec| {
            let presentation = server.presentations.remove(spec.name());
            Ok(ExposedTool { presentation, ..ExposedTool::new(spec)? })
        };
        let tools = server.spec.exposed().map(expose).collect::<Result<Vec<_>, ServeError>>()?;
        let search = if server.searches { Some(Search::of(&tools)?) } else { None };
        let names = tools.iter().enumerate().flat_map(|(at, tool)| {
            tool.spec.aliases().chain([tool.spec.name()]).map(move |name| (name, at))
        });
        let names = names.collect();
        let mut runtime = Runtime::builder(server.registry).with_execution_service(server.execute);
        if let Some(approver) = server.approver {
            runtime = runtime.with_approver(approver);
        }
        Ok(Self {
            spec: server.spec,
            tools,
            names,
            tool_list: server.tool_list,
            page_size: server.page_size,
            search,
            runtime: runtime.build(),
            limits: server.limits,
            counters: server.counters,
            calls: Arc::new(Semaphore::new(server.limits.calls.clamp(1, Semaphore::MAX_PERMITS))),
            running_calls: TaskTracker::new(),
        })
    }

    /// Returns the server's name and version, its capabilities, and the descriptions of the toolsets whose tools are listed.
    pub(crate) fn info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = self.tool_list.is_some().then_some(true);
        }
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.spec.name, self.spec.version));
        match spec::instructions(self.listed().map(|tool| tool.spec)) {
            Some(instructions) => info.with_instructions(instructions),
            None => info,
        }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the handle that changes the list, if the host asked for one.
    pub(crate) fn tool_list(&self) -> Option<&ToolList> {
        self.tool_list.as_ref()
    }

    /// Returns the two tools that are listed in place of all, if the host wants them.
    pub(crate) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Finds a tool that is exposed and not hidden by its name or an alias.
    pub(crate) fn tool(&self, name: &str) -> Result<&ExposedTool, ErrorData> {
        self.known(name).map_err(|failure| ErrorData::invalid_params(failure.message, None))
    }

    /// Like [`tool`](Self::tool), with the failure of a call if there is none.
    pub(crate) fn known(&self, name: &str) -> Result<&ExposedTool, ToolFailure> {
        let known = || self.listed().map(|tool| tool.spec.name());
        self.find(name).ok_or_else(|| ToolFailure::not_found(name, known()))
    }

    /// Like [`tool`](Self::tool), without looking for names to suggest.
    pub(crate) fn find(&self, name: &str) -> Option<&ExposedTool> {
        let tool = self.names.get(name).and_then(|at| self.tools.get(*at));
        tool.filter(|tool| self.offers(tool))
    }

    fn offers(&self, tool: &ExposedTool) -> bool {
        self.tool_list.as_ref().is_none_or(|list| list.offers(tool.spec.name()))
    }

    fn listed(&self) -> impl Iterator<Item = &ExposedTool> {
        self.tools.iter().filter(|tool| tool.spec.is_advertised() && self.offers(tool))
    }

    /// Returns whether arguments of a tool are repeated in HTTP headers, which rmcp compares with them.
    pub(crate) fn has_header_args(&self, name: &str) -> bool {
        self.find(name).is_some_and(|tool| tool.spec.args_schema().contains("x-mcp-header"))
    }

    /// Returns the page of the list that begins at a cursor, or the first page.
    pub(crate) fn list(
        &self,
        cursor: Option<&str>,
        era: Era,
    ) -> Result<ListToolsResult, ErrorData> {
        let from = cursor.map_or(Ok(0), |cursor| self.position(cursor))?;
        if let Some(Search { search, call, .. }) = &self.search {
            let both = [search, call].map(|tool| tool.listed.of(era).clone());
            return Ok(self.page(both.to_vec(), era));
        }
        let mut rest = self
            .tools
            .iter()
            .enumerate()
            .skip(from)
            .filter(|(_, tool)| tool.spec.is_advertised() && self.offers(tool));
        let size = self.page_size.map_or(usize::MAX, NonZeroUsize::get);
        let page: Vec<Tool> =
            rest.by_ref().take(size).map(|(_, tool)| tool.listed.of(era).clone()).collect();
        let mut list = self.page(page, era);
        list.next_cursor = rest.next().map(|(at, _)| cursor_to(at));
        Ok(list)
    }

    fn page(&self, tools: Vec<Tool>, era: Era) -> ListToolsResult {
        let mut list = ListToolsResult::with_all_items(tools);
        if era == Era::Newer {
            list.ttl_ms = Some(if self.tool_list.is_some() { 0 } else { LIST_TTL });
            list.cache_scope = Some(CacheScope::Private);
        }
        list
    }

    /// Decodes a cursor. Cursors count hidden tools too, so hiding a tool does not shift later pages.
    fn position(&self, cursor: &str) -> Result<usize, ErrorData> {
        let position = cursor.strip_prefix(CURSOR_PREFIX).and_then(|at| at.parse().ok());
        position.filter(|at| *at < self.tools.len() && cursor_to(*at) == cursor).ok_or_else(|| {
            ErrorData::invalid_params(
                "this server did not issue the cursor; list again without a cursor",
                None,
            )
        })
    }

    /// Writes the detail of a failure, which clients do not see, to standard error. MCP allows that (2025-06-18,
    /// transports, stdio).
    pub(crate) fn log_failure(&self, tool: &ExposedTool, outcome: &Outcome) {
        if let Err(ToolFailure { kind, detail: Some(detail), .. }) = outcome {
            let (server, tool) = (self.spec.name, tool.spec.name());
            operator_log::log(&format!("{server}: {tool} failed, {kind}: {detail}"));
        }
    }

    /// Replaces an outcome that is too large to send by a failure. Returns it with its size in bytes.
    pub(crate) fn limit_size(&self, tool: &ExposedTool, outcome: Outcome) -> (Outcome, usize) {
        let bytes = match &outcome {
            Ok(payload) => payload.as_str().len(),
            Err(ToolFailure { message, data, .. }) => {
                message.len() + data.as_ref().map_or(0, |data| data.as_str().len())
            }
        };
        let most = self.limits.result_bytes;
        if bytes <= most {
            return (outcome, bytes);
        }
        self.counters.count(|counts| counts.results_too_large += 1);
        let failure = ToolFailure::result_too_large(tool.spec.name(), bytes, most);
        let bytes = failure.message.len();
        (Err(failure), bytes)
    }

    /// Counts a call as in flight.
    ///
    /// # Errors
    ///
    /// Fails if too many calls are in flight.
    pub(crate) fn begin_call(&self) -> Result<OpenCall, ToolFailure> {
        let Ok(permit) = Arc::clone(&self.calls).try_acquire_owned() else {
            self.counters.count(|counts| counts.calls_unavailable += 1);
            let message = "the server is busy with too many calls; call again later";
            return Err(ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry));
        };
        self.counters.count(|counts| counts.open_calls += 1);
        let (counters, running) = (self.counters.clone(), self.running_calls.token());
        Ok(OpenCall { counters, _permit: permit, _running: running })
    }

    /// Waits until no call is in flight.
    #[cfg(feature = "http-server")]
    pub(crate) async fn idle(&self) {
        self.running_calls.close();
        self.running_calls.wait().await;
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.counters.count(|counts| counts.open_calls -= 1);
    }
}

fn cursor_to(position: usize) -> String {
    format!("{CURSOR_PREFIX}{position}")
}
