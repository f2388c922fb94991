//! Questions, answers and errors through genai.

use std::time::Duration;

use genai::chat::ChatOptions;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use toolwright::Payload;
use toolwright_dialect::Request;
use toolwright_genai::GenaiModel;
use toolwright_model::{
    Content, Delta, Message, Model as _, ModelError, ModelPlanner, Opaque, Question, Stop, Usage,
};
use toolwright_model_stage::{Pieces, Reply, Script, Stage};
use toolwright_runtime::{Agent, RunRequest, Runtime};

use crate::adapters::{cases, registry};
use crate::provider::{
    ANTHROPIC, GEMINI, KEY, OPENAI, PROVIDERS, Provider, RESPONSES, answer_of, ask, ask_for_yes,
    stage,
};

async fn run(provider: Provider, stage: &Stage) -> String {
    let registry = registry();
    let agent = Agent::new("counter", "lab").with_tools(["math.add"]).with_instructions("Add.");
    let planner = ModelPlanner::new(provider.at(stage.base()));
    registry.register_agent(agent, planner.into()).unwrap();
    let request = RunRequest::new("counter", Payload::new(r#""Add 1 and 2.""#));
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    outcome.decode::<String>().unwrap_or_else(|error| error.to_string())
}

#[tokio::test]
async fn an_agent_passes_the_cases_of_all_adapters() {
    for provider in PROVIDERS {
        for case in cases(provider.dialect) {
            // The stage writes arguments into Gemini's JSON, where they cannot be malformed.
            if provider.kind == GEMINI.kind && case.name.starts_with("malformed") {
                continue;
            }
            let stage = case.stage(provider.dialect).await;
            let end = run(provider, &stage).await;
            case.check(&stage, &end);
        }
    }
}

#[tokio::test]
async fn reasoning_goes_back_with_the_calls_that_it_led_to() {
    for provider in PROVIDERS {
        let add = |args: &str| Reply::call("math.add", args).with_reasoning("I add.");
        let script = Script::new()
            .reply(add(r#"{"a":1,"b":2}"#).and_call("math.add", r#"{"a":3,"b":4}"#))
            .reply(add(r#"{"a":3,"b":7}"#))
            .reply(Reply::text("10"));
        let stage = Stage::start(script.as_twin_of(provider.dialect).unwrap()).await.unwrap();
        assert_eq!(run(provider, &stage).await, "10", "{provider:?}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{provider:?}");
        assert_eq!(stage.requests().len(), 3, "{provider:?}");
    }
}

#[tokio::test]
async fn pieces_of_an_answer_are_shown_as_they_come() {
    for provider in PROVIDERS {
        let reply = Reply::call("add", r#"{"a":1}"#).with_reasoning("I add. ö");
        let script = Script::new().reply(reply.and_call("add", r#"{"a":2}"#));
        let stage = Stage::start(script.in_pieces(Pieces::Bytes(1))).await.unwrap();
        let messages = [Message::User("Add.".to_owned())];
        let tools = Request { tools: Vec::new(), findings: Vec::new() };
        let question = Question::new(&messages, &tools);
        let (deltas, answer) = ask(&provider.at(stage.base()), &question).await;
        let answer = answer.unwrap();
        let (mut reasoning, mut calls) = (String::new(), Vec::new());
        for delta in deltas {
            match delta {
                Delta::Reasoning(text) => reasoning += &text,
                Delta::Call { call, name } => {
                    assert_eq!(call, calls.len(), "{provider:?}");
                    calls.push((name, String::new()));
                }
                Delta::Args { call, text } => calls[call].1 += &text,
                other => panic!("{provider:?}: {other:?}"),
            }
        }
        assert_eq!(reasoning, "I add. ö", "{provider:?}");
        let read = answer.calls().map(|call| (call.name.clone(), call.args.as_str().to_owned()));
        assert_eq!(read.collect::<Vec<_>>(), calls, "{provider:?}");
        assert_eq!(calls.len(), 2, "{provider:?}");
        assert_eq!(answer.stop, Stop::Calls, "{provider:?}");
    }
}

#[tokio::test]
async fn an_answer_has_its_text_its_stop_and_its_tokens() {
    let of = |input, output| Some(Usage { input, output, ..Usage::default() });
    for provider in PROVIDERS {
        for (reply, stop, usage) in [
            (Reply::text("Yes.").with_usage(Some([7, 3])), Stop::End, of(7, 3)),
            (Reply::text("Yes.").cut_off_at_its_limit(), Stop::Length, of(100, 10)),
        ] {
            let (deltas, answer) = answer_of(provider, reply).await;
            let answer = answer.unwrap();
            assert_eq!(answer.content, [Content::Text("Yes.".to_owned())], "{provider:?}");
            assert_eq!((answer.stop, answer.usage), (stop, usage), "{provider:?}");
            let shown = deltas.into_iter().map(|delta| match delta {
                Delta::Text(text) => text,
                other => panic!("{provider:?}: {other:?}"),
            });
            assert_eq!(shown.collect::<String>(), "Yes.", "{provider:?}");
        }
    }
    let (_, answer) = answer_of(OPENAI, Reply::text("Yes.").filtered()).await;
    assert_eq!(answer.unwrap().stop, Stop::Filtered);
    let (_, answer) = answer_of(OPENAI, Reply::text("Yes.").with_usage(None)).await;
    assert_eq!(answer.unwrap().usage, None);
}

#[tokio::test]
async fn tokens_of_caches_are_counted_apart() {
    let events = r#"data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":4}}}

data: [DONE]

"#;
    let (_, answer) = answer_of(OPENAI, Reply::body(200, events)).await;
    let expected = Usage { input: 10, cache_read: 60, cache_write: 30, output: 10, reasoning: 4 };
    assert_eq!(answer.unwrap().usage, Some(expected));
}

#[tokio::test]
async fn a_refusal_of_anthropic_is_one() {
    let events = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

"#;
    let (_, answer) = answer_of(ANTHROPIC, Reply::body(200, events)).await;
    assert_eq!(answer.unwrap().stop, Stop::Refused("refusal".to_owned()));
}

#[tokio::test]
async fn opaque_parts_of_others_stay_out() {
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    for (provider, is_read) in [("a-provider", false), ("a-provider through genai", true)] {
        let (provider, kind, json) = (provider.to_owned(), "part".to_owned(), "{}".to_owned());
        let messages = [
            Message::User("Say yes.".to_owned()),
            Message::Assistant(vec![Content::Opaque(Opaque { provider, kind, json })]),
            Message::User("Again.".to_owned()),
        ];
        let stage = stage(Reply::text("Yes.")).await;
        let question = Question::new(&messages, &tools);
        let (_, result) = ask(&OPENAI.at(stage.base()), &question).await;
        let is_refused = matches!(result, Err(ModelError::Unsendable(_)));
        assert_eq!(is_refused, is_read, "{result:?}");
    }
}

#[tokio::test]
async fn errors_have_their_kinds() {
    let event = r#"{"error":{"message":"too many","type":"overloaded_error"}}"#;
    let too_long = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let refused = r#"{"error":{"message":"x","type":"overloaded_error"}}"#;
    for (reply, expected) in [
        (Reply::status(401), "status 401: the script says so"),
        (Reply::status(529), "status 529: the script says so"),
        (Reply::body(400, too_long), "the conversation is too long: too long"),
        (Reply::body(502, "<html>\n"), "status 502: <html>"),
        (Reply::body(200, format!("data: {event}\n\n")), "status 529: too many"),
        (Reply::body(200, format!("data: {refused}\n\n")), "status 529: x"),
        (Reply::body(200, "data: {\n\n"), "the answer is malformed: "),
        (Reply::body(200, ""), "the answer broke off: "),
        (Reply::text("Yes.").cut_after(120), "the answer broke off: "),
    ] {
        let (_, result) = answer_of(OPENAI, reply).await;
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
        assert!(!error.contains(KEY), "{error}");
    }
    for provider in PROVIDERS {
        let limited = Reply::status(429).with_header("retry-after-ms", "80");
        let (deltas, result) = answer_of(provider, limited).await;
        let ModelError::Status { code, retry_after, .. } = result.unwrap_err() else {
            panic!("{provider:?}");
        };
        assert_eq!((code, retry_after), (429, Some(Duration::from_millis(80))), "{provider:?}");
        assert_eq!(deltas, [], "{provider:?}");
        let (_, result) = ask_for_yes(&provider.at("http://127.0.0.1:1"), None).await;
        assert!(matches!(result, Err(ModelError::Connect(_))), "{provider:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_question_ends_with_its_time() {
    let stage = stage(Reply::text("Yes.").silent_after(20)).await;
    let limit = Some(Duration::from_millis(50));
    let (_, result) = ask_for_yes(&RESPONSES.at(stage.base()), limit).await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "the provider took too long: found no answer within 50ms"
    );
}

#[tokio::test]
async fn silence_ends_with_the_timeout_of_genai() {
    let stage = stage(Reply::text("Yes.").silent_after(20)).await;
    let options = ChatOptions::default().with_stream_read_timeout(Duration::from_millis(50));
    let client = Client::builder().with_chat_options(options).build().unwrap();
    let (_, result) = ask_for_yes(&OPENAI.with_client(client, stage.base()), None).await;
    assert!(matches!(result, Err(ModelError::Timeout(_))), "{result:?}");
}

#[tokio::test]
async fn a_missing_key_is_found_before_anything_is_sent() {
    let stage = Stage::start(Script::new()).await.unwrap();
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(format!("{}/", stage.base())),
        auth: AuthData::from_env("A_VARIABLE_THAT_NOBODY_SETS"),
        model: ModelIden::new(OPENAI.kind, OPENAI.model),
    };
    let model = GenaiModel::new(Client::new().unwrap(), target, OPENAI.facts());
    let (_, result) = ask_for_yes(&model, None).await;
    assert!(matches!(result, Err(ModelError::Unsendable(_))), "{result:?}");
    assert_eq!(stage.requests().len(), 0);
}

#[tokio::test]
async fn keys_are_not_printed() {
    let model = OPENAI.at("http://127.0.0.1:1");
    assert_eq!(model.facts().model, "gpt-5");
    assert!(!format!("{model:?}").contains(KEY));
}
