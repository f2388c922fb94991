//! Tests the generated registration functions with a real registry (G24).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, Payload, RegistrationError, ToolCall, ToolResult,
};
use toolwright_runtime::{EventKind, Planner, Policy, Registry, Runtime, Step, Turn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use super::Tested;
use super::events::{Backing, TOOLS};
use super::injection::Echo;
use crate::requirement_cases::rates_tools;

struct Idle;

impl Planner for Idle {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(std::future::ready(Err("the idle planner was asked for a step".into())))
    }
}

/// Answers every call with the same payload.
struct Always(&'static str);

impl Executor for Always {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(ToolResult::new(call, Ok(Payload::new(self.0)))))
    }
}

/// G24: an agent with tools that have no executor is refused, and the error names each tool and its toolset.
#[test]
fn g24_a_missing_executor_is_named() {
    let mut registry = Registry::new();
    let error = planner_session_planner_agent::register(&mut registry, Arc::new(Idle))
        .expect_err("nothing runs its tools");
    assert_eq!(error.each().len(), 3, "every missing tool is named: {error}");
    let RegistrationError::MissingExecutor { tool, toolset, needed_by } = &error.each()[0] else {
        panic!("{error}")
    };
    assert_eq!((tool.as_str(), toolset.as_str()), ("update_todos", "todos"));
    assert!(needed_by.contains("session_planner"), "{needed_by}");
    assert_eq!(registry.agents().len() + registry.specs().len(), 0);
}

/// G24: the second of two registrations is an error that names both, and overwrites nothing.
#[tokio::test]
async fn g24_a_name_registered_twice_is_an_error_and_no_overwrite() -> Tested {
    let mut registry = Registry::new();
    let plan = r#"{"goal":"first","steps":[]}"#;
    planning_tools::register(&mut registry, Arc::new(Always(plan)))?;
    let error = planning_tools::register(&mut registry, Arc::new(Always("null")))
        .expect_err("the name is taken");
    let expected = RegistrationError::DuplicateTool {
        tool: "plan_session".to_owned(),
        registered: "planning".to_owned(),
        offered: "planning".to_owned(),
    };
    assert_eq!(error, expected);
    let input = planning_tools::types::PlanInput::new("any");
    let result = Runtime::new(registry).call(planning_tools::calls::plan_session(&input)?).await;
    assert_eq!(result.outcome.as_ref(), Ok(&Payload::new(plan)));
    Ok(())
}

/// G3, G24: a toolset with tools of methods and other tools is registered with the service and an executor.
#[tokio::test]
async fn g3_g24_a_toolset_may_have_a_service_and_an_executor() -> Tested {
    let mut registry = Registry::new();
    rates_tools::register(&mut registry, Echo, Arc::new(Always("2.5")))?;
    let specs = registry.specs();
    let names = specs.iter().map(|spec| spec.name());
    assert_eq!(names.collect::<Vec<_>>(), ["pay_all", "guess_rate"]);
    let runtime = Runtime::new(registry);
    let paid = ToolCall::new("pay_all", Payload::new(r#"{"run_id":"run_1","amount":1}"#));
    assert_eq!(runtime.call(paid.clone()).await.outcome.as_ref(), Ok(paid.args()));
    let guessed = rates_tools::calls::guess_rate(&rates_tools::types::GuessRateArgs {})?;
    assert_eq!(runtime.call(guessed).await.outcome.as_ref(), Ok(&Payload::new("2.5")));
    Ok(())
}

/// Records the fields of spans when they are opened.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<BTreeMap<&'static str, String>>>>);

struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        let mut fields = Fields(BTreeMap::new());
        attributes.record(&mut fields);
        self.0.lock().expect("no test panics while it holds it").push(fields.0);
    }
}

/// G24: a registration is enough for every kind of tool: its schema is listed, its executor answers, its codecs check
/// arguments, and its spans name its origin.
#[tokio::test]
async fn g24_a_registration_wires_specs_executor_adapters_and_spans() -> Tested {
    let spans = Spans::default();
    // If there is only one subscriber, threads of other tests, which have none, turn spans off for this one, too.
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let _subscribed =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let expected = [
        "todos of todos, method get_todos",
        "planning of planner, agent session_planner",
        "git of git, mcp git",
        "rates of ledger, external -",
        "gauges of lab, external -",
        "far of far, mcp far",
    ];
    for ((tool, right, wrong), expected) in TOOLS.into_iter().zip(expected) {
        let calls = [("right", right), ("wrong", wrong)].map(|(id, args)| {
            ToolCall::new(tool, Payload::new(args)).with_id(format!("{tool} {id}"))
        });
        let events = Backing { fails: false }.events(calls, Policy::UNLIMITED).await?;
        let outcomes = events.iter().filter_map(|event| match &event.kind {
            EventKind::ToolResultReceived { tool, outcome, .. } => Some((tool, outcome)),
            _ => None,
        });
        let [(listed, right), (_, wrong)] = outcomes.collect::<Vec<_>>()[..] else {
            panic!("two calls of {tool}")
        };
        let entry = listed.entry().ok_or("it is not listed")?;
        let schema: serde_json::Value = serde_json::from_str(entry.spec().args_schema())?;
        assert_eq!(schema["type"], "object", "{tool}");
        assert!(right.is_ok(), "{tool}: {right:?}");
        let failure = wrong.as_ref().expect_err("its arguments are wrong");
        assert_eq!(failure.kind, FailureKind::InvalidCall, "{tool}");

        let spans = spans.0.lock().expect("no test panics while it holds it");
        let id = format!("{tool} right");
        let of_call = |span: &&BTreeMap<_, String>| span.get("gen_ai.tool.call.id") == Some(&id);
        let span = spans.iter().find(of_call).ok_or("the call has no span")?;
        let field = |name: &str| span.get(name).map_or("-", String::as_str);
        assert_eq!(field("gen_ai.tool.name"), tool);
        assert_eq!(field("gen_ai.tool.description"), entry.spec().description());
        let [toolset, service] =
            ["toolset", "service"].map(|name| field(&format!("toolwright.{name}.name")));
        let [kind, name] =
            ["kind", "name"].map(|name| field(&format!("toolwright.implementation.{name}")));
        assert_eq!(format!("{toolset} of {service}, {kind} {name}"), expected);
    }
    Ok(())
}
