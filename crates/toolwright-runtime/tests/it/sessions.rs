//! Sessions: published toolsets, prefixes and allowlists.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use toolwright::{Payload, RegistrationError, Scope, ToolCall, ToolFailure};
use toolwright_runtime::Source;
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{
    Agent, CallEnd, Catalog, FunctionTool, Registry, ResumeError, RunRequest, Runtime, Script,
    Session, SessionRequest, ToolEntry, ToolsetError,
};

use crate::approvals::guarded;
use crate::journal::Tape;
use crate::planners::{WORKER, brief, briefs, steps};
use crate::tools::{Log, N, call, payload, test_registry};
use crate::toys::{Toy, spec, tool};

async fn open(catalog: &Catalog) -> Session {
    let runtime = Runtime::builder(Registry::new()).with_catalog(catalog.clone()).build();
    runtime.open_session("agent").await.unwrap()
}

/// A catalog of toolsets with their names and prefixes, all of which the agent may use.
fn catalog<const N: usize>(toolsets: [(&str, &str, Source); N]) -> Catalog {
    let registry = Registry::new();
    let catalog = registry.catalog();
    let names: Vec<_> = toolsets.iter().map(|(name, ..)| *name).collect();
    for (name, prefix, source) in toolsets {
        registry.register_toolset(name, source).unwrap();
        catalog.publish(name, prefix).unwrap();
    }
    catalog.update_allowed_toolsets("agent", names).unwrap();
    catalog
}

async fn names(session: &Session) -> Vec<String> {
    session.tools().await.unwrap().iter().map(|tool| tool.name().to_owned()).collect()
}

async fn ask(session: &Session, name: &str) -> String {
    let result = session.call(ToolCall::new(name, payload(4))).await;
    match result.outcome {
        Err(failure) => failure.message,
        Ok(payload) => payload.to_string(),
    }
}

