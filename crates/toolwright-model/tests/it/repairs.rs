//! A planner that goes on after mistakes of the model and losses of the connection.

use std::sync::Arc;

use toolwright::Payload;
use toolwright_model::{Client, ModelPlanner, Preset};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{Agent, ApprovalRequest, Planner, Runtime, Verdict};

use crate::planner::{
    KEY, PRESETS, agent, builder, last_request, planner, registry, request, run, stage,
};
use crate::server::{self, Server};

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let script = Script::new()
        .reply(Reply::text("Hello.").and_call("math.add", r#"{"a":1,"b":2}"#).cut_after(600))
        .reply(Reply::text("3"));
    let stage = stage("anthropic", script).await;
    let outcome = run(agent(false), planner("anthropic", &stage)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
}

/// `DeepSeek` ends so an answer that it cannot go on with.
#[tokio::test]
async fn an_answer_that_ends_for_an_unknown_reason_is_asked_for_again_and_its_calls_are_not_made() {
    let call = r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"math_add","arguments":"{\"a\":1,\"b\":2}"}}]}"#;
    let answer = |delta: &str, reason: &str| {
        let choice = format!(r#"{{"delta":{delta},"finish_reason":"{reason}"}}"#);
        server::Reply::stream(format!("data: {{\"choices\":[{choice}]}}\n\ndata: [DONE]\n\n"))
    };
    let server = Server::start(vec![
        answer(call, "insufficient_system_resource"),
        answer(r#"{"content":"Half of"}"#, "model_length"),
        answer(r#"{"content":"3"}"#, "stop"),
    ])
    .await;
    let client = Client::builder(Preset::find("deepseek").unwrap(), "a-model");
    let client = client.with_base(&server.base).with_key(KEY).build().unwrap();
    let outcome = run(agent(false), ModelPlanner::new(client)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    let asked = server.requests().pop().unwrap();
    assert!(
        asked.contains(
            "The answer broke off (insufficient_system_resource); its calls were not made."
        )
    );
    assert!(asked.contains("Half of") && asked.contains("it was too long"), "{asked}");
    assert!(!asked.contains("tool_call_id"), "{asked}");
}

#[tokio::test]
async fn an_answer_that_pauses_goes_on_and_is_no_mistake() {
    let event = |json: &str| format!("data: {json}\n\n");
    let answer = |text: &str, reason: &str| {
        let block = format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"text","text":"{text}"}}}}"#
        );
        let end = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        let events = [block.as_str(), &end, r#"{"type":"message_stop"}"#].map(event);
        server::Reply::stream(events.concat())
    };
    let server = Server::start(vec![
        answer("I look.", "pause_turn"),
        answer("I look again.", "pause_turn"),
        answer("3", "end_turn"),
    ])
    .await;
    let client = Client::builder(Preset::find("anthropic").unwrap(), "a-model");
    let client = client.with_base(&server.base).with_key(KEY).build().unwrap();
    let planner = ModelPlanner::new(client).with_max_corrections(0);
    let outcome = run(agent(false), planner).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    let asked = server.requests().pop().unwrap();
    let last = asked.split(r#""role":"#).last().unwrap();
    assert!(last.contains("assistant") && last.contains("I look again."), "{asked}");
}

