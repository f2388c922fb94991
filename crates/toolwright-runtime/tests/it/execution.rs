//! The layers of `execute`: timeout, retry, rate limit, output cap.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toolwright::spec::{CallLimits, ToolAnnotations};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolResult, ToolSpec};
use toolwright_runtime::execute::{OutputCap, RateLimit, Retry, Timeout, WrapFailure};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{Collector, ExecutionService, FunctionTool, Registry, Runtime, Source};
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::retry::RetryLayer;

use crate::planners::brief;
use crate::tools::{N, call};
use crate::toys::spec;

/// A tool that fails `failures` times, and then returns the number of its attempts.
fn flaky(
    times: u32,
    kind: FailureKind,
    limits: CallLimits,
    idempotent: Option<bool>,
) -> FunctionTool {
    failing(times, ToolFailure::new(kind, "not now", Recovery::Retry), limits, idempotent)
}

/// A tool that fails `times` times with this failure.
fn failing(
    times: u32,
    failure: ToolFailure,
    limits: CallLimits,
    idempotent: Option<bool>,
) -> FunctionTool {
    let annotations = ToolAnnotations { idempotent, ..ToolAnnotations::UNKNOWN };
    let spec = spec("flaky").with_limits(limits).with_annotations(annotations);
    let attempts = Arc::new(AtomicU32::new(0));
    FunctionTool::new(spec, move |_: N| {
        let attempt = attempts.fetch_add(1, Ordering::SeqCst) + 1;
        let failure = failure.clone();
        async move {
            if attempt <= times {
                return Err(failure);
            }
            Ok(N { n: attempt.into() })
        }
    })
}

fn exact() -> Retry {
    Retry::new().with_jitter(0.0)
}

async fn run(tool: FunctionTool, execute: ExecutionService) -> (ToolResult, Duration) {
    let registry = Registry::new();
    registry.register_tool(tool).unwrap();
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    let since = Instant::now();
    let result = runtime.call(call("flaky", "a", 1)).await;
    (result, since.elapsed())
}

#[tokio::test(start_paused = true)]
async fn h3_a_toolset_has_layers_of_its_own() {
    let registry = Registry::new();
    for toolset in ["patient", "hasty"] {
        let spec = ToolSpec::new(toolset).with_toolset(toolset);
        let slow = FunctionTool::new(spec, async || {
            tokio::time::sleep(Duration::from_secs(10)).await;
            true
        });
        registry.register_tool(slow).unwrap();
    }
    let within = |seconds| ExecutionService::new(Timeout::new(Duration::from_secs(seconds)));
    let builder = Runtime::builder(registry).with_execution_service(within(20));
    let runtime = builder.with_execution_service_for("hasty", within(5)).build();
    let called =
        async |tool: &str| brief(&runtime.call(ToolCall::new(tool, Payload::new("{}"))).await);
    assert_eq!((called("patient").await, called("hasty").await), ("true".into(), "timeout".into()));
}

