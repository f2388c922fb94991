//! Test servers: one that returns its request, and one that sends given bytes.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Serves a description of each request as JSON.
pub(crate) async fn echo() -> String {
    let describe = |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
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
    serve(Router::new().fallback(describe)).await
}

/// Serves a router until the test ends.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// The heads of the requests that a raw server received.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// Answers each connection with the next of these texts, and closes it.
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

/// Reads the head of a request.
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

/// Converts the result of an echo server.
pub(crate) fn value(result: &toolwright::Value) -> Value {
    serde_json::from_str(&result.to_string()).expect("it is JSON")
}
