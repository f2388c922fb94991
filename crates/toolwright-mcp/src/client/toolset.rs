//! A toolset of the tools that a server lists, without a schema file. Arguments and results are validated against the
//! server's JSON Schemas.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::spec::Implementation;
use toolwright::untrusted::{MAX_TOOL_NAME_BYTES, excerpt, hidden, visible_schema};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    ToolSpec,
};
use toolwright_runtime::{ToolEntry, Toolset};

use super::Client;
use super::changes::{Definition, ToolChange, by_name};
use super::connection::Connection;
use super::error::ClientError;
use super::listed_tools::{ListedTool, ListedTools, Schema};
use super::remote::{Checked, ServerCall};

/// The maximum number of steps of all patterns of a server's tools, which take about a hundred bytes each.
pub(super) const MAX_PATTERN_STEPS: u64 = 1_000_000;

/// The maximum length of a tool's description in bytes.
const MAX_DESCRIPTION: usize = 64 * 1024;

/// A toolset of all tools that a server lists. Tools with an unusable schema or name are left out with a warning.
///
/// The tools are pinned: models see the definitions from the first connection, whatever the server lists later, until the
/// host [accepts](McpToolset::accept_changes) the [changes](McpToolset::pending_changes). A call is refused if the changed
/// tool does not accept its arguments. [`McpToolset::follow_changes`] turns pinning off. To use the toolset after it was
/// registered, keep it in an [`Arc`], which is also a toolset.
///
/// ```no_run
/// use std::sync::Arc;
/// use toolwright_mcp::client::{Client, ClientError, McpToolset, ServerCommand};
/// use toolwright_runtime::Registry;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(ServerCommand::new("uvx").arg("mcp-server-git"));
/// let git = McpToolset::new("git", client).on_change(|changes| {
///     changes.iter().for_each(|change| eprintln!("git: {change}"));
/// });
/// let git = Arc::new(git);
/// let catalog = Registry::new().catalog();
/// catalog.connect("git", "git", async { Ok::<_, ClientError>(git.clone()) }).await?;
/// // Later, after someone has reviewed the changes:
/// let changes = git.pending_changes().await?;
/// git.accept_changes(&changes);
/// let stored = git.pins(); // for `with_pins` in another process
/// # Ok(())
/// # }
/// ```
pub struct McpToolset {
    id: String,
    client: Client,
    follows_changes: bool,
    on_change: Option<Arc<OnChange>>,
    /// Held while the state is updated, so that lists are handled in the order in which they were requested.
    refreshing: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

type OnChange = dyn Fn(&[ToolChange]) + Send + Sync;

#[derive(Default)]
struct State {
    /// The accepted tools. `None` before the first connection if there are no pins of another process.
    accepted: Option<Vec<Definition>>,
    /// The last list from the server.
    last_list: Option<Arc<ListedTools>>,
    /// The usable tools of the last list.
    listed: Vec<Definition>,
    /// The differences between accepted and listed tools.
    pending: Vec<ToolChange>,
}

impl State {
    /// Updates the pending changes. Accepts all listed tools if none were accepted before, or if changes are followed.
    fn compare(&mut self, follows_changes: bool) {
        let accepted = self.accepted.get_or_insert_with(|| self.listed.clone());
        if follows_changes {
            accepted.clone_from(&self.listed);
        }
        let listed = by_name(&self.listed);
        for tool in accepted.iter_mut().filter(|tool| tool.spec.is_none()) {
            let same = listed.get(tool.tool.as_str()).filter(|listed| listed.pin == tool.pin);
            tool.spec = same.and_then(|listed| listed.spec.clone());
        }
        self.pending = ToolChange::between(accepted, &self.listed);
    }

    /// Returns the specs of the accepted tools.
    fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.accepted.iter().flatten().filter_map(|tool| tool.spec.clone()).collect()
    }
}

impl std::fmt::Debug for McpToolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpToolset").field("id", &self.id).finish_non_exhaustive()
    }
}

