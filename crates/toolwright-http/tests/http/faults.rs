//! Services that are slow, silent, or send broken or too large responses. Each call fails in time and shows no secret.

use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use toolwright::{FailureKind, Recovery};
use toolwright_http::operation::{Operation, Part, Verb};
use toolwright_http::{Client, ClientBuilder, Credentials};

use crate::server::{head, raw};
use crate::{call, failure_of};

static GET: Operation = Operation::new("get", Verb::Get, &[Part::Text("/")]);

fn hasty(base: &str) -> ClientBuilder {
    Client::builder(base)
        .with_credentials(Credentials::query("key", "s3cret"))
        .with_timeout(Duration::from_millis(300))
        .with_max_answer(1000)
}

/// Returns the failure of a call, and checks that the call ends in time.
async fn failure(base: &str) -> (FailureKind, String, String) {
    let client = hasty(base).build().expect("a client");
    let start = Instant::now();
    let (kind, message, detail) = failure_of(call(&client, &GET, "{}").await);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert!(!message.contains("s3cret") && !detail.contains("s3cret"), "{message} {detail}");
    (kind, message, detail)
}

#[tokio::test]
async fn a_service_that_never_answers_is_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    assert_eq!(failure(&base).await.0, FailureKind::Timeout);
}

#[tokio::test]
async fn a_body_that_never_ends_is_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        let (mut stream, _) = listener.accept().await.expect("a caller");
        head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n[1,")
            .await
            .expect("it listens");
        tokio::time::sleep(Duration::from_mins(1)).await;
    });
    assert_eq!(failure(&base).await.0, FailureKind::Timeout);
}

/// Returns an address without a server.
async fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    format!("http://{}", listener.local_addr().expect("it is bound"))
}

#[tokio::test]
async fn a_closed_port_is_unavailable() {
    assert_eq!(failure(&closed_port().await).await.0, FailureKind::Unavailable);
}

