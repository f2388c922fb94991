//! Tools of rmcp routers as tools of the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rmcp::handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    CallToolResult, ContentBlock, InputRequiredResult, JsonObject, Tool as RmcpTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, tool, tool_router};
use toolwright::spec::Implementation;
use toolwright::{FailureKind, Payload, Recovery, RegistrationError, ToolCall, ToolFailure};
use toolwright_mcp::client::router_tools;
use toolwright_runtime::{Agent, Registry, RunRequest, Runtime, Script};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    /// Added to.
    #[schemars(range(min = 0))]
    a: i64,
    b: Option<i64>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    #[schemars(range(max = 99))]
    sum: i64,
}

struct Counter {
    count: AtomicI64,
}

#[allow(clippy::unused_self, reason = "tools of rmcp are methods")]
#[tool_router]
impl Counter {
    /// Add two numbers.
    #[tool(title = "Add", annotations(read_only_hint = true, destructive_hint = false))]
    async fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Json<Sum> {
        Json(Sum { sum: a + b.unwrap_or_default() })
    }

    #[tool(name = "count.further", description = "Count further.")]
    fn count(&self) -> String {
        (self.count.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    #[tool(description = "Greet.")]
    fn greet(&self) -> String {
        "hello".to_owned()
    }

    #[tool(description = "Refuse in words for the model.")]
    fn refuse(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("we are closed")])
    }

    #[tool(description = "Fail in words for operators.")]
    fn fail(&self) -> Result<String, ErrorData> {
        Err(ErrorData::internal_error("secret", None))
    }

    #[tool(description = "Refuse the arguments.")]
    fn pick(&self, _: Parameters<Numbers>) -> Result<String, ErrorData> {
        Err(ErrorData::invalid_params("secret", None))
    }

    #[tool(description = "Ask the client for its roots.")]
    async fn ask(&self, context: RequestContext<RoleServer>) -> String {
        #[allow(deprecated)]
        match context.peer.list_roots().await {
            Ok(_) => "there are some".to_owned(),
            Err(_) => "there is no client".to_owned(),
        }
    }

    #[tool(description = "Is disabled.")]
    fn hidden(&self) -> String {
        "here".to_owned()
    }
}

fn registry() -> (Registry, Arc<Counter>) {
    let service = Arc::new(Counter { count: AtomicI64::new(0) });
    let mut router = Counter::tool_router();
    router.disable_route("hidden");
    let unfinished = RmcpTool::new("unfinished", "Need more.", JsonObject::new());
    router.add_route(ToolRoute::new_dyn(unfinished, |_: ToolCallContext<'_, Counter>| {
        let more = InputRequiredResult::from_request_state("more");
        Box::pin(async move { Ok(more.into()) })
    }));
    let registry = Registry::new();
    let tools = router_tools("counter", router, Arc::clone(&service));
    registry.register_tools(tools.expect("their schemas can be used")).expect("names are free");
    (registry, service)
}

async fn failure(runtime: &Runtime, tool: &str, args: &str) -> ToolFailure {
    let result = runtime.call(ToolCall::new(tool, Payload::new(args))).await;
    result.outcome.expect_err("it fails")
}

/// R3: a tool of a router has the name, description, annotations and schemas that rmcp lists.
#[test]
fn r3_tools_of_an_rmcp_router_are_what_the_router_lists() {
    let (registry, _) = registry();
    let names: Vec<_> = registry.specs().iter().map(|spec| spec.name().to_owned()).collect();
    let expected = ["add", "ask", "count.further", "fail", "greet", "pick", "refuse", "unfinished"];
    assert_eq!(names, expected);
    let spec = registry.spec("add").expect("it is registered");
    assert_eq!((spec.description(), spec.title()), ("Add two numbers.", Some("Add")));
    assert_eq!((spec.toolset(), spec.implementation()), ("counter", &Implementation::External));
    let annotations = spec.annotations();
    assert_eq!((annotations.read_only, annotations.destructive), (Some(true), Some(false)));
    let listed = Counter::tool_router().get("add").expect("it is listed").clone();
    let schema = |text: &str| serde_json::from_str::<JsonObject>(text).expect("it is JSON");
    assert_eq!(schema(spec.args_schema()), *listed.input_schema);
    assert_eq!(Some(schema(spec.result_schema())), listed.output_schema.as_deref().cloned());
}