/// A factory of counters, which tell instances apart.
fn counting() -> impl Fn(Scope) -> FunctionTool + Send + Sync + 'static {
    |_| {
        let count = AtomicI64::new(0);
        tool("count", move |_| count.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

#[tokio::test]
async fn h4_a_shared_tool_that_is_unavailable_is_refused_in_sessions() {
    let closed = tool("a", |n| n).with_availability(|| false);
    let session = open(&catalog([("one", "x", closed.into_source())])).await;
    assert_eq!(ask(&session, "x.a").await, "`x.a` cannot be used now");
}

/// R8: the error has the toolset and the error of its factory.
#[tokio::test]
async fn r8_a_session_without_one_of_its_toolsets_is_not_opened() {
    let failing = async |_: Scope| Err::<FunctionTool, _>("no more wood");
    let catalog = catalog([("shed", "x", failing.into_source())]);
    let runtime = Runtime::builder(Registry::new()).with_catalog(catalog).build();
    let error = runtime.open_session("agent").await.unwrap_err();
    let why = std::iter::successors(Some(&error as &dyn Error), |error| (*error).source());
    assert_eq!(
        why.map(ToString::to_string).collect::<Vec<_>>(),
        [
            "no session could be opened for agent `agent`: the factory of toolset `shed` failed: \
             no more wood",
            "the factory of toolset `shed` failed: no more wood",
            "no more wood",
        ]
    );
}

/// P1, P7: a session has several toolsets, and the same name with two prefixes.
#[tokio::test]
async fn p1_p7_one_bare_name_under_two_prefixes() {
    let both = catalog([
        ("one", "x", tool("a", |n| n + 1).into_source()),
        ("two", "y", tool("a", |n| n * 10).into_source()),
    ]);
    let session = open(&both).await;
    assert_eq!(names(&session).await, ["x.a", "y.a"]);
    assert_eq!(ask(&session, "x.a").await, r#"{"n":5}"#);
    assert_eq!(ask(&session, "y.a").await, r#"{"n":40}"#);
}

/// P2: the name is split at the first dot.
#[tokio::test]
async fn p2_the_bare_name_id_and_arguments_are_forwarded_unchanged() {
    let seen = Log::default();
    let noted = seen.clone();
    let dotted = FunctionTool::new(spec("a.b"), move |args: N, call: ToolCall| {
        noted.push(format!("{} {} {}", call.tool(), call.id(), call.args()));
        async move { Ok::<_, ToolFailure>(args) }
    });
    let session = open(&catalog([("one", "x", dotted.into_source())])).await;
    let call = ToolCall::new("x.a.b", Payload::new("{ \"n\": 1e0 }")).with_id("id 7");
    assert_eq!(brief(&session.call(call).await), r#"{"n":1}"#);
    assert_eq!(seen.lines(), ["a.b id 7 { \"n\": 1e0 }"]);
}

#[tokio::test]
async fn p3_names_without_a_toolset_are_refused_at_once() {
    let session = open(&catalog([("one", "x", tool("a", |n| n).into_source())])).await;
    for name in ["y.a", "a", ".a", "x.", ".", "", "xx.a"] {
        assert_eq!(ask(&session, name).await, format!("toolset not found: `{name}`"));
    }
    assert_eq!(ask(&session, "x.b").await, "there is no tool `x.b`, did you mean `x.a`?");
}

#[tokio::test]
async fn p4_a_failure_is_a_result_and_the_session_goes_on() {
    let failing = tool("fail", |_| panic!("a bug"));
    let both = catalog([
        ("one", "x", failing.into_source()),
        ("two", "y", tool("a", |n| n).into_source()),
    ]);
    let session = open(&both).await;
    assert_eq!(ask(&session, "x.fail").await, "the tool failed internally");
    assert_eq!(ask(&session, "y.a").await, r#"{"n":4}"#);
}

/// H6: it does not apply to sessions of other agents.
#[tokio::test]
async fn h6_the_approval_list_of_an_agent_applies_to_its_sessions() {
    let registry = Registry::new();
    let listing = Agent::new("agent", "lab").with_approval_of(["x.wipe"]);
    registry.register_agent(listing, steps(vec![])).unwrap();
    let catalog = catalog([("disks", "x", tool("wipe", |n| n).into_source())]);
    catalog.allow("other", "disks").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    for (agent, expected) in [("agent", "denied"), ("other", r#"{"n":1}"#)] {
        let session = runtime.open_session(agent).await.unwrap();
        assert_eq!(brief(&session.call(call("x.wipe", "a", 1)).await), expected, "{agent}");
    }
}

/// H6, H8: the call waits because of the approval list of the session.
#[tokio::test]
async fn h6_h8_a_suspended_call_of_a_session_can_be_resumed_in_another_session() {
    let ran = Log::default();
    let log = ran.clone();
    let wipe = FunctionTool::new(spec("wipe"), move |args: N, call: ToolCall| {
        log.push(format!("{} {}", call.args(), call.is_approved()));
        async move { args }
    });
    let catalog = catalog([("disks", "x", wipe.into_source())]);
    let runtime = Runtime::builder(Registry::new()).with_catalog(catalog).build();
    let open = async || {
        let request = SessionRequest::new("agent").with_approval_of(["x.wipe"]);
        runtime.open_session(request).await.unwrap()
    };
    let session = open().await;
    assert_eq!(
        ask(&session, "x.wipe").await,
        "`x.wipe` needs an approval, and there is no approver"
    );
    let broken = session.start(ToolCall::new("x.wipe", Payload::new("{}"))).await;
    assert!(
        matches!(broken, CallEnd::Done(result) if brief(&result) == "invalid_call"),
        "the planner is not asked"
    );

    let CallEnd::Suspended(waiting) = session.start(ToolCall::new("x.wipe", payload(3))).await
    else {
        panic!("it waits")
    };
    session.stop().await;
    let answer = waiting.pending()[0].approve();
    let error = session.resume(&waiting, [answer]).await.unwrap_err();
    assert!(matches!(error, ResumeError::SessionStopped), "its answer is not used: {error}");
    let text = session.export(&waiting).await.unwrap();
    let other = runtime.open_session("other").await.unwrap();
    let restored = other.restore(&text).await.unwrap();
    assert_eq!(restored, waiting);
    assert_eq!(restored.agent(), "agent");
    let error = runtime.restore(&text).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text is a suspended call, expected a suspended run; restore runs with the runtime and calls with a session"
    );

    let question = restored.pending()[0].clone();
    let error = other.resume(&restored, [question.approve()]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the call is from a session of agent `agent`, and this session is one of `other`; open one of `agent`"
    );
    let session = open().await;
    let error = session.resume(&restored, []).await.unwrap_err();
    assert!(matches!(error, ResumeError::Unanswered { .. }));
    assert!(ran.lines().is_empty());
    let end = session.resume(&restored, [question.approve()]).await.unwrap();
    assert!(matches!(end, CallEnd::Done(result) if result.outcome == Ok(payload(3))));
    assert_eq!(ran.lines(), [r#"{"n":3} true"#]);
    let error = session.resume(&restored, [question.approve()]).await.unwrap_err();
    assert!(matches!(error, ResumeError::AnsweredBefore { .. }));
    let restored = session.restore(&text).await.unwrap();
    let error = session.resume(&restored, [question.approve()]).await.unwrap_err();
    assert!(matches!(error, ResumeError::AnsweredBefore { .. }), "restored once more");
    assert_eq!(ran.lines().len(), 1);
}

/// A runtime in which `agent` may call `delegating.delegate`, which another agent answers with calls of `wipe` and `free`.
fn delegating(log: &Log) -> Runtime {
    let registry = Registry::new();
    registry.register_toolset("disks", guarded(log)).unwrap();
    let ran = log.clone();
    let free = tool("free", move |n| {
        ran.push(format!("free {n}"));
        n
    });
    registry.register_toolset("toys", free).unwrap();
    let delegate = spec("delegate").with_toolset("delegating").with_types::<N, N>();
    let child = Agent::new("child", "lab").with_implements(delegate);
    let planner = Script::new().call([call("wipe", "w", 1)]).call([call("free", "f", 2)]);
    let child = child.with_toolsets(["disks", "toys"]);
    registry.register_agent(child, planner.finish(payload(3)).into()).unwrap();
    let catalog = registry.catalog();
    for (agent, toolset) in [("child", "disks"), ("child", "toys"), ("agent", "delegating")] {
        catalog.publish(toolset, toolset).unwrap();
        catalog.allow(agent, toolset).unwrap();
    }
    Runtime::builder(registry).with_catalog(catalog).build()
}

/// H6: the agent that answers the call waits for one approval, and then makes a call that only the first session's list names.
#[tokio::test]
async fn h6_an_approval_list_stays_with_a_suspended_call_in_a_session_without_one() {
    let log = Log::default();
    let runtime = delegating(&log);
    let strict = SessionRequest::new("agent").with_approval_of(["free"]);
    let session = runtime.open_session(strict).await.unwrap();
    let end = session.start(call("delegating.delegate", "a", 1)).await;
    let CallEnd::Suspended(waiting) = end else { panic!("it waits") };
    let other = runtime.open_session("agent").await.unwrap();
    let answer = waiting.pending()[0].approve();
    let end = other.resume(&waiting, [answer]).await.unwrap();
    let CallEnd::Suspended(waiting) = end else { panic!("it waits again: {:?}", log.lines()) };
    assert_eq!(waiting.pending()[0].tool, "free");
    assert_eq!(log.lines(), [r#"wiped {"n":1}"#]);
}

/// The call waits before the run of the agent that answers it exists.
#[tokio::test]
async fn an_approval_list_stays_with_a_call_that_waits_for_its_own_approval() {
    let log = Log::default();
    let runtime = delegating(&log);
    let strict = SessionRequest::new("agent").with_approval_of(["free", "delegate"]);
    let session = runtime.open_session(strict).await.unwrap();
    let mut end = session.start(call("delegating.delegate", "a", 1)).await;
    for tool in ["delegating.delegate", "wipe", "free"] {
        let CallEnd::Suspended(waiting) = end else { panic!("it waits: {:?}", log.lines()) };
        assert_eq!(waiting.pending()[0].tool, tool);
        let waiting = session.restore(&session.export(&waiting).await.unwrap()).await.unwrap();
        let other = runtime.open_session("agent").await.unwrap();
        end = other.resume(&waiting, [waiting.pending()[0].approve()]).await.unwrap();
    }
    assert_eq!(log.lines(), [r#"wiped {"n":1}"#, "free 2"]);
}

#[tokio::test]
async fn a_call_is_not_resumed_in_a_session_with_a_journal_that_used_its_id() {
    let log = Log::default();
    let registry = Registry::new();
    registry.register_toolset("disks", guarded(&log)).unwrap();
    registry.register_toolset("toys", tool("free", |n| n)).unwrap();
    let catalog = registry.catalog();
    for toolset in ["disks", "toys"] {
        catalog.publish(toolset, toolset).unwrap();
        catalog.allow("agent", toolset).unwrap();
    }
    let journal = Arc::new(Tape::default());
    let runtime = Runtime::builder(registry).with_catalog(catalog).with_journal(journal).build();
    let session = runtime.open_session("agent").await.unwrap();
    let end = session.start(call("disks.wipe", "a", 1)).await;
    let CallEnd::Suspended(waiting) = end else { panic!("it waits") };
    let answer = || [waiting.pending()[0].approve()];

    let other = runtime.open_session("agent").await.unwrap();
    assert_eq!(brief(&other.call(call("toys.free", "a", 7)).await), r#"{"n":7}"#);
    let error = other.resume(&waiting, answer()).await.unwrap_err();
    assert_eq!(error, ResumeError::UsedCallId { id: "a".to_owned() });

    let third = runtime.open_session("agent").await.unwrap();
    assert!(third.resume(&waiting, []).await.is_err(), "without answers");
    let end = third.resume(&waiting, answer()).await.unwrap();
    assert!(matches!(end, CallEnd::Done(result) if brief(&result) == r#"{"n":1}"#));
    assert_eq!(log.lines(), [r#"wiped {"n":1}"#]);
    assert_eq!(brief(&third.call(call("toys.free", "a", 7)).await), "invalid_call");
}

#[tokio::test]
async fn p5_allowlists_are_empty_at_first_and_open_sessions_do_not_change() {
    let registry = Registry::new();
    registry.register_toolset("one", tool("a", |n| n)).unwrap();
    let catalog = registry.catalog();
    catalog.publish("one", "x").unwrap();
    let before = open(&catalog).await;
    assert!(names(&before).await.is_empty());
    assert_eq!(ask(&before, "x.a").await, "toolset not found: `x.a`");
    catalog.update_allowed_toolsets("agent", ["one"]).unwrap();
    assert!(names(&before).await.is_empty(), "an open session keeps its snapshot");
    let after = open(&catalog).await;
    assert_eq!(names(&after).await, ["x.a"]);
    catalog.update_allowed_toolsets("agent", [""; 0]).unwrap();
    assert_eq!(ask(&after, "x.a").await, r#"{"n":4}"#);
    let runtime = Runtime::builder(Registry::new()).with_catalog(catalog).build();
    let other = runtime.open_session("other").await.unwrap();
    assert!(names(&other).await.is_empty(), "allowlists are by agent");
}

/// P6: connected, listed, registered and allowed, in this order.
#[tokio::test]
async fn p6_a_remote_that_cannot_be_reached_registers_nothing() {
    let catalog = Registry::new().catalog();
    let unreachable = async { Err::<FunctionTool, _>("connection refused") };
    let error = catalog.connect("far", "far", unreachable).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "toolset `far` could not be reached and was not registered: connection refused"
    );
    assert!(names(&open(&catalog).await).await.is_empty());
    let reached = || async { Ok::<_, String>(tool("a", |n| n)) };
    let listed = catalog.connect("far", "far", reached()).await.unwrap();
    assert_eq!(listed.iter().map(ToolEntry::name).collect::<Vec<_>>(), ["a"]);
    assert!(names(&open(&catalog).await).await.is_empty());
    catalog.allow("agent", "far").unwrap();
    assert_eq!(names(&open(&catalog).await).await, ["far.a"]);
    let again = catalog.connect("far", "away", reached()).await.unwrap_err();
    assert!(matches!(again, ToolsetError::PublishedTwice { .. }), "{again}");
    let taken = catalog.connect("away", "far", reached()).await.unwrap_err();
    assert!(matches!(taken, ToolsetError::DuplicatePrefix { .. }), "{taken}");
    catalog.connect("away", "away", reached()).await.expect("nothing of it was registered before");
}

#[tokio::test]
async fn p8_stop_exits_the_instances_of_the_session_and_not_shared_ones() {
    let log = Log::default();
    let (own, shared) = (Toy::new("own", &log), Toy::new("shared", &log));
    let both = catalog([
        ("own", "x", (move |_: Scope| own.clone()).into_source()),
        ("shared", "y", shared.into_source()),
    ]);
    let session = open(&both).await;
    session.stop().await;
    session.stop().await;
    assert_eq!(log.lines(), ["enter own", "exit own"]);
    assert_eq!(ask(&session, "x.own").await, "toolset not found: `x.own`");
    drop(open(&both).await);
    tokio::task::yield_now().await;
    assert_eq!(log.lines()[2..], ["enter own", "exit own"], "a dropped session is stopped");
}

/// P9: shared toolsets have one instance.
#[tokio::test]
async fn p9_each_session_has_its_own_instances() {
    let shared = counting()(Scope::default());
    let both =
        catalog([("own", "x", counting().into_source()), ("shared", "y", shared.into_source())]);
    let (first, second) = (open(&both).await, open(&both).await);
    for (session, name, expected) in [
        (&first, "x.count", 1),
        (&first, "x.count", 2),
        (&second, "x.count", 1),
        (&first, "y.count", 1),
        (&second, "y.count", 2),
    ] {
        assert_eq!(ask(session, name).await, format!("{{\"n\":{expected}}}"), "{name}");
    }
}

/// P11: names and prefixes that are invalid or used.
#[test]
fn p11_bad_definitions_are_refused_when_registered() {
    let registry = Registry::new();
    for name in ["one", "two"] {
        registry.register_toolset(name, tool("a", |n| n)).unwrap();
    }
    let catalog = registry.catalog();
    catalog.publish("one", "x").unwrap();
    let refused = |name, prefix| catalog.publish(name, prefix).unwrap_err();
    assert!(matches!(refused("one", "y"), ToolsetError::PublishedTwice { .. }));
    assert!(
        matches!(refused("two", "x"), ToolsetError::DuplicatePrefix { published, .. } if published == "one")
    );
    assert!(matches!(refused("two", ""), ToolsetError::BadPrefix { .. }));
    assert!(matches!(refused("two", "a.b"), ToolsetError::BadPrefix { .. }));
    assert_eq!(
        refused("three", "z").to_string(),
        "there is no toolset `three`, there is `one`, `two`"
    );
    let error = catalog.update_allowed_toolsets("agent", ["one", "two"]).unwrap_err();
    assert_eq!(error.to_string(), "there is no toolset `two`, there is `one`");
}

#[tokio::test]
async fn p11_a_catalog_names_what_the_registry_lacks_or_refuses() {
    let registry = Registry::new();
    let catalog = registry.catalog();
    assert_eq!(
        catalog.publish("one", "x").unwrap_err().to_string(),
        "there is no toolset `one`, nor any other; register it first"
    );
    registry.register_toolset("one", tool("a", |n| n)).unwrap();
    let reached = async { Ok::<_, String>(tool("a", |n| n)) };
    let error = catalog.connect("one", "x", reached).await.unwrap_err();
    let cause = error.source().unwrap().downcast_ref::<RegistrationError>();
    assert_eq!(cause, Some(&RegistrationError::DuplicateToolset { toolset: "one".into() }));
}

/// P1: the run uses the instances of the session.
#[tokio::test]
async fn p1_fewer_tools_may_be_published_and_a_run_may_use_a_session() {
    let (registry, _) = test_registry();
    let two = toolwright_runtime::tools::Combined::new()
        .with("left", tool("a", |n| n + 1))
        .with("right", tool("b", |n| n));
    registry.register_toolset("one", two).unwrap();
    registry.register_toolset("own", counting()).unwrap();
    let catalog = registry.catalog();
    catalog.publish_only("one", "x", ["a"]).unwrap();
    catalog.publish("own", "y").unwrap();
    catalog.update_allowed_toolsets("worker", ["one", "own"]).unwrap();
    let planner = steps(vec![vec![call("x.a", "a", 1), call("y.count", "b", 0)]]);
    registry.register_agent(&WORKER, planner).unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("worker").await.unwrap();
    assert_eq!(names(&session).await, ["x.a", "y.count"]);
    assert_eq!(ask(&session, "x.b").await, "there is no tool `x.b`, did you mean `x.a`?");
    assert_eq!(ask(&session, "y.count").await, r#"{"n":1}"#);
    let request = RunRequest::new("worker", payload(0)).in_session(&session);
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#, r#"{"n":2}"#]);
    assert_eq!(ask(&session, "y.count").await, r#"{"n":3}"#, "the run did not stop it");
}

/// P2, P5: tools have their prefix, or their own name if the agent lists them.
#[tokio::test]
async fn p5_the_allowlist_applies_to_runs_and_sessions() {
    let registry = Registry::new();
    for (name, tool_name) in [("one", "a"), ("two", "b"), ("three", "c"), ("four", "d")] {
        registry.register_toolset(name, tool(tool_name, |n| n + 1)).unwrap();
    }
    let calls = ["a", "b", "x.a", "y.b", "z.c", "c", "w.d"];
    let calls: Vec<_> = calls.into_iter().map(|name| call(name, name, 1)).collect();
    let lists = Agent::new("lister", "lab").with_toolsets(["one", "two"]);
    registry.register_agent(lists, steps(vec![calls])).unwrap();
    let catalog = registry.catalog();
    for (name, prefix) in [("one", "x"), ("two", "y"), ("three", "z"), ("four", "w")] {
        catalog.publish(name, prefix).unwrap();
    }
    let runtime = Runtime::builder(registry).with_catalog(catalog.clone()).build();
    let run = || async {
        let outcome = runtime.run(RunRequest::new("lister", payload(0))).await.unwrap();
        let records = outcome.calls().filter(|record| record.result.outcome.is_ok());
        records.map(|record| record.call.tool().to_owned()).collect::<Vec<_>>()
    };
    assert!(run().await.is_empty(), "nothing is allowed at first");
    catalog.update_allowed_toolsets("lister", ["one", "three"]).unwrap();
    assert_eq!(run().await, ["a", "z.c"]);
}

#[tokio::test]
async fn p5_a_run_in_a_session_of_another_agent_is_limited_by_its_own_allowlist() {
    let registry = Registry::new();
    for (name, tool_name) in [("one", "a"), ("two", "b")] {
        registry.register_toolset(name, tool(tool_name, |n| n + 1)).unwrap();
    }
    let calls = vec![call("x.a", "a", 1), call("y.b", "b", 1)];
    registry.register_agent(Agent::new("guest", "lab"), steps(vec![calls])).unwrap();
    let catalog = registry.catalog();
    for (name, prefix) in [("one", "x"), ("two", "y")] {
        catalog.publish(name, prefix).unwrap();
    }
    catalog.update_allowed_toolsets("owner", ["one", "two"]).unwrap();
    catalog.update_allowed_toolsets("guest", ["one"]).unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog.clone()).build();
    let session = runtime.open_session("owner").await.unwrap();
    let request = RunRequest::new("guest", payload(0)).in_session(&session);
    let outcome = runtime.run(request.clone()).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#, "not_found"]);
    catalog.update_allowed_toolsets("guest", [""; 0]).unwrap();
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), ["not_found", "not_found"]);
}

/// P5: later changes of the allowlist have no effect.
#[tokio::test]
async fn p5_a_run_in_a_session_has_the_allowlist_of_when_it_was_opened() {
    let catalog = catalog([("one", "x", tool("a", |n| n + 1).into_source())]);
    let registry = Registry::new();
    registry
        .register_agent(Agent::new("agent", "lab"), steps(vec![vec![call("x.a", "a", 1)]]))
        .unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog.clone()).build();
    let session = runtime.open_session("agent").await.unwrap();
    catalog.update_allowed_toolsets("agent", [""; 0]).unwrap();
    let request = RunRequest::new("agent", payload(0)).in_session(&session);
    assert_eq!(briefs(&runtime.run(request).await.unwrap()), [r#"{"n":2}"#]);
}

#[tokio::test]
async fn p2_p5_a_listed_tool_does_not_clash_with_the_session() {
    let registry = Registry::new();
    let tools = ["a", "b"].map(|name| {
        FunctionTool::new(spec(name).with_toolset("one"), async |args: N| N { n: args.n + 1 })
    });
    registry.register_tools(tools).unwrap();
    let calls = vec![call("a", "a", 1), call("x.b", "b", 1), call("b", "c", 1)];
    let listing = Agent::new("lister", "lab").with_tools(["a"]);
    registry.register_agent(listing, steps(vec![calls])).unwrap();
    let catalog = registry.catalog();
    catalog.publish("one", "x").unwrap();
    catalog.allow("lister", "one").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("lister").await.unwrap();
    let request = RunRequest::new("lister", payload(0)).in_session(&session);
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#, r#"{"n":2}"#, "not_found"]);
}

#[tokio::test]
async fn p2_p5_tools_that_an_agent_does_not_list_keep_their_prefix() {
    let made = Log::default();
    let count = made.clone();
    let pair = move |_: Scope| {
        count.push("made");
        toolwright_runtime::tools::Combined::new()
            .with("left", tool("a", |n| n + 1))
            .with("right", tool("b", |n| n + 2))
            .with("hidden", tool("c", |n| n + 3))
    };
    let registry = Registry::new();
    let mut parts = Vec::new();
    for (name, add) in [("a", 1), ("b", 2), ("c", 3)] {
        let spec = spec(name).with_toolset("one");
        parts.push(FunctionTool::new(spec, move |args: N| async move { N { n: args.n + add } }));
    }
    registry.register_tools(parts).unwrap();
    registry.register_toolset("two", Source::per_step(pair)).unwrap();
    let names = ["a", "x.a", "b", "x.b", "x.c", "y.a", "y.b"];
    let calls = names.into_iter().map(|name| call(name, name, 1)).collect();
    let agent = Agent::new("lister", "lab").with_tools(["a"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    let catalog = registry.catalog();
    catalog.publish_only("one", "x", ["a", "b"]).unwrap();
    catalog.publish("two", "y").unwrap();
    catalog.update_allowed_toolsets("lister", ["one", "two"]).unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let outcome = runtime.run(RunRequest::new("lister", payload(0))).await.unwrap();
    let done = outcome.calls().filter(|record| record.result.outcome.is_ok());
    let done: Vec<_> = done.map(|record| record.call.tool().to_owned()).collect();
    assert_eq!(done, ["a", "x.b", "y.a", "y.b"], "one name a tool");
    assert_eq!(made.lines().len(), 1, "and one instance a run");
}
