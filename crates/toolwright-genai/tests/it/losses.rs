//! Tests of the rows of the table of losses in the crate's docs.

use serde_json::Value;
use toolwright::Payload;
use toolwright_dialect::{Dialect, PlacedTool, Policy, Projection, Request, Subject, project};
use toolwright_model::{
    CallAnswer, Choice, Content, Message, ModelCall, ModelError, Question, Stop,
};
use toolwright_model_stage::{ReceivedRequest, Reply};

use crate::provider::{
    ANTHROPIC, GEMINI, OPENAI, Outcome, PROVIDERS, Provider, RESPONSES, answer_of, ask,
    ask_for_yes, stage,
};

/// A schema that all strict dialects take as it is.
const PLAIN: &str = r#"{
    "type": "object",
    "required": ["a"],
    "additionalProperties": false,
    "properties": {"a": {"type": "integer"}}
}"#;

fn projected(provider: Provider, name: &str, args: &str) -> Projection {
    let subject = Subject { name, description: "Add.", args };
    project(&subject, Dialect::find(provider.dialect).unwrap(), &Policy::default())
}

fn request(tools: &[Projection]) -> Request<'_> {
    let tools = tools.iter().map(|projection| PlacedTool {
        name: &projection.wire_name,
        projection,
        is_strict: true,
        is_deferred: false,
    });
    Request { tools: tools.collect(), findings: Vec::new() }
}

