//! Results, failures and saved states as large as they may be, and larger. None of them repeats its call.

use std::future::ready;

use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};
use toolwright_restate::RestateToolset;
use toolwright_runtime::{FunctionTool, Registry, Runtime, ToolEntry, Toolset};

use crate::lab::{Effects, Lab, N, call, idempotent, spec};

/// A JSON string of so many MiB, all of whose characters are escaped.
fn quotes(mib: i64) -> Payload {
    Payload::new(format!("\"{}\"", "\\\"".repeat(usize::try_from(mib).unwrap() << 19)))
}

/// A toolset of each run. `fill` returns as many MiB as the last digit of its argument says, and saves as many as the digit before.
struct Bulk {
    effects: Effects,
    saved: std::sync::Mutex<i64>,
}

impl Bulk {
    fn tool() -> FunctionTool {
        FunctionTool::new(idempotent(spec("fill")), async |_: N| String::new())
    }
}

impl Toolset for Bulk {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(ready(Ok(vec![Self::tool().entry().clone()])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let N { n } = call.args().decode().unwrap();
        self.effects.push(call.id());
        *self.saved.lock().unwrap() = n / 10;
        Box::pin(ready(ToolResult::new(call, Ok(quotes(n % 10)))))
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(ready(Ok(Some(quotes(*self.saved.lock().unwrap())))))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_result_with_a_large_state_is_carried_once() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let (registry, effects) = (Registry::new(), made.clone());
        let bulk = move |_: Scope| Bulk { effects: effects.clone(), saved: 0.into() };
        registry.register_toolset("lab", bulk).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let toolset =
        RestateToolset::per_run(&lab.ingress(), [Bulk::tool().entry().spec_ref().clone()]);
    let fill = async |id: &str, n: i64| {
        let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
        toolset.call(&call("fill", id, n).with_scope(scope)).await.outcome
    };
    assert_eq!(fill("a", 77).await.unwrap(), quotes(7));
    let failure = fill("b", 90).await.unwrap_err();
    assert_eq!(failure.message, "`fill` ran, but what it changed is too large to be kept");
    assert_eq!(fill("c", 0).await.unwrap(), quotes(0));
    assert_eq!(effects.all(), ["a", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_is_too_large_is_cut_and_its_call_is_not_made_again() {
    let effects = Effects::default();
    let failing = |effects: &Effects| {
        let effects = effects.clone();
        FunctionTool::new(idempotent(spec("fail")), move |N { n }: N| {
            effects.push("fail");
            let message = "\u{1}".repeat(usize::try_from(n).unwrap() << 20);
            let failure = ToolFailure::new(FailureKind::DomainRejection, "no", Recovery::Replan);
            ready(Err::<i64, _>(ToolFailure { message, ..failure }))
        })
    };
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(failing(&made)).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let specs = [failing(&effects).entry().spec_ref().clone()];
    let toolset = RestateToolset::new(&lab.ingress(), specs);
    let failure = toolset.call(&call("fail", "a", 40)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::DomainRejection);
    assert!(failure.message.len() < 5_000, "{} bytes", failure.message.len());
    assert_eq!(effects.all(), ["fail"]);

    let args = Payload::new(format!(r#"{{"n":0{}}}"#, " ".repeat(33 << 20)));
    let failure = toolset.call(&call("fail", "b", 0).with_args(args)).await.outcome.unwrap_err();
    assert_eq!(failure.message, "the arguments of `fail` are too large; make them shorter");
    assert_eq!(effects.all(), ["fail"]);
}
