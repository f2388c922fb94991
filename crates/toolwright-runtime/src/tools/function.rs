//! A plain async function as a tool, and as a toolset of one. Never knows who calls it.

use crate::debug::debug;
use std::sync::Arc;

use toolwright::codec::{self, Decode, Encode};
use toolwright::{
    BoxError, BoxFuture, Described, Payload, Scope, Tool, ToolCall, ToolFailure, ToolResult,
    ToolSpec,
};

use super::{ToolEntry, ToolSpecRef, Toolset};

type Body = Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Result<Payload, ToolFailure>> + Send + Sync>;

/// One tool that a function runs.
#[derive(Clone)]
pub struct FunctionTool {
    entry: ToolEntry,
    body: Body,
}

/// A function that can run a tool: of the arguments, or of the arguments and the call. `Kind` tells the two apart and
/// is inferred.
pub trait IntoToolBody<A, R, Kind>: Send + Sync + 'static {
    /// Runs the function.
    fn run(&self, args: A, call: ToolCall) -> BoxFuture<'static, Result<R, ToolFailure>>;
}

/// Tells functions of the arguments; see [`IntoToolBody`].
#[derive(Debug)]
pub struct OfArgs;
/// Tells functions of the arguments and the call; see [`IntoToolBody`].
#[derive(Debug)]
pub struct OfCall;

impl<A, R, F, T> IntoToolBody<A, R, OfArgs> for F
where
    F: Fn(A) -> T + Send + Sync + 'static,
    T: Future<Output = Result<R, ToolFailure>> + Send + 'static,
{
    fn run(&self, args: A, _: ToolCall) -> BoxFuture<'static, Result<R, ToolFailure>> {
        Box::pin(self(args))
    }
}

impl<A, R, F, T> IntoToolBody<A, R, OfCall> for F
where
    F: Fn(A, ToolCall) -> T + Send + Sync + 'static,
    T: Future<Output = Result<R, ToolFailure>> + Send + 'static,
{
    fn run(&self, args: A, call: ToolCall) -> BoxFuture<'static, Result<R, ToolFailure>> {
        Box::pin(self(args, call))
    }
}

debug!(FunctionTool, tool => { entry: tool.entry });

impl FunctionTool {
    /// A tool that is described here and now, and the function that runs it. Schemas and checks are those of the
    /// function's types, whatever the spec says.
    pub fn new<A, R, K>(spec: ToolSpec, function: impl IntoToolBody<A, R, K>) -> Self
    where
        A: Described + Send + 'static,
        R: Described + Send + 'static,
        K: 'static,
    {
        Self::of(spec.with_types::<A, R>().into(), function)
    }

    /// A tool that is a type already, and the function that runs it.
    pub fn typed<T, K>(_: T, function: impl IntoToolBody<T::Args, T::Result, K>) -> Self
    where
        T: Tool,
        T::Args: Send + 'static,
        T::Result: Send + 'static,
        K: 'static,
    {
        Self::of(T::SPEC.into(), function)
    }

    fn of<A, R, K>(spec: ToolSpecRef, function: impl IntoToolBody<A, R, K>) -> Self
    where
        A: Decode + Send + 'static,
        R: Encode + Send + 'static,
        K: 'static,
    {
        let function = Arc::new(function);
        let of_body = spec.clone();
        let body: Body = Arc::new(move |call| {
            let (function, spec) = (Arc::clone(&function), of_body.clone());
            Box::pin(async move {
                let args = codec::from_json::<A>(call.args().as_bytes())
                    .map_err(|issues| ToolFailure::invalid_call(&spec, &call, issues))?;
                let result = function.run(args, call).await?;
                Payload::of(&result).map_err(|issues| ToolFailure::malformed_result(&spec, &issues))
            })
        });
        Self { entry: ToolEntry::new(spec).checking_itself(), body }
    }

    /// The tool as it is listed.
    pub fn entry(&self) -> &ToolEntry {
        &self.entry
    }
}

impl Toolset for FunctionTool {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(vec![self.entry.clone()])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::new(call, (self.body)(call.clone()).await) })
    }
}
