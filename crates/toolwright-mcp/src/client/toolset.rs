//! The tools of a server that no schema file knows, offered to the runtime (P6), as a host agreed to them. Their own JSON
//! Schemas judge arguments and results. Never generates anything: a toolset of a file is typed, this one is not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::spec::Implementation;
use toolwright::untrusted::{LONGEST_TOOL_NAME, excerpt, hidden, visible_schema};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    ToolSpec,
};
use toolwright_runtime::{ToolEntry, Toolset};

use super::Client;
use super::changes::{Definition, ToolChange};
use super::error::ClientError;
use super::live::{Live, LiveTool, Schema};
use super::remote::Asked;

/// How many bytes of a tool's description are kept.
const LONGEST_DESCRIPTION: usize = 64 * 1024;

/// Every tool a server lists, as a toolset of the runtime. A tool whose schemas or name cannot be used is left out, with a
/// warning.
///
/// The tools are pinned: they stay what they were when the server was first reached, whatever it lists later, until the
/// host [accepts](McpToolset::accept_changes) what [changed](McpToolset::pending_changes). A call whose arguments the changed
/// tool does not take is refused. [`McpToolset::follow_changes`] turns that off. To look at changes while the toolset is
/// registered, keep it in an [`Arc`], which is a toolset too.
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
/// // Later, when somebody has read them:
/// let changes = git.pending_changes().await?;
/// git.accept_changes(&changes);
/// let stored = git.pins(); // for `with_pins` of another process
/// # Ok(())
/// # }
/// ```
pub struct McpToolset {
    id: String,
    client: Client,
    follows_changes: bool,
    on_change: Option<Arc<OnChange>>,
    state: Mutex<State>,
}

type OnChange = dyn Fn(&[ToolChange]) + Send + Sync;

/// What is known of the tools.
#[derive(Default)]
struct State {
    /// What was agreed to: nothing before the server was reached, unless it was agreed to in another process.
    agreed: Option<Vec<Definition>>,
    /// The list that was seen last, and the usable tools in it.
    seen: Option<Arc<Live>>,
    listed: Vec<Definition>,
    /// What is different between the two.
    pending: Vec<ToolChange>,
}

impl State {
    /// Takes the tools that are listed now for agreed to, where nothing was or changes are followed; else compares them.
    fn compare(&mut self, follows_changes: bool) {
        let agreed = self.agreed.get_or_insert_with(|| self.listed.clone());
        if follows_changes {
            agreed.clone_from(&self.listed);
        }
        for tool in agreed.iter_mut().filter(|tool| tool.spec.is_none()) {
            let listed = self.listed.iter().find(|listed| listed.pin == tool.pin);
            tool.spec = listed.and_then(|listed| listed.spec.clone());
        }
        self.pending = ToolChange::between(agreed, &self.listed);
    }

    /// The specs of what was agreed to.
    fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.agreed.iter().flatten().filter_map(|tool| tool.spec.clone()).collect()
    }
}

impl std::fmt::Debug for McpToolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpToolset").field("id", &self.id).finish_non_exhaustive()
    }
}

impl McpToolset {
    /// The tools of a client's server. The id is the name of the toolset that specs tell.
    pub fn new(id: impl Into<String>, client: Client) -> Self {
        Self {
            id: id.into(),
            client,
            follows_changes: false,
            on_change: None,
            state: Mutex::default(),
        }
    }

    /// Reaches the server and lists its tools: for
    /// [`Catalog::connect`](toolwright_runtime::Catalog::connect), which registers them then. Keep the client to end the
    /// server: [`Client::close`].
    ///
    /// # Errors
    ///
    /// A server that cannot be reached or listed.
    pub async fn reach(id: impl Into<String>, client: &Client) -> Result<Self, ClientError> {
        let toolset = Self::new(id, client.clone());
        toolset.look().await?;
        Ok(toolset)
    }