/// R3: arguments and results are validated against the schemas that the router lists, and calls share its service.
#[tokio::test]
async fn r3_calls_of_an_rmcp_router_are_held_to_its_schemas() {
    let (registry, service) = registry();
    let script = Script::new()
        .call([ToolCall::new("add", Payload::new(r#"{"a":2,"b":40}"#))])
        .call([ToolCall::new("count.further", Payload::new("{}"))])
        .call([ToolCall::new("count.further", Payload::new("{}"))])
        .call([ToolCall::new("greet", Payload::new("{}"))])
        .call([ToolCall::new("ask", Payload::new("{}"))])
        .finish(Payload::new("0"));
    let agent = Agent::new("worker", "lab").with_toolsets(["counter"]);
    registry.register_agent(agent, script.into()).expect("its toolset is there");
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("worker", Payload::new("0"))).await.expect("it runs");
    let results: Vec<_> = outcome
        .calls()
        .map(|record| record.result.outcome.as_ref().expect("it succeeds").as_str())
        .collect();
    assert_eq!(results, [r#"{"sum":42}"#, "1", "2", r#""hello""#, r#""there is no client""#]);
    assert_eq!(service.count.load(Ordering::Relaxed), 2);

    for (args, expected) in [
        (r#"{"b":1}"#, "`/a`: is missing"),
        (r#"{"a":-1}"#, "`/a`: found -1, expected at least 0"),
        (r#"{"a":"1"}"#, "`/a`: found the string \"1\""),
    ] {
        let failure = failure(&runtime, "add", args).await;
        assert_eq!(failure.kind, FailureKind::InvalidCall);
        assert!(failure.message.contains(expected), "{args}: {failure}");
    }
    let too_much = failure(&runtime, "add", r#"{"a":99,"b":1}"#).await;
    assert_eq!(too_much.kind, FailureKind::MalformedResult);
}

/// R3: the failure of a tool has its text; that of a protocol error or an incomplete result has not.
#[tokio::test]
async fn r3_errors_of_an_rmcp_router_are_failures() {
    let (registry, _) = registry();
    let runtime = Runtime::new(registry);
    for (tool, args, kind, message) in [
        ("refuse", "{}", FailureKind::DomainRejection, "we are closed"),
        ("fail", "{}", FailureKind::Internal, "the tool failed internally"),
        (
            "pick",
            r#"{"a":1}"#,
            FailureKind::InvalidCall,
            "the server rejects the arguments of `pick`",
        ),
        (
            "unfinished",
            "{}",
            FailureKind::Internal,
            "`unfinished` asks for more input, which this client does not support; the call may have taken effect, so find out \
             before calling again",
        ),
    ] {
        let failure = failure(&runtime, tool, args).await;
        assert_eq!((failure.kind, &*failure.message), (kind, message));
    }
    let failure = failure(&runtime, "pick", r#"{"a":1}"#).await;
    assert!(matches!(failure.recovery, Recovery::CorrectCall(_)), "{failure:?}");
    assert!(failure.detail.is_some_and(|detail| detail.contains("secret")));
}

/// R3: a tool whose schema cannot be enforced is refused by name, and no tool of its router is registered.
#[test]
fn r3_a_tool_of_a_router_without_a_usable_schema_is_refused() {
    let schema = serde_json::from_str::<JsonObject>(r##"{"$ref":"#/$defs/missing"}"##);
    let broken = RmcpTool::new("broken", "", schema.expect("it is JSON"));
    let route = ToolRoute::new_dyn(broken, |_: ToolCallContext<'_, Counter>| {
        Box::pin(async { Ok(CallToolResult::success(Vec::new()).into()) })
    });
    let router = Counter::tool_router() + ToolRouter::new().with_route(route);
    let refused = router_tools("counter", router, Counter { count: AtomicI64::new(0) });
    let error = refused.expect_err("its schema refers to nothing");
    assert!(
        matches!(&error, RegistrationError::UnusableTool { tool, .. } if tool == "broken"),
        "{error:?}"
    );
}

/// R3: dropping the future of a call cancels the token of its request.
#[tokio::test]
async fn r3_giving_up_a_call_of_a_router_cancels_its_request() {
    let (cancelled, seen) = tokio::sync::oneshot::channel();
    let cancelled = std::sync::Mutex::new(Some(cancelled));
    let wait = RmcpTool::new("wait", "", JsonObject::new());
    let route = ToolRoute::new_dyn(wait, move |context: ToolCallContext<'_, Counter>| {
        let (token, cancelled) =
            (context.request_context.ct.clone(), cancelled.lock().unwrap().take());
        Box::pin(async move {
            tokio::spawn(async move {
                token.cancelled().await;
                cancelled.map(|cancelled| cancelled.send(()))
            });
            std::future::pending().await
        })
    });
    let registry = Registry::new();
    let service = Counter { count: AtomicI64::new(0) };
    let tools = router_tools("counter", ToolRouter::new().with_route(route), service);
    registry.register_tools(tools.expect("it has a schema")).expect("names are free");
    let runtime = Runtime::new(registry);
    let call = runtime.call(ToolCall::new("wait", Payload::new("{}")));
    let limit = std::time::Duration::from_millis(100);
    tokio::time::timeout(limit, call).await.expect_err("it waits forever");
    let limit = std::time::Duration::from_secs(10);
    tokio::time::timeout(limit, seen).await.expect("in time").expect("it is cancelled");
}
