//! The request to each endpoint for each question of `cases/questions`. `UPDATE_EXPECT=1` writes expectations.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;
use toolwright::Payload;
use toolwright_model::{ModelError, Preset, Question, Wire};

use crate::cases::{Asked, ENDPOINTS, facts, files};

#[test]
fn questions_are_written_as_each_api_describes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let paths = files("questions", "json");
    assert!(paths.len() > 10);
    for (endpoint, model, wire, dialect) in ENDPOINTS {
        let facts = facts(endpoint, model, dialect);
        for path in &paths {
            let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            let asked = Asked::new(&case, facts.dialect);
            let written = asked.with(|question| written(wire, &facts, question));
            let name = path.file_stem().unwrap().to_str().unwrap();
            let expected = folder.join(endpoint).join("requests").join(format!("{name}.txt"));
            expect_file![expected].assert_eq(&written);
        }
    }
}

fn written(wire: Wire, facts: &toolwright_model::ModelFacts, question: &Question<'_>) -> String {
    let request = match wire.request(facts, question, true) {
        Ok(request) => request,
        Err(error) => return format!("{error}\n"),
    };
    assert_eq!(wire.request(facts, question, true).unwrap(), request, "bytes are stable");
    let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    format!("POST {}\n{}\n{body:#}\n", request.path, headers.collect::<String>())
}

#[test]
fn what_was_written_badly_is_sent_as_it_was() {
    let path = files("questions", "json");
    let path = path.iter().find(|path| path.ends_with("written-badly.json")).unwrap();
    let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let twice = r#"{"city":"Paris","city":"Rome"}"#;
    for (endpoint, model, wire, dialect) in ENDPOINTS {
        let facts = facts(endpoint, model, dialect);
        let body = Asked::new(&case, facts.dialect)
            .with(|question| wire.request(&facts, question, false))
            .unwrap()
            .body;
        let quoted = Value::from(twice).to_string();
        assert!(body.contains(twice) || body.contains(&quoted), "{endpoint}: {body}");
        assert!(body.contains("12345678901234567890123"), "{endpoint}: {body}");
    }
}

#[test]
fn a_longer_conversation_begins_with_the_bytes_of_a_shorter_one() {
    let tools = r#"{"tools":[{"name":"now","description":"Returns the time.","args":{"type":"object"}}],"messages":[
        {"system":"You are brief."},{"user":"One."},{"assistant":[{"text":"Two."}]},{"user":"Three."}]}"#;
    let mut long: Value = serde_json::from_str(tools).unwrap();
    let mut short = long.clone();
    short["messages"].as_array_mut().unwrap().truncate(2);
    long["choice"] = Value::from("none");
    for (endpoint, model, wire, dialect) in ENDPOINTS {
        if endpoint == "bedrock" {
            long.as_object_mut().unwrap().remove("choice");
        }
        let facts = facts(endpoint, model, dialect);
        let body = |case: &Value| {
            let asked = Asked::new(case, facts.dialect);
            asked.with(|question| wire.request(&facts, question, true)).unwrap().body
        };
        let (short, long) = (body(&short), body(&long));
        // The mark after the last message moves, so only the bytes before it are compared.
        let end = short.find("One.").unwrap();
        assert_eq!(long[..end], short[..end], "{endpoint}");
    }
}

#[test]
fn thoughts_are_encrypted_where_the_model_thinks_unless_the_host_says_otherwise() {
    let case: Value = serde_json::from_str(r#"{"messages":[{"user":"Hi"}]}"#).unwrap();
    for (model, extra, expected) in [
        ("gpt-5", None, Some(vec!["reasoning.encrypted_content"])),
        ("o3", None, Some(vec!["reasoning.encrypted_content"])),
        ("a-deployment", Some("[]"), Some(vec![])),
        ("gpt-4.1", None, None),
        ("gpt-5-chat-latest", None, None),
        ("ft:gpt-4o-mini:a::b", None, None),
    ] {
        let facts = facts("openai-responses", model, "openai-responses");
        let asked = Asked::new(&case, facts.dialect);
        let body = asked.with(|question| {
            let mut settings = question.settings.clone();
            settings.extra.extend(extra.map(|json| ("include".to_owned(), Payload::new(json))));
            let question = Question { settings, ..question.clone() };
            Wire::OpenAiResponses.request(&facts, &question, true).unwrap().body
        });
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body.get("include"), expected.map(Value::from).as_ref(), "{model}");
    }
}

#[test]
fn thoughts_do_not_go_back_to_a_provider_that_refuses_them() {
    let path = files("questions", "json");
    let path = path.iter().find(|path| path.ends_with("opaque.json")).unwrap();
    let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let facts = facts("openai-chat", "qwen3-32b", "openai-chat");
    let asked = Asked::new(&case, facts.dialect);
    for (name, expected) in [("deepseek", true), ("groq", false)] {
        let wire = Preset::find(name).unwrap().wire;
        let body = asked.with(|question| wire.request(&facts, question, true).unwrap().body);
        assert_eq!(body.contains("I think."), expected, "{body}");
    }
}

#[test]
fn the_preset_of_mistral_has_an_answer_between_results_and_a_message_of_the_user() {
    let path = files("questions", "json");
    let path = path.iter().find(|path| path.ends_with("user-after-results.json")).unwrap();
    let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (name, dialect, expected) in
        [("mistral", "mistral", true), ("openrouter", "openai-chat", false)]
    {
        let facts = facts(name, "a-model", dialect);
        let wire = Preset::find(name).unwrap().wire;
        let asked = Asked::new(&case, facts.dialect);
        let body = asked.with(|question| wire.request(&facts, question, true).unwrap().body);
        assert_eq!(body.contains("Understood."), expected, "{body}");
    }
}

#[test]
fn tools_that_clash_are_not_sent() {
    let case: Value = serde_json::from_str(
        r#"{"messages":[{"user":"Hi"}],"tools":[
            {"name":"a.b","description":"A.","args":{"type":"object"}},
            {"name":"a_b","description":"B.","args":{"type":"object"}}]}"#,
    )
    .unwrap();
    let (endpoint, model, wire, dialect) = ENDPOINTS[0];
    let facts = facts(endpoint, model, dialect);
    let error = Asked::new(&case, facts.dialect)
        .with(|question| wire.request(&facts, question, true))
        .unwrap_err();
    assert_eq!(
        error,
        ModelError::Unsendable(
            "`a.b` and `a_b` are both `a_b` on the wire; rename one of them".to_owned()
        )
    );
}
