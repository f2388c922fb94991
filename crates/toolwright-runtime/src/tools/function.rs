//! Tools that are async functions. Each is also a toolset with this one tool.

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

/// A type-erased function that decodes the arguments, runs the tool and encodes the result.
trait Body: Send + Sync {
    fn run<'a>(&'a self, spec: &'a ToolSpec, call: &'a ToolCall) -> BoxFuture<'a, Outcome>;
}

type Available = Arc<dyn Fn() -> bool + Send + Sync>;
type Instructions = Arc<dyn Fn(&Scope) -> Option<String> + Send + Sync>;

/// A tool that a function runs. Cheap to clone.
#[derive(Clone)]
pub struct FunctionTool {
    entry: ToolEntry,
    body: Arc<dyn Body>,
    available: Option<Available>,
    instructions: Option<Instructions>,
    /// The error in the schema of a type of the function.
    type_error: Option<String>,
}

/// An async function that can run a tool. It takes no argument, the arguments, or the arguments and the [`ToolCall`].
///
/// The type of the arguments has a codec and a schema ([`Described`](toolwright::Described)) or, with the feature
/// `schemars`, derives `Deserialize` and `JsonSchema`. So does the type of the result, which must be wrapped in `Json` if it
/// uses serde. A function that can fail returns a `Result` with any error. A [`ToolFailure`] is kept as it is; the text of
/// any other error is for operators only.
///
/// `Kind` distinguishes these functions and is inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot run a tool",
    label = "not a function that a tool can be made of",
    note = "its one argument must be a type with a schema: declared by `described!`, or, with the feature `schemars`, one that derives `Deserialize` and `JsonSchema`",
    note = "it must be async and return such a type, `Json` of a type that derives `Serialize` and `JsonSchema`, or a `Result` of either"
)]
pub trait ToolFunction<Kind>: Send + Sync + 'static {
    /// Converts it into a tool. Schemas and checks come from the types of the function.
    fn into_tool(self, spec: ToolSpec) -> FunctionTool;
}

/// Creates a tool from a function and its codecs.
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
            return FunctionTool::unusable(spec, format!("the schema of its arguments: {error}"));
        }
        (_, Err(error)) => {
            return FunctionTool::unusable(spec, format!("the schema of its result: {error}"));
        }
    };
    if !takes_objects(&args.schema) {
        let error =
            format!("its arguments have the schema {}, expected that of an object", args.schema);
        return FunctionTool::unusable(spec, error);
    }
    let (check_args, check_result) = (args.read.clone(), result.check);
    let mut spec =
        spec.with_checks(move |json| check_args(json).map(drop), move |json| check_result(json));
    spec.set_args_schema(args.schema);
    spec.set_result_schema(result.schema);
    FunctionTool::with_body(
        spec.into(),
        Arc::new(Typed { read: args.read, write: result.write, run }),
    )
}

/// A function with the codecs of its arguments and result.
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

/// A function that returns the agent for each call.
struct Delegating<F>(F);

impl<F, T, E> Body for Delegating<F>
where
    F: Fn(ToolCall) -> T + Send + Sync,
    T: Future<Output = Result<Delegation, E>> + Send + 'static,
    E: Into<BoxError>,
{
    fn run<'a>(&'a self, _: &'a ToolSpec, call: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        let delegating = (self.0)(call.clone());
        Box::pin(async move {
            let delegation = delegating.await;
            delegation.map_err(|error| ToolFailure::caused_by(error.into(), call))?.to_payload()
        })
    }
}

/// Returns whether the `type` of a schema allows objects.
fn takes_objects(schema: &str) -> bool {
    let schema: Value = schema.parse().unwrap_or_default();
    let Some(kind) = schema.as_object().and_then(|schema| schema.get("type")) else { return true };
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

/// Replaces a function with a type error. A runtime does not call it, as such a tool is not listed.
struct Unusable;

impl Body for Unusable {
    fn run<'a>(&'a self, spec: &'a ToolSpec, _: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        let message = format!("`{}` cannot be used: the schema of a type has errors", spec.name());
        let failure = ToolFailure::new(FailureKind::Internal, message, Recovery::Replan);
        Box::pin(std::future::ready(Err(failure)))
    }
}