impl McpToolset {
    /// Creates the toolset of a client's server. Its specs have `id` as their toolset. It does not connect yet.
    pub fn new(id: impl Into<String>, client: Client) -> Self {
        Self {
            id: id.into(),
            client,
            follows_changes: false,
            on_change: None,
            refreshing: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Connects to the server and lists its tools. [`Catalog::connect`](toolwright_runtime::Catalog::connect) takes the
    /// returned future and registers the tools. Keep the client if you want to [close](Client::close) it.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached or its tools cannot be listed.
    pub async fn connect(id: impl Into<String>, client: &Client) -> Result<Self, ClientError> {
        let toolset = Self::new(id, client.clone());
        toolset.refresh().await?;
        Ok(toolset)
    }

    /// Accepts exactly the tools with these pins, which [`McpToolset::pins`] returned in another process. Tools that have
    /// changed since are not offered until their change is accepted.
    #[must_use]
    pub fn with_pins(mut self, pins: impl IntoIterator<Item = (String, String)>) -> Self {
        let pinned = pins.into_iter().map(|(tool, pin)| Definition { tool, pin, spec: None });
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).accepted =
            Some(pinned.collect());
        self
    }

    /// Accepts all changes automatically. Use it only for servers that are trusted to change what a model reads.
    #[must_use]
    pub fn follow_changes(mut self) -> Self {
        self.follows_changes = true;
        self
    }

    /// Sets a function that is called with new changes. It is called while tools are listed or called, and must not block.
    #[must_use]
    pub fn on_change(mut self, callback: impl Fn(&[ToolChange]) + Send + Sync + 'static) -> Self {
        self.on_change = Some(Arc::new(callback));
        self
    }

    /// Returns the differences between the accepted tools and those that the server listed last: at the start of the connection, or
    /// after it has announced a change. The first call accepts all listed tools, unless there are pins.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached or its tools cannot be listed.
    pub async fn pending_changes(&self) -> Result<Vec<ToolChange>, ClientError> {
        self.refresh().await?;
        Ok(self.state().pending.clone())
    }

    /// Accepts changes. If the server has changed the tools again since, those changes stay pending.
    pub fn accept_changes(&self, changes: &[ToolChange]) {
        let mut state = self.state();
        let accepted = state.accepted.get_or_insert_default();
        for change in changes {
            let position = accepted.iter().position(|tool| tool.tool == change.tool);
            match (position, change.definition_after()) {
                (Some(position), Some(tool)) => accepted[position] = tool,
                (Some(position), None) => drop(accepted.remove(position)),
                (None, Some(tool)) => accepted.push(tool),
                (None, None) => {}
            }
        }
        state.compare(false);
    }

    /// Returns the accepted tools with the SHA-256 of each: of everything that the server lists of it.
    /// Empty before the first connection, unless there are pins of another process.
    pub fn pins(&self) -> BTreeMap<String, String> {
        let state = self.state();
        let accepted = state.accepted.iter().flatten();
        accepted.map(|tool| (tool.tool.clone(), tool.pin.clone())).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the state from the server's list, and reports new changes. Returns the connection on which the server listed.
    async fn refresh(&self) -> Result<Arc<Connection>, ClientError> {
        let timeout = self.client.connector().options().connect_timeout;
        let list = async {
            let refreshing = self.refreshing.lock().await;
            let connection = self.client.connector().connection().await?;
            let list = self.client.tool_cache().tools(&connection).await?;
            Ok((refreshing, connection, list))
        };
        let list = tokio::time::timeout(timeout, list).await;
        let (refreshing, connection, list) = list.unwrap_or(Err(ClientError::Timeout(timeout)))?;
        if self.state().last_list.as_ref().is_some_and(|last| Arc::ptr_eq(last, &list)) {
            return Ok(connection);
        }
        // Compiling the schemas of a long list takes a while.
        let mut pattern_steps = MAX_PATTERN_STEPS;
        let listed = list.tools.iter();
        let mut sent = BTreeSet::new();
        let listed: Vec<_> = listed
            .filter_map(|tool| self.definition(tool, &mut pattern_steps))
            .filter(|definition| self.is_distinct(&definition.tool, &mut sent))
            .collect();
        let new_changes = {
            let mut state = self.state();
            let (before, reported) = (state.accepted.clone(), std::mem::take(&mut state.pending));
            let changes = before.map(|accepted| ToolChange::between(&accepted, &listed));
            (state.last_list, state.listed) = (Some(list), listed);
            state.compare(self.follows_changes);
            let reported: HashSet<_> = reported.iter().map(ToolChange::key).collect();
            changes
                .unwrap_or_default()
                .into_iter()
                .filter(|change| !reported.contains(&change.key()))
                .collect::<Vec<_>>()
        };
        drop(refreshing);
        for change in &new_changes {
            tracing::warn!(
                toolset = self.id,
                "a tool of an MCP server differs from the accepted one: {change}"
            );
        }
        if let Some(callback) = self.on_change.as_ref().filter(|_| !new_changes.is_empty()) {
            callback(&new_changes);
        }
        Ok(connection)
    }

    /// Returns the tools to offer now. While the server is unreachable these are the last ones: their calls fail, but the
    /// run goes on.
    async fn offered(&self) -> Vec<Arc<ToolSpec>> {
        let has_list = self.state().last_list.is_some();
        if (!has_list || self.client.connector().is_connected())
            && let Err(error) = self.refresh().await
        {
            tracing::warn!(toolset = self.id, "tools could not be listed: {error}");
        }
        self.state().specs()
    }

    /// Returns whether a tool has another name for model providers than those before it, which are in `sent`. Two equal ones would
    /// make the tools of all toolsets of a run unusable.
    fn is_distinct(&self, tool: &str, sent: &mut BTreeSet<String>) -> bool {
        let is_distinct = sent.insert(ToolEntry::provider_name(tool).into_owned());
        if !is_distinct {
            let reason = "a model provider gets the same name for another tool";
            tracing::warn!(toolset = self.id, tool, "a tool is left out: {reason}");
        }
        is_distinct
    }

    fn definition(&self, tool: &ListedTool, pattern_steps: &mut u64) -> Option<Definition> {
        let shows_hidden = self.client.connector().options().hidden_text;
        match spec(&self.id, tool, shows_hidden, pattern_steps) {
            Ok(spec) => {
                let (tool, pin) = (tool.name.clone(), tool.digests.all.clone());
                Some(Definition { tool, pin, spec: Some(Arc::new(spec)) })
            }
            Err(reason) => {
                let name = excerpt(&tool.name, MAX_TOOL_NAME_BYTES);
                tracing::warn!(toolset = self.id, tool = name, "a tool is left out: {reason}");
                None
            }
        }
    }

    async fn answer(&self, call: &ToolCall) -> Result<Payload, ToolFailure> {
        let connection = self.refresh().await.map_err(|error| list_failure(&error, call))?;
        let (specs, changed) = {
            let state = self.state();
            let changed = state.pending.iter().find(|change| change.tool == call.tool()).cloned();
            (state.specs(), changed)
        };
        let Some(spec) = specs.iter().find(|spec| spec.is_called(call.tool())) else {
            return Err(ToolFailure::not_found(call.tool(), specs.iter().map(|spec| spec.name())));
        };
        spec.check_args(call.args().as_bytes())
            .map_err(|issues| ToolFailure::invalid_call(spec, call, issues))?;
        if let Some(change) = changed {
            check_changed_tool(&change, call)?;
        }
        let checked = Checked::On(connection);
        let server_call = ServerCall { spec, call, tool: spec.name(), checked };
        let payload = self.client.run(server_call).await?;
        spec.check_result(payload.as_bytes())
            .map_err(|issues| ToolFailure::malformed_result(spec, &issues))?;
        Ok(payload)
    }
}

impl Toolset for McpToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let specs = self.offered().await;
            Ok(specs.into_iter().map(ToolEntry::new).collect())
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::new(call, self.answer(call).await) })
    }
}

