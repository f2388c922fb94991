//! Spans by the OpenTelemetry conventions for generative AI: names, attributes, and content that is left out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright_runtime::{Planner, RunRequest, Runtime};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::planners::{WORKER, rule, steps};
use crate::tools::{call, payload, test_registry};

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