debug!(FunctionTool, tool => { entry: tool.entry });

impl FunctionTool {
    /// Creates a tool from a spec and the function that runs it. Schemas and checks come from the types of the function and
    /// replace those of the spec.
    pub fn new<K>(spec: ToolSpec, function: impl ToolFunction<K>) -> Self {
        function.into_tool(spec)
    }

    /// Creates a tool from its generated type, such as `specs::Add`, and the function that runs it.
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
        Self::with_body(T::SPEC.into(), Arc::new(body))
    }

    /// Creates a tool whose calls agents run, and the function that returns the agent for each call. The function may create and
    /// register the agent first. The arguments are checked before the function is called, and the final payload of the agent's
    /// run must match the result schema of the spec.
    ///
    /// The agent's run is a child of the caller's run: it has the same approver and approval list, and it ends when the caller's
    /// run is stopped. If it has to wait for an answer, both runs are suspended. When they are resumed, or when the journal has
    /// the result of the function, the function is not called again, so that the agent must still be registered.
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
        Self { entry, body, available: None, instructions: None, type_error: None }
    }

    /// Creates a tool without types from a spec and the function that runs it. Arguments and results are checked against the
    /// schemas of the spec.
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

    fn with_body(spec: ToolSpecRef, body: Arc<dyn Body>) -> Self {
        let entry = ToolEntry::new(spec).checking_itself();
        Self { entry, body, available: None, instructions: None, type_error: None }
    }

    /// Creates a tool that is refused when it is registered or listed.
    fn unusable(spec: ToolSpec, type_error: String) -> Self {
        Self { type_error: Some(type_error), ..Self::with_body(spec.into(), Arc::new(Unusable)) }
    }

    /// Sets a function that tells whether the tool is available. While it is not, calls fail as unavailable, and a runtime that
    /// [skips unavailable tools](crate::RuntimeBuilder::skipping_unavailable) hides it from planners.
    /// [`Registry::set_availability`](crate::Registry::set_availability) does the same for a registered tool.
    #[must_use]
    pub fn with_availability(
        mut self,
        available: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.available = Some(Arc::new(available));
        self
    }

    /// Sets instructions for planners, in addition to the description. The function is called before each step.
    ///
    /// ```
    /// use toolwright::ToolSpec;
    /// use toolwright_runtime::FunctionTool;
    ///
    /// let bell = FunctionTool::new(ToolSpec::new("ring"), async || "ding".to_owned())
    ///     .with_availability(|| std::path::Path::new("/var/lib/bell").exists())
    ///     .with_instructions(|scope| {
    ///         let session = scope.session_id.as_deref()?;
    ///         Some(format!("Ring once in session {session}."))
    ///     });
    /// # let _ = bell;
    /// ```
    #[must_use]
    pub fn with_instructions(
        mut self,
        instructions: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.instructions = Some(Arc::new(instructions));
        self
    }

    /// Returns the entry that it lists.
    pub fn entry(&self) -> &ToolEntry {
        &self.entry
    }

    /// Returns the error in the schema of a type of the function.
    pub(crate) fn type_error(&self) -> Option<&str> {
        self.type_error.as_deref()
    }
}

impl Toolset for FunctionTool {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        let listed = match &self.type_error {
            None => Ok(vec![self.entry.clone()]),
            Some(error) => Err(format!("tool `{}`: {error}", self.entry.name()).into()),
        };
        Box::pin(std::future::ready(listed))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        Some(vec![self.entry.clone()])
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if !self.entry.is_called(call.tool()) {
            return call.not_found(&[]);
        }
        Box::pin(async move {
            let outcome = match self.entry.check_approval(call) {
                Ok(()) => self.body.run(self.entry.spec(), call).await,
                Err(failure) => Err(failure),
            };
            ToolResult::new(call, outcome)
        })
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        let text = self.instructions.as_ref().and_then(|instructions| instructions(scope));
        Box::pin(std::future::ready(text))
    }

    fn is_available(&self, tool: &str) -> bool {
        let _ = tool;
        self.available.as_ref().is_none_or(|available| available())
    }
}
