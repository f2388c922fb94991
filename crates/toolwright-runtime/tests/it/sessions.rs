//! Toolsets under prefixes, per session.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use toolwright::{Payload, Scope, ToolCall, ToolFailure};
use toolwright_runtime::session::CatalogError;
use toolwright_runtime::{
    Catalog, Definition, FunctionTool, Registry, RunRequest, Runtime, Session, ToolEntry,
};

use crate::planners::{WORKER, brief};
use crate::tools::{Log, N, payload, stand_registry};
use crate::toys::{Toy, spec, tool};

fn runtime() -> Runtime {
    Runtime::new(Registry::new())
}

async fn open(catalog: &Catalog) -> Session {
    runtime().open_session(catalog, "agent", Scope::default(), None).await.unwrap()
}

fn catalog(definitions: Vec<Definition>) -> Arc<Catalog> {
    let catalog = Catalog::new();
    let ids: Vec<_> = definitions.iter().map(|definition| definition.id().to_owned()).collect();
    for definition in definitions {
        catalog.register(definition).unwrap();
    }
    catalog.update_allowed_toolsets("agent", ids).unwrap();
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

/// A factory of counters: what a call gives tells instances apart.
fn counting() -> impl Fn(Scope) -> FunctionTool + Send + Sync + 'static {
    |_| {
        let count = AtomicI64::new(0);
        tool("count", move |_| count.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// P1, P7: one router binds several toolsets, and one bare name may stand under two prefixes.
#[tokio::test]
async fn p1_p7_one_bare_name_under_two_prefixes() {
    let both = catalog(vec![
        Definition::new("one", "x", tool("a", |n| n + 1)),
        Definition::new("two", "y", tool("a", |n| n * 10)),
    ]);
    let session = open(&both).await;
    assert_eq!(names(&session).await, ["x.a", "y.a"]);
    assert_eq!(ask(&session, "x.a").await, r#"{"n":5}"#);
    assert_eq!(ask(&session, "y.a").await, r#"{"n":40}"#);
}

/// P2: the name is split at the first dot, and bare name, id and arguments arrive as they were sent.
#[tokio::test]
async fn p2_the_bare_name_id_and_arguments_are_forwarded_unchanged() {
    let seen = Log::default();
    let noted = seen.clone();
    let dotted = FunctionTool::new(spec("a.b"), move |args: N, call: ToolCall| {
        noted.push(format!("{} {} {}", call.tool(), call.id(), call.args()));
        async move { Ok::<_, ToolFailure>(args) }
    });
    let session = open(&catalog(vec![Definition::new("one", "x", dotted)])).await;
    let call = ToolCall::new("x.a.b", Payload::new("{ \"n\": 1e0 }")).with_id("id 7");
    assert_eq!(brief(&session.call(call).await), r#"{"n":1}"#);
    assert_eq!(seen.lines(), ["a.b id 7 { \"n\": 1e0 }"]);
}

/// P3: what no toolset stands behind is refused at once, and nothing is forwarded.
#[tokio::test]
async fn p3_names_without_a_toolset_are_refused_at_once() {
    let session = open(&catalog(vec![Definition::new("one", "x", tool("a", |n| n))])).await;
    for name in ["y.a", "a", ".a", "x.", ".", "", "xx.a"] {
        assert_eq!(ask(&session, name).await, format!("toolset not found: `{name}`"));
    }
    assert_eq!(ask(&session, "x.b").await, "there is no tool `x.b`, there is `x.a`");
}

/// P4: a toolset's own failure is a result, and the session goes on.
#[tokio::test]
async fn p4_a_failure_is_a_result_and_the_session_goes_on() {
    let failing = tool("fail", |_| panic!("a bug"));
    let both = catalog(vec![
        Definition::new("one", "x", failing),
        Definition::new("two", "y", tool("a", |n| n)),
    ]);
    let session = open(&both).await;
    assert_eq!(ask(&session, "x.fail").await, "the tool failed internally");
    assert_eq!(ask(&session, "y.a").await, r#"{"n":4}"#);
}

/// P5: nothing is allowed at first; a session keeps what it was opened with, and a new one sees the update.
#[tokio::test]
async fn p5_allowlists_are_empty_at_first_and_sessions_keep_their_snapshot() {
    let catalog = Catalog::new();
    catalog.register(Definition::new("one", "x", tool("a", |n| n))).unwrap();
    let before = open(&catalog).await;
    assert!(names(&before).await.is_empty());
    assert_eq!(ask(&before, "x.a").await, "toolset not found: `x.a`");
    catalog.update_allowed_toolsets("agent", ["one"]).unwrap();
    assert!(names(&before).await.is_empty(), "an open session keeps its snapshot");
    let after = open(&catalog).await;
    assert_eq!(names(&after).await, ["x.a"]);
    catalog.update_allowed_toolsets("agent", [""; 0]).unwrap();
    assert_eq!(ask(&after, "x.a").await, r#"{"n":4}"#);
    let other = runtime().open_session(&catalog, "other", Scope::default(), None).await.unwrap();
    assert!(names(&other).await.is_empty(), "allowlists are by agent");
}

/// P6: reached, listed, registered, allowed, in this order; one that cannot be reached leaves nothing behind.
#[tokio::test]
async fn p6_a_remote_that_cannot_be_reached_registers_nothing() {
    let catalog = Catalog::new();
    let unreachable = async { Err::<FunctionTool, _>("connection refused") };
    let error = catalog.connect("far", "far", unreachable, Some("agent")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "toolset `far` could not be reached, so it is not registered: connection refused"
    );
    assert!(names(&open(&catalog).await).await.is_empty());
    let reached = async { Ok::<_, String>(tool("a", |n| n)) };
    let listed = catalog.connect("far", "far", reached, Some("agent")).await.unwrap();
    assert_eq!(listed.iter().map(ToolEntry::name).collect::<Vec<_>>(), ["a"]);
    assert_eq!(names(&open(&catalog).await).await, ["far.a"]);
}

/// P8: stopping exits what the session made, and never a shared instance.
#[tokio::test]
async fn p8_stop_exits_what_the_session_made_and_nothing_shared() {
    let log = Log::default();
    let (own, shared) = (Toy::new("own", &log), Toy::new("shared", &log));
    let both = catalog(vec![
        Definition::new("own", "x", move |_: Scope| own.clone()),
        Definition::new("shared", "y", shared),
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

/// P9: two sessions get two instances of a factory, and one of a shared toolset.
#[tokio::test]
async fn p9_sessions_get_instances_of_their_own() {
    let shared = counting()(Scope::default());
    let both = catalog(vec![
        Definition::new("own", "x", counting()),
        Definition::new("shared", "y", shared),
    ]);
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

/// P11: what cannot be routed or is taken is refused when it is registered.
#[test]
fn p11_bad_definitions_are_refused_when_registered() {
    let catalog = Catalog::new();
    catalog.register(Definition::new("one", "x", tool("a", |n| n))).unwrap();
    let refused = |id: &str, prefix: &str| {
        let definition = Definition::new(id, prefix, tool("a", |n| n));
        catalog.register(definition).unwrap_err()
    };
    assert!(matches!(refused("one", "y"), CatalogError::DuplicateId { .. }));
    assert!(
        matches!(refused("two", "x"), CatalogError::DuplicatePrefix { registered, .. } if registered == "one")
    );
    assert!(matches!(refused("two", ""), CatalogError::BadPrefix { .. }));
    assert!(matches!(refused("two", "a.b"), CatalogError::BadPrefix { .. }));
    let error = catalog.update_allowed_toolsets("agent", ["one", "two"]).unwrap_err();
    assert_eq!(error.to_string(), "there is no toolset `two`, there is `one`");
}

/// P1: a definition publishes the tools it lists; a run of an agent uses a session's tools like its own.
#[tokio::test]
async fn p1_a_definition_may_publish_fewer_tools_and_a_run_may_use_a_session() {
    let two = toolwright_runtime::toolset::Combined::new()
        .with("left", tool("a", |n| n + 1))
        .with("right", tool("b", |n| n));
    let session = open(&catalog(vec![Definition::new("one", "x", two).with_tools(["a"])])).await;
    assert_eq!(names(&session).await, ["x.a"]);
    assert_eq!(ask(&session, "x.b").await, "there is no tool `x.b`, there is `x.a`");
    let (mut registry, _) = stand_registry();
    let planner = crate::planners::steps(vec![vec![crate::tools::call("x.a", "a", 1)]]);
    registry.register_agent(&WORKER, planner).unwrap();
    let request = RunRequest::new("worker", payload(0)).with_toolset("session", session.toolset());
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(crate::planners::briefs(&outcome), [r#"{"n":2}"#]);
    assert_eq!(ask(&session, "x.a").await, r#"{"n":5}"#, "the run did not stop it");
}