    /// Takes tools for agreed to that have these pins, and no others: those that [`McpToolset::pins`] gave in another
    /// process. Tools that are not what they were then are not offered before their change is accepted.
    #[must_use]
    pub fn with_pins(mut self, pins: impl IntoIterator<Item = (String, String)>) -> Self {
        let pinned = pins.into_iter().map(|(tool, pin)| Definition { tool, pin, spec: None });
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).agreed =
            Some(pinned.collect());
        self
    }

    /// Offers the tools that the server lists now, whatever was offered before: for servers that are trusted to change
    /// what a model reads.
    #[must_use]
    pub fn follow_changes(mut self) -> Self {
        self.follows_changes = true;
        self
    }

    /// Calls a function when the server lists other tools than it did before. It is called where that is noticed, which is
    /// when tools are listed or called, and must not block.
    #[must_use]
    pub fn on_change(mut self, told: impl Fn(&[ToolChange]) + Send + Sync + 'static) -> Self {
        self.on_change = Some(Arc::new(told));
        self
    }

    /// What is different between the tools that were agreed to and those that the server lists now. The first call agrees
    /// to what is listed, unless there are pins.
    ///
    /// # Errors
    ///
    /// A server that cannot be reached or listed.
    pub async fn pending_changes(&self) -> Result<Vec<ToolChange>, ClientError> {
        self.look().await?;
        Ok(self.state().pending.clone())
    }

    /// Agrees to changes. What the server changed after they were looked at stays pending.
    pub fn accept_changes(&self, changes: &[ToolChange]) {
        let mut state = self.state();
        let agreed = state.agreed.get_or_insert_default();
        for change in changes {
            let place = agreed.iter().position(|tool| tool.tool == change.tool);
            match (place, change.accepted()) {
                (Some(place), Some(tool)) => agreed[place] = tool,
                (Some(place), None) => drop(agreed.remove(place)),
                (None, Some(tool)) => agreed.push(tool),
                (None, None) => {}
            }
        }
        state.compare(false);
    }

    /// The tools that were agreed to, and the SHA-256 of what was said of each: its title, description, annotations and
    /// schemas. Empty before the server was reached, unless there are pins of another process.
    pub fn pins(&self) -> BTreeMap<String, String> {
        let state = self.state();
        let agreed = state.agreed.iter().flatten();
        agreed.map(|tool| (tool.tool.clone(), tool.pin.clone())).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what the server lists now, and tells of what is different from before.
    async fn look(&self) -> Result<(), ClientError> {
        let limit = self.client.link().options().connect_timeout;
        let look = async {
            let connection = self.client.link().connection().await?;
            self.client.watch().live(&connection).await
        };
        let live = tokio::time::timeout(limit, look).await;
        let live = live.unwrap_or(Err(ClientError::Timeout(limit)))?;
        let news = {
            let mut state = self.state();
            if state.seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &live)) {
                return Ok(());
            }
            let listed: Vec<_> =
                live.tools.iter().filter_map(|tool| self.definition(tool)).collect();
            let (before, told) = (state.agreed.clone(), std::mem::take(&mut state.pending));
            let changes = before.map(|agreed| ToolChange::between(&agreed, &listed));
            (state.seen, state.listed) = (Some(live), listed);
            state.compare(self.follows_changes);
            let is_told = |change: &ToolChange| told.iter().any(|told| told.is_same(change));
            changes
                .unwrap_or_default()
                .into_iter()
                .filter(|change| !is_told(change))
                .collect::<Vec<_>>()
        };
        for change in &news {
            tracing::warn!(
                toolset = self.id,
                "a tool of an MCP server is not what was agreed to: {change}"
            );
        }
        if let Some(told) = self.on_change.as_ref().filter(|_| !news.is_empty()) {
            told(&news);
        }
        Ok(())
    }

    /// The tools to offer now. While the server is gone they are those it had: their calls fail, and not the run.
    async fn offered(&self) -> Vec<Arc<ToolSpec>> {
        let is_known = self.state().seen.is_some();
        if (!is_known || self.client.link().is_up())
            && let Err(error) = self.look().await
        {
            tracing::warn!(toolset = self.id, "tools could not be listed: {error}");
        }
        self.state().specs()
    }

    fn definition(&self, tool: &LiveTool) -> Option<Definition> {
        let shows_hidden = self.client.link().options().hidden_text;
        match spec(&self.id, tool, shows_hidden) {
            Ok(spec) => {
                let (tool, pin) = (tool.name.clone(), tool.pin.clone());
                Some(Definition { tool, pin, spec: Some(Arc::new(spec)) })
            }
            Err(why) => {
                let name = excerpt(&tool.name, LONGEST_TOOL_NAME);
                tracing::warn!(toolset = self.id, tool = name, "a tool is left out: {why}");
                None
            }
        }
    }

    async fn answer(&self, call: &ToolCall) -> Result<Payload, ToolFailure> {
        self.look().await.map_err(|error| unlisted(&error, call))?;
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
            still_fits(&change, call)?;
        }
        let asked = Asked { spec, call, tool: spec.name(), origin: None };
        let payload = self.client.run(asked).await?;
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