/// Asks a question with tools, and returns what was sent.
async fn sent(
    provider: Provider,
    tools: &[Projection],
    output: Option<&Projection>,
    change: impl FnOnce(&mut Question<'_>),
) -> (Option<ReceivedRequest>, Outcome) {
    let stage = stage(Reply::text("Yes.")).await;
    let messages = [Message::User("Say yes.".to_owned())];
    let request = request(tools);
    let mut question = Question { output, ..Question::new(&messages, &request) };
    change(&mut question);
    let outcome = ask(&provider.at(stage.base()), &question).await;
    (stage.requests().pop(), outcome)
}

async fn body(provider: Provider, tools: &[Projection]) -> Value {
    sent(provider, tools, None, |_| {}).await.0.unwrap().body
}

#[tokio::test]
async fn of_equal_keys_the_last_wins_and_large_numbers_are_rounded() {
    let written = r#"{"a":1,"a":2,"b":12345678901234567890123}"#;
    for provider in PROVIDERS {
        let (_, answer) = answer_of(provider, Reply::call("add", written)).await;
        let answer = answer.unwrap();
        let args = answer.calls().next().unwrap().args.as_str();
        assert_eq!(args, r#"{"a":2,"b":1.2345678901234568e+22}"#, "{provider:?}");
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_stay_text() {
    for provider in [OPENAI, RESPONSES, ANTHROPIC] {
        let reply = Reply::call("add", r#"{"a":1,"#).and_call("add", r#"{"a":2}"#);
        let (_, answer) = answer_of(provider, reply).await;
        let answer = answer.unwrap();
        let args: Vec<&str> = answer.calls().map(|call| call.args.as_str()).collect();
        assert_eq!(args, [r#"{"a":1,"#, r#"{"a":2}"#], "{provider:?}");
    }
}

#[tokio::test]
async fn a_tool_is_strict_only_if_genai_leaves_its_schema_as_it_is() {
    // Properties of Anthropic may be absent; OpenAI's strict form of them is a type with null.
    let optional = PLAIN.replace(r#""required": ["a"],"#, "");
    for (provider, schema, expected) in [
        (OPENAI, PLAIN, Some(true)),
        (OPENAI, optional.as_str(), Some(true)),
        (RESPONSES, PLAIN, Some(true)),
        (ANTHROPIC, PLAIN, Some(true)),
        (ANTHROPIC, optional.as_str(), Some(true)),
    ] {
        let tool = projected(provider, "add", schema);
        let wire: Value = serde_json::from_str(tool.wire_schema.as_ref().unwrap()).unwrap();
        let body = body(provider, &[tool]).await;
        let sent = &body["tools"][0];
        let sent = if sent["function"].is_null() { sent } else { &sent["function"] };
        let schema = if sent["parameters"].is_null() { "input_schema" } else { "parameters" };
        assert_eq!(sent[schema], wire, "{provider:?}");
        assert_eq!(sent["strict"].as_bool(), expected, "{provider:?}");
    }
    // A projection to another dialect, which genai would narrow.
    for (provider, expected) in [(OPENAI, Some(false)), (RESPONSES, Some(false))] {
        let tool = projected(ANTHROPIC, "add", &optional);
        let wire: Value = serde_json::from_str(tool.wire_schema.as_ref().unwrap()).unwrap();
        let body = body(provider, &[tool]).await;
        let sent = &body["tools"][0];
        let sent = if sent["function"].is_null() { sent } else { &sent["function"] };
        assert_eq!(sent["parameters"], wire, "{provider:?}");
        assert_eq!(sent["strict"].as_bool(), expected, "{provider:?}");
    }
}

#[tokio::test]
async fn a_schema_of_the_answer_that_genai_would_change_is_refused() {
    let kept = projected(OPENAI, "answer", PLAIN);
    let (request, _) = sent(OPENAI, &[], Some(&kept), |_| {}).await;
    let format = &request.unwrap().body["response_format"]["json_schema"];
    assert_eq!((&format["name"], &format["strict"]), (&"answer".into(), &true.into()));
    let optional = PLAIN.replace(r#""required": ["a"],"#, "");
    let changed = projected(ANTHROPIC, "answer", &optional);
    let (request, (_, result)) = sent(OPENAI, &[], Some(&changed), |_| {}).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("genai would change the schema of the answer"), "{error}");
    assert!(request.is_none());
}

#[tokio::test]
async fn a_tool_that_genai_takes_for_one_of_the_provider_is_refused() {
    for (provider, name, is_refused) in [
        (ANTHROPIC, "web_search", true),
        (RESPONSES, "web_search", true),
        (OPENAI, "web_search", false),
        (GEMINI, "codeExecution", true),
        (GEMINI, "web_search", false),
    ] {
        let tool = projected(provider, name, PLAIN);
        let (request, (_, result)) = sent(provider, &[tool], None, |_| {}).await;
        assert_eq!(request.is_none(), is_refused, "{provider:?} {name}");
        assert_eq!(result.is_err(), is_refused, "{provider:?} {name}: {result:?}");
    }
}

#[tokio::test]
async fn the_words_of_a_refusal_are_lost() {
    let events = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I will not.\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                  data: [DONE]\n\n";
    let (_, answer) = answer_of(OPENAI, Reply::body(200, events)).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text().as_str(), answer.stop), ("", Stop::End));
}

#[tokio::test]
async fn a_filter_of_openai_responses_looks_like_the_limit_of_tokens() {
    let (_, answer) = answer_of(RESPONSES, Reply::text("Yes.").filtered()).await;
    assert_eq!(answer.unwrap().stop, Stop::Length);
}

#[tokio::test]
async fn a_failed_result_is_sent_as_any_other() {
    let call = ModelCall {
        id: "call_1".to_owned(),
        name: "add".to_owned(),
        args: Payload::new("no JSON"),
    };
    let result =
        CallAnswer { id: "call_1".to_owned(), text: "it failed".to_owned(), is_error: true };
    let messages = [
        Message::User("Add.".to_owned()),
        Message::Assistant(vec![Content::Call(call)]),
        Message::Results(vec![result]),
    ];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    for provider in PROVIDERS {
        let stage = stage(Reply::text("Yes.")).await;
        let question = Question::new(&messages, &tools);
        let (_, answer) = ask(&provider.at(stage.base()), &question).await;
        assert_eq!(answer.unwrap().text(), "Yes.", "{provider:?}");
        let sent = &stage.requests()[0].text;
        assert!(sent.contains("it failed") && !sent.contains("is_error"), "{sent}");
        assert!(sent.contains("_raw"), "{sent}");
    }
    let (other, lost) = (messages[2].clone(), Question::new(&[], &tools));
    let messages = [messages[0].clone(), other];
    let question = Question { messages: &messages, ..lost };
    let (_, result) = ask(&OPENAI.at("http://127.0.0.1:1"), &question).await;
    assert!(matches!(result, Err(ModelError::Unsendable(_))), "{result:?}");
}

#[tokio::test]
async fn the_choice_of_tools_is_sent_without_parallel_and_without_marks_for_caching() {
    let tools = ["add", "sub", "mul"].map(|name| projected(OPENAI, name, PLAIN));
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    for (choice, expected, offered) in [
        (Choice::Auto, Value::Null, 3),
        (Choice::None, "none".into(), 3),
        (Choice::Required, "required".into(), 3),
        (
            Choice::Only(names(&["sub"])),
            serde_json::json!({"type": "function", "function": {"name": "sub"}}),
            3,
        ),
        (Choice::Only(names(&["add", "sub"])), "required".into(), 2),
    ] {
        let (request, _) = sent(OPENAI, &tools, None, |question| {
            question.choice = choice.clone();
            question.parallel = Some(false);
        })
        .await;
        let request = request.unwrap();
        assert_eq!(request.body["tool_choice"], expected, "{choice:?}");
        assert_eq!(request.body["tools"].as_array().unwrap().len(), offered, "{choice:?}");
        assert!(!request.text.contains("parallel"), "{}", request.text);
        assert!(!request.text.contains("cache"), "{}", request.text);
    }
    let (_, (_, result)) =
        sent(OPENAI, &tools, None, |question| question.choice = Choice::Only(names(&["div"])))
            .await;
    assert!(matches!(result, Err(ModelError::Unsendable(_))), "{result:?}");
}

#[tokio::test]
async fn settings_are_sent_with_large_numbers_rounded() {
    let (request, _) = sent(OPENAI, &[], None, |question| {
        question.settings.max_output_tokens = Some(50);
        question.settings.temperature = Some(0.5);
        question.settings.effort = Some(toolwright_model::Effort::Low);
        let seed = Payload::new("12345678901234567890123");
        question.settings.extra.insert("seed".to_owned(), seed);
    })
    .await;
    let request = request.unwrap();
    for text in [
        r#""max_completion_tokens":50"#,
        r#""temperature":0.5"#,
        r#""reasoning_effort":"low""#,
        r#""seed":1.2345678901234568e+22"#,
    ] {
        assert!(request.text.contains(text), "{text} is not in {}", request.text);
    }
}

#[tokio::test]
async fn the_model_that_answered_is_not_named() {
    for provider in PROVIDERS {
        let (_, answer) = answer_of(provider, Reply::text("Yes.")).await;
        assert_eq!(answer.unwrap().model, "", "{provider:?}");
    }
}

#[tokio::test]
async fn nothing_is_tried_again() {
    let stage = stage(Reply::status(503)).await;
    let (_, result) = ask_for_yes(&OPENAI.at(stage.base()), None).await;
    assert!(matches!(result, Err(ModelError::Status { code: 503, .. })), "{result:?}");
    assert_eq!(stage.requests().len(), 1);
}

#[tokio::test]
async fn an_end_without_the_last_event_breaks_the_answer_off() {
    let events =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let (deltas, result) = answer_of(OPENAI, Reply::body(200, events)).await;
    assert!(matches!(result, Err(ModelError::Interrupted(_))), "{result:?}");
    assert_eq!(deltas.len(), 1);
}

#[tokio::test]
async fn a_failed_response_of_openai_is_malformed() {
    let event = r#"{"type":"response.failed","response":{"id":"r","status":"failed","model":"m","error":{"code":"server_error","message":"it broke"}}}"#;
    let (_, result) = answer_of(RESPONSES, Reply::body(200, format!("data: {event}\n\n"))).await;
    let error = result.unwrap_err();
    assert!(matches!(&error, ModelError::Malformed(text) if text.contains("it broke")), "{error}");
}
