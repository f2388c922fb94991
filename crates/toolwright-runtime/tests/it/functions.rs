//! Functions as tools: their types, schemas and results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright::{
    FailureKind, Payload, RegistrationError, ToolCall, ToolFailure, ToolResult, ToolSpec, described,
};
use toolwright_runtime::tools::Json;
use toolwright_runtime::{Agent, FunctionTool, Registry, RunRequest, Runtime, Script, Toolset};

use crate::planners::brief;
use crate::tools::{call, payload};
use crate::toys::tool;

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }

    struct Sum {
        sum: i64,
    }
}

/// A place to look at.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Degrees north.
    #[schemars(range(min = -90, max = 90))]
    north: f64,
    units: Option<Units>,
    #[serde(default)]
    days: Day,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Metric,
    Imperial,
}

/// Its schema accepts values that serde refuses.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
#[schemars(with = "i64")]
struct Day(i64);

impl TryFrom<i64> for Day {
    type Error = String;

    fn try_from(day: i64) -> Result<Self, String> {
        if day % 2 == 0 { Ok(Self(day)) } else { Err(format!("{day} is odd")) }
    }
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    #[schemars(length(max = 20))]
    text: String,
}

async fn answer(registry: &Registry, tool: &str, args: &str) -> ToolResult {
    Runtime::new(registry.clone()).call(ToolCall::new(tool, Payload::new(args))).await
}