/// H3: there are three attempts, with waits of 2^n seconds between them.
#[tokio::test(start_paused = true)]
async fn h3_only_transient_failures_are_retried() {
    let own = CallLimits { attempts: Some(5), ..CallLimits::UNLIMITED };
    let none = CallLimits::UNLIMITED;
    let (unavailable, timeout) = (FailureKind::Unavailable, FailureKind::Timeout);
    let unknown = || ToolFailure::new(timeout, "it may have taken effect", Recovery::Replan);
    let cases = [
        (flaky(0, unavailable, none, None), r#"{"n":1}"#, 0),
        (flaky(2, unavailable, none, None), r#"{"n":3}"#, 1 + 2),
        (flaky(3, unavailable, none, None), "unavailable", 1 + 2),
        (flaky(2, FailureKind::RateLimited, none, None), r#"{"n":3}"#, 1 + 2),
        (flaky(4, unavailable, own, None), r#"{"n":5}"#, 1 + 2 + 4 + 8),
        (flaky(1, FailureKind::DomainRejection, none, None), "domain_rejection", 0),
        (flaky(1, FailureKind::Internal, none, None), "internal", 0),
        (flaky(1, timeout, none, None), r#"{"n":2}"#, 1),
        (flaky(1, timeout, none, Some(false)), "timeout", 0),
        (failing(1, unknown(), none, None), "timeout", 0),
        (failing(1, unknown(), none, Some(true)), r#"{"n":2}"#, 1),
    ];
    for (tool, expected, seconds) in cases {
        let (result, took) = run(tool, ExecutionService::new(RetryLayer::new(exact()))).await;
        assert_eq!((brief(&result).as_str(), took), (expected, Duration::from_secs(seconds)));
    }
}

#[tokio::test(start_paused = true)]
async fn h3_by_default_a_tool_has_the_attempts_of_its_spec() {
    let own = CallLimits { attempts: Some(2), ..CallLimits::UNLIMITED };
    for (limits, expected) in [(own, r#"{"n":2}"#), (CallLimits::UNLIMITED, "unavailable")] {
        let tool = flaky(1, FailureKind::Unavailable, limits, None);
        assert_eq!(brief(&run(tool, ExecutionService::default()).await.0), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn every_retry_is_published() {
    let registry = Registry::new();
    let limits = CallLimits { attempts: Some(3), ..CallLimits::UNLIMITED };
    registry.register_tool(flaky(2, FailureKind::Unavailable, limits, None)).unwrap();
    let all = Collector::new();
    Runtime::builder(registry).with_events(all.clone()).build().call(call("flaky", "a", 1)).await;
    let kinds: Vec<_> = all.events().iter().map(|event| event.kind.as_str()).collect();
    let retried = "tool_call_retried";
    assert_eq!(kinds, ["tool_call_scheduled", retried, retried, "tool_result_received"]);
}

/// A tool that takes `n` seconds.
fn sleepy(timeout: Option<Duration>) -> FunctionTool {
    let limits = CallLimits { timeout, ..CallLimits::UNLIMITED };
    let spec = spec("sleepy").with_limits(limits);
    FunctionTool::new(spec, async |args: N| {
        tokio::time::sleep(Duration::from_secs(args.n.unsigned_abs())).await;
        Ok::<_, ToolFailure>(args)
    })
}

#[tokio::test(start_paused = true)]
async fn h3_a_tool_has_the_time_limit_of_its_spec_or_thirty_seconds() {
    for (own, seconds, expected) in [
        (None, 29, r#"{"n":29}"#),
        (None, 31, "timeout"),
        (Some(Duration::from_mins(1)), 59, r#"{"n":59}"#),
        (Some(Duration::from_secs(5)), 6, "timeout"),
    ] {
        let registry = Registry::new();
        registry.register_tool(sleepy(own)).unwrap();
        let result = Runtime::new(registry).call(call("sleepy", "a", seconds)).await;
        assert_eq!(brief(&result), expected);
    }
}

#[tokio::test]
async fn h3_failures_can_be_wrapped_with_tool_and_arguments() {
    let tool = flaky(1, FailureKind::DomainRejection, CallLimits::UNLIMITED, None);
    let (result, _) = run(tool, ExecutionService::new(WrapFailure)).await;
    let failure = result.outcome.as_ref().unwrap_err();
    assert_eq!(failure.kind, FailureKind::DomainRejection);
    assert_eq!(failure.message, "tool 'flaky' failed: not now");
    assert_eq!(failure.detail.as_deref(), Some(r#"called with {"n":1}"#));
}

#[tokio::test(start_paused = true)]
async fn the_concurrency_limit_of_tower_can_be_used() {
    let registry = Registry::new();
    registry.register_tool(sleepy(None)).unwrap();
    let layers = ServiceBuilder::new().layer(GlobalConcurrencyLimitLayer::new(2)).into_inner();
    let runtime =
        Runtime::builder(registry).with_execution_service(ExecutionService::new(layers)).build();
    let since = Instant::now();
    let calls = ["a", "b", "c", "d"].map(|id| runtime.call(call("sleepy", id, 1)));
    futures_util::future::join_all(calls).await;
    assert_eq!(since.elapsed(), Duration::from_secs(2), "two at a time");
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_rate_are_refused_until_the_window_ends() {
    let registry = Registry::new();
    registry.register_tool(sleepy(None)).unwrap();
    let layer = RateLimit::new(2, Duration::from_secs(10));
    let runtime =
        Runtime::builder(registry).with_execution_service(ExecutionService::new(layer)).build();
    let mut results = Vec::new();
    for id in ["a", "b", "c"] {
        results.push(brief(&runtime.call(call("sleepy", id, 1)).await));
    }
    tokio::time::sleep(Duration::from_secs(8)).await;
    results.push(brief(&runtime.call(call("sleepy", "d", 0)).await));
    assert_eq!(results, [r#"{"n":1}"#, r#"{"n":1}"#, "rate_limited", r#"{"n":0}"#]);
}

#[tokio::test]
async fn a_result_over_the_cap_is_a_failure() {
    let large = FunctionTool::new(spec("flaky"), async |args: N| {
        let _ = args;
        Ok::<_, ToolFailure>("x".repeat(1000))
    });
    let (result, _) = run(large, ExecutionService::new(OutputCap::new(100))).await;
    let failure = result.outcome.as_ref().unwrap_err();
    assert_eq!(failure.kind, FailureKind::MalformedResult);
    assert_eq!(
        failure.message,
        "`flaky` ran, but its result has 1002 bytes, and at most 100 are allowed; ask for less"
    );
}

/// H4: hidden if the host skips unavailable tools.
#[tokio::test]
async fn h4_unavailable_tools_are_hidden_or_refused() {
    let closed = crate::toys::tool("closed", |_| panic!("it is not available"));
    let closed = closed.with_availability(|| false);
    let once = closed.clone().into_source();
    let per_step = Source::per_step(move |_| closed.clone());
    for source in [once, per_step] {
        for (skip, expected) in [(true, "not_found"), (false, "unavailable")] {
            let registry = Registry::new();
            registry.register_toolset("closed", source.clone()).unwrap();
            let planner = crate::planners::steps(vec![vec![call("closed", "a", 1)]]);
            let agent = toolwright_runtime::Agent::new("worker", "lab").with_toolsets(["closed"]);
            registry.register_agent(agent, planner).unwrap();
            let mut builder = Runtime::builder(registry);
            if skip {
                builder = builder.skipping_unavailable();
            }
            let request = toolwright_runtime::RunRequest::new("worker", Payload::new("{}"));
            let outcome = builder.build().run(request).await.unwrap();
            assert_eq!(crate::planners::briefs(&outcome), [expected]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_took_too_long_is_repeated_only_if_that_does_no_harm() {
    let none = ToolAnnotations::default();
    let read_only = ToolAnnotations { read_only: Some(true), ..none };
    let idempotent = ToolAnnotations { idempotent: Some(true), ..none };
    let not_idempotent = ToolAnnotations { idempotent: Some(false), ..none };
    for (annotations, expected, seconds) in [
        (read_only, r#"{"n":1}"#, 6),
        (idempotent, r#"{"n":1}"#, 6),
        (none, "timeout", 5),
        (not_idempotent, "timeout", 5),
    ] {
        let attempts = Arc::new(AtomicU32::new(0));
        let spec = spec("flaky").with_annotations(annotations);
        let slow_once = FunctionTool::new(spec, move |args: N| {
            let first = attempts.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if first {
                    std::future::pending::<()>().await;
                }
                Ok::<_, ToolFailure>(args)
            }
        });
        let layers = ServiceBuilder::new()
            .layer(RetryLayer::new(exact()))
            .layer(Timeout::new(Duration::from_secs(5)))
            .into_inner();
        let (result, took) = run(slow_once, ExecutionService::new(layers)).await;
        assert_eq!((brief(&result).as_str(), took), (expected, Duration::from_secs(seconds)));
    }
}
