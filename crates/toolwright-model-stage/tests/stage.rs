//! The stage with the real client and with requests as text.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolwright_dialect::{Dialect, Request};
use toolwright_model::{
    Answer, Client, Content, Message, Model, ModelError, ModelFacts, Preset, Question, Stop, Wire,
};
use toolwright_model_stage::{Pieces, Reply, Script, Stage};

const PRESETS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

async fn ask(name: &str, stage: &Stage) -> Result<Answer, ModelError> {
    let client = Client::builder(Preset::find(name).unwrap(), "a-model").with_base(stage.base());
    let client = client.with_attempts(1).with_idle_timeout(Duration::from_millis(300));
    let messages = [Message::User("Go.".to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    client.build().unwrap().ask(&Question::new(&messages, &tools), &|_| {}).await
}

fn whole() -> Reply {
    Reply::text("Let me see. ☃")
        .with_reasoning("I look.")
        .and_call("add", r#"{"a":1,"b":12345678901234567890123}"#)
        .and_call("now", "{}")
        .with_id("own_id")
}

#[tokio::test]
async fn clients_read_the_reply_in_whatever_pieces_it_comes() {
    for name in PRESETS {
        let mut answers = Vec::new();
        for pieces in [Pieces::Whole, Pieces::Bytes(1), Pieces::Bytes(7)] {
            let stage = Stage::start(Script::new().reply(whole()).in_pieces(pieces)).await.unwrap();
            answers.push(ask(name, &stage).await.unwrap());
        }
        assert_eq!(answers[0], answers[1], "{name}");
        assert_eq!(answers[0], answers[2], "{name}");
        check(name, &answers[0]);
    }
}

fn check(name: &str, answer: &Answer) {
    assert_eq!(answer.text(), "Let me see. ☃", "{name}");
    assert_eq!(answer.stop, Stop::Calls, "{name}");
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output), (100, 10), "{name}");
    let calls: Vec<_> = answer.calls().map(|call| (&*call.name, call.args.as_str())).collect();
    let add = ("add", r#"{"a":1,"b":12345678901234567890123}"#);
    assert_eq!(calls, [add, ("now", "{}")], "{name}");
    assert_eq!(answer.calls().last().unwrap().id, "own_id", "{name}");
    let opaque = answer.content.iter().any(|part| matches!(part, Content::Opaque(_)));
    assert!(opaque, "{name}: {answer:?}");
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_says_the_same() {
    for name in PRESETS {
        let preset = Preset::find(name).unwrap();
        let stage = Stage::start(Script::new().reply(whole_with_small_numbers())).await.unwrap();
        let facts = ModelFacts {
            provider: name.to_owned(),
            model: "a-model".to_owned(),
            dialect: Dialect::find(preset.dialect).unwrap(),
        };
        let messages = [Message::User("Go.".to_owned())];
        let tools = Request { tools: Vec::new(), findings: Vec::new() };
        let question = Question::new(&messages, &tools);
        let wire: Wire = preset.wire;
        let request = wire.request(&facts, &question, false).unwrap();
        let body = post(&stage, &request.path, &request.body).await;
        let answer = wire.answer(&facts, &question, body.as_bytes()).unwrap();
        assert_eq!(answer.text(), "Let me see. ☃", "{name}");
        let calls: Vec<_> = answer.calls().map(|call| (&*call.name, call.args.as_str())).collect();
        assert_eq!(calls, [("add", r#"{"a":1}"#)], "{name}");
    }
}

fn whole_with_small_numbers() -> Reply {
    Reply::text("Let me see. ☃").with_reasoning("I look.").and_call("add", r#"{"a":1}"#)
}

/// Sends a request and returns the body of its response.
async fn post(stage: &Stage, path: &str, body: &str) -> String {
    let address = stage.base().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn faults_are_those_of_the_script() {
    let faults = [
        (Reply::text("Yes.").cut_after(30), "broke off"),
        (Reply::text("Yes.").silent_after(30), "took too long: found nothing to read for 300ms"),
        (Reply::status(529), "answered with status 529: the script says so"),
        (Reply::body(200, "<html>"), "malformed"),
        (Reply::text("Yes.").after(Duration::from_secs(9)), "found nothing to read for 300ms"),
    ];
    for name in PRESETS {
        for (reply, message) in &faults {
            let stage = Stage::start(Script::new().reply(reply.clone())).await.unwrap();
            let error = ask(name, &stage).await.unwrap_err().to_string();
            assert!(error.contains(message), "{name}: {error}, expected {message}");
        }
        let stage = Stage::start(Script::new()).await.unwrap();
        let error = ask(name, &stage).await.unwrap_err().to_string();
        assert!(error.contains("500: the script has no reply left"), "{name}: {error}");
        let length = Reply::text("Y").cut_off_at_its_limit();
        let stage = Stage::start(Script::new().reply(length)).await.unwrap();
        assert_eq!(ask(name, &stage).await.unwrap().stop, Stop::Length, "{name}");
    }
}

#[tokio::test]
async fn usage_that_is_not_reported_is_none() {
    for name in PRESETS {
        let reply = Reply::text("Yes.").with_usage(None);
        let stage = Stage::start(Script::new().reply(reply)).await.unwrap();
        assert_eq!(ask(name, &stage).await.unwrap().usage, None, "{name}");
    }
}

/// A request of Anthropic's API with these tools and messages.
fn request(tools: &Value, messages: &Value) -> String {
    json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages}).to_string()
}

#[tokio::test]
async fn a_twin_refuses_what_breaks_a_rule_and_uses_up_no_reply() {
    let user = json!({"role": "user", "content": [{"type": "text", "text": "Go."}]});
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "add", "input": {}}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": ""}]});
    let tool = |name: &str, schema: Value| json!({"name": name, "description": "Add.", "input_schema": schema, "strict": true});
    let open = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let none = json!([]);
    let cases = [
        (json!([tool("a.b", closed.clone())]), json!([user]), "the name `a.b` is not accepted"),
        (json!([tool("add", open)]), json!([user]), "an object is open"),
        (
            json!([tool("add", closed.clone()), tool("add", closed.clone())]),
            json!([user]),
            "the name is taken",
        ),
        (none.clone(), json!([user, call("1"), user]), "have no results"),
        (none.clone(), json!([user, call("1")]), "have no results"),
        (none.clone(), json!([user, result("1")]), "has no call before it"),
        (none.clone(), json!([call("1"), result("1")]), "does not begin with the user"),
        (
            none,
            json!([user, call("1"), result("1"), call("1"), result("1")]),
            "the id `1` is taken",
        ),
    ];
    let script = Script::new().reply(Reply::text("Yes.")).as_twin_of("anthropic-strict").unwrap();
    let stage = Stage::start(script).await.unwrap();
    for (number, (tools, messages, fault)) in cases.iter().enumerate() {
        let body = post(&stage, "/v1/messages", &request(tools, messages)).await;
        assert!(body.contains("invalid_request_error"), "{fault}: {body}");
        let refusals = stage.refusals();
        let own = format!("request {number}: ");
        let found = refusals.iter().any(|text| text.starts_with(&own) && text.contains(fault));
        assert!(found, "{fault}: {refusals:?}");
    }
    let good = request(&json!([tool("add", closed)]), &json!([user, call("1"), result("1")]));
    assert!(post(&stage, "/v1/messages", &good).await.contains("Yes."));
}

#[tokio::test]
async fn a_twin_follows_each_reference_once() {
    let next = |n: usize| {
        let next = json!({"$ref": format!("#/$defs/d{n}")});
        json!({"type": "object", "properties": {"a": next, "b": next}, "required": ["a", "b"], "additionalProperties": false})
    };
    let mut defs: serde_json::Map<_, _> = (0..30).map(|n| (format!("d{n}"), next(n + 1))).collect();
    defs.insert("d30".to_owned(), json!({"type": "integer"}));
    let mut schema = next(0);
    schema["$defs"] = defs.into();
    let tools =
        json!([{"name": "add", "description": "Add.", "input_schema": schema, "strict": true}]);
    let user = json!({"role": "user", "content": [{"type": "text", "text": "Go."}]});
    let script = Script::new().reply(Reply::text("Yes.")).as_twin_of("anthropic-strict").unwrap();
    let stage = Stage::start(script).await.unwrap();
    let body = post(&stage, "/v1/messages", &request(&tools, &json!([user]))).await;
    assert!(body.contains("Yes."), "{body}");
}

#[tokio::test]
async fn a_twin_wants_reasoning_back() {
    let script = Script::new()
        .reply(Reply::call("add", "{}").with_reasoning("I add."))
        .reply(Reply::text("Yes."))
        .as_twin_of("anthropic")
        .unwrap();
    let stage = Stage::start(script).await.unwrap();
    let user = json!({"role": "user", "content": [{"type": "text", "text": "Go."}]});
    post(&stage, "/v1/messages", &request(&json!([]), &json!([user]))).await;
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "add", "input": {}}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": ""}]});
    post(&stage, "/v1/messages", &request(&json!([]), &json!([user, call, result]))).await;
    let refusals = stage.refusals();
    assert!(refusals[0].contains("did not come back"), "{refusals:?}");
}

#[tokio::test]
async fn a_twin_refuses_requests_of_another_api_than_that_of_its_dialect() {
    for name in PRESETS {
        let script = || Script::new().reply(Reply::text("Yes."));
        let dialect = Preset::find(name).unwrap().dialect;
        let stage = Stage::start(script().as_twin_of(dialect).unwrap()).await.unwrap();
        ask(name, &stage).await.unwrap();
        let other = if name == "anthropic" { "gemini" } else { "anthropic" };
        let stage = Stage::start(script().as_twin_of(other).unwrap()).await.unwrap();
        ask(name, &stage).await.unwrap_err();
        assert!(stage.refusals()[0].contains("no tools in the dialect"), "{:?}", stage.refusals());
    }
}
