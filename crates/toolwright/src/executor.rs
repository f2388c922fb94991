//! Executors, which run calls, and the steps that they share: decode, run, encode. Routing calls to executors is up to
//! the runtime.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::call::{Payload, ToolCall};
use crate::codec::{self, Decode, Encode};
use crate::issue::{InvalidPayload, Issue};
use crate::outcome::{FailureKind, Recovery, ToolFailure, ToolResult};
use crate::pointer::unescaped;
use crate::spec::{Tool, ToolSpec};
use crate::value::{Map, Value};

/// A boxed future, so that [`Executor`] works as a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs calls. A failed call is a result, not a panic.
pub trait Executor: Send + Sync {
    /// Runs one call. Dropping the future cancels the call.
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;

    /// Returns true if a call that is repeated with the same run id and call id joins the first one instead of running again. A run
    /// with a journal then makes an interrupted call again, even of a tool that is neither read-only nor idempotent.
    fn has_resumable_calls(&self) -> bool {
        false
    }
}

/// An executor that runs the calls of some tools on one executor and all others on another, so that a toolset with two
/// executors can be registered.
pub struct SplitExecutor<A> {
    specs: &'static [&'static ToolSpec],
    on: A,
    others: Arc<dyn Executor>,
}

impl<A: fmt::Debug> fmt::Debug for SplitExecutor<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.specs.iter().map(|spec| spec.name()).collect();
        f.debug_struct("SplitExecutor")
            .field("specs", &names)
            .field("on", &self.on)
            .finish_non_exhaustive()
    }
}

impl<A: Executor> SplitExecutor<A> {
    /// Creates an executor that runs calls of `specs` on `on` and all others on `others`.
    pub fn new(specs: &'static [&'static ToolSpec], on: A, others: Arc<dyn Executor>) -> Self {
        Self { specs, on, others }
    }
}

impl<A: Executor> Executor for SplitExecutor<A> {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.specs.iter().any(|spec| spec.is_called(call.tool())) {
            self.on.execute(call)
        } else {
            self.others.execute(call)
        }
    }

    fn has_resumable_calls(&self) -> bool {
        self.on.has_resumable_calls() && self.others.has_resumable_calls()
    }
}

/// Declares an executor that runs tools by calling the methods of a service. Each tool has an arm with its name and
/// aliases, its type, and the method. If the tool and the method have different types, the arm also names a function
/// that converts the arguments to the method's payload, or the method's result to the tool's. The last arm lists all
/// specs.
///
/// ```
/// use toolwright::{MethodError, ToolCall, ToolFailure, ToolSpec};
///
/// toolwright::service! {
///     /// Counts.
///     pub trait CounterService {
///         /// Returns the number after another one.
///         async fn next(&self, number: i64) -> Result<i64, MethodError>;
///     }
/// }
///
/// static NEXT: ToolSpec = ToolSpec::of::<Next>("next").with_aliases(&["successor"]);
/// toolwright::tool!(Next(i64) -> String = NEXT);
/// static ALL: &[&ToolSpec] = &[&NEXT];
///
/// fn text(number: &i64) -> Result<String, ToolFailure> {
///     Ok(number.to_string())
/// }
///
/// toolwright::executor! {
///     /// Runs the tools on a [`CounterService`].
///     pub struct CounterExecutor<S: CounterService> {
///         "next" | "successor" => Next: next() -> text,
///         _ => ALL,
///     }
/// }
/// # use toolwright::{Executor, Payload};
/// # struct Counter;
/// # impl CounterService for Counter {
/// #     async fn next(&self, number: i64) -> Result<i64, MethodError> { Ok(number + 1) }
/// # }
/// # let call = ToolCall::new("successor", Payload::new("1"));
/// # let executor = CounterExecutor::new(Counter);
/// # let mut run = std::pin::pin!(executor.execute(&call));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let std::task::Poll::Ready(result) = run.as_mut().poll(&mut context) else { panic!() };
/// # assert_eq!(result.outcome.as_ref().map(Payload::as_str), Ok(r#""2""#));
/// ```
#[macro_export]
macro_rules! executor {
    (
        $(#[$about:meta])*
        pub struct $name:ident<S: $service:ident> {
            $($($tool_name:literal)|+ => $tool:path: $method:ident($($payload_of:path $(,)?)?) $(-> $result_of:path)?,)*
            _ => $specs:expr $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name<S> {
            service: S,
        }

        impl<S: $service> $name<S> {
            /// Creates an executor that calls this service.
            pub fn new(service: S) -> Self {
                Self { service }
            }
        }

        impl<S: $service> $crate::Executor for $name<S> {
            fn execute<'a>(
                &'a self,
                call: &'a $crate::ToolCall,
            ) -> $crate::BoxFuture<'a, $crate::ToolResult> {
                match call.tool() {
                    $($($tool_name)|+ => call.run($tool, async move |args| {
                        $(let args = $payload_of(args, call)?;)?
                        let result = self.service.$method(args).await;
                        let result = result.map_err(|error| error.into_failure(call));
                        $(let result = $result_of(&result?);)?
                        result
                    }),)*
                    _ => call.not_found($specs),
                }
            }
        }
    };
}

