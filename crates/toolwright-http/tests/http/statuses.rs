//! Failures by status, declared errors, redirects, and results in every format.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::{any, get};
use serde_json::json;
use toolwright::{FailureKind, Recovery, Value};
use toolwright_http::operation::{Answer, DeclaredError, Operation, Part, Status, Verb};
use toolwright_http::{Client, Credentials};

use crate::server::{raw, serve};
use crate::{call, client, failure_of};

static STATUS: Operation =
    Operation::new("status", Verb::Get, &[Part::Text("/"), Part::Property("status")]);

static DECLARED: Operation = Operation {
    errors: &[
        DeclaredError {
            status: Status::Class(4),
            code: "refused",
            description: "No.",
            has_payload: false,
            is_retried: false,
        },
        DeclaredError {
            status: Status::Exactly(404),
            code: "no_pet",
            description: "There is no such pet.",
            has_payload: false,
            is_retried: false,
        },
    ],
    ..Operation::new("declared", Verb::Get, &[Part::Text("/"), Part::Property("status")])
};

/// Serves the status in the path, with a body and `Retry-After`.
async fn by_status() -> String {
    let answer = |Path(status): Path<u16>| async move {
        let status = StatusCode::from_u16(status).expect("a status");
        (status, [(header::RETRY_AFTER, "7")], "the key k3y is\nwrong: \u{1b}[31mSELECT *")
    };
    serve(Router::new().route("/{status}", any(answer))).await
}

#[tokio::test]
async fn every_status_has_a_kind_and_the_model_does_not_see_the_body() {
    let base = by_status().await;
    let table = [
        (400, FailureKind::InvalidCall, Recovery::Replan),
        (401, FailureKind::Denied, Recovery::Finish),
        (403, FailureKind::Denied, Recovery::Replan),
        (404, FailureKind::DomainRejection, Recovery::Replan),
        (408, FailureKind::Timeout, Recovery::Retry),
        (409, FailureKind::DomainRejection, Recovery::Replan),
        (422, FailureKind::InvalidCall, Recovery::Replan),
        (425, FailureKind::Unavailable, Recovery::Retry),
        (429, FailureKind::RateLimited, Recovery::Retry),
        (500, FailureKind::Unavailable, Recovery::Retry),
        (503, FailureKind::Unavailable, Recovery::Retry),
        (504, FailureKind::Timeout, Recovery::Retry),
        (302, FailureKind::Unavailable, Recovery::Finish),
        (418, FailureKind::DomainRejection, Recovery::Replan),
    ];
    let client = Client::builder(base).with_credentials(Credentials::header("X-Key", "k3y"));
    let client = client.build().expect("a client");
    for (status, kind, recovery) in table {
        let failure = call(&client, &STATUS, &format!("{{\"status\": {status}}}")).await;
        let failure = failure.expect_err("no success");
        assert_eq!((failure.kind, &failure.recovery), (kind, &recovery), "{status}");
        assert!(!failure.message.contains("SELECT"), "{status}: {}", failure.message);
        let detail = failure.detail.expect("it has a detail");
        assert!(detail.contains("the key … is wrong: \u{fffd}[31mSELECT *"), "{status}: {detail}");
        let waits = failure.message.contains("wait 7 s");
        assert_eq!(waits, matches!(kind, FailureKind::RateLimited | FailureKind::Unavailable));
    }
}

/// The service returns each credential in another encoding.
#[tokio::test]
async fn details_have_the_body_without_credentials_in_any_encoding() {
    const SECRETS: [&str; 4] =
        ["pass \"word\"/1", "header\\key\"1", "query key&é", "cookie=key;/é"];
    let echo = async |uri: Uri, headers: HeaderMap| {
        let header = |name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
        };
        let body = json!({
            "authorization": header("authorization"),
            "key": header("x-key"),
            "cookie": header("cookie"),
            "uri": uri.to_string(),
        });
        (StatusCode::IM_A_TEAPOT, body.to_string())
    };
    let base = serve(Router::new().fallback(echo)).await;
    let credentials = Credentials::basic("ann", SECRETS[0])
        .and(Credentials::header("x-key", SECRETS[1]))
        .and(Credentials::query("q", SECRETS[2]))
        .and(Credentials::cookie("c", SECRETS[3]));
    let client = Client::builder(base).with_credentials(credentials).build().expect("a client");
    let failure = call(&client, &STATUS, "{\"status\": 1}").await.expect_err("no success");
    let detail = failure.detail.expect("it has a detail");
    let (_, body) = detail.split_once(": ").expect("it has the body");
    let body: serde_json::Value = serde_json::from_str(body).expect("it is still JSON");
    let expected =
        json!({ "authorization": "Basic …", "key": "…", "cookie": "c=…", "uri": "/1?q=…" });
    assert_eq!(body, expected, "{detail}");
}