async fn call_text(registry: &Registry, tool: &str, args: &str) -> String {
    match answer(registry, tool, args).await.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn r3_functions_of_any_shape_are_tools() {
    async fn double(Sum { sum }: Sum) -> Sum {
        Sum { sum: 2 * sum }
    }

    let registry = Registry::new();
    let add = |Numbers { a, b }| async move { Sum { sum: a + b } };
    registry.tool("add", "Add two numbers.", add).unwrap();
    registry.tool("double", "Double a number.", double).unwrap();
    registry.tool("pi", "The number.", || async { "3.14".to_owned() }).unwrap();
    let divide = |Numbers { a, b }| async move {
        a.checked_div(b).map(|sum| Sum { sum }).ok_or("division by zero")
    };
    registry.tool("divide", "Divide two numbers.", divide).unwrap();
    let id = |_: Numbers, call: ToolCall| async move { call.id().to_owned() };
    registry.tool("id", "The id of the call.", id).unwrap();
    let refuse = |_: Sum| async {
        let refused =
            ToolFailure::declared("closed", "we are closed", toolwright::Recovery::Finish);
        Err::<Sum, _>(refused)
    };
    registry.tool("refuse", "Refuse.", refuse).unwrap();

    assert_eq!(call_text(&registry, "add", r#"{"a":2,"b":40}"#).await, r#"{"sum":42}"#);
    assert_eq!(call_text(&registry, "double", r#"{"sum":21}"#).await, r#"{"sum":42}"#);
    assert_eq!(call_text(&registry, "pi", "{}").await, r#""3.14""#);
    assert_eq!(call_text(&registry, "divide", r#"{"a":8,"b":4}"#).await, r#"{"sum":2}"#);
    assert!(call_text(&registry, "id", r#"{"a":8,"b":4}"#).await.starts_with("\"call_"));

    let failure = answer(&registry, "divide", r#"{"a":8,"b":0}"#).await.outcome.unwrap_err();
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Internal, "the tool failed internally")
    );
    assert_eq!(failure.detail.as_deref(), Some("division by zero"));
    let failure = answer(&registry, "refuse", r#"{"sum":1}"#).await.outcome.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("closed"));
    let text = call_text(&registry, "pi", r#"{"digits":3}"#).await;
    assert!(text.contains("`/digits`"), "{text}");
}

#[tokio::test]
async fn r3_serde_types_are_checked_against_their_published_schema() {
    let registry = Registry::new();
    let weather = |place: Place| async move {
        let text = match place.units {
            Some(Units::Imperial) => "hot",
            Some(Units::Metric) => "warm",
            None if place.days.0 > 2 => "nobody knows what it will be by then",
            None => "cold",
        };
        if place.north > 80.0 {
            Err("too far north")
        } else {
            Ok(Json(Weather { text: text.into() }))
        }
    };
    registry.tool("weather", "Tell the weather.", weather).unwrap();
    let spec = registry.spec("weather").unwrap();
    // Compared as values, as the order of keys depends on a feature of `serde_json`, which any crate can enable.
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let place = json!({
        "type": "object",
        "description": "A place to look at.",
        "properties": {
            "north": {
                "type": "number",
                "format": "double",
                "description": "Degrees north.",
                "minimum": -90,
                "maximum": 90,
            },
            "units": { "anyOf": [{ "$ref": "#/$defs/Units" }, { "type": "null" }] },
            "days": { "$ref": "#/$defs/Day" },
        },
        "required": ["north"],
        "additionalProperties": false,
        "$defs": {
            "Units": { "type": "string", "enum": ["metric", "imperial"] },
            "Day": {
                "type": "integer",
                "format": "int64",
                "description": "Its schema accepts values that serde refuses.",
            },
        },
    });
    assert_eq!(schema(spec.args_schema()), place);
    let weather = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "maxLength": 20 } },
        "required": ["text"],
    });
    assert_eq!(schema(spec.result_schema()), weather);

    let cases = [
        (r#"{"north":1}"#, r#"{"text":"cold"}"#),
        (r#"{"north":1,"units":"imperial"}"#, r#"{"text":"hot"}"#),
        (r#"{"north":91}"#, "`/north`: found 91, expected at most 90"),
        (r#"{"north":1,"units":"kelvin"}"#, "`/units`"),
        (r#"{"north":1,"south":1}"#, "`/south`"),
        (r#"{"north":1,"north":2}"#, "`/north`"),
        (r#"{"north":1,"days":3}"#, "is not valid for its type: 3 is odd"),
        (r#"{"north":1,"days":4}"#, "malformed_result: `weather` returned something"),
        (r#"{"north":81}"#, "internal: the tool failed internally"),
    ];
    for (args, expected) in cases {
        let text = call_text(&registry, "weather", args).await;
        assert!(text.contains(expected), "{args}: {text}");
        // A check without a call has the same result.
        assert_eq!(
            spec.check_args(args.as_bytes()).is_err(),
            text.starts_with("invalid_call"),
            "{text}"
        );
    }
}

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    pieces: i64,
    codes: Vec<u8>,
    weight: f32,
}

/// R3: integers in every notation, and no number that would become infinite.
#[tokio::test]
async fn r3_serde_types_accept_the_numbers_that_their_schemas_accept() {
    let registry = Registry::new();
    let send = |parcel: Parcel| async move {
        format!("{} {:?} {}", parcel.pieces, parcel.codes, parcel.weight)
    };
    registry.tool("send", "Send a parcel.", send).unwrap();
    for (args, expected) in [
        (r#"{"pieces":1.0,"codes":[2e1,30e-1],"weight":1}"#, r#""1 [20, 3] 1""#),
        (r#"{"pieces":1.5,"codes":[],"weight":1}"#, "`/pieces`"),
        (r#"{"pieces":1,"codes":[256.0],"weight":1}"#, "`/codes/0`"),
        (r#"{"pieces":1,"codes":[],"weight":-1e300}"#, "`/weight`"),
    ] {
        let text = call_text(&registry, "send", args).await;
        assert!(text.contains(expected), "{args}: {text}");
    }
}

/// R3: the arguments of a tool must be an object.
#[test]
fn r3_a_function_of_a_list_is_refused() {
    let registry = Registry::new();
    let count = |sums: Vec<Sum>| async move { sums.len() == 1 };
    let error = registry.tool("count", "", count).unwrap_err();
    assert!(matches!(&error, RegistrationError::UnusableTool { tool, .. } if tool == "count"));
    let message = error.to_string();
    let expected =
        "tool `count` cannot be registered: its arguments have the schema {\"type\":\"array\",";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.ends_with(", expected that of an object"), "{message}");
    let twice = || registry.tool("now", "", async || true);
    twice().unwrap();
    assert_eq!(
        twice().unwrap_err().to_string(),
        "tool `now` is registered already; give one of the two another name"
    );
}

#[test]
fn r3_a_function_may_take_arguments_that_can_be_an_object() {
    for (schema, is_usable) in [
        (r#"{"type":"object"}"#, true),
        (r#"{"type":["null","object"]}"#, true),
        (r#"{"minProperties":1}"#, true),
        (r#"{"type":["null","string"]}"#, false),
        (r#"{"type":"string"}"#, false),
    ] {
        let spec = ToolSpec::new("take").with_args_schema(schema);
        let take = FunctionTool::untyped(spec, async |call: ToolCall| Ok(call.args().clone()));
        assert_eq!(Registry::new().register_tool(take).is_ok(), is_usable, "{schema}");
    }
}

#[tokio::test]
async fn r3_an_untyped_function_is_checked_against_the_schemas_of_its_spec() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let spec = ToolSpec::new("same").with_args_schema(r#"{"type":"object"}"#);
    let spec = spec.with_result_schema(schema);
    let same = FunctionTool::untyped(spec, async |call: ToolCall| Ok(call.args().clone()));
    let registry = Registry::new();
    registry.register_tool(same).unwrap();
    assert_eq!(call_text(&registry, "same", r#"{"n":1}"#).await, r#"{"n":1}"#);
    let failure = answer(&registry, "same", r#"{"n":"one"}"#).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::MalformedResult);
}

/// R3: either all or none.
#[tokio::test]
async fn r3_tools_are_registered_together_by_the_name_of_their_toolset() {
    let tool = |name: &'static str| {
        FunctionTool::new(ToolSpec::new(name).with_toolset("shop"), async || true)
    };
    let registry = Registry::new();
    registry.tool("buy", "", async || false).unwrap();
    let error = registry.register_tools([tool("sell"), tool("buy"), tool("sell")]).unwrap_err();
    assert_eq!(error.each().len(), 2);
    assert!(registry.spec("sell").is_none());
    registry.register_tools([tool("sell"), tool("rent")]).unwrap();

    let script = Script::new()
        .call(["sell", "rent"].map(|name| ToolCall::new(name, Payload::new("{}"))))
        .finish(payload(0));
    let by_toolset = Agent::new("worker", "lab").with_toolsets(["shop"]);
    registry.register_agent(by_toolset, script.clone().into()).unwrap();
    let by_tool = Agent::new("by_tool", "lab").with_tools(["sell", "rent"]);
    registry.register_agent(by_tool, script.into()).unwrap();
    let runtime = Runtime::new(registry);
    for agent in ["worker", "by_tool"] {
        let outcome = runtime.run(RunRequest::new(agent, payload(0))).await.unwrap();
        assert!(outcome.calls().all(|done| done.result.outcome.is_ok()));
        assert_eq!(outcome.calls().count(), 2);
    }
}

#[tokio::test]
async fn h4_h5_a_single_tool_has_availability_and_instructions() {
    let open = Arc::new(AtomicBool::new(true));
    let is_open = Arc::clone(&open);
    let tool = FunctionTool::new(ToolSpec::new("buy"), async || true)
        .with_availability(move || is_open.load(Ordering::Relaxed))
        .with_instructions(|scope| Some(format!("Buy little in {}.", scope.run_id.as_deref()?)));
    let registry = Registry::new();
    registry.register_tool(tool.clone()).unwrap();
    let see = Script::new().then(|turn| {
        let seen: Vec<_> = turn.tools().map(|tool| tool.name().to_owned()).collect();
        let text = format!("{:?}", format!("{} {seen:?}", turn.instructions()));
        Ok(toolwright_runtime::Step::Finish(Payload::new(text)))
    });
    registry.register_agent(Agent::new("worker", "lab").with_tools(["buy"]), see.into()).unwrap();
    let runtime = Runtime::builder(registry.clone()).skipping_unavailable().build();
    let seen = async || {
        let request = RunRequest::new("worker", payload(0)).with_run_id("r");
        runtime.run(request).await.unwrap().decode::<String>().unwrap()
    };
    assert_eq!(seen().await, r#"Buy little in r. ["buy"]"#);
    assert_eq!(call_text(&registry, "buy", "{}").await, "true");
    open.store(false, Ordering::Relaxed);
    assert!(!tool.is_available("buy"));
    assert_eq!(seen().await, "Buy little in r. []");
    assert_eq!(call_text(&registry, "buy", "{}").await, "unavailable: `buy` cannot be used now");
}

#[tokio::test]
async fn the_first_call_of_an_unavailable_tool_beside_others_is_refused() {
    let registry = Registry::new();
    let closed = tool("closed", |_| panic!("it is called")).with_availability(|| false);
    registry.register_tools([closed, tool("open", |n| n)]).unwrap();
    let runtime = Runtime::new(registry);
    assert_eq!(brief(&runtime.call(call("closed", "a", 1)).await), "unavailable");
    assert_eq!(brief(&runtime.call(call("open", "b", 1)).await), r#"{"n":1}"#);
}