/// Refuses a call whose tool is gone, or takes other arguments than those that were agreed to.
fn still_fits(change: &ToolChange, call: &ToolCall) -> Result<(), ToolFailure> {
    let tool = call.tool();
    let Some(now) = &change.after else {
        let message = format!("the server of `{tool}` has this tool no longer");
        return Err(ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan));
    };
    now.check_args(call.args().as_bytes()).map_err(|issues| {
        let message = format!(
            "`{tool}` is not the tool that it was on its server and takes other arguments; it can be called when somebody \
             has agreed to the change"
        );
        let failure = ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
        failure.with_detail(format!("{change}: {issues}"))
    })
}

/// The failure of a call whose tool could not even be looked up.
fn unlisted(error: &ClientError, call: &ToolCall) -> ToolFailure {
    let only_named = ToolSpec::new(call.tool().to_owned());
    super::failure::failure(error, &only_named, call)
}

/// A spec of what a server says of a tool. Characters that people cannot see are taken out of its words, unless they are to
/// be shown.
pub(super) fn spec(toolset: &str, tool: &LiveTool, shows_hidden: bool) -> Result<ToolSpec, String> {
    let is_hidden = tool.name.chars().any(char::is_control) || hidden(&tool.name).next().is_some();
    let is_blank = tool.name.is_empty() || tool.name.trim() != tool.name;
    if tool.name.len() > LONGEST_TOOL_NAME || is_hidden || is_blank {
        return Err(format!(
            "its name is empty, begins or ends with a space, has hidden characters or has more than \
             {LONGEST_TOOL_NAME} bytes, which no caller could repeat"
        ));
    }
    let input = tool.input.as_ref().ok_or("it has no `inputSchema`")?;
    super::headers::check(&input.text)?;
    let args = compiled(input)?;
    let result = tool.output.as_ref().map(compiled).transpose()?;
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
    let mut hides = false;
    let mut words = |text: &str| {
        if shows_hidden {
            return text.chars().take(LONGEST_DESCRIPTION).collect();
        }
        hides |= hidden(text).next().is_some();
        excerpt(text, LONGEST_DESCRIPTION)
    };
    if let Some(title) = &tool.title {
        spec.set_title(words(title));
    }
    spec.set_description(words(&tool.description));
    let mut schema = |schema: &Schema| {
        if shows_hidden {
            return Ok(schema.text.clone());
        }
        let visible = visible_schema(&schema.value, &[]);
        if hidden(&visible.as_ref().unwrap_or(&schema.value).to_string()).next().is_some() {
            return Err(
                "its schema has hidden characters in a name, `enum`, `const` or `pattern`, expected text that can be seen; \
                 `ClientOptions::with_hidden_text` lets it through",
            );
        }
        hides |= visible.is_some();
        Ok(visible.map_or_else(|| schema.text.clone(), |schema| schema.to_string()))
    };
    spec.set_args_schema(schema(input)?);
    if let Some(output) = &tool.output {
        spec.set_result_schema(schema(output)?);
    }
    if hides {
        tracing::warn!(
            toolset,
            tool = tool.name,
            "the words of a tool had hidden characters, which were replaced by U+FFFD"
        );
    }
    Ok(spec)
}

fn compiled(schema: &Schema) -> Result<toolwright::schema::Schema, String> {
    toolwright::schema::Schema::new(&schema.text)
        .map_err(|why| format!("its schema cannot be used: {why}"))
}
