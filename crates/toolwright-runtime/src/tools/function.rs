//! A plain async function as a tool, and as a toolset of one.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::codec;
use toolwright::schema::SchemaError;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value,
};

use super::types::{ArgsCodec, Read, ResultCodec, ToolArgs, ToolOutput, Write};
use super::{Delegation, ToolEntry, ToolSpecRef, Toolset};

/// Runs a tool between its codecs.
trait Body: Send + Sync {
    fn run<'a>(&'a self, spec: &'a ToolSpec, call: &'a ToolCall) -> BoxFuture<'a, Outcome>;
}

type Available = Arc<dyn Fn() -> bool + Send + Sync>;
type Instructions = Arc<dyn Fn(&Scope) -> Option<String> + Send + Sync>;

/// One tool that a function runs. Cheap to clone.
#[derive(Clone)]
pub struct FunctionTool {
    entry: ToolEntry,
    body: Arc<dyn Body>,
    available: Option<Available>,
    instructions: Option<Instructions>,
    /// Why the function's types make no tool.
    mistake: Option<String>,
}

/// A function that can run a tool: async, of nothing, of the arguments, or of the arguments and the [`ToolCall`].
///
/// Arguments have a codec and a schema ([`Described`](toolwright::Described)) or, with the feature `schemars`, derive
/// `Deserialize` and `JsonSchema`. So do results; those of serde are wrapped in `Json`. A function that can fail returns a
/// `Result`, whose error is anything that is an error: a [`ToolFailure`] stays what it is; of any other error operators
/// learn the text and the model does not.
///
/// `Kind` tells these apart and is inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot run a tool",
    label = "not a function that a tool can be made of",
    note = "its one argument must be a type with a schema: declared by `described!`, or, with the feature `schemars`, one that derives `Deserialize` and `JsonSchema`",
    note = "it must be async and return such a type, `Json` of a type that derives `Serialize` and `JsonSchema`, or a `Result` of either"
)]
pub trait ToolFunction<Kind>: Send + Sync + 'static {
    /// The function as a tool. Schemas and checks are those of its types.
    fn into_tool(self, spec: ToolSpec) -> FunctionTool;
}

/// Runs a function between the codecs of its types.
fn tool<A, R>(
    spec: ToolSpec,
    codecs: (Result<ArgsCodec<A>, SchemaError>, Result<ResultCodec<R>, SchemaError>),
    run: impl Fn(A, &ToolCall) -> BoxFuture<'static, Result<R, BoxError>> + Send + Sync + 'static,
) -> FunctionTool
where
    A: Send + 'static,
    R: Send + 'static,
{
    let (args, result) = match codecs {
        (Ok(args), Ok(result)) => (args, result),
        (Err(error), _) => {
            return FunctionTool::broken(spec, format!("the schema of its arguments: {error}"));
        }
        (_, Err(error)) => {
            return FunctionTool::broken(spec, format!("the schema of its result: {error}"));
        }
    };
    if !takes_objects(&args.schema) {
        let mistake =
            format!("its arguments have the schema {}, expected that of an object", args.schema);
        return FunctionTool::broken(spec, mistake);
    }
    let (check_args, check_result) = (args.read.clone(), result.check);
    let mut spec =
        spec.with_checks(move |json| check_args(json).map(drop), move |json| check_result(json));
    spec.set_args_schema(args.schema);
    spec.set_result_schema(result.schema);
    FunctionTool::new_of(spec.into(), Arc::new(Typed { read: args.read, write: result.write, run }))
}

/// A function, and the codecs of what it takes and returns.
struct Typed<A, R, F> {
    read: Read<A>,
    write: Write<R>,
    run: F,
}

impl<A, R, F> Body for Typed<A, R, F>
where
    A: Send + 'static,
    R: Send + 'static,
    F: Fn(A, &ToolCall) -> BoxFuture<'static, Result<R, BoxError>> + Send + Sync,
{
    fn run<'a>(&'a self, spec: &'a ToolSpec, call: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let args = (self.read)(call.args().as_bytes())
                .map_err(|issues| ToolFailure::invalid_call(spec, call, issues))?;
            match (self.run)(args, call).await {
                Ok(result) => (self.write)(&result)
                    .map_err(|issues| ToolFailure::malformed_result(spec, &issues)),
                Err(error) => Err(ToolFailure::caused_by(error, call)),
            }
        })
    }
}

/// A function that names the agent that answers a call.
struct Delegating<F>(F);

