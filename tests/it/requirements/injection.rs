//! Tests that injected fields of a method's payload are filled from the call, never from the model (G21).

use serde_json::{Value, json};
use toolwright::{Executor, FailureKind, MethodError, Payload, Scope, ToolCall, ToolFailure};

use super::Tested;
use crate::requirement_cases::ledger_service::service::LedgerService;
use crate::requirement_cases::ledger_service::types::{Entry, Payment};
use crate::requirement_cases::ledger_tools::executor::LedgerExecutor;
use crate::requirement_cases::ledger_tools::{calls, specs, types};

/// Returns the payload that it received.
pub(super) struct Echo;

impl LedgerService for Echo {
    async fn write(&self, payload: Entry) -> Result<Entry, MethodError> {
        Ok(payload)
    }

    async fn pay(&self, payload: Payment) -> Result<Payment, MethodError> {
        Ok(payload)
    }
}

async fn run(
    tool: &str,
    args: &Value,
    run_id: Option<&str>,
    caller: Option<&str>,
) -> Result<Value, ToolFailure> {
    let labels = caller.map(|caller| ("caller".to_owned(), caller.to_owned()));
    let scope = Scope {
        run_id: run_id.map(str::to_owned),
        labels: labels.into_iter().collect(),
        ..Scope::default()
    };
    let call = ToolCall::new(tool, Payload::new(args.to_string())).with_scope(scope);
    let result = LedgerExecutor::new(Echo).execute(&call).await;
    result
        .outcome
        .as_ref()
        .cloned()
        .map_err(Clone::clone)
        .map(|payload| serde_json::from_str(payload.as_str()).expect("a result is JSON"))
}

/// G21: the method's payload consists of the arguments and the injected fields.
#[tokio::test]
async fn g21_injected_fields_are_filled_from_the_call() {
    let found =
        run("write_entry", &json!({ "text": "a", "more": 1 }), Some("run_1"), Some("me")).await;
    assert_eq!(found, Ok(json!({ "run_id": "run_1", "text": "a", "caller": "me", "more": 1 })));
}

/// G21: a value of the model for a hidden field is ignored, even if nothing is injected.
#[tokio::test]
async fn g21_the_model_cannot_write_an_injected_field() {
    let args = json!({ "text": "ab", "run_id": "evil", "caller": "evil" });
    for tool in ["write_entry", "write_line"] {
        for caller in [None, Some("me")] {
            let found = run(tool, &args, Some("run_1"), caller).await;
            let mut expected = json!({ "run_id": "run_1", "text": "ab" });
            if let Some(caller) = caller {
                expected["caller"] = json!(caller);
            }
            assert_eq!(found, Ok(expected), "{tool} {caller:?}");
        }
    }
}

/// G21: arguments and a result that are declared for the tool are converted to those of the method, and checked by both schemas.
#[tokio::test]
async fn g21_declared_arguments_and_results_are_reshaped() {
    let paid = run("pay_amount", &json!({ "amount": 3, "note": "n" }), Some("run_1"), None).await;
    assert_eq!(paid, Ok(json!({ "run_id": "run_1", "amount": 3, "note": "n" })));
    let table = [
        ("pay_amount", json!({ "amount": -1 }), FailureKind::InvalidCall, Some("/amount")),
        ("write_line", json!({ "text": "eleven long" }), FailureKind::InvalidCall, Some("/text")),
        ("write_line", json!({ "text": "x" }), FailureKind::MalformedResult, None),
    ];
    for (tool, args, kind, pointer) in table {
        let failure = run(tool, &args, Some("run_1"), None).await.expect_err("it breaks a schema");
        assert_eq!(failure.kind, kind, "{failure:?}");
        if let Some(pointer) = pointer {
            assert!(failure.message.contains(pointer), "{failure:?}");
        }
    }
}

/// G21: if the host fills a hidden field wrongly or not at all, the failure is internal and does not name the field.
#[tokio::test]
async fn g21_a_hidden_field_is_never_shown_to_the_model() {
    for (tool, args) in [
        ("write_entry", json!({ "text": "ab" })),
        ("write_line", json!({ "text": "ab" })),
        ("pay_amount", json!({ "amount": 1 })),
    ] {
        for run_id in [None, Some("x")] {
            let failure =
                run(tool, &args, run_id, None).await.expect_err("there is no valid run id");
            assert_eq!(failure.kind, FailureKind::Internal, "{tool} {run_id:?}");
            assert!(!failure.message.contains("run_id"), "{failure:?}");
            assert!(
                failure.detail.as_ref().is_some_and(|detail| detail.contains("run_id")),
                "{failure:?}"
            );
        }
    }
}

/// G20, G21: typed arguments have no hidden fields, and the call carries its options.
#[test]
fn g20_g21_a_typed_call_of_a_reshaped_tool_carries_name_payload_and_options() -> Tested {
    let args = types::PayAmountArgs { amount: 3.into(), note: None };
    let call = calls::pay_amount(&args)?.with_id("call_1").with_parent_call_id("call_0");
    assert_eq!(
        (call.tool(), call.id(), call.parent_call_id()),
        ("pay_amount", "call_1", Some("call_0"))
    );
    assert_eq!(call.args().as_str(), r#"{"amount":3}"#);
    Ok(())
}

/// G20: invalid arguments are an error, never a panic.
#[test]
fn g20_invalid_arguments_are_an_error() {
    let args = types::WriteLineArgs::new("longer than ten");
    let invalid = calls::write_line(&args).expect_err("the text is too long");
    assert_eq!(invalid.issues().len(), 1, "{invalid}");
}

/// G21: the published schemas do not name hidden fields.
#[test]
fn g21_published_schemas_hide_injected_fields() {
    for spec in specs::ALL {
        assert!(!spec.args_schema().contains("run_id"), "{}", spec.name());
        assert!(!spec.args_schema().contains("caller"), "{}", spec.name());
    }
}
