//! Tests of rig's tools in a registry: their specs, the checks of arguments, and their errors.

use std::fmt;

use rig_core::message::ToolResultContent;
use rig_core::tool::{
    ContextValue, PortableTool, Tool, ToolContext, ToolErrorKind, ToolExecutionError, ToolOutput,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_runtime::{Agent, Registry, RunRequest, Runtime, Script};

/// The current user, which the host sets, not the model.
#[derive(Serialize, Deserialize)]
struct User(String);

impl ContextValue for User {
    const KEY: &'static str = "user";
}

#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the shop is closed until nine")
    }
}

impl std::error::Error for Closed {}

#[derive(Deserialize)]
struct Order {
    item: String,
    #[serde(default)]
    count: u8,
}

#[derive(Serialize)]
struct Receipt {
    text: String,
}

/// Fails with its own error type.
struct Buy;

impl Tool for Buy {
    const NAME: &'static str = "buy";
    type Args = Order;
    type Output = Receipt;
    type Error = Closed;

    fn description(&self) -> String {
        "Buy something.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "item": { "type": "string", "minLength": 1 },
                "count": { "type": "integer", "maximum": 9 },
            },
            "required": ["item"],
            "additionalProperties": false,
        })
    }

    async fn call(&self, context: &mut ToolContext, order: Order) -> Result<Receipt, Closed> {
        if order.item == "nothing" {
            return Err(Closed);
        }
        let user =
            context.get::<User>().ok().flatten().map_or("somebody".to_owned(), |user| user.0);
        Ok(Receipt { text: format!("{user}: {} {}", order.count, order.item) })
    }
}

/// Returns or fails as its argument says.
struct Fail;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    Kind(ToolErrorKind),
    Refused,
    Feedback,
    Text,
    Parts,
}

#[derive(Deserialize)]
struct FailArgs {
    how: How,
}

impl PortableTool for Fail {
    const NAME: &'static str = "fail";
    type Args = FailArgs;
    type Output = ToolOutput;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        "Fail.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, args: FailArgs) -> Result<ToolOutput, ToolExecutionError> {
        let text = ToolResultContent::text("one");
        Err(match args.how {
            How::Text => return Ok(ToolOutput::text("plain \"text\"")),
            How::Parts => return ToolOutput::content(vec![text.clone(), text]),
            How::Kind(kind) => ToolExecutionError::new(kind, "as told").with_code("told"),
            How::Refused => ToolExecutionError::refused("not for you"),
            How::Feedback => ToolExecutionError::other("secret").with_model_feedback("try later"),
        })
    }
}

/// Publishes an invalid schema.
struct Broken(Value);

impl PortableTool for Broken {
    const NAME: &'static str = "broken";
    type Args = Value;
    type Output = Value;
    type Error = Closed;

    fn description(&self) -> String {
        String::new()
    }

    fn parameters(&self) -> Value {
        self.0.clone()
    }

    async fn call(&self, args: Value) -> Result<Value, Closed> {
        Ok(args)
    }
}

async fn failure(runtime: &Runtime, tool: &str, args: &str) -> ToolFailure {
    let result = runtime.call(ToolCall::new(tool, Payload::new(args))).await;
    result.outcome.expect_err("it fails")
}

/// R3: a tool of rig is registered under its name, with its description and its schema.
#[test]
fn r3_a_tool_of_rig_is_registered_as_it_describes_itself() {
    let registry = Registry::new();
    registry.register_tool(toolwright_rig::tool(Buy)).unwrap();
    let spec = registry.spec("buy").unwrap();
    assert_eq!((spec.name(), spec.description()), ("buy", "Buy something."));
    assert_eq!(serde_json::from_str::<Value>(spec.args_schema()).unwrap(), Tool::parameters(&Buy));
    let again = registry.register_tool(toolwright_rig::tool(Buy)).unwrap_err();
    assert!(again.to_string().contains("`buy` is registered already"), "{again}");
}

