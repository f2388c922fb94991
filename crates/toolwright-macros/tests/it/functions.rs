//! `#[tool]` on functions.

#![allow(
    clippy::unused_async,
    reason = "async functions are tools as others are, whatever they wait for"
)]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, described};
use toolwright_runtime::tools::{Json, Parameters};
use toolwright_runtime::{Registry, Runtime, schemars, serde, tool};

use crate::outcome_text;

/// Types of users who depend on neither serde nor schemars.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "toolwright_runtime::serde", rename_all = "lowercase")]
#[schemars(crate = "toolwright_runtime::schemars")]
enum Units {
    Metric,
    Imperial,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "toolwright_runtime::serde", deny_unknown_fields)]
#[schemars(crate = "toolwright_runtime::schemars")]
struct Place {
    /// Degrees north.
    #[schemars(range(min = -90, max = 90))]
    north: f64,
}

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }
}

/// Tell the weather.
///
/// Not for the sea.
#[tool(
    name = "tell-weather",
    title = "Weather",
    annotations(read_only_hint = true, open_world_hint = false),
    tags = ["read", "weather"],
    aliases = ["weather"],
    timeout = "2m",
    attempts = 3,
    sequential,
    hints(call = "Looking at {{ args.place }}"),
    approval(prompt = "May I?", metadata(risk_level = "high", cost = 2, who(team = "sky"), rare)),
    toolset = "sky",
    service = "air"
)]
async fn weather(
    /// Where.
    #[schemars(length(min = 1))]
    place: String,
    units: Option<Units>,
    #[serde(default, rename = "for")]
    #[allow(unused_variables)]
    days: u8,
) -> Result<String, std::fmt::Error> {
    match units {
        Some(Units::Imperial) => Ok(format!("{place}: hot")),
        Some(Units::Metric) => Ok(format!("{place}: warm")),
        None if place == "nowhere" => Err(std::fmt::Error),
        None => Ok(format!("{place}: cold")),
    }
}

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Multiply two numbers.
#[tool(name = "multiply")]
async fn arguments(Parameters(Numbers { a, b }): Parameters<Numbers>) -> i64 {
    a * b
}

#[tool(description = "Tell how far it is to the pole.")]
fn to_the_pole(
    call: &ToolCall,
    Parameters(place): Parameters<Place>,
) -> Json<BTreeMap<String, f64>> {
    Json(BTreeMap::from([(call.tool().to_owned(), 90.0 - place.north)]))
}

/// Say nothing.
#[tool(name = "nothing", deprecated(since = "2.0", replacement = "add"))]
async fn call(call: ToolCall) -> Result<(), ToolFailure> {
    if call.id().is_empty() {
        return Err(ToolFailure::new(FailureKind::Internal, "no id", Recovery::Replan));
    }
    Ok(())
}

/// Say what type it is.
#[tool]
fn r#type(r#type: String) -> String {
    r#type
}

/// Ring.
#[tool]
fn ring(call: ToolCall, #[serde(rename = "call")] number: String) -> String {
    format!("{} {number}", call.tool())
}

fn registry() -> Registry {
    let registry = Registry::new();
    for tool in [
        weather_tool(),
        add_tool(),
        arguments_tool(),
        to_the_pole_tool(),
        call_tool(),
        type_tool(),
        ring_tool(),
    ] {
        registry.register_tool(tool).unwrap();
    }
    registry
}

