//! The tools of a server that no schema file knows, offered to the runtime (P6). Their own JSON Schemas judge arguments
//! and results. Never generates anything: a toolset of a file is typed, this one is not.

use std::sync::{Arc, Mutex, PoisonError};

use toolwright::spec::Implementation;
use toolwright::untrusted::excerpt;
use toolwright::{
    BoxError, BoxFuture, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec,
};
use toolwright_runtime::{ToolEntry, Toolset};

use super::Client;
use super::error::ClientError;
use super::live::{Live, LiveTool, Schema};
use super::remote::Asked;

/// How many bytes of a tool's description are kept.
const LONGEST_DESCRIPTION: usize = 64 * 1024;

/// Every tool a server lists, as a toolset of the runtime. A tool whose schemas cannot be used is left out, with a warning.
pub struct McpToolset {
    id: String,
    client: Client,
    made: Mutex<Made>,
}

/// The specs that were made of what a server lists.
#[derive(Clone, Default)]
struct Made {
    of: Option<Arc<Live>>,
    specs: Arc<Vec<Arc<ToolSpec>>>,
}

impl std::fmt::Debug for McpToolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpToolset").field("id", &self.id).finish_non_exhaustive()
    }
}

impl McpToolset {
    /// The tools of a client's server. The id is the name of the toolset that specs tell.
    pub fn new(id: impl Into<String>, client: Client) -> Self {
        Self { id: id.into(), client, made: Mutex::default() }
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
        toolset.specs().await?;
        Ok(toolset)
    }

    /// A spec for each tool that is listed now.
    async fn specs(&self) -> Result<Arc<Vec<Arc<ToolSpec>>>, ClientError> {
        let limit = self.client.link().options().connect_timeout;
        let look = async {
            let connection = self.client.link().connection().await?;
            self.client.watch().live(&connection).await
        };
        let live = tokio::time::timeout(limit, look).await;
        let live = live.unwrap_or(Err(ClientError::Timeout(limit)))?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.of.as_ref().is_none_or(|of| !Arc::ptr_eq(of, &live)) {
            let specs = live.tools.iter().filter_map(|tool| self.spec(tool)).collect();
            *made = Made { of: Some(live), specs: Arc::new(specs) };
        }
        Ok(made.specs.clone())
    }

    /// The tools to offer now. While the server is gone they are those it had: their calls fail, and not the run.
    async fn offered(&self) -> Arc<Vec<Arc<ToolSpec>>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if made.of.is_some() && !self.client.link().is_up() {
            return made.specs;
        }
        self.specs().await.unwrap_or_else(|error| {
            tracing::warn!(toolset = self.id, "tools could not be listed: {error}");
            made.specs
        })
    }

    fn spec(&self, tool: &LiveTool) -> Option<Arc<ToolSpec>> {
        match spec(&self.id, tool) {
            Ok(spec) => Some(Arc::new(spec)),
            Err(why) => {
                tracing::warn!(toolset = self.id, tool = tool.name, "a tool is left out: {why}");
                None
            }
        }
    }

    async fn answer(&self, call: &ToolCall) -> Result<Payload, ToolFailure> {
        let specs = self.specs().await.map_err(|error| unlisted(&error, call))?;
        let Some(spec) = specs.iter().find(|spec| spec.is_called(call.tool())) else {
            return Err(ToolFailure::not_found(call.tool(), specs.iter().map(|spec| spec.name())));
        };
        spec.check_args(call.args().as_bytes())
            .map_err(|issues| ToolFailure::invalid_call(spec, call, issues))?;
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
            Ok(specs.iter().map(|spec| ToolEntry::new(spec.clone())).collect())
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::new(call, self.answer(call).await) })
    }
}

/// The failure of a call whose tool could not even be looked up.
fn unlisted(error: &ClientError, call: &ToolCall) -> ToolFailure {
    let only_named = ToolSpec::new(call.tool().to_owned());
    super::failure::failure(error, &only_named, call)
}

/// A spec of what a server says of a tool.
pub(super) fn spec(toolset: &str, tool: &LiveTool) -> Result<ToolSpec, String> {
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
    if let Some(title) = &tool.title {
        spec.set_title(title.clone());
    }
    spec.set_description(excerpt(&tool.description, LONGEST_DESCRIPTION));
    spec.set_args_schema(input.text.clone());
    if let Some(output) = &tool.output {
        spec.set_result_schema(output.text.clone());
    }
    Ok(spec)
}

fn compiled(schema: &Schema) -> Result<toolwright::schema::Schema, String> {
    toolwright::schema::Schema::new(&schema.text)
        .map_err(|why| format!("its schema cannot be used: {why}"))
}