impl<F, T, E> Body for Delegating<F>
where
    F: Fn(ToolCall) -> T + Send + Sync,
    T: Future<Output = Result<Delegation, E>> + Send + 'static,
    E: Into<BoxError>,
{
    fn run<'a>(&'a self, _: &'a ToolSpec, call: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        let naming = (self.0)(call.clone());
        Box::pin(async move {
            let named = naming.await;
            named.map_err(|error| ToolFailure::caused_by(error.into(), call))?.to_payload()
        })
    }
}

/// Whether objects are among the arguments that a schema accepts, as far as its `type` says.
fn takes_objects(schema: &str) -> bool {
    let schema: Value = schema.parse().unwrap_or_default();
    let Some(kind) = schema.as_object().and_then(|words| words.get("type")) else { return true };
    let is_object = |kind: &Value| kind.as_str() == Some("object");
    is_object(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_object))
}

impl<F, T, R, K> ToolFunction<(R, K)> for F
where
    F: Fn() -> T + Send + Sync + 'static,
    T: Future<Output = R> + Send + 'static,
    R: ToolOutput<K>,
{
    fn into_tool(self, spec: ToolSpec) -> FunctionTool {
        tool(spec, (Ok(ArgsCodec::none()), R::codec()), move |(), _| {
            let running = self();
            Box::pin(async move { running.await.into_result() })
        })
    }
}

impl<F, A, T, R, KA, KR> ToolFunction<(A, R, KA, KR)> for F
where
    F: Fn(A) -> T + Send + Sync + 'static,
    A: ToolArgs<KA>,
    T: Future<Output = R> + Send + 'static,
    R: ToolOutput<KR>,
{
    fn into_tool(self, spec: ToolSpec) -> FunctionTool {
        tool(spec, (A::codec(), R::codec()), move |args, _| {
            let running = self(args);
            Box::pin(async move { running.await.into_result() })
        })
    }
}

impl<F, A, T, R, KA, KR> ToolFunction<(A, ToolCall, R, KA, KR)> for F
where
    F: Fn(A, ToolCall) -> T + Send + Sync + 'static,
    A: ToolArgs<KA>,
    T: Future<Output = R> + Send + 'static,
    R: ToolOutput<KR>,
{
    fn into_tool(self, spec: ToolSpec) -> FunctionTool {
        tool(spec, (A::codec(), R::codec()), move |args, call| {
            let running = self(args, call.clone());
            Box::pin(async move { running.await.into_result() })
        })
    }
}

/// Stands in for a function whose types make no tool. Such a tool is not listed, so this is not called by a runtime.
struct Unusable;

impl Body for Unusable {
    fn run<'a>(&'a self, spec: &'a ToolSpec, _: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        let message = format!("`{}` cannot be used: its types make no tool", spec.name());
        let failure = ToolFailure::new(FailureKind::Internal, message, Recovery::Replan);
        Box::pin(std::future::ready(Err(failure)))
    }
}

debug!(FunctionTool, tool => { entry: tool.entry });

impl FunctionTool {
    /// A tool that is described here and now, and the function that runs it. Schemas and checks are those of the
    /// function's types, whatever the spec says.
    pub fn new<K>(spec: ToolSpec, function: impl ToolFunction<K>) -> Self {
        function.into_tool(spec)
    }

    /// A tool that is a type already, and the function that runs it.
    pub fn typed<T, F, E>(
        _: T,
        function: impl Fn(T::Args, ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: Tool<Args: Send + 'static, Result: Send + 'static>,
        F: Future<Output = Result<T::Result, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let run = move |args, call: &ToolCall| -> BoxFuture<'static, Result<T::Result, BoxError>> {
            let running = function(args, call.clone());
            Box::pin(async move { running.await.map_err(Into::into) })
        };
        let body = Typed { read: Arc::new(codec::from_json), write: Arc::new(Payload::of), run };
        Self::new_of(T::SPEC.into(), Arc::new(body))
    }

