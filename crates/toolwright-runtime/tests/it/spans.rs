//! Spans by the OpenTelemetry conventions for generative AI: names, attributes, and content that is left out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright::Scope;
use toolwright_runtime::remote::{RemoteOptions, RemoteToolset};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::watch::{propagate_traces, serving_span};
use toolwright_runtime::{Planner, RunRequest, Runtime, Toolset};
use tracing::Instrument;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::planners::{WORKER, rule, steps};
use crate::tools::{call, payload, test_registry};
use crate::toys::tool;

type Fields = BTreeMap<String, String>;

/// Collects the fields of every span, in the order in which they were opened.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<(Id, Fields)>>>);

struct Reading<'a>(&'a mut Fields);

impl Visit for Reading<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Kept {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Reading(&mut fields));
        let parent = context.span(id).and_then(|span| Some(span.parent()?.name().to_owned()));
        fields.insert("parent".to_owned(), parent.unwrap_or_default());
        self.0.lock().unwrap().push((id.clone(), fields));
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, _: Context<'_, S>) {
        let mut kept = self.0.lock().unwrap();
        if let Some((_, fields)) = kept.iter_mut().rev().find(|(known, _)| known == id) {
            record.record(&mut Reading(fields));
        }
    }
}

/// Returns the spans of a run with two calls.
fn spans(content: bool) -> Vec<Fields> {
    spans_of(steps(vec![vec![call("echo", "a", 1), call("refuse", "b", 2)]]), content)
}

/// Returns the spans of a run.
fn spans_of(planner: Arc<dyn Planner>, content: bool) -> Vec<Fields> {
    let kept = Kept::default();
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, planner).unwrap();
    let mut builder = Runtime::builder(registry);
    if content {
        builder = builder.recording_content();
    }
    let request = RunRequest::new("worker", payload(0)).with_run_id("r1").with_session_id("s1");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    with_default(Registry::default().with(kept.clone()), || {
        tokio.block_on(builder.build().run(request)).unwrap();
    });
    let kept = kept.0.lock().unwrap();
    kept.iter().map(|(_, fields)| fields.clone()).collect()
}

fn of<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name).map(String::as_str)
}

#[test]
fn runs_and_calls_have_spans_by_the_conventions() {
    let spans = spans(false);
    let [run, echo, refuse] = spans.as_slice() else { panic!("three spans: {spans:?}") };
    for (name, expected) in [
        ("otel.name", "invoke_agent worker"),
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "worker"),
        ("gen_ai.conversation.id", "s1"),
        ("toolwright.run.id", "r1"),
    ] {
        assert_eq!(of(run, name), Some(expected), "{name}");
    }
    for (name, expected) in [
        ("otel.name", "execute_tool echo"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "echo"),
        ("gen_ai.tool.call.id", "a"),
        ("gen_ai.tool.type", "function"),
        ("parent", "invoke_agent"),
    ] {
        assert_eq!(of(echo, name), Some(expected), "{name}");
    }
    assert_eq!((of(run, "error.type"), of(echo, "error.type")), (None, None));
    assert_eq!(of(refuse, "error.type"), Some("domain_rejection"));
}

#[test]
fn the_span_of_a_run_that_fails_has_the_kind_of_its_failure() {
    let lost = rule(|_| Err("no idea".into()));
    let spans = spans_of(lost, false);
    assert_eq!(of(&spans[0], "error.type"), Some("internal"));
}

#[test]
fn arguments_and_results_are_recorded_only_on_request() {
    let content = ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"];
    let silent = spans(false);
    assert!(silent.iter().all(|span| content.iter().all(|name| of(span, name).is_none())));
    let seen = spans(true);
    assert_eq!(content.map(|name| of(&seen[1], name)), [Some(r#"{"n":1}"#); 2]);
    assert_eq!(of(&seen[2], "gen_ai.tool.call.result"), None);
}

/// Returns the spans while a remote toolset with the tool `plus` is used.
fn serving(using: impl AsyncFnOnce(RemoteToolset)) -> Vec<Fields> {
    let kept = Kept::default();
    let serving = async {
        let [requests, replies] = [tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16)];
        let source = tool("plus", |n| n + 1).into_source();
        tokio::spawn(source.serve_stream(requests.0, replies.0, RemoteOptions::new()));
        let (scope, options) = (Scope::default(), RemoteOptions::new());
        let remote = RemoteToolset::connect_stream(replies.1, requests.1, &scope, options);
        let remote = remote.await.unwrap();
        remote.tools(&scope).await.unwrap();
        using(remote).await;
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_default(Registry::default().with(kept.clone()), || tokio.block_on(serving));
    let kept = kept.0.lock().unwrap();
    kept.iter().map(|(_, fields)| fields.clone()).collect()
}

/// The parents that spans were given.
static PARENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Trace contexts are set for the whole process, so this test is the only one about them.
#[test]
fn a_remote_call_is_served_in_a_span_below_that_of_its_caller() {
    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    propagate_traces(
        |span| (span.metadata()?.name() == "caller").then(|| CALLER.to_owned()),
        |_, parent| PARENTS.lock().unwrap().push(parent.to_owned()),
    );
    let kept = serving(async |remote| {
        remote.call(&call("plus", "a", 1)).await.outcome.unwrap();
        let caller = tracing::info_span!("caller");
        remote.call(&call("plus", "b", 1)).instrument(caller).await.outcome.unwrap();
        for wrong in ["00-1", &"0".repeat(300), &format!("{}\n", "0".repeat(54))] {
            serving_span("call plus", "remote", Some(wrong));
        }
    });
    assert_eq!(*PARENTS.lock().unwrap(), [CALLER]);
    assert_eq!(of(&kept[0], "otel.name"), Some("call plus"));
    assert_eq!(of(&kept[0], "otel.kind"), Some("server"));
}

#[test]
fn the_span_of_a_served_call_has_the_name_of_a_listed_tool_or_none() {
    let kept = serving(async |remote| {
        for name in ["plus", &"x".repeat(1_000), "plus\u{202e}"] {
            let _ = remote.call(&call(name, "a", 1)).await;
        }
    });
    let names: Vec<_> = kept.iter().filter_map(|span| of(span, "otel.name")).collect();
    assert_eq!(names, ["call plus", "call", "call"]);
}