/// R3: the spec holds the content of the attribute, the doc comment and the signature.
#[test]
fn r3_a_spec_is_built_from_attribute_comment_and_signature() {
    let registry = registry();
    let spec = registry.spec("tell-weather").unwrap();
    assert_eq!(spec.name(), "tell-weather");
    assert_eq!(spec.description(), "Tell the weather.\n\nNot for the sea.");
    assert_eq!(spec.title(), Some("Weather"));
    assert_eq!(spec.tags().collect::<Vec<_>>(), ["read", "weather"]);
    assert_eq!((spec.toolset(), spec.service()), ("sky", "air"));
    assert_eq!(registry.spec("weather").unwrap().name(), "tell-weather");
    let annotations = spec.annotations();
    assert_eq!((annotations.read_only, annotations.open_world), (Some(true), Some(false)));
    assert_eq!((annotations.destructive, annotations.idempotent), (None, None));
    let limits = spec.limits();
    assert_eq!(limits.timeout.unwrap().as_secs(), 120);
    assert_eq!((limits.attempts, limits.sequential), (Some(3), true));
    assert_eq!(spec.hints().call.as_deref(), Some("Looking at {{ args.place }}"));
    let approval = spec.approval().unwrap();
    assert_eq!((approval.prompt.as_deref(), approval.denied.as_deref()), (Some("May I?"), None));
    let metadata: Value = serde_json::from_str(approval.metadata.as_deref().unwrap()).unwrap();
    let expected =
        json!({ "risk_level": "high", "cost": 2, "who": { "team": "sky" }, "rare": true });
    assert_eq!(metadata, expected);

    let schema: Value = serde_json::from_str(spec.args_schema()).unwrap();
    let expected = json!({
        "type": "object",
        "properties": {
            "place": { "type": "string", "description": "Where.", "minLength": 1 },
            "units": { "anyOf": [{ "$ref": "#/$defs/Units" }, { "type": "null" }] },
            "for": {
                "type": "integer",
                "format": "uint8",
                "minimum": 0,
                "maximum": 255,
                "default": 0,
            },
        },
        "required": ["place"],
        "additionalProperties": false,
        "$defs": {
            "Units": {
                "description": "Types of users who depend on neither serde nor schemars.",
                "type": "string",
                "enum": ["metric", "imperial"],
            },
        },
    });
    assert_eq!(schema, expected);
    assert_eq!(spec.result_schema(), r#"{"type":"string"}"#);

    let plain = registry.spec("add").unwrap();
    assert_eq!(plain.title(), None);
    assert!(plain.approval().is_none() && plain.deprecation().is_none());
    assert_eq!(plain.limits(), toolwright::spec::CallLimits::UNLIMITED);
    let nothing = registry.spec("nothing").unwrap();
    let deprecation = nothing.deprecation().unwrap();
    assert_eq!(deprecation.since.as_deref(), Some("2.0"));
    assert_eq!(deprecation.replacement.as_deref(), Some("add"));
}

/// R3: arguments are checked against the published schema before the function runs, as `check_args` does.
#[tokio::test]
async fn r3_a_function_runs_on_arguments_that_its_published_schema_accepts() {
    let registry = registry();
    let cases = [
        ("add", r#"{"a":2,"b":40}"#, "42"),
        ("add", r#"{"a":2}"#, "`/b`: is missing"),
        ("add", r#"{"a":2,"b":40,"c":1}"#, "`/c`"),
        ("add", r#"{"a":2,"b":"40"}"#, "`/b`: found the string \"40\""),
        ("add", "[2,40]", "invalid_call"),
        ("multiply", r#"{"a":2,"b":21}"#, "42"),
        ("multiply", r#"{"a":2,"b":21,"c":1}"#, "`/c`"),
        ("to_the_pole", r#"{"north":80}"#, r#"{"to_the_pole":10.0}"#),
        ("to_the_pole", r#"{"north":91}"#, "`/north`: found 91, expected at most 90"),
        ("nothing", "{}", "null"),
        ("nothing", r#"{"a":1}"#, "`/a`"),
        ("type", r#"{"type":"raw"}"#, r#""raw""#),
    ];
    for (tool, args, expected) in cases {
        let text = outcome_text(&registry, tool, args).await;
        assert!(text.contains(expected), "{tool} {args}: {text}");
        let is_refused = registry.spec(tool).unwrap().check_args(args.as_bytes()).is_err();
        assert_eq!(is_refused, text.starts_with("invalid_call"), "{tool} {args}: {text}");
    }
}

#[tokio::test]
async fn a_property_may_have_the_name_of_the_parameter_for_the_call() {
    let text = outcome_text(&registry(), "ring", r#"{"call":"112"}"#).await;
    assert_eq!(text, r#""ring 112""#);
}

/// R3: the text of a function's error is shown to operators only.
#[tokio::test]
async fn r3_an_error_of_a_function_is_shown_to_operators_only() {
    /// Fail.
    #[tool]
    fn fail(why: String) -> Result<bool, String> {
        Err(why)
    }

    let registry = Registry::new();
    registry.register_tool(fail_tool()).unwrap();
    let call = ToolCall::new("fail", Payload::new(r#"{"why":"secret"}"#));
    let failure = Runtime::new(registry).call(call).await.outcome.unwrap_err();
    assert_eq!((failure.kind, failure.detail.as_deref()), (FailureKind::Internal, Some("secret")));
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

/// R3: the function itself is not changed.
#[tokio::test]
async fn r3_a_function_with_the_attribute_can_still_be_called() {
    assert_eq!(add(2, 40), 42);
    assert_eq!(arguments(Parameters(Numbers { a: 6, b: 7 })).await, 42);
    let text = weather("here".to_owned(), Some(Units::Metric), 1).await.unwrap();
    assert_eq!(text, "here: warm");
}

/// Sleep on the thread.
#[tool(blocking, timeout = "100ms")]
fn doze(milliseconds: u64, call: &ToolCall) -> String {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    call.tool().to_owned()
}

/// H3: a blocking function runs on another thread, so that the time limit works with a single runtime thread.
#[tokio::test]
async fn h3_a_blocking_function_has_a_time_limit_on_one_thread() {
    let registry = Registry::new();
    registry.register_tool(doze_tool()).unwrap();
    assert_eq!(outcome_text(&registry, "doze", r#"{"milliseconds":0}"#).await, r#""doze""#);
    let failure = outcome_text(&registry, "doze", r#"{"milliseconds":400}"#).await;
    assert!(failure.contains("longer than its limit of 100ms"), "{failure}");
}