/// Fails if the tool of a call is gone, or if its changed definition does not accept the arguments.
fn check_changed_tool(change: &ToolChange, call: &ToolCall) -> Result<(), ToolFailure> {
    let tool = call.tool();
    let Some(now) = &change.after else {
        let message = format!("the server of `{tool}` no longer has this tool");
        return Err(ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan));
    };
    now.check_args(call.args().as_bytes()).map_err(|issues| {
        let message = format!(
            "`{tool}` has changed on its server and takes other arguments; it can be called after the change has been \
             accepted"
        );
        let failure = ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
        failure.with_detail(format!("{change}: {issues}"))
    })
}

/// The failure of a call whose tools could not be listed.
fn list_failure(error: &ClientError, call: &ToolCall) -> ToolFailure {
    let unknown = ToolSpec::new(call.tool().to_owned());
    super::failure::failure_before_call(error, &unknown, call)
}

/// Converts a listed tool into a spec. Hidden characters in its texts are replaced unless `shows_hidden`. The steps of its patterns
/// are subtracted from those that are left.
pub(super) fn spec(
    toolset: &str,
    tool: &ListedTool,
    shows_hidden: bool,
    pattern_steps: &mut u64,
) -> Result<ToolSpec, String> {
    let is_hidden = tool.name.chars().any(char::is_control) || hidden(&tool.name).next().is_some();
    let is_blank = tool.name.is_empty() || tool.name.trim() != tool.name;
    if tool.name.len() > MAX_TOOL_NAME_BYTES || is_hidden || is_blank {
        return Err(format!(
            "its name is empty, begins or ends with a space, has hidden characters or has more than \
             {MAX_TOOL_NAME_BYTES} bytes, which no caller could repeat"
        ));
    }
    let input = tool.input.as_ref().ok_or("it has no `inputSchema`")?;
    super::headers::check(&input.text)?;
    let args = compile(input, pattern_steps)?;
    let output = tool.output.as_ref();
    let result = output.map(|schema| compile(schema, pattern_steps)).transpose()?;
    let check_args = move |json: &[u8]| args.check(json);
    let check_result = move |json: &[u8]| match &result {
        Some(result) => result.check(json),
        None => toolwright::codec::check::<toolwright::Value>(json),
    };
    let mut spec = ToolSpec::new(tool.name.clone())
        .with_implementation(Implementation::Mcp { server: toolset.to_owned().into() })
        .with_annotations(tool.annotations)
        .with_checks(check_args, check_result);
    spec.set_toolset(toolset.to_owned());
    spec.set_service(toolset.to_owned());
    let mut found_hidden = false;
    let mut visible_text = |text: &str| {
        if shows_hidden {
            return text.chars().take(MAX_DESCRIPTION).collect();
        }
        found_hidden |= hidden(text).next().is_some();
        excerpt(text, MAX_DESCRIPTION)
    };
    if let Some(title) = &tool.title {
        spec.set_title(visible_text(title));
    }
    spec.set_description(visible_text(&tool.description));
    let mut visible_schema_text = |schema: &Schema| {
        if shows_hidden {
            return Ok(schema.text.clone());
        }
        let visible = visible_schema(&schema.value, &[]);
        if hidden(&visible.as_ref().unwrap_or(&schema.value).to_string()).next().is_some() {
            return Err(
                "its schema has hidden characters in a name, `enum`, `const` or `pattern`, expected visible text; \
                 `ClientOptions::with_hidden_text` allows them",
            );
        }
        found_hidden |= visible.is_some();
        Ok(visible.map_or_else(|| schema.text.clone(), |schema| schema.to_string()))
    };
    spec.set_args_schema(visible_schema_text(input)?);
    if let Some(output) = &tool.output {
        spec.set_result_schema(visible_schema_text(output)?);
    }
    if found_hidden {
        tracing::warn!(
            toolset,
            tool = tool.name,
            "the definition of a tool had hidden characters, which were replaced by U+FFFD"
        );
    }
    Ok(spec)
}

fn compile(schema: &Schema, pattern_steps: &mut u64) -> Result<toolwright::schema::Schema, String> {
    toolwright::schema::Schema::within(&schema.text, pattern_steps)
        .map_err(|error| format!("its schema cannot be used: {error}"))
}
