//! Calls of tools as tests make them: by name and by type, with and without an approval, in a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use toolwright::registration::per_run;
use toolwright::testing::{self, Tools};
use toolwright::{
    BoxFuture, Executor, FailureKind, Payload, RegistrationError, Scope, ToolCall, ToolResult,
    ToolSpec, Value,
};

static COUNT: ToolSpec = ToolSpec::of::<Count>("count").with_aliases(&["number"]);
toolwright::tool!(Count(i64) -> i64 = COUNT);

static RUN: ToolSpec = ToolSpec::of::<Run>("run");
toolwright::tool!(Run(()) -> Value = RUN);

static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe").with_approval_denied("The disk was kept.");
toolwright::tool!(Wipe(()) -> bool = WIPE);

static LIE: ToolSpec = ToolSpec::of::<Lie>("lie");
toolwright::tool!(Lie(()) -> bool = LIE);

static ALL: &[&ToolSpec] = &[&COUNT, &RUN, &WIPE, &LIE];
static WIPES: &[&ToolSpec] = &[&WIPE];

/// Counts up by its arguments, and returns the properties of a call that it sees.
#[derive(Default)]
struct Lab(AtomicI64);

impl Executor for Lab {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.tool() {
            "count" | "number" => {
                call.run(Count, async |n| Ok(self.0.fetch_add(n, Ordering::SeqCst) + n))
            }
            "run" => call.run(Run, async |()| {
                let seen = [call.run_id(), call.session_id(), call.label("day")];
                Ok(Value::from(seen.map(|id| Value::from(id.map(str::to_owned))).to_vec()))
            }),
            "wipe" => call.run(Wipe, async |()| Ok(call.is_approved())),
            _ => {
                let lie = ToolResult::new(call, Ok(Payload::new(r#""maybe""#)));
                Box::pin(std::future::ready(lie))
            }
        }
    }
}

fn tools() -> Tools {
    testing::tools(|registrar| registrar.register(ALL, Arc::new(Lab::default())))
}

#[tokio::test]
async fn arguments_are_any_text_or_value_that_displays_as_json() {
    let tools = tools();
    assert_eq!(tools.call("count", "40").await.unwrap().as_str(), "40");
    assert_eq!(tools.call("number", Value::from(2)).await.unwrap().as_str(), "42");
    assert_eq!(tools.call("count", serde_json::json!(1)).await.unwrap().as_str(), "43");
    assert_eq!(tools.call("count", Payload::new("1")).await.unwrap().as_str(), "44");
    assert_eq!(tools.run(Count, &-2).await, Ok(42));
}

#[tokio::test]
async fn an_instance_for_each_run_is_made_for_each_call() {
    let tools = testing::tools(|registrar| registrar.register_factory(ALL, per_run(Lab::default)));
    assert_eq!(tools.run(Count, &2).await, Ok(2));
    assert_eq!(tools.run(Count, &2).await, Ok(2));
}

#[tokio::test]
async fn an_approval_is_answered_as_the_test_says() {
    let unanswered = tools().run(Wipe, &()).await.unwrap_err();
    assert_eq!(unanswered.kind, FailureKind::Denied);
    assert_eq!(
        unanswered.message,
        "`wipe` needs an approval; call `tools.approving()` or `tools.denying()`"
    );
    assert_eq!(tools().approving().run(Wipe, &()).await, Ok(true), "the tool knows");
    let denied = tools().denying().run(Wipe, &()).await.unwrap_err();
    assert_eq!((denied.kind, denied.message.as_str()), (FailureKind::Denied, "The disk was kept."));
    assert_eq!(tools().denying().run(Count, &1).await, Ok(1), "nobody is asked");
}

#[tokio::test]
async fn a_call_comes_from_where_the_test_says() {
    let labels = [("day".to_owned(), "Monday".to_owned())].into();
    let scope = Scope { session_id: Some("s1".to_owned()), labels, ..Scope::default() };
    let tools = tools().with_scope(scope).with_run_id("r1");
    assert_eq!(tools.call("run", "null").await.unwrap().as_str(), r#"["r1","s1","Monday"]"#);
}

#[tokio::test]
async fn what_a_schema_refuses_is_a_failure() {
    let failure = tools().call("count", r#""two""#).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    let failure = tools().call("count", "{").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    let failure = tools().run(Lie, &()).await.unwrap_err();
    assert_eq!(failure.message, "`lie` returned something its schema does not accept");
    let failure = tools().call("counts", "1").await.unwrap_err();
    assert_eq!(failure.message, "there is no tool `counts`, did you mean `count`?");
}

#[test]
fn a_name_is_registered_once() {
    let twice = std::panic::catch_unwind(|| {
        testing::tools(|registrar| {
            registrar.register(ALL, Arc::new(Lab::default()))?;
            let error = registrar.register(WIPES, Arc::new(Lab::default())).unwrap_err();
            assert!(
                matches!(&error, RegistrationError::DuplicateTool { tool, .. } if tool == "wipe")
            );
            Err(error)
        })
    });
    let message = twice.unwrap_err().downcast::<String>().unwrap();
    assert!(message.starts_with("the tools cannot be registered: tool `wipe` is registered"));
}