/// R3: arguments are checked against the published schema before the tool runs.
#[tokio::test]
async fn r3_arguments_of_a_tool_of_rig_are_checked_against_its_schema() {
    let registry = Registry::new();
    registry.register_tool(toolwright_rig::tool(Buy)).unwrap();
    let runtime = Runtime::new(registry);
    for (args, expected) in [
        (r#"{"count":1}"#, "`/item`: is missing"),
        (r#"{"item":""}"#, "`/item`"),
        (r#"{"item":"tea","count":10}"#, "`/count`: found 10, expected at most 9"),
        (r#"{"item":"tea","size":1}"#, "`/size`"),
    ] {
        let failure = failure(&runtime, "buy", args).await;
        assert_eq!(failure.kind, FailureKind::InvalidCall);
        assert!(failure.message.contains(expected), "{args}: {failure}");
    }
    // Arguments that the schema accepts and the type does not are refused with rig's message.
    let failure = failure(&runtime, "buy", r#"{"item":"tea","count":-1}"#).await;
    assert_eq!(failure.kind, FailureKind::InvalidCall);
    assert!(matches!(failure.recovery, Recovery::CorrectCall(_)));
    assert!(failure.message.contains("failed to parse tool arguments"), "{failure}");
}

/// R3: an agent can call tools of rig like any other, with a context that the host fills.
#[tokio::test]
async fn r3_tools_of_rig_are_called_in_runs_with_a_context() {
    let registry = Registry::new();
    let buy = toolwright_rig::with_context(Buy, |call, context| {
        let user = User(call.scope().run_id.clone().unwrap_or_default());
        context.insert(user).expect("it is JSON");
    });
    registry.register_tools([buy, toolwright_rig::tool(Fail)]).unwrap();
    let script = Script::new()
        .call([ToolCall::new("buy", Payload::new(r#"{"item":"tea","count":2}"#))])
        .call([ToolCall::new("fail", Payload::new(r#"{"how":"text"}"#))])
        .call([ToolCall::new("fail", Payload::new(r#"{"how":"parts"}"#))])
        .finish(Payload::new("0"));
    let agent = Agent::new("worker", "lab").with_tools(["buy", "fail"]);
    registry.register_agent(agent, script.into()).unwrap();
    let request = RunRequest::new("worker", Payload::new("0")).with_run_id("ann");
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    let results: Vec<Value> = outcome
        .calls()
        .map(|record| record.result.outcome.as_ref().unwrap())
        .map(|payload| serde_json::from_str(payload.as_str()).unwrap())
        .collect();
    let part = json!({ "type": "text", "text": "one" });
    assert_eq!(results[0], json!({ "text": "ann: 2 tea" }));
    assert_eq!(results[1], json!("plain \"text\""));
    assert_eq!(results[2], json!([part, part]));
}

/// R3: rig's errors become failures of the same kind, with rig's message for the model.
#[tokio::test]
async fn r3_errors_of_rig_become_failures_of_the_same_kind() {
    let registry = Registry::new();
    registry.register_tool(toolwright_rig::tool(Fail)).unwrap();
    registry.register_tool(toolwright_rig::tool(Buy)).unwrap();
    let runtime = Runtime::new(registry);
    for (kind, expected, recovery) in [
        ("invalid_args", FailureKind::InvalidCall, "correct_call"),
        ("timeout", FailureKind::Timeout, "replan"),
        ("cancelled", FailureKind::Cancelled, "replan"),
        ("not_found", FailureKind::DomainRejection, "replan"),
        ("permission_denied", FailureKind::Denied, "replan"),
        ("rate_limited", FailureKind::RateLimited, "retry"),
        ("provider", FailureKind::Internal, "replan"),
        ("network", FailureKind::Internal, "replan"),
        ("other", FailureKind::Internal, "replan"),
    ] {
        let args = json!({ "how": { "kind": kind } }).to_string();
        let failure = failure(&runtime, "fail", &args).await;
        assert_eq!((failure.kind, failure.recovery.as_str()), (expected, recovery), "{kind}");
        let may_have_run = ["timeout", "network"].contains(&kind);
        let effect = "; the call may have taken effect, so find out before calling again";
        let message = format!("as told{}", if may_have_run { effect } else { "" });
        assert_eq!((failure.message, failure.code.as_deref()), (message, Some("told")));
    }
    let refused = failure(&runtime, "fail", r#"{"how":"refused"}"#).await;
    assert_eq!((refused.kind, &*refused.message), (FailureKind::Denied, "not for you"));
    let kept = failure(&runtime, "fail", r#"{"how":"feedback"}"#).await;
    assert_eq!((&*kept.message, kept.detail.as_deref()), ("try later", Some("secret")));
    let own = failure(&runtime, "buy", r#"{"item":"nothing"}"#).await;
    assert_eq!((own.kind, &*own.message), (FailureKind::Internal, "the tool failed"));
    assert_eq!(own.detail.as_deref(), Some("the shop is closed until nine"));
}

/// R3: a tool whose schema cannot be enforced is not registered.
#[test]
fn r3_a_tool_of_rig_without_a_usable_schema_is_refused() {
    for schema in [Value::Null, json!({ "$ref": "#/$defs/missing" }), json!({ "type": "string" })] {
        let registry = Registry::new();
        let error = registry.register_tool(toolwright_rig::tool(Broken(schema.clone())));
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("tool `broken` cannot be registered: "), "{schema}: {message}");
        assert!(registry.spec("broken").is_none());
    }
}