/// The service returns the credentials in keys and values, each encoded in another way.
#[tokio::test]
async fn results_have_no_credentials_in_any_encoding_and_keep_their_digits() {
    static JSON: Operation = Operation::new("json", Verb::Get, &[Part::Text("/")]);
    static TEXT: Operation =
        Operation { answer: Answer::Text, ..Operation::new("text", Verb::Get, &[Part::Text("/")]) };
    let table = [
        (&JSON, r#"{"s3cret-token": 1, "n": 1.50}"#, r#"{"…":1,"n":1.50}"#),
        (&JSON, r#"["Bearer s3cret-token", 1e400]"#, r#"["Bearer …",1e400]"#),
        (&JSON, r#"{"a": "s3cret\u002dtoken, key%26%C3%A9%201-"}"#, r#"{"a":"…, …"}"#),
        (&JSON, r#"["czNjcmV0LXRva2Vu", "key&\u00e9 1-"]"#, r#"["…","…"]"#),
        (&JSON, r#"[12345678901234567890, "short"]"#, r#"[12345678901234567890,"short"]"#),
        (&JSON, "\u{feff}[1]", "[1]"),
        (&JSON, r#"["0123-bot-token", "pass-word-1", "cookie-value-1"]"#, r#"["…","…","…"]"#),
        (&TEXT, "s3cret-token\n1.50", r#""…\n1.50""#),
    ];
    let credentials = || {
        Credentials::bearer("s3cret-token")
            .and(Credentials::query("q", "key&é 1-"))
            .and(Credentials::cookie("c", "short"))
            .and(Credentials::header("x-bot", "Bot 0123-bot-token"))
            .and(Credentials::header("x-basic", "Basic dXNlcjpwYXNzLXdvcmQtMQ=="))
            .and(Credentials::header("x-cookie", "a=cookie-value-1; b=2"))
    };
    for (operation, sent, expected) in table {
        let (base, _) = raw(vec![answer("200 OK", sent)]).await;
        let client = Client::builder(base).with_credentials(credentials()).build();
        let result = call(&client.expect("a client"), operation, "{}").await.expect(sent);
        assert_eq!(result.to_string(), expected, "{sent}");
    }
}

/// Other statuses are given after an effect, too.
#[tokio::test]
async fn a_declared_error_repeats_a_post_only_after_a_status_that_refuses_it() {
    const BUSY: DeclaredError = DeclaredError {
        status: Status::Class(5),
        code: "busy",
        description: "Busy.",
        has_payload: false,
        is_retried: true,
    };
    const TAKEN: DeclaredError = DeclaredError { status: Status::Class(4), code: "taken", ..BUSY };
    const GONE: DeclaredError =
        DeclaredError { status: Status::Exactly(410), is_retried: false, ..TAKEN };
    static POST: Operation = Operation {
        errors: &[BUSY, TAKEN, GONE],
        ..Operation::new("post", Verb::Post, &[Part::Text("/")])
    };
    static GET: Operation =
        Operation { errors: &[BUSY], ..Operation::new("get", Verb::Get, &[Part::Text("/")]) };
    let moved =
        "HTTP/1.1 303 See Other\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n".to_owned();
    for (operation, answers, is_declared) in [
        (&POST, vec![answer("503 Busy", "1")], true),
        (&POST, vec![answer("500 Broken", "1")], false),
        (&POST, vec![answer("409 Conflict", "1")], true),
        (&POST, vec![answer("408 Slow", "1")], false),
        (&POST, vec![moved.clone(), answer("503 Busy", "1")], false),
        (&POST, vec![moved.clone(), answer("409 Conflict", "1")], false),
        (&POST, vec![answer("410 Gone", "1")], true),
        (&POST, vec![moved, answer("410 Gone", "1")], false),
        (&GET, vec![answer("500 Broken", "1")], true),
    ] {
        let (base, _) = raw(answers).await;
        let client = Client::builder(base).build().expect("a client");
        let failure = call(&client, operation, "{}").await.expect_err("no success");
        assert_eq!(failure.code.is_some(), is_declared, "{failure:?}");
        let is_lost = failure.message.contains("may have taken effect");
        assert_eq!(is_lost, !is_declared, "{failure:?}");
    }
}

/// The service may have done the work of the first request, although its target refuses the second one.
#[tokio::test]
async fn a_post_whose_redirect_ends_with_an_error_may_have_taken_effect() {
    static POST: Operation = Operation::new("post", Verb::Post, &[Part::Text("/")]);
    static PUT: Operation = Operation::new("put", Verb::Put, &[Part::Text("/")]);
    for status in [400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 503] {
        for (operation, moved, is_lost) in
            [(&POST, "303 See Other", true), (&POST, "307 Moved", true), (&PUT, "307 Moved", false)]
        {
            let answers = vec![
                answer(&format!("{moved}\r\nlocation: /orders/7"), ""),
                answer(&format!("{status} No"), ""),
            ];
            let (base, _) = raw(answers).await;
            let failure = call(&client(&base), operation, "{}").await.expect_err("no success");
            let says_so = failure.message.contains("may have taken effect");
            assert_eq!(says_so, is_lost, "{moved}, {status}: {failure:?}");
        }
    }
}

/// Without its credential, the number is not JSON.
#[tokio::test]
async fn a_number_that_is_a_credential_is_not_a_result() {
    static JSON: Operation = Operation::new("json", Verb::Get, &[Part::Text("/")]);
    for sent in ["[12345678]", "[1.2345678e7]", "[123456780E-1]"] {
        let (base, _) = raw(vec![answer("200 OK", sent)]).await;
        let client = Client::builder(base).with_credentials(Credentials::bearer("12345678"));
        let client = client.build().expect("a client");
        let (kind, message, detail) = failure_of(call(&client, &JSON, "{}").await);
        assert_eq!(kind, FailureKind::MalformedResult, "{sent}");
        assert!(!message.contains("1234") && !detail.contains("1234"), "{message} {detail}");
    }
}

/// Without its credential, the number is not JSON.
#[tokio::test]
async fn a_number_that_is_a_credential_is_in_no_error_and_no_text() {
    const BAD: DeclaredError = DeclaredError {
        status: Status::Exactly(422),
        code: "bad",
        description: "Bad.",
        has_payload: true,
        is_retried: false,
    };
    static DECLARED: Operation =
        Operation { errors: &[BAD], ..Operation::new("bad", Verb::Get, &[Part::Text("/")]) };
    static TEXT: Operation =
        Operation { answer: Answer::Text, ..Operation::new("text", Verb::Get, &[Part::Text("/")]) };
    for sent in ["[1.23456789e9]", "[123456789.0E1]", "[123456789000e-2]", "\"1.23456789e9\""] {
        for (operation, status) in
            [(&DECLARED, "422 Unprocessable"), (&DECLARED, "500 Broken"), (&TEXT, "200 OK")]
        {
            let (base, _) = raw(vec![answer(status, sent)]).await;
            let client = Client::builder(base).with_credentials(Credentials::bearer("1234567890"));
            let client = client.build().expect("a client");
            let result = call(&client, operation, "{}").await;
            let shown = format!("{result:?}");
            assert!(!shown.contains("2345"), "{sent}: {shown}");
            let data = result.err().and_then(|failure| failure.data);
            assert!(data.is_none_or(|data| data.as_str() == "\"…\""), "{sent}: {shown}");
        }
    }
}

#[tokio::test]
async fn the_digits_of_a_credential_are_in_no_wait() {
    static GET: Operation = Operation::new("get", Verb::Get, &[Part::Text("/")]);
    for (seconds, wait) in [("7", "wait 7 s"), ("12345678", "wait a day")] {
        let head = format!("503 X\r\nretry-after: {seconds}");
        let (base, _) = raw(vec![answer(&head, "")]).await;
        let client = Client::builder(base).with_credentials(Credentials::bearer("12345678"));
        let failure = call(&client.build().expect("a client"), &GET, "{}").await;
        let message = failure.expect_err("a failure").message;
        assert!(message.ends_with(&format!("; {wait} before calling again")), "{message}");
    }
}

#[tokio::test]
async fn a_declared_error_has_its_code_and_an_exact_status_precedes_its_class() {
    let client = client(&by_status().await);
    for (status, code, message) in
        [(404, "no_pet", "There is no such pet."), (409, "refused", "No.")]
    {
        let failure = call(&client, &DECLARED, &format!("{{\"status\": {status}}}")).await;
        let failure = failure.expect_err("no success");
        assert_eq!((failure.code.as_deref(), failure.message.as_str()), (Some(code), message));
        assert!(failure.detail.is_some_and(|detail| detail.contains("SELECT")));
    }
    let (kind, ..) = failure_of(call(&client, &DECLARED, "{\"status\": 500}").await);
    assert_eq!(kind, FailureKind::Unavailable);
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn results_are_json_text_or_nothing() {
    static JSON: Operation = Operation::new("json", Verb::Get, &[Part::Text("/")]);
    static TEXT: Operation =
        Operation { answer: Answer::Text, ..Operation::new("text", Verb::Get, &[Part::Text("/")]) };
    static NOTHING: Operation = Operation {
        answer: Answer::Nothing,
        ..Operation::new("nothing", Verb::Get, &[Part::Text("/")])
    };
    let table = [
        (&JSON, answer("200 OK", r#"{"a": 1.50}"#), r#"{"a":1.50}"#),
        (&JSON, answer("201 Created", " \n"), "null"),
        (&JSON, "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(), "null"),
        (&TEXT, answer("200 OK", "{\"a\": \"é\"}"), r#""{\"a\": \"é\"}""#),
        (&NOTHING, answer("202 Accepted", "<html>"), "null"),
    ];
    for (operation, sent, expected) in table {
        let (base, _) = raw(vec![sent.clone()]).await;
        let result = call(&client(&base), operation, "{}").await.expect(&sent);
        assert_eq!(result.to_string(), expected, "{sent}");
    }
}

static GET: Operation = Operation::new("get", Verb::Get, &[Part::Text("/"), Part::Property("to")]);
static POST: Operation =
    Operation::new("post", Verb::Post, &[Part::Text("/"), Part::Property("to")]);

#[tokio::test]
async fn a_redirect_that_repeats_a_key_gets_it_once() {
    let slash = |uri: Uri| async move { Redirect::temporary(&uri.to_string().replace('?', "/?")) };
    let echo = |uri: Uri| async move { format!("\"{uri}\"") };
    let router = Router::new().route("/a", get(slash)).fallback(echo);
    let credentials = Credentials::query("api key", "k/2");
    let client = Client::builder(serve(router).await).with_credentials(credentials);
    let result = call(&client.build().expect("a client"), &GET, r#"{"to": "a"}"#).await;
    assert_eq!(result, Ok(Value::String("/a/?api%20key=k%2F2".to_owned())));
}

#[tokio::test]
async fn redirects_stay_on_their_server_and_keep_the_method_of_writes() {
    let elsewhere = serve(Router::new().fallback(|| async { "stolen" })).await;
    let router = Router::new()
        .route("/here", any(|| async { Redirect::temporary("/end?x=1") }))
        .route(
            "/end",
            get(|headers: HeaderMap| async move {
                let key = headers.get("x-key").map_or("", |key| key.to_str().unwrap_or_default());
                format!("\"{key}\"")
            }),
        )
        .route("/away", any(move || async move { Redirect::temporary(&elsewhere) }))
        .route("/round", any(|| async { Redirect::temporary("/round") }))
        .route(
            "/moved",
            any(|| async { (StatusCode::FOUND, [(header::LOCATION, "/end")]).into_response() }),
        )
        .route("/other", any(|| async { Redirect::to("/end") }));
    let client =
        Client::builder(serve(router).await).with_credentials(Credentials::header("X-Key", "k"));
    let client = client.build().expect("a client");
    let key = Ok(Value::String("k".to_owned()));
    assert_eq!(call(&client, &GET, r#"{"to": "here"}"#).await, key);
    assert_eq!(call(&client, &GET, r#"{"to": "moved"}"#).await, key);
    // 303 changes the method to GET (RFC 9110, section 15.4.4).
    assert_eq!(call(&client, &POST, r#"{"to": "other"}"#).await, key);
    for (operation, to) in [(&GET, "away"), (&GET, "round"), (&POST, "moved"), (&POST, "away")] {
        let (kind, message, detail) =
            failure_of(call(&client, operation, &format!("{{\"to\": \"{to}\"}}")).await);
        // A POST may have taken effect before it was redirected.
        let is_post = operation == &POST;
        let expected = if is_post { FailureKind::Internal } else { FailureKind::Unavailable };
        assert_eq!(kind, expected, "{to}: {message} {detail}");
        assert!(!detail.contains("stolen"), "{detail}");
    }
}
