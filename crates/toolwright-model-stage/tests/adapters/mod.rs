//! The cases that every adapter for another client passes, with the stage as the provider. The tests of adapters include this file.

use serde_json::Value;
use toolwright::{FailureKind, Payload, Recovery, ToolFailure, ToolSpec};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{FunctionTool, Registry};

/// The arguments of `math.add`. An absent note is null in the strict dialects of OpenAI.
const NUMBERS: &str = r#"{
    "type": "object",
    "required": ["a", "b"],
    "additionalProperties": false,
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "note": {"type": "string"}}
}"#;

/// A conversation about sums.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What the model answers, before the text `done`.
    reply: Option<Reply>,
    /// What the model reads in its last question, as JSON in a string.
    reads: &'static [&'static str],
}

/// A detail that no model may read.
const SECRET: &str = "a secret of the operator";

/// All cases, for the tools of a dialect.
pub(crate) fn cases(dialect: &str) -> Vec<Case> {
    let is_null = ["openai-chat-strict", "openai-responses-strict"].contains(&dialect);
    let absent = if is_null { r#"{"a":1,"b":2,"note":null}"# } else { r#"{"a":1,"b":2}"# };
    let add = |args: &str| Reply::call("math.add", args);
    let case = |name, reply, reads| Case { name, reply, reads };
    vec![
        case("a text", None, &[]),
        case("a call", Some(add(r#"{"a":1,"b":2,"note":"x"}"#)), &[r#"{\"sum\":3}"#]),
        case("an absent argument", Some(add(absent)), &[r#"{\"sum\":3}"#]),
        case(
            "two calls",
            Some(add(r#"{"a":1,"b":2}"#).and_call("math.add", r#"{"a":3,"b":4}"#)),
            &[r#"{\"sum\":3}"#, r#"{\"sum\":7}"#],
        ),
        case(
            "malformed arguments beside a call",
            Some(add(r#"{"a":1,"#).and_call("math.add", r#"{"a":3,"b":4}"#)),
            &["are not ", r#"{\"sum\":7}"#],
        ),
        case("invalid arguments", Some(add(r#"{"a":"1","b":2}"#)), &["are not valid", "`/a`"]),
        case("an unknown tool", Some(Reply::call("math.sub", "{}")), &["there is no tool"]),
        case("a declared error", Some(add(r#"{"a":999,"b":1}"#)), &["sums end at 999"]),
    ]
}

impl Case {
    /// Plays the case as the twin of a dialect.
    pub(crate) async fn stage(&self, dialect: &str) -> Stage {
        let script = self.reply.iter().cloned().fold(Script::new(), Script::reply);
        let script = script.reply(Reply::text("done"));
        Stage::start(script.as_twin_of(dialect).unwrap()).await.unwrap()
    }

    /// Checks what the model was asked, and the text at the end.
    pub(crate) fn check(&self, stage: &Stage, end: &str) {
        let name = self.name;
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        assert_eq!(end, "done", "{name}");
        let requests = stage.requests();
        assert_eq!(requests.len(), if self.reply.is_some() { 2 } else { 1 }, "{name}");
        let asked = &requests.last().unwrap().text;
        for text in self.reads {
            assert!(asked.contains(text), "{name}: `{text}` is not in {asked}");
        }
        assert!(!asked.contains(SECRET), "{name}: {asked}");
    }
}

/// A registry with `math.add`, which fails for large sums.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    let mut spec = ToolSpec::new("math.add");
    spec.set_description("Add two numbers.");
    spec.set_args_schema(NUMBERS);
    let add = FunctionTool::untyped(spec, async |call| {
        let args: Value = serde_json::from_str(call.args().as_str()).unwrap();
        match args["a"].as_i64().unwrap() + args["b"].as_i64().unwrap() {
            sum @ ..1000 => Ok(Payload::new(format!(r#"{{"sum":{sum}}}"#))),
            _ => Err(ToolFailure::new(
                FailureKind::DomainRejection,
                "sums end at 999",
                Recovery::Replan,
            )
            .with_detail(SECRET)),
        }
    });
    registry.register_tool(add).unwrap();
    registry
}