impl ToolCall {
    /// Runs a typed tool: decodes the arguments, awaits the body, encodes its result. The tool is passed as a value,
    /// because a call with `::<T>` would also have to spell out the type of the body.
    pub fn run<'a, T, F>(
        &'a self,
        _: T,
        body: impl FnOnce(T::Args) -> F + Send + 'a,
    ) -> BoxFuture<'a, ToolResult>
    where
        T: Tool,
        T::Args: Send,
        F: Future<Output = Result<T::Result, ToolFailure>> + Send + 'a,
    {
        Box::pin(async move {
            let args = match codec::from_json::<T::Args>(self.args().as_bytes()) {
                Ok(args) => args,
                Err(issues) => return self.fail(ToolFailure::invalid_call(T::SPEC, self, issues)),
            };
            match body(args).await {
                Ok(result) => self.finish(T::SPEC, Payload::of(&result)),
                Err(failure) => self.fail(failure),
            }
        })
    }

    /// Returns the failure for a call of an unknown tool.
    pub fn not_found<'a>(&'a self, specs: &'a [&ToolSpec]) -> BoxFuture<'a, ToolResult> {
        let known = specs.iter().map(|spec| spec.name());
        let failure = ToolFailure::not_found(self.tool(), known);
        Box::pin(std::future::ready(self.fail(failure)))
    }

    fn finish(&self, spec: &ToolSpec, result: Result<Payload, InvalidPayload>) -> ToolResult {
        let malformed = |issues| ToolFailure::malformed_result(spec, &issues);
        ToolResult::new(self, result.map_err(malformed))
    }

    fn fail(&self, failure: ToolFailure) -> ToolResult {
        ToolResult::new(self, Err(failure))
    }
}

/// Returns the value of a required injected property.
///
/// # Errors
///
/// An internal failure if the call's scope does not have it.
pub fn injected(property: &str, source: &str, value: Option<&str>) -> Result<String, ToolFailure> {
    value.map(str::to_owned).ok_or_else(|| {
        ToolFailure::new(FailureKind::Internal, "the tool failed internally", Recovery::Finish)
            .with_detail(format!(
                "`{property}` is filled from the call's {source}, which this call does not have; the host sets it: \
                 `RunRequest::with_session_id` and the like for runs, `HttpOptions::with_scope` for an MCP server, otherwise \
                 `ToolCall::with_scope`"
            ))
    })
}

/// Returns a method's payload with its injected values, if it is valid.
///
/// # Errors
///
/// An internal failure if an injected value breaks the payload's schema, which is the host's fault, not the model's.
pub fn checked_payload<T: Encode>(payload: T) -> Result<T, ToolFailure> {
    match codec::to_json(&payload) {
        Ok(_) => Ok(payload),
        Err(issues) => Err(ToolFailure::internal(&issues)),
    }
}

/// Converts a tool's arguments to a method's payload of another type, by way of JSON, and adds the injected properties.
/// If the arguments hold a value under the key of an injected property, it is dropped, even if there is nothing to
/// inject.
///
/// # Errors
///
/// An invalid call if the arguments are valid for the tool but not for its method; an internal failure, which hides the
/// issues from the model, if an injected value is invalid.
pub fn reshape_args<A: Encode, P: Decode>(
    call: &ToolCall,
    spec: &ToolSpec,
    args: &A,
    injected: &[(&str, Option<String>)],
) -> Result<P, ToolFailure> {
    let reshaped = codec::to_json(args).and_then(|json| {
        let mut object = codec::from_json::<Map<Value>>(json.as_bytes())?;
        for (property, value) in injected {
            match value {
                Some(value) => object.insert(*property, Value::String(value.clone())),
                None => object.remove(property),
            };
        }
        codec::from_json(codec::to_json(&object)?.as_bytes())
    });
    reshaped.map_err(|issues: InvalidPayload| {
        if issues.issues().iter().any(|issue| is_injected(issue, injected)) {
            return ToolFailure::internal(&issues);
        }
        ToolFailure::invalid_call(spec, call, issues)
    })
}

/// Returns true if an issue is in an injected property.
fn is_injected(issue: &Issue, injected: &[(&str, Option<String>)]) -> bool {
    let key = issue.pointer().strip_prefix('/').map(unescaped);
    injected.iter().any(|(property, _)| key.as_deref() == Some(*property))
}

/// Converts a method's result to a tool's result of another type, by way of JSON.
///
/// # Errors
///
/// A malformed result if the method's result is not valid for the tool.
pub fn reshape_result<M: Encode, R: Decode>(spec: &ToolSpec, result: &M) -> Result<R, ToolFailure> {
    codec::to_json(result)
        .and_then(|json| codec::from_json(json.as_bytes()))
        .map_err(|issues| ToolFailure::malformed_result(spec, &issues))
}
