//! Cassettes: answers that are recorded from a provider, whose part another stage plays, and played without it.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use expect_test::expect;
use serde_json::Value;
use toolwright_dialect::Request;
use toolwright_model::{Answer, Client, Delta, Message, Model as _, ModelError, Preset, Question};
use toolwright_model_stage::{Reply, Script, Stage};

const PRESETS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

/// A key that is easy to find.
const KEY: &str = "sk-live-0123456789abcdef";

type Outcome = (Vec<Delta>, Result<Answer, ModelError>);

async fn ask(preset: &str, stage: &Stage, key: &str, text: &str) -> Outcome {
    let client = Client::builder(Preset::find(preset).unwrap(), "a-model").with_base(stage.base());
    let client = client.with_key(key).with_idle_timeout(Duration::from_secs(5)).build().unwrap();
    let messages = [Message::User(text.to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    let deltas = Mutex::new(Vec::new());
    let question = Question::new(&messages, &tools);
    let result = client.ask(&question, &|delta| deltas.lock().unwrap().push(delta)).await;
    (deltas.into_inner().unwrap(), result)
}

/// A provider that refuses the first request and answers the others, one of which repeats the key.
async fn provider() -> Stage {
    let script = Script::new()
        .reply(Reply::status(429).with_header("retry-after-ms", "1").with_header("set-cookie", "a"))
        .reply(
            Reply::text("Let me see. ☃")
                .with_reasoning("I look.")
                .and_call("add", r#"{"a":1,"b":12345678901234567890123}"#),
        )
        .reply(Reply::text("Your key has 24 characters."))
        .reply(Reply::status(401).with_header("x-should-retry", "false"))
        .reply(Reply::body(400, format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#)));
    Stage::start(script).await.unwrap()
}

async fn outcomes(preset: &str, stage: &Stage, key: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for text in ["Go.", "How long is my key?", "Go on.", "End."] {
        outcomes.push(ask(preset, stage, key, text).await);
    }
    outcomes
}

#[tokio::test]
async fn a_cassette_is_read_like_the_provider_and_holds_no_key() {
    let folder = tempfile::tempdir().unwrap();
    for preset in PRESETS {
        let path = folder.path().join(format!("{preset}.json"));
        let provider = provider().await;
        let recording = Stage::record(&path, provider.base()).await.unwrap();
        let recorded = outcomes(preset, &recording, KEY).await;
        assert_eq!(recording.refusals(), Vec::<String>::new(), "{preset}");
        assert_eq!(provider.requests().len(), 5, "{preset}");
        let replayed = Stage::start(Script::replay(&path).unwrap()).await.unwrap();
        let found = outcomes(preset, &replayed, "another-key-of-somebody").await;
        assert_eq!(format!("{found:?}"), format!("{recorded:?}"), "{preset}");
        assert_eq!(replayed.refusals(), Vec::<String>::new(), "{preset}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(KEY) && !text.contains("set-cookie"), "{preset}: {text}");
        let cassette: Value = serde_json::from_str(&text).unwrap();
        let first = &cassette["exchanges"][0];
        assert_eq!(first["response"]["status"], 429, "{preset}");
        assert_eq!(first["response"]["headers"]["retry-after-ms"], "1", "{preset}");
        assert!(first["request"]["body"].to_string().contains("Go."), "{preset}");
    }
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_refused_with_the_first_difference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes/openai.json");
    let stage = Stage::start(Script::replay(path).unwrap()).await.unwrap();
    let (_, result) = ask("openai", &stage, KEY, "Go!").await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("the request was not recorded"), "{error}");
    expect![[r#"request 0: the request was not recorded: at `/messages/0/content` found "Go!", recorded is "Go."; record the cassette again"#]].assert_eq(&stage.refusals().join("\n"));
    // Its order does not matter.
    let (_, result) = ask("openai", &stage, KEY, "How long is my key?").await;
    assert_eq!(result.unwrap().text(), "Your key has 24 characters.");
}

#[tokio::test]
async fn a_request_that_was_not_recorded_uses_up_no_reply() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes/openai.json");
    let stage = Stage::start(Script::replay(path).unwrap()).await.unwrap();
    for _ in 0..10 {
        ask("openai", &stage, KEY, "Go!").await.1.unwrap_err();
    }
    outcomes("openai", &stage, KEY).await;
    let refused = stage.refusals().len();
    assert_eq!(refused, 10, "{:?}", stage.refusals());
    let (_, result) = ask("openai", &stage, KEY, "Go.").await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("no recorded request is left"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_cassette_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let mut errors = Vec::new();
    for text in ["", "{}", r#"{"exchanges":[{}]}"#] {
        fs::write(&path, text).unwrap();
        errors.push(Script::replay(&path).unwrap_err().to_string());
    }
    errors.push(Script::replay(folder.path().join("none.json")).unwrap_err().to_string());
    errors.push(Stage::record(&path, "ftp://openai").await.unwrap_err().to_string());
    let errors = errors.join("\n").replace(&folder.path().display().to_string(), "");
    expect![[r"
        /a.json: EOF while parsing a value at line 1 column 0
        /a.json: found no list `exchanges`, expected a file that `Stage::record` wrote
        /a.json: exchange 0 is not as `Stage::record` writes it
        /none.json: No such file or directory (os error 2)
        expected the base address of a provider, such as `https://api.openai.com/v1`"]]
    .assert_eq(&errors);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_an_error_that_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let recording = Stage::record(&path, "http://127.0.0.1:1").await.unwrap();
    let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
    let client = client.with_base(recording.base()).with_attempts(1).build().unwrap();
    let messages = [Message::User("Go.".to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    let error = client.ask(&Question::new(&messages, &tools), &|_| {}).await.unwrap_err();
    assert!(error.to_string().contains("the provider cannot be reached"), "{error}");
    assert!(!path.exists());
}

#[tokio::test]
async fn a_response_that_repeats_the_key_in_bytes_is_not_recorded_and_no_header_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let in_bytes = [b"\xff", KEY.as_bytes()].concat();
    let script = Script::new()
        .reply(Reply::body(200, in_bytes))
        .reply(Reply::body(400, "{}").with_header("retry-after", KEY));
    let provider = Stage::start(script).await.unwrap();
    let recording = Stage::record(&path, provider.base()).await.unwrap();
    for _ in 0..2 {
        let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
        let client = client.with_base(recording.base()).with_key(KEY).with_attempts(1);
        let messages = [Message::User("Go.".to_owned())];
        let tools = Request { tools: Vec::new(), findings: Vec::new() };
        let client = client.build().unwrap();
        client.ask(&Question::new(&messages, &tools), &|_| {}).await.unwrap_err();
    }
    assert_eq!(recording.refusals().len(), 1, "{:?}", recording.refusals());
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(KEY) && text.contains("retry-after"), "{text}");
}

#[tokio::test]
async fn a_file_beside_a_cassette_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.json"), folder.path().join("a.new"));
    fs::write(&other, "mine").unwrap();
    let provider = Stage::start(Script::new().reply(Reply::text("Yes."))).await.unwrap();
    let recording = Stage::record(&path, provider.base()).await.unwrap();
    ask("openai", &recording, KEY, "Go.").await.1.unwrap_err();
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
    assert!(!path.exists());
}
