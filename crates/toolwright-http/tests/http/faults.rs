//! Services that are slow, silent, or send broken or too large responses. Each call fails in time and shows no secret.

use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use toolwright::FailureKind;
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

#[tokio::test]
async fn a_closed_port_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    drop(listener);
    assert_eq!(failure(&base).await.0, FailureKind::Unavailable);
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
