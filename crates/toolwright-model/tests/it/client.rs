//! The client with a server that follows a script: attempts, faults and secrets.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use toolwright_dialect::{Dialect, Request};
use toolwright_model::{
    Answer, AwsCredentials, Client, ClientBuilder, Delta, Message, Model, ModelError, Preset,
    Question, RateLimit, Stop,
};

use crate::cases::ENDPOINTS;
use crate::frames::{bytes, streams};
use crate::server::{Reply, Server};

/// A key that is easy to find.
const KEY: &str = "sk-live-0123456789abcdef";

const ANSWER: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\n";

/// A piece of an answer that is not complete.
const BEGINNING: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Ye\"}}]}\n\n";

/// The pieces of an answer, and the answer or the error.
type Outcome = (Vec<Delta>, Result<Answer, ModelError>);

fn builder(preset: &str, server: &Server) -> ClientBuilder {
    let preset = Preset::find(preset).unwrap();
    let client = Client::builder(preset, "a-model").with_base(&server.base).with_key(KEY);
    client.with_idle_timeout(Duration::from_millis(300))
}

async fn ask(client: &Client, timeout: Option<Duration>) -> Outcome {
    let messages = [Message::User("Say yes.".to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    let question = Question { timeout, ..Question::new(&messages, &tools) };
    let deltas = Mutex::new(Vec::new());
    let result = client.ask(&question, &|delta| deltas.lock().unwrap().push(delta)).await;
    (deltas.into_inner().unwrap(), result)
}

/// Each fault of a server on each wire: the outcome, and the number of attempts.
#[tokio::test]
async fn faults_have_their_errors_and_attempts_on_every_wire() {
    let now = "retry-after-ms: 1\r\n";
    let never = "x-should-retry: false\r\n";
    let html = "content-type: text/html\r\n";
    let faults = [
        (Reply::new(400, "", r#"{"error":{"message":"wrong"}}"#), "status 400: wrong", 1),
        (Reply::new(401, now, ""), "status 401: nothing", 1),
        (Reply::new(429, now, r#"{"message":"slow"}"#), "status 429: slow", 3),
        (Reply::new(429, &format!("{now}{never}"), ""), "status 429: nothing", 1),
        (Reply::new(502, &format!("{now}{html}"), "<html>\n"), "status 502: <html>", 3),
        (Reply::new(529, now, ""), "status 529: nothing", 3),
        (Reply::new(302, "location: http://127.0.0.1:1/\r\n", ""), "status 302: it redirects", 1),
        (Reply::new(200, html, "<!doctype html>\n"), "malformed: expected", 1),
        (Reply::new(200, "", ""), "malformed: expected", 1),
        (Reply::new(200, "content-type: application/json\r\n", "{}"), "malformed: expected", 1),
        (Reply::new(200, "content-type: application/json\r\n", b"\xff"), "malformed: found", 1),
        (Reply::new(429, now, "sl").then_silence(), "status 429: sl", 3),
        (Reply::Silence(Vec::new()), "took too long: found nothing to read for 300ms", 1),
        (Reply::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec()), "", 3),
        (Reply::Bytes(Vec::new()), "", 3),
    ];
    for preset in ["openai", "openai-responses", "anthropic", "gemini", "bedrock"] {
        for (reply, expected, attempts) in &faults {
            let server = Server::start(vec![reply.clone()]).await;
            let client = builder(preset, &server).with_attempts(3).build().unwrap();
            let (deltas, result) = ask(&client, None).await;
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{preset}: {error}, expected {expected}");
            assert_eq!(server.requests().len(), *attempts, "{preset}: {error}");
            let retried = |delta: &Delta| matches!(delta, Delta::Retried { .. });
            assert!(deltas.iter().all(retried), "{preset}: {deltas:?}");
            assert_eq!(deltas.len(), attempts - 1, "{preset}: {error}");
        }
    }
}

#[tokio::test]
async fn a_transient_error_is_tried_again_after_the_wait_of_the_provider() {
    let server = Server::start(vec![
        Reply::new(503, "retry-after-ms: 80\r\n", ""),
        Reply::new(429, "retry-after: 0.08\r\n", ""),
        Reply::stream(ANSWER),
    ])
    .await;
    let client = builder("openai", &server).build().unwrap();
    let begin = Instant::now();
    let (deltas, result) = ask(&client, None).await;
    assert!(begin.elapsed() >= Duration::from_millis(160));
    assert_eq!(result.unwrap().text(), "Yes.");
    let wait = Duration::from_millis(80);
    let retried = |status: u16| {
        let error = format!("the provider answered with status {status}: nothing");
        Delta::Retried { error, wait, usage: None }
    };
    assert_eq!(deltas, [retried(503), retried(429), Delta::Text("Yes.".to_owned())]);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let bodies = requests.iter().map(|request| request.split_once("\r\n\r\n").unwrap().1);
    let bodies: std::collections::BTreeSet<_> = bodies.collect();
    assert_eq!(bodies.len(), 1, "all attempts send the same");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_only_if_nothing_was_shown() {
    for (first, attempts, is_answered) in
        [("data: {\"choices\":[]}\n\n", 2, true), (BEGINNING, 1, false)]
    {
        let server = Server::start(vec![Reply::stream(first), Reply::stream(ANSWER)]).await;
        let client = builder("openai", &server).build().unwrap();
        let (deltas, result) = ask(&client, None).await;
        assert_eq!(server.requests().len(), attempts);
        let has_begun = matches!(deltas[0], Delta::Retried { usage: Some(_), .. });
        assert_eq!(has_begun, is_answered);
        match result {
            Ok(answer) => assert!(is_answered && answer.stop == Stop::End),
            Err(error) => assert!(!is_answered && matches!(error, ModelError::Interrupted(_))),
        }
    }
}

#[tokio::test]
async fn time_limits_end_an_answer() {
    let silent = Reply::stream(BEGINNING).then_silence();
    let server = Server::start(vec![silent]).await;
    let client = builder("openai", &server).build().unwrap();
    let (deltas, result) = ask(&client, None).await;
    assert_eq!(deltas, [Delta::Text("Ye".to_owned())]);
    let expected = "the provider took too long: found nothing to read for 300ms";
    assert_eq!(result.unwrap_err().to_string(), expected);

    let client = builder("openai", &server).build().unwrap();
    let (_, result) = ask(&client, Some(Duration::from_millis(50))).await;
    let expected = "the provider took too long: found no answer within 50ms";
    assert_eq!(result.unwrap_err().to_string(), expected);

    // If the wait is longer than the remaining time, the call ends at once.
    let server = Server::start(vec![Reply::new(429, "retry-after: 30\r\n", "")]).await;
    let client = builder("openai", &server).build().unwrap();
    let begin = Instant::now();
    let (_, result) = ask(&client, Some(Duration::from_secs(20))).await;
    assert!(matches!(result, Err(ModelError::Status { code: 429, .. })));
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn events_that_only_keep_a_connection_open_end_an_answer_after_ten_times_the_limit() {
    let thought = "data: {\"choices\":[{\"delta\":{\"reasoning\":\"Hm.\"}}]}\n\n";
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    for (preset, piece, is_kept_open) in [
        ("openai", ": keep-alive\n\n", true),
        ("openai", "data: {\"choices\":[]}\n\n", true),
        ("anthropic", ping, true),
        ("openai", thought, false),
    ] {
        let Reply::Bytes(head) = Reply::stream("") else { unreachable!() };
        let pieces = vec![piece.as_bytes().to_vec(); 40];
        let pieces = [vec![head], pieces, vec![ANSWER.as_bytes().to_vec()]].concat();
        let server = Server::start(vec![Reply::Pieces(pieces)]).await;
        let client = builder(preset, &server).with_idle_timeout(Duration::from_millis(150));
        let (_, result) = ask(&client.build().unwrap(), None).await;
        if is_kept_open {
            let expected =
                "the provider took too long: found nothing that adds to the answer for 1.5s";
            assert_eq!(result.unwrap_err().to_string(), expected, "{piece}");
        } else {
            assert_eq!(result.unwrap().text(), "Yes.", "{piece}");
        }
    }
}

#[tokio::test]
async fn a_connection_may_stay_open_behind_the_end() {
    let reply = Reply::stream(format!("{ANSWER}data: [DONE]\n\n")).then_silence();
    let server = Server::start(vec![reply]).await;
    let client = builder("openai", &server).build().unwrap();
    assert_eq!(ask(&client, None).await.1.unwrap().text(), "Yes.");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_too() {
    let body = r#"{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}"#;
    let reply = Reply::new(200, "content-type: application/json; charset=utf-8\r\n", body);
    let server = Server::start(vec![reply]).await;
    let client = builder("openai", &server).build().unwrap();
    assert_eq!(ask(&client, None).await.1.unwrap().text(), "Yes.");
}

#[tokio::test]
async fn streams_arrive_over_http_as_they_are_read_from_bytes() {
    for (endpoint, preset) in [
        ("openai-chat", "openai"),
        ("openai-responses", "openai-responses"),
        ("anthropic", "anthropic"),
        ("gemini", "gemini"),
        ("bedrock", "bedrock"),
    ] {
        let (_, _, wire, _) = *ENDPOINTS.iter().find(|(found, ..)| *found == endpoint).unwrap();
        let paths = streams(endpoint);
        let path = paths.iter().find(|path| path.file_stem().is_some_and(|name| name == "text"));
        let bytes = bytes(path.unwrap());
        let server = Server::start(vec![Reply::new(200, "", &bytes)]).await;
        let client = builder(preset, &server).build().unwrap();
        let (deltas, result) = ask(&client, None).await;
        let messages = [Message::User("Say yes.".to_owned())];
        let tools = Request { tools: Vec::new(), findings: Vec::new() };
        let mut reader = wire.reader(client.facts(), &Question::new(&messages, &tools));
        assert_eq!(deltas, reader.feed(&bytes), "{endpoint}");
        assert_eq!(result, reader.end(), "{endpoint}");
    }
}

/// The path and the header of the key, by preset.
#[tokio::test]
async fn keys_and_paths_are_those_of_the_provider() {
    for preset in Preset::all() {
        let server = Server::start(vec![Reply::new(400, "", "")]).await;
        let base = format!("{}/base/", server.base);
        let client = builder(preset.name, &server).with_base(base).build().unwrap();
        ask(&client, None).await.1.unwrap_err();
        let request = &server.requests()[0];
        let (path, key) = match preset.name {
            "openai-responses" => ("/responses", "authorization: Bearer "),
            "anthropic" => ("/v1/messages", "x-api-key: "),
            "gemini" => ("/models/a-model:streamGenerateContent?alt=sse", "x-goog-api-key: "),
            "bedrock" => ("/model/a-model/converse-stream", "authorization: Bearer "),
            "azure" => ("/chat/completions", "api-key: "),
            _ => ("/chat/completions", "authorization: Bearer "),
        };
        assert!(request.starts_with(&format!("POST /base{path} HTTP/1.1\r\n")), "{request}");
        assert!(request.contains(&format!("\r\n{key}{KEY}\r\n")), "{request}");
        assert!(request.contains("\r\ncontent-type: application/json\r\n"), "{request}");
        assert_eq!(request.matches(KEY).count(), 1, "{request}");
    }
}

#[test]
fn presets_name_dialects_that_exist_and_differ() {
    let names: std::collections::BTreeSet<_> = Preset::all().map(|preset| preset.name).collect();
    assert_eq!(names.len(), Preset::all().count());
    assert!(names.len() >= 14);
    for preset in Preset::all() {
        Dialect::find(preset.dialect).unwrap();
        let is_local = preset.base.starts_with("http://127.0.0.1:");
        assert_eq!(preset.key_variable.is_empty(), is_local, "{}", preset.name);
    }
    let error = Preset::find("opanai").unwrap_err();
    assert!(error.to_string().contains("there is no preset `opanai`"), "{error}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let openai = Preset::find("openai").unwrap();
    let azure = Preset::find("azure").unwrap();
    let local = |base: &str| Client::builder(openai, "m").with_base(base);
    for (builder, expected) in [
        (Client::builder(azure, "m"), "is missing, as every customer has another one"),
        (local("ftp://127.0.0.1"), "is `ftp`, expected `http` or `https`"),
        (local("127.0.0.1:80"), "is not an address"),
        (local("http://127.0.0.1/?key=1"), "has a query or a fragment"),
        (local("http://a:b@127.0.0.1/"), "use `with_key` instead"),
        (local("http://127.0.0.1/").with_dialect("openai"), "there is no dialect `openai`"),
        (local("http://127.0.0.1/").with_key("a\nb"), "no header can hold"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// The key is in no text that a program could log: not in settings or errors, even if the server repeats it.
#[tokio::test]
async fn the_key_is_in_no_text() {
    let padding = "a".repeat(290);
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let cut = format!(r#"{{"error":{{"message":"{padding}{KEY}"}}}}"#);
    let within = format!("data: {{\"error\":{{\"message\":\"{padding}{KEY}\"}}}}\n\n");
    let html = format!("{padding}{KEY}{padding}");
    let encoded = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    let html_with_encoded = format!("{}{encoded}{padding}", "p".repeat(207));
    let json = "content-type: application/json\r\n";
    let mut texts = Vec::new();
    for reply in [
        Reply::new(401, "", &echo),
        Reply::new(401, "", &cut),
        Reply::new(401, "", format!("{KEY}\n")),
        Reply::new(302, &format!("location: http://127.0.0.1:1/{KEY}\r\n"), ""),
        Reply::stream(&within),
        Reply::stream(&html),
        Reply::stream(&html_with_encoded),
        Reply::stream(format!("data: {KEY}\n\n")),
        Reply::stream(format!("data: {html}\n\n")),
        Reply::new(200, json, &html),
        Reply::new(200, json, format!(r#"{{"choices":"{KEY}"}}"#)),
    ] {
        let server = Server::start(vec![reply]).await;
        let builder = builder("openai", &server).with_attempts(1);
        texts.push(format!("{builder:?} {builder:#?}"));
        let client = builder.build().unwrap();
        texts.push(format!("{client:?} {client:#?}"));
        let error = ask(&client, None).await.1.unwrap_err();
        texts.push(format!("{error} {error:?}"));
    }
    let wrong = Client::builder(Preset::find("openai").unwrap(), "m").with_key(format!("{KEY}\n"));
    let wrong = wrong.with_base("http://127.0.0.1/").build().unwrap_err();
    texts.push(format!("{wrong} {wrong:?}"));
    for text in texts {
        assert!(!text.contains(&KEY[..6]) && !text.contains(&encoded[..18]), "{text}");
    }
}

#[tokio::test]
async fn the_key_is_in_no_name_and_no_id_of_a_call() {
    let call = format!(
        r#"{{"index":0,"id":"{KEY}","type":"function","function":{{"name":"{KEY}","arguments":"{{}}"}}}}"#
    );
    let stream = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n\
         data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let server = Server::start(vec![Reply::stream(stream)]).await;
    let client = builder("openai", &server).build().unwrap();
    let (deltas, answer) = ask(&client, None).await;
    let answer = answer.unwrap();
    assert_eq!(answer.calls().count(), 1, "{answer:?}");
    assert!(!format!("{answer:?} {deltas:?}").contains(&KEY[..6]), "{answer:?} {deltas:?}");
}

#[tokio::test]
async fn requests_to_bedrock_are_signed_and_the_secret_is_in_no_text() {
    let credentials = AwsCredentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: KEY.to_owned(),
        session_token: Some(format!("{KEY}-token")),
        region: "eu-west-1".to_owned(),
    };
    let echo = Reply::new(403, "", format!(r#"{{"message":"found {KEY}-token with {KEY}"}}"#));
    let server = Server::start(vec![echo]).await;
    let builder = Client::builder(Preset::find("bedrock").unwrap(), "a-model");
    let builder = builder.with_aws_credentials(credentials).with_base(&server.base);
    let mut texts = vec![format!("{builder:?}")];
    let client = builder.with_attempts(1).build().unwrap();
    texts.push(format!("{client:?}"));
    texts.push(format!("{:?}", ask(&client, None).await.1.unwrap_err()));
    for text in texts {
        assert!(!text.contains(&KEY[..6]), "{text}");
    }
    let request = server.requests().pop().unwrap();
    let signed = "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
    for part in
        [signed, "/eu-west-1/bedrock/aws4_request", "x-amz-date: ", "x-amz-security-token: "]
    {
        assert!(request.contains(part), "{request}");
    }
}

/// The words are for operators, as those of an error are.
#[tokio::test]
async fn the_words_of_a_refusal_show_no_key_and_are_a_short_visible_line() {
    let words = format!("Your key is {KEY}.\\n::error::\\u001b[2J\\u202e{}", "x".repeat(100_000));
    for (stop, delta) in
        [("stop", format!(r#"{{"refusal":"{words}"}}"#)), (&words, "{}".to_owned())]
    {
        let choice = format!(r#"{{"delta":{delta},"finish_reason":"{stop}"}}"#);
        let body =
            format!("data: {{\"model\":\"{words}\",\"choices\":[{choice}]}}\n\ndata: [DONE]\n\n");
        let server = Server::start(vec![Reply::stream(body)]).await;
        let answer = ask(&builder("openai", &server).build().unwrap(), None).await.1.unwrap();
        let (Stop::Refused(found) | Stop::Other(found)) = answer.stop else { panic!("{answer:?}") };
        for text in [found, answer.model] {
            assert!(text.starts_with("Your key is …. ::error::\u{fffd}[2J\u{fffd}xx"), "{text}");
            assert!(text.len() < 400, "{} bytes", text.len());
        }
    }
}

#[tokio::test]
async fn the_name_of_an_exception_is_a_short_visible_line_without_the_key() {
    let name = format!("{KEY}\u{1b}]0;owned\u{7}\r\nerror: forged {}", "x".repeat(50_000));
    let message = toolwright_model_stage::event_stream::exception(&name, r#"{"message":"m"}"#);
    let kind = "content-type: application/vnd.amazon.eventstream\r\n";
    let server = Server::start(vec![Reply::new(200, kind, message)]).await;
    let client = builder("bedrock", &server).with_attempts(1).build().unwrap();
    let error = ask(&client, None).await.1.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("owned") && text.len() < 1200, "{} bytes: {text}", text.len());
    assert!(!text.contains(KEY) && !text.contains(char::is_control), "{text}");
}

/// A provider that has no room left for a while, and later asks one client to wait.
#[tokio::test]
async fn clients_that_share_a_limit_wait_for_each_other() {
    let wait = Duration::from_millis(200);
    let none_left = "content-type: text/event-stream\r\nx-ratelimit-limit-requests: 9\r\n\
                     x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 200ms\r\n";
    let server = Server::start(vec![
        Reply::new(200, none_left, ANSWER),
        Reply::new(429, "retry-after-ms: 200\r\nx-should-retry: false\r\n", ""),
        Reply::stream(ANSWER),
    ])
    .await;
    let limit = RateLimit::new(1);
    let client = || builder("openai", &server).with_rate_limit(&limit).build().unwrap();
    let (one, other) = (client(), client());
    let start = Instant::now();
    ask(&one, None).await.1.unwrap();
    let refused = ask(&other, None).await.1.unwrap_err();
    assert!(matches!(refused, ModelError::Status { code: 429, .. }), "{refused}");
    assert!(start.elapsed() >= wait, "{:?}", start.elapsed());
    ask(&one, None).await.1.unwrap();
    assert!(start.elapsed() >= wait * 2, "{:?}", start.elapsed());
}
