//! Servers on this machine: one that says what it was sent, one that sends what it is told. Never judges either.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Answers every request with what it was.
pub(crate) async fn echo() -> String {
    let said = |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
        let header = |name: &str| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        json!({
            "method": method.as_str(),
            "path": uri.path(),
            "query": uri.query(),
            "body": String::from_utf8_lossy(&body),
            "type": header("content-type"),
            "trace": header("x-trace"),
            "cookie": header("cookie"),
            "authorization": header("authorization"),
            "key": header("x-key"),
        })
        .to_string()
    };
    serve(Router::new().fallback(said)).await
}

/// Serves a router until the test ends.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// What a raw server was sent: one text a request.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// Reads each request to the end of its head, answers with these bytes and closes.
pub(crate) async fn raw(answers: Vec<String>) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let head = head(&mut stream).await;
            log.lock().expect("no test panicked").push(head);
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (format!("http://{address}"), seen)
}

/// The head of a request.
pub(crate) async fn head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => read.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// What the echo said, as a value of the test.
pub(crate) fn value(result: &toolwright::Value) -> Value {
    serde_json::from_str(&result.to_string()).expect("it is JSON")
}