    /// A tool whose calls are answered by runs of agents, and the function that says which agent for each call. The function
    /// may make and register that agent first. It sees calls whose arguments keep the spec's schema, and the final payload
    /// of the agent's run is held to the schema of the spec's result.
    ///
    /// The run is one that is nested in the caller's: it has the caller's approver, approval list and end, and where it has
    /// to wait for an answer, the caller is suspended with it. The function is not called again when both go on, nor where a
    /// journal kept what it returned, so the agent has to be registered still.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use toolwright::{BoxError, Payload, ToolCall, ToolSpec};
    /// use toolwright_runtime::tools::Delegation;
    /// use toolwright_runtime::{Agent, FunctionTool, Planner, Registry, RunRequest, Runtime, Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// registry.tool("look_up", "Look a word up.", async || "a small river".to_owned())?;
    /// let planner: Arc<dyn Planner> = Script::new()
    ///     .call([ToolCall::new("look_up", Payload::new("{}"))])
    ///     .finish(Payload::new(r#""done""#))
    ///     .into();
    ///
    /// let agents = registry.clone();
    /// let research = FunctionTool::delegating(ToolSpec::new("research"), move |call| {
    ///     let researcher = Agent::new("researcher", "library").with_tools(["look_up"]);
    ///     agents.remove_agent("researcher");
    ///     let registered = agents.register_agent(researcher, Arc::clone(&planner));
    ///     async move {
    ///         registered?;
    ///         Ok::<_, BoxError>(Delegation::to("researcher", call.args().clone()))
    ///     }
    /// });
    /// registry.register_tool(research)?;
    ///
    /// let runtime = Runtime::new(registry);
    /// let result = runtime.call(ToolCall::new("research", Payload::new(r#"{"word":"brook"}"#))).await;
    /// assert_eq!(result.outcome?.as_str(), r#""done""#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delegating<F, E>(
        spec: impl Into<ToolSpecRef>,
        function: impl Fn(ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Delegation, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let entry = ToolEntry::new(spec).delegating();
        let body = Arc::new(Delegating(function));
        Self { entry, body, available: None, instructions: None, mistake: None }
    }

    /// A tool that has schemas and no types, and the function that runs it. The schemas that the spec says are what
    /// arguments and results are held against.
    pub fn untyped<F>(
        spec: ToolSpec,
        function: impl Fn(ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let args = ArgsCodec::of_schema(spec.args_schema());
        let result = ResultCodec::of_schema(spec.result_schema());
        tool(spec, (args, result), move |(), call| {
            let running = function(call.clone());
            Box::pin(async move { running.await.map_err(Into::into) })
        })
    }

    fn new_of(spec: ToolSpecRef, body: Arc<dyn Body>) -> Self {
        let entry = ToolEntry::new(spec).checking_itself();
        Self { entry, body, available: None, instructions: None, mistake: None }
    }

    /// A tool that is refused when it is registered or listed.
    fn broken(spec: ToolSpec, mistake: String) -> Self {
        Self { mistake: Some(mistake), ..Self::new_of(spec.into(), Arc::new(Unusable)) }
    }

    /// Sets when the tool can be used, as [`Registry::set_availability`](crate::Registry::set_availability) does it with one
    /// that is registered: a call at any other time is refused as unavailable, and a runtime that skips
    /// unavailable tools does not show it.
    #[must_use]
    pub fn with_availability(
        mut self,
        available: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.available = Some(Arc::new(available));
        self
    }

    /// Sets what planners are told about the tool beside its description, asked before each step.
    ///
    /// ```
    /// use toolwright::ToolSpec;
    /// use toolwright_runtime::FunctionTool;
    ///
    /// let noon = FunctionTool::new(ToolSpec::new("ring"), async || "ding".to_owned())
    ///     .with_availability(|| std::path::Path::new("/var/lib/bell").exists())
    ///     .with_instructions(|scope| {
    ///         let session = scope.session_id.as_deref()?;
    ///         Some(format!("Ring once in session {session}."))
    ///     });
    /// # let _ = noon;
    /// ```
    #[must_use]
    pub fn with_instructions(
        mut self,
        instructions: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.instructions = Some(Arc::new(instructions));
        self
    }

    /// The tool as it is listed.
    pub fn entry(&self) -> &ToolEntry {
        &self.entry
    }

    /// Why the function's types make no tool.
    pub(crate) fn mistake(&self) -> Option<&str> {
        self.mistake.as_deref()
    }
}

impl Toolset for FunctionTool {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        let listed = match &self.mistake {
            None => Ok(vec![self.entry.clone()]),
            Some(mistake) => Err(format!("tool `{}`: {mistake}", self.entry.name()).into()),
        };
        Box::pin(std::future::ready(listed))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        Some(vec![self.entry.clone()])
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let outcome = match self.entry.check_approval(call) {
                Ok(()) => self.body.run(self.entry.spec(), call).await,
                Err(failure) => Err(failure),
            };
            ToolResult::new(call, outcome)
        })
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let said = self.instructions.as_ref().and_then(|instructions| instructions(scope));
        Box::pin(std::future::ready(said))
    }

    fn is_available(&self, tool: &str) -> bool {
        let _ = tool;
        self.available.as_ref().is_none_or(|available| available())
    }
}
