//! The tools, called as a model's call reaches them: through the generated executor.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use app::Greeter;
use greetings_tools::calls;
use greetings_tools::executor::GreetingsExecutor;
use greetings_tools::types::{GreetPayload, Style};
use toolwright::{Executor, FailureKind, Payload, ToolCall, ToolResult};

#[test]
fn a_typed_call_is_answered() {
    let args = GreetPayload {
        name: "Ada".to_owned(),
        style: Some(Style::Warm),
    };
    let result = execute(&calls::greet(&args).unwrap());
    assert_eq!(
        result.outcome.as_ref().unwrap().as_str(),
        r#"{"text":"How good to see you, Ada!"}"#
    );
}

#[test]
fn a_bad_call_is_refused_and_told_what_is_wrong() {
    let result = execute(&ToolCall::new(
        "greet",
        Payload::new(r#"{"name":"","style":"loud"}"#),
    ));
    let failure = result.outcome.as_ref().unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    assert!(failure.message.contains("/style"), "{failure}");
}

#[test]
fn a_declared_error_reaches_the_model() {
    let result = execute(&ToolCall::new(
        "greet",
        Payload::new(r#"{"name":"Nobody"}"#),
    ));
    assert_eq!(result.outcome.as_ref().unwrap_err().code.as_deref(), Some("stranger"));
}

/// Polls until the call is done: the greeter never waits for anything, so no async runtime is needed.
fn execute(call: &ToolCall) -> ToolResult {
    let executor = GreetingsExecutor::new(Greeter);
    let mut running = pin!(executor.execute(call));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = running.as_mut().poll(&mut context) {
            return result;
        }
    }
}
