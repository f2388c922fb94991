//! Toolsets in workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::spec::{Approval, ToolAnnotations};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
    codec,
};
use toolwright_restate::{RestateToolset, Worker, WorkerError};
use toolwright_runtime::{Agent, FunctionTool, Registry, Runtime, Script, ToolEntry, Toolset};

use crate::lab::{Effects, Lab, N, call, double, idempotent, slow, spec, until};

const WAIT: Duration = Duration::from_millis(500);

fn failing() -> FunctionTool {
    FunctionTool::new(idempotent(spec("fail")), async |_: N| -> Result<i64, ToolFailure> {
        let message = "the lab is closed";
        Err(ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_once_for_each_id_and_failures_keep_their_types() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tools([double(&made), failing()]).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let specs = [double(&effects).entry().spec_ref().clone(), failing().entry().spec_ref().clone()];
    let toolset = RestateToolset::new(&lab.ingress(), specs);

    let result = toolset.call(&call("double", "c 1", 21)).await;
    assert_eq!(result.outcome.unwrap().as_str(), "42");
    let again = toolset.call(&call("double", "c 1", 21)).await;
    assert_eq!(again.outcome.unwrap().as_str(), "42");
    assert_eq!(effects.all(), ["double 21"], "one id is one call");

    let failure = toolset
        .call(&call("double", "c2", 0).with_args(Payload::new("{}")))
        .await
        .outcome
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    let failure = toolset.call(&call("fail", "c3", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.message, "the lab is closed");
    let failure = toolset.call(&call("lost", "c4", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);

    let mut described = spec("double");
    described.set_description("Another tool of that name.");
    let same = || spec("double").with_types::<N, i64>();
    let asked = same().with_approval(Approval::default());
    let read_only = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() };
    let others = [described, asked, same().with_annotations(read_only)];
    for (id, other) in ["c5", "c6", "c7"].into_iter().zip(others) {
        let other = RestateToolset::new(&lab.ingress(), [other]);
        let failure = other.call(&call("double", id, 1)).await.outcome.unwrap_err();
        assert_eq!(failure.message, "the definition of `double` has changed");
    }
    let result = RestateToolset::new(&lab.ingress(), [same()]).call(&call("double", "c8", 1)).await;
    assert_eq!(result.outcome.unwrap().as_str(), "2");
    let absent = RestateToolset::new(&lab.ingress(), [spec("absent")]);
    let failure = absent.call(&call("absent", "c9", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable, "{failure:?}");
    assert_eq!(effects.all().len(), 2);
}

/// The caller has the definition with which the worker began, and an approval is of that one.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_refuses_calls_of_a_tool_whose_definition_has_changed_since_it_began() {
    let (effects, is_changed) = (Effects::default(), Arc::new(AtomicBool::new(false)));
    let made = (effects.clone(), Arc::clone(&is_changed));
    let lab = Lab::start(move || {
        let is_changed = Arc::clone(&made.1);
        let changing = double(&made.0).prepared(move |_, tools| {
            if !is_changed.load(Ordering::SeqCst) {
                return tools;
            }
            let mut spec = spec("double").with_types::<N, i64>();
            spec.set_description("Doubles twice.");
            vec![ToolEntry::new(spec)]
        });
        let registry = Registry::new();
        registry.register_toolset("lab", changing).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let specs = [double(&effects).entry().spec_ref().clone()];
    let toolset = RestateToolset::new(&lab.ingress(), specs);
    assert_eq!(toolset.call(&call("double", "a", 1)).await.outcome.unwrap().as_str(), "2");
    is_changed.store(true, Ordering::SeqCst);
    let failure = toolset.call(&call("double", "b", 2)).await.outcome.unwrap_err();
    assert_eq!(failure.message, "the definition of `double` has changed");
    assert_eq!(effects.all(), ["double 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_outlasts_its_worker_if_the_tool_is_idempotent_and_is_not_repeated_otherwise() {
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let effects = Effects::default();
    let made = (Arc::clone(&began), Arc::clone(&ended), effects.clone());
    let once = |effects: &Effects| {
        let effects = effects.clone();
        FunctionTool::new(spec("once"), move |N { n }: N| {
            effects.push(format!("once {n}"));
            async move {
                tokio::time::sleep(WAIT).await;
                n
            }
        })
    };
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tools([slow(&made.0, &made.1, WAIT), once(&made.2)]).unwrap();
        Runtime::builder(registry)
    });
    let Some(mut lab) = lab.await else { return };
    let specs = [slow(&began, &ended, WAIT), once(&effects)];
    let specs = specs.map(|tool| tool.entry().spec_ref().clone());
    let toolset = RestateToolset::new(&lab.ingress(), specs);

    let running = tokio::spawn({
        let toolset = toolset.clone();
        async move { toolset.call(&call("slow", "a", 1)).await }
    });
    until(|| async { began.load(Ordering::SeqCst) == 1 }, "the call begins").await;
    lab.replace_worker();
    assert_eq!(running.await.unwrap().outcome.unwrap().as_str(), "1");
    assert_eq!((began.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (2, 1));

    let running = tokio::spawn({
        let toolset = toolset.clone();
        async move { toolset.call(&call("once", "b", 5)).await }
    });
    until(|| async { !effects.all().is_empty() }, "the call begins").await;
    lab.replace_worker();
    let failure = running.await.unwrap().outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Internal, "{failure:?}");
    assert!(failure.message.contains("may have taken effect"), "{failure:?}");
    assert_eq!(effects.all(), ["once 5"]);

    // The worker goes on, and its server does not.
    let running = tokio::spawn(async move { toolset.call(&call("once", "c", 6)).await });
    until(|| async { effects.all().len() == 2 }, "the call begins").await;
    lab.server.process.restart();
    let failure = running.await.unwrap().outcome.unwrap_err();
    assert!(failure.message.contains("may have taken effect"), "{failure:?}");
    assert_eq!(effects.all(), ["once 5", "once 6"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_is_cancelled_in_its_worker() {
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let made = (Arc::clone(&began), Arc::clone(&ended));
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(slow(&made.0, &made.1, 4 * WAIT)).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let spec = slow(&began, &ended, WAIT).entry().spec_ref().clone();
    let toolset = RestateToolset::new(&lab.ingress(), [spec]);
    let calling = tokio::spawn({
        let toolset = toolset.clone();
        async move { toolset.call(&call("slow", "a", 1)).await }
    });
    until(
        || async { began.load(Ordering::SeqCst) == 1 || calling.is_finished() },
        "the call begins",
    )
    .await;
    assert!(!calling.is_finished(), "{:?}", calling.await);
    calling.abort();
    tokio::time::sleep(6 * WAIT).await;
    assert_eq!(ended.load(Ordering::SeqCst), 0, "it was cancelled");
    let failure = toolset.call(&call("slow", "a", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled, "{failure:?}");
}

/// Counts the calls of a run.
struct Counter {
    count: std::sync::Mutex<i64>,
    saves: bool,
}

impl Counter {
    fn tool() -> FunctionTool {
        FunctionTool::new(idempotent(spec("count")), async || 0_i64)
    }
}

impl Toolset for Counter {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(vec![Self::tool().entry().clone()])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        Box::pin(std::future::ready(ToolResult::new(call, Ok(Payload::of(&*count).unwrap()))))
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let saved = self.saves.then(|| Payload::of(&*self.count.lock().unwrap()).unwrap());
        Box::pin(std::future::ready(Ok(saved)))
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        *self.count.lock().unwrap() = codec::from_json(saved.as_bytes()).unwrap();
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A toolset of each run, whose tool is not idempotent and takes some time.
struct Slow(Effects);

impl Slow {
    fn tool() -> FunctionTool {
        FunctionTool::new(spec("push"), async || 0_i64)
    }
}

impl Toolset for Slow {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(vec![Self::tool().entry().clone()])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.push(call.id());
        Box::pin(async move {
            tokio::time::sleep(WAIT).await;
            ToolResult::new(call, Ok(Payload::new("0")))
        })
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let is_saved = !self.0.all().contains(&"unsaved".to_owned());
        let saved = if is_saved { Ok(Some(Payload::new("0"))) } else { Err("no space".into()) };
        Box::pin(std::future::ready(saved))
    }

    fn restore<'a>(&'a self, _: &'a Scope, _: &'a Payload) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

async fn slow_lab(effects: &Effects) -> Option<Lab> {
    let effects = effects.clone();
    Lab::start(move || {
        let registry = Registry::new();
        let effects = effects.clone();
        registry.register_toolset("lab", move |_: Scope| Slow(effects.clone())).unwrap();
        Runtime::builder(registry)
    })
    .await
}

fn slow_toolset(lab: &Lab) -> RestateToolset {
    let spec = Slow::tool().entry().spec_ref().clone();
    RestateToolset::per_run(&lab.ingress(), [spec])
}

fn push_call(id: &str) -> ToolCall {
    let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
    ToolCall::new("push", Payload::new("{}")).with_id(id).with_scope(scope)
}

/// An interrupted call of a toolset of each run fails at once, and the next call is answered.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_call_does_not_block_the_toolset_of_its_run() {
    let effects = Effects::default();
    let Some(mut lab) = slow_lab(&effects).await else { return };
    let toolset = slow_toolset(&lab);
    let push = |id: &str| {
        let (call, toolset) = (push_call(id), toolset.clone());
        async move { toolset.call(&call).await.outcome }
    };
    for restart in [true, false] {
        let (id, next) = (format!("a{restart}"), format!("b{restart}"));
        let running = tokio::spawn(push(&id));
        until(|| async { effects.all().contains(&id) }, "the call begins").await;
        if restart {
            lab.server.process.restart();
        } else {
            lab.replace_worker();
        }
        let within = Duration::from_secs(20);
        let ended = tokio::time::timeout(within, running).await.expect("it ends").unwrap();
        assert!(ended.unwrap_err().message.contains("may have taken effect"));
        let ended = tokio::time::timeout(within, push(&next)).await.expect("it ends");
        assert_eq!(ended.unwrap().as_str(), "0");
    }
    assert_eq!(effects.all(), ["atrue", "btrue", "afalse", "bfalse"]);
}

fn counting(saves: bool) -> Registry {
    let registry = Registry::new();
    let counter = move |_: Scope| Counter { count: std::sync::Mutex::new(0), saves };
    registry.register_toolset("lab", counter).unwrap();
    registry
}

#[tokio::test(flavor = "multi_thread")]
async fn each_run_has_its_own_state_which_outlasts_workers_and_the_server() {
    let lab = Lab::start(|| Runtime::builder(counting(true)));
    let Some(mut lab) = lab.await else { return };
    let spec = Counter::tool().entry().spec_ref().clone();
    let toolset = RestateToolset::per_run(&lab.ingress(), [spec]);
    let count = async |run: &str, id: &str| {
        let scope = Scope { run_id: Some(run.to_owned()), ..Scope::default() };
        let call = ToolCall::new("count", Payload::new("{}")).with_id(id).with_scope(scope);
        toolset.call(&call).await.outcome.unwrap().to_string()
    };
    assert_eq!(count("one", "a").await, "1");
    assert_eq!(count("one", "b").await, "2");
    assert_eq!(count("two", "a").await, "1");
    lab.replace_worker();
    assert_eq!(count("one", "c").await, "3");
    lab.server.process.kill();
    lab.server.process.restart();
    assert_eq!(count("one", "c").await, "3", "one id is one call");
    assert_eq!(count("one", "d").await, "4");
}

#[tokio::test]
async fn a_toolset_of_each_run_is_refused_without_state_and_beside_an_agent_that_uses_it() {
    let refused = Worker::new(Runtime::builder(counting(false))).await.unwrap_err();
    assert!(matches!(&refused, WorkerError::NotSaved { toolset, .. } if toolset == "lab"));
    let registry = counting(true);
    let agent = Agent::new("counter", "lab").with_toolsets(["lab"]);
    registry.register_agent(agent, Script::new().into()).unwrap();
    let refused = Worker::new(Runtime::builder(registry)).await.unwrap_err();
    assert!(matches!(&refused, WorkerError::NotDurable { agent, .. } if agent == "counter"));
}

#[tokio::test]
async fn two_sources_of_one_toolset_are_refused_unless_all_runs_share_both() {
    let effects = Effects::default();
    let registry = Registry::new();
    registry.register_tool(double(&effects)).unwrap();
    let (began, ended) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    registry.register_tool(slow(&began, &ended, Duration::ZERO)).unwrap();
    Worker::new(Runtime::builder(registry)).await.unwrap();
    let registry = counting(true);
    registry.register_tool(double(&effects)).unwrap();
    let refused = Worker::new(Runtime::builder(registry)).await.unwrap_err();
    assert!(matches!(&refused, WorkerError::SameName { toolset } if toolset == "lab"), "{refused}");
}

#[tokio::test]
async fn two_tools_with_one_name_in_one_toolset_are_refused() {
    let effects = Effects::default();
    let registry = Registry::new();
    registry.register_tool(double(&effects)).unwrap();
    registry.register_toolset("lab", double(&effects).prepared(|_, tools| tools)).unwrap();
    let refused = Worker::new(Runtime::builder(registry)).await.unwrap_err();
    let expected = "toolset `lab` cannot be listed: it has two tools `double`";
    assert_eq!(refused.to_string(), expected);
}

#[tokio::test]
async fn a_tool_may_have_the_longest_time_limit() {
    let registry = Registry::new();
    let spec = spec("patient").with_timeout(Duration::MAX).with_attempts(2);
    registry.register_tool(FunctionTool::new(spec, |N { n }: N| std::future::ready(n))).unwrap();
    Worker::new(Runtime::builder(registry)).await.unwrap().endpoint().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_state_is_not_saved_may_have_taken_effect() {
    let effects = Effects::default();
    let Some(lab) = slow_lab(&effects).await else { return };
    let toolset = slow_toolset(&lab);
    let failure = toolset.call(&push_call("unsaved")).await.outcome.unwrap_err();
    assert!(failure.message.contains("may have taken effect"), "{failure}");
    assert_eq!(effects.all(), ["unsaved"]);
}