/// Each case has the answers of a service to the connections of one call, and whether the call may have taken effect.
#[tokio::test]
async fn a_call_that_may_have_taken_effect_is_repeated_only_if_its_method_is_idempotent() {
    static POST: Operation = Operation::new("post", Verb::Post, &[Part::Text("/")]);
    static PUT: Operation = Operation::new("put", Verb::Put, &[Part::Text("/")]);
    let status = |line: &str| format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n");
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n[1,".to_owned();
    let moved = status("303 See Other\r\nlocation: /done\r\nconnection: close");
    let table = [
        (vec![], false, FailureKind::Unavailable, "cannot be reached"),
        (vec![String::new()], true, FailureKind::Unavailable, "broke off its answer"),
        (vec![cut], true, FailureKind::Unavailable, "broke off its answer"),
        (vec![status("502 No")], true, FailureKind::Unavailable, "cannot answer now"),
        (vec![status("500 No")], true, FailureKind::Unavailable, "cannot answer now"),
        (vec![status("524 No")], true, FailureKind::Unavailable, "cannot answer now"),
        (vec![status("503 No")], false, FailureKind::Unavailable, "cannot answer now"),
        (vec![status("504 No")], true, FailureKind::Timeout, "took too long"),
        (vec![moved.clone()], true, FailureKind::Unavailable, "cannot be reached"),
        (
            vec![moved.clone(), String::new()],
            true,
            FailureKind::Unavailable,
            "broke off its answer",
        ),
        (vec![moved, status("503 No")], true, FailureKind::Unavailable, "cannot answer now"),
    ];
    for (answers, may_have_run, kind, problem) in table {
        for operation in [&POST, &PUT] {
            let base =
                if answers.is_empty() { closed_port().await } else { raw(answers.clone()).await.0 };
            let client = hasty(&base).build().expect("a client");
            let failure = call(&client, operation, "{}").await.expect_err("no success");
            let context = format!("{answers:?}, {}: {}", operation.name, failure.message);
            if may_have_run && operation == &POST {
                assert_eq!(failure.recovery, Recovery::Replan, "{context}");
                assert_eq!(failure.kind.is_transient(), kind == FailureKind::Timeout, "{context}");
                assert!(failure.message.contains("may have taken effect"), "{context}");
            } else {
                assert_eq!((failure.kind, failure.recovery), (kind, Recovery::Retry), "{context}");
                assert!(failure.message.contains(problem), "{context}");
            }
        }
    }
}

#[tokio::test]
async fn a_post_that_is_redirected_elsewhere_may_have_taken_effect() {
    static POST: Operation = Operation::new("post", Verb::Post, &[Part::Text("/")]);
    for status in [300, 301, 302, 303, 304, 305, 307, 308] {
        for location in ["", "location: http://other.example/\r\n"] {
            let answer = format!("HTTP/1.1 {status} Moved\r\n{location}content-length: 0\r\n\r\n");
            let (base, _) = raw(vec![answer.clone()]).await;
            let client = hasty(&base).build().expect("a client");
            let failure = call(&client, &POST, "{}").await.expect_err("no success");
            assert!(!failure.kind.is_transient(), "{answer}{}", failure.message);
            assert!(
                failure.message.contains("may have taken effect"),
                "{answer}{}",
                failure.message
            );
        }
    }
}

#[tokio::test]
async fn a_post_without_an_answer_in_time_may_have_taken_effect() {
    static POST: Operation = Operation::new("post", Verb::Post, &[Part::Text("/")]);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    let client = hasty(&base).build().expect("a client");
    let failure = call(&client, &POST, "{}").await.expect_err("no success");
    assert_eq!((failure.kind, failure.recovery), (FailureKind::Timeout, Recovery::Replan));
    assert!(failure.message.contains("may have taken effect"), "{}", failure.message);
}

#[tokio::test]
async fn arguments_that_are_too_long_for_an_address_are_an_invalid_call() {
    static ITEM: Operation =
        Operation::new("item", Verb::Get, &[Part::Text("/"), Part::Property("id")]);
    let client = hasty(&closed_port().await).build().expect("a client");
    let payload = format!("{{\"id\": \"{}\"}}", "x".repeat(100_000));
    let (kind, message, detail) = failure_of(call(&client, &ITEM, &payload).await);
    assert_eq!(kind, FailureKind::InvalidCall, "{message} {detail}");
    assert!(message.contains("too long for an address"), "{message}");
}

#[tokio::test]
async fn each_broken_response_has_its_kind_of_failure() {
    let huge = format!("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n\"{}\"", "x".repeat(4998));
    let table = [
        ("", FailureKind::Unavailable),
        ("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n[1,", FailureKind::Unavailable),
        ("nonsense\r\n\r\n", FailureKind::Unavailable),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n[1,", FailureKind::MalformedResult),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\u{7f}\u{7f}", FailureKind::MalformedResult),
        (huge.as_str(), FailureKind::MalformedResult),
        ("HTTP/1.1 500 No\r\ncontent-length: 6\r\n\r\ns3cret", FailureKind::Unavailable),
    ];
    for (answer, kind) in table {
        let (base, _) = raw(vec![answer.to_owned()]).await;
        let (found, message, detail) = failure(&base).await;
        assert_eq!(found, kind, "{answer:.60}: {message} {detail}");
    }
}

#[tokio::test]
async fn a_response_of_the_maximum_size_is_accepted_and_a_larger_one_is_not() {
    for (size, is_taken) in [(1000, true), (1001, false)] {
        let body = format!("\"{}\"", "x".repeat(size - 2));
        let (base, seen) =
            raw(vec![format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n{body}")]).await;
        let client = hasty(&base).build().expect("a client");
        assert_eq!(call(&client, &GET, "{}").await.is_ok(), is_taken, "{size}");
        let seen = seen.lock().expect("no test panicked").concat();
        assert!(seen.starts_with("GET /?key=s3cret HTTP/1.1\r\n"), "{seen}");
    }
}

#[tokio::test]
async fn a_call_may_have_the_longest_time_limit() {
    let base = crate::server::echo().await;
    let client = Client::builder(&base).with_timeout(Duration::MAX).build().expect("a client");
    call(&client, &GET, "{}").await.expect("an answer");
}