#[tokio::test]
async fn a_tool_with_a_short_key_in_its_name_is_called() {
    let script =
        Script::new().reply(Reply::call("math.add", r#"{"a":1,"b":2}"#)).reply(Reply::text("3"));
    let stage = stage("openai", script).await;
    let client = builder("openai", &stage).with_key("math").build().unwrap();
    let outcome = run(agent(false), ModelPlanner::new(client)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    assert!(last_request(&stage).contains(r#"{\"sum\":3}"#), "{}", last_request(&stage));
}

#[tokio::test]
async fn siblings_with_one_mistake_count_as_one() {
    let wrong = r#"{"a":"1","b":2}"#;
    let script = Script::new()
        .reply(
            Reply::call("math.add", wrong).and_call("math.add", wrong).and_call("math.add", wrong),
        )
        .reply(Reply::text("3"));
    let stage = stage("openai", script).await;
    let outcome = run(agent(false), planner("openai", &stage)).await;
    assert!(outcome.result().is_ok(), "{outcome:?}");
    let asked = last_request(&stage);
    assert!(!asked.contains("Do not call") && !asked.contains("the call before"), "{asked}");
}

#[tokio::test]
async fn half_a_character_in_arguments_does_not_break_the_next_question() {
    for name in PRESETS {
        let script = Script::new()
            .reply(Reply::call("math.add", r#"{"a":"\ud800","b":2}"#))
            .reply(Reply::text("3"));
        let stage = stage(name, script).await;
        let outcome = run(agent(false), planner(name, &stage)).await;
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        // Gemini's stage puts the arguments into the JSON of its answer.
        assert!(outcome.result().is_ok() || name == "gemini", "{name}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_model_is_told_of_arguments_that_an_approver_changed() {
    let script =
        Script::new().reply(Reply::call("math.add", r#"{"a":1,"b":2}"#)).reply(Reply::text("30"));
    let stage = stage("openai", script).await;
    let registry = registry();
    registry.register_agent(agent(false), planner("openai", &stage).into()).unwrap();
    let change = |_: &ApprovalRequest| Verdict::ApproveWith(Payload::new(r#"{"a":10,"b":20}"#));
    let runtime = Runtime::builder(registry).with_approver(Arc::new(change)).build();
    let outcome = runtime.run(request().with_approval_of(["math.add"])).await.unwrap();
    assert!(outcome.result().is_ok(), "{outcome:?}");
    let asked = last_request(&stage);
    assert!(
        asked.contains(r#"The call was run with other arguments: {\"a\":10,\"b\":20}"#),
        "{asked}"
    );
}

#[tokio::test]
async fn a_schema_that_the_dialect_cannot_say_is_reported_before_the_model_is_asked() {
    let schema =
        r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##;
    let stage = Stage::start(Script::new()).await.unwrap();
    let client = builder("gemini", &stage).with_dialect("gemini-schema").build().unwrap();
    let planner = Arc::new(ModelPlanner::new(client));
    for tools in [&[][..], &["math.add"]] {
        let agent = Agent::new("counter", "lab").with_tools(tools.iter().copied());
        let registry = registry();
        let planner: Arc<dyn Planner> = planner.clone();
        registry.register_agent(agent.with_result_schema(schema).unwrap(), planner).unwrap();
        let outcome = Runtime::new(registry).run(request()).await.unwrap();
        let detail = outcome.result().unwrap_err().detail.unwrap();
        assert!(detail.starts_with("`final_answer` is left out: "), "{detail}");
    }
    assert!(stage.requests().is_empty());
}

#[tokio::test]
async fn an_id_that_is_too_long_for_the_provider_is_shortened_on_its_wire() {
    for name in PRESETS {
        let long = "a".repeat(90);
        let script = Script::new()
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#).with_id(&long))
            .reply(Reply::text("3"));
        let stage = stage(name, script).await;
        let outcome = run(agent(false), planner(name, &stage)).await;
        assert!(outcome.result().is_ok(), "{name}: {outcome:?}");
        assert_eq!(outcome.calls().next().unwrap().call.id(), long, "{name}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn the_name_of_a_tool_that_does_not_exist_is_a_short_visible_line() {
    for name in PRESETS {
        let invented = format!("a\n::error::\u{1b}[2J\u{202e}{}", "x".repeat(20_000));
        let script = Script::new().reply(Reply::call(&invented, "{}")).reply(Reply::text("3"));
        let stage = stage(name, script).await;
        let outcome = run(agent(false), planner(name, &stage)).await;
        assert!(outcome.result().is_ok(), "{name}: {outcome:?}");
        let record = outcome.calls().next().unwrap();
        let failure = record.result.outcome.as_ref().unwrap_err();
        for text in [record.call.tool(), &failure.message] {
            assert!(text.len() < 500 && !text.contains(['\n', '\u{1b}', '\u{202e}']), "{text}");
        }
        assert!(last_request(&stage).len() < 10_000, "{name}");
    }
}
