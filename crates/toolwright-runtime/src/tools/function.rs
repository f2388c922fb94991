//! A plain async function as a tool, and as a toolset of one.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::codec;
use toolwright::schema::SchemaError;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value,
};

use super::types::{ArgsCodec, ResultCodec, ToolArgs, ToolOutput};
use super::{ToolEntry, ToolSpecRef, Toolset};

type Body = Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Outcome> + Send + Sync>;
type Available = Arc<dyn Fn() -> bool + Send + Sync>;
type Instructions = Arc<dyn Fn(&Scope) -> Option<String> + Send + Sync>;

/// One tool that a function runs. Cheap to clone.
#[derive(Clone)]
pub struct FunctionTool {
    entry: ToolEntry,
    body: Body,
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
    run: impl Fn(A, ToolCall) -> BoxFuture<'static, Result<R, BoxError>> + Send + Sync + 'static,
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
    let spec: ToolSpecRef = spec.into();
    let (of_body, run) = (spec.clone(), Arc::new(run));
    let (read, write) = (args.read, result.write);
    let body: Body = Arc::new(move |call| {
        let (spec, read, write, run) = (of_body.clone(), read.clone(), write.clone(), run.clone());
        Box::pin(async move {
            let args = read(call.args().as_bytes())
                .map_err(|issues| ToolFailure::invalid_call(&spec, &call, issues))?;
            let result = match run(args, call.clone()).await {
                Ok(result) => result,
                Err(error) => return Err(ToolFailure::caused_by(error, &call)),
            };
            write(&result).map_err(|issues| ToolFailure::malformed_result(&spec, &issues))
        })
    });
    FunctionTool::new_of(spec, body)
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
            let running = self(args, call);
            Box::pin(async move { running.await.into_result() })
        })
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
        let function = Arc::new(function);
        let body: Body = Arc::new(move |call| {
            let function = Arc::clone(&function);
            Box::pin(async move {
                let args = codec::from_json(call.args().as_bytes())
                    .map_err(|issues| ToolFailure::invalid_call(T::SPEC, &call, issues))?;
                match function(args, call.clone()).await {
                    Ok(result) => Payload::of(&result)
                        .map_err(|issues| ToolFailure::malformed_result(T::SPEC, &issues)),
                    Err(error) => Err(ToolFailure::caused_by(error.into(), &call)),
                }
            })
        });
        Self::new_of(T::SPEC.into(), body)
    }

    fn new_of(spec: ToolSpecRef, body: Body) -> Self {
        let entry = ToolEntry::new(spec).checking_itself();
        Self { entry, body, available: None, instructions: None, mistake: None }
    }

    /// A tool that is refused when it is registered or listed.
    fn broken(spec: ToolSpec, mistake: String) -> Self {
        let never = Arc::new(|_| -> BoxFuture<'static, Outcome> {
            let failure =
                ToolFailure::new(FailureKind::Internal, "the tool has no schema", Recovery::Replan);
            Box::pin(std::future::ready(Err(failure)))
        });
        Self { mistake: Some(mistake), ..Self::new_of(spec.into(), never) }
    }

    /// Sets when the tool can be used: a call at any other time is refused as unavailable, and a runtime that skips
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

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::new(call, (self.body)(call.clone()).await) })
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
