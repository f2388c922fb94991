//! Tests of `fetch`: documents are fetched from allowed hosts only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use toolwright::{FailureKind, ToolFailure};
use toolwright_builtins::fetch::{Fetch, FetchBuilder};

use crate::call;

/// A local server that responds to each path with a function.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(answer: impl Fn(&str) -> String + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut request = vec![0; 10_000];
                    let read = stream.read(&mut request).await.unwrap();
                    let request = String::from_utf8_lossy(&request[..read]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default();
                    let answer = answer(path);
                    if path == "/slow" {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                    let _ = stream.write_all(answer.as_bytes()).await;
                    if path == "/endless" {
                        while stream.write_all(&[b'x'; 1000]).await.is_ok() {}
                    }
                    if path == "/never" {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { port, connections, task }
    }

    /// Starts a server that responds with a document to every path.
    async fn of_text() -> Self {
        Self::start(|_| document("hello")).await
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn document(text: &str) -> String {
    let length = text.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    )
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

async fn get(fetch: FetchBuilder, url: &str) -> Result<serde_json::Value, ToolFailure> {
    call(&fetch.build().unwrap().toolset(), "fetch_url", json!({ "url": url })).await
}

#[tokio::test]
async fn r5_a_private_host_is_allowed_at_its_listed_port() {
    let server = Server::of_text().await;
    let url = format!("http://{}/a", server.host());
    let allowed = Fetch::builder().with_private_host(&server.host());
    let expected = json!({
        "url": url, "status": 200, "content_type": "text/plain", "text": "hello", "is_cut_off": false
    });
    assert_eq!(get(allowed, &url).await.unwrap(), expected);
    let by_name = format!("localhost:{}", server.port);
    let allowed = Fetch::builder().with_private_host(&by_name);
    assert_eq!(get(allowed, &format!("http://{by_name}/a")).await.unwrap()["text"], "hello");
}

/// R5: even if it is also listed as a public host.
#[tokio::test]
async fn r5_a_private_host_is_allowed_at_no_other_port() {
    let (server, other) = (Server::of_text().await, Server::of_text().await);
    for name in ["127.0.0.1", "localhost"] {
        let allowed = Fetch::builder()
            .with_private_host(&format!("{name}:{}", server.port))
            .with_host(&format!("{name}:{}", other.port));
        let failure = get(allowed, &format!("http://{name}:{}/", other.port)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
    }
    assert_eq!(other.connections(), 0);
}

/// R5: the hosts are listed as public ones, and so must have public addresses.
#[tokio::test]
async fn r5_no_form_of_a_private_address_is_fetched() {
    let server = Server::of_text().await;
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fd00::1]",
        "[fe80::1]",
        "①②⑦.0.0.1",
        "ⓛocalhost",
    ];
    for host in hosts {
        let host = format!("{host}:{}", server.port);
        let fetch = Fetch::builder().with_host(&host).with_any_public_host();
        let failure = get(fetch, &format!("http://{host}/")).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{host}: {failure}: {:?}", failure.detail);
        assert!(
            failure.message.ends_with("only documents from public addresses may be fetched"),
            "{failure}"
        );
    }
    // Some systems do not resolve this name.
    let host = format!("localhost.:{}", server.port);
    assert!(get(Fetch::builder().with_host(&host), &format!("http://{host}/")).await.is_err());
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn r5_a_host_that_is_not_listed_is_refused() {
    let server = Server::of_text().await;
    let listed = || {
        Fetch::builder().with_host("docs.rs").with_host("*.example.org").with_host("a.test:8443")
    };
    for url in [
        &format!("http://{}/", server.host()),
        "http://docs.rs.evil.test/",
        "http://evildocs.rs/",
        "http://www.docs.rs/",
        "http://example.org/",
        "http://evil-example.org/",
        "http://docs.rs:22/",
        "http://a.test/",
        "http://a.test:8444/",
    ] {
        let failure = get(listed(), url).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{url}: {failure}");
    }
    let failure = get(listed(), "http://crates.io/").await.unwrap_err();
    assert_eq!(
        failure.message,
        "documents from `crates.io:80` may not be fetched, expected *.example.org, a.test:8443, docs.rs"
    );
    let failure = get(Fetch::builder(), "http://docs.rs/").await.unwrap_err();
    assert_eq!(
        failure.message,
        "documents from `docs.rs:80` may not be fetched, expected no host at all"
    );
    let failure =
        get(Fetch::builder().with_any_public_host(), "http://8.8.8.8:53/").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
}

#[tokio::test]
async fn r5_only_http_urls_without_credentials_are_fetched() {
    let anything = || Fetch::builder().with_any_public_host();
    for url in [
        "file:///etc/passwd",
        "ftp://docs.rs/",
        "gopher://docs.rs/",
        "data:text/plain,x",
        "unix:/run/docker.sock",
    ] {
        let failure = get(anything(), url).await.unwrap_err();
        assert!(failure.message.ends_with("expected `http` or `https`"), "{failure}");
    }
    for url in [
        "http://user:secret@docs.rs/",
        "http://user@docs.rs/",
        "http://:secret@docs.rs/",
        "ftp://user:secret@docs.rs/",
    ] {
        let failure = get(anything(), url).await.unwrap_err();
        assert_eq!(failure.message, "the URL has a user name or a password, expected neither");
    }
    let failure = get(anything(), "docs.rs/serde").await.unwrap_err();
    assert!(failure.message.starts_with("the URL is not valid: "), "{failure}");
}

#[tokio::test]
async fn r5_every_redirect_is_checked() {
    let secret = Server::of_text().await;
    let port = secret.port;
    let server = Server::start(move |path| match path {
        "/address" => redirect(&format!("http://127.0.0.1:{port}/")),
        "/name" => redirect(&format!("http://localhost:{port}/")),
        "/mapped" => redirect(&format!("http://[::ffff:127.0.0.1]:{port}/")),
        "/decimal" => redirect(&format!("//2130706433:{port}/")),
        "/file" => redirect("file:///etc/passwd"),
        "/user" => redirect("http://user:secret@docs.rs/"),
        "/ftp" => redirect("ftp://user:secret@docs.rs/"),
        "/again" => redirect("/address"),
        "/loop" => redirect("/loop"),
        "/moved" => redirect("here"),
        _ => document("hello"),
    })
    .await;
    // The names are listed as public hosts, so that they are refused only because of their addresses. `127.0.0.1` is
    // allowed only at another port.
    let allowed = || {
        let hosts = ["localhost", "[::ffff:127.0.0.1]"].map(|host| format!("{host}:{port}"));
        let fetch = Fetch::builder().with_private_host(&server.host()).with_any_public_host();
        hosts.iter().fold(fetch, |fetch, host| fetch.with_host(host))
    };
    for path in ["/address", "/name", "/mapped", "/decimal", "/file", "/user", "/ftp", "/again"] {
        let failure = get(allowed(), &format!("http://{}{path}", server.host())).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{path}: {failure}");
        assert!(!failure.to_string().contains("secret"), "{failure}");
    }
    assert_eq!(secret.connections(), 0);
    let found = get(allowed(), &format!("http://{}/moved", server.host())).await.unwrap();
    assert_eq!(found["url"], format!("http://{}/here", server.host()));
    let before = server.connections();
    let failure = get(allowed(), &format!("http://{}/loop", server.host())).await.unwrap_err();
    assert!(
        failure.message.starts_with("there were more than 5 redirects, the last to "),
        "{failure}"
    );
    assert_eq!(server.connections() - before, 6);
}

#[tokio::test]
async fn r5_hidden_characters_of_a_document_become_visible() {
    let server =
        Server::start(|_| document("\u{feff}two\r\nlines\u{200b}\u{1b}[2J\u{e0041}")).await;
    let fetch = Fetch::builder().with_private_host(&server.host());
    let found = get(fetch, &format!("http://{}/", server.host())).await.unwrap();
    assert_eq!(found["text"], "two\r\nlines\u{fffd}\u{fffd}[2J\u{fffd}");
}

#[tokio::test]
async fn r5_a_document_is_read_up_to_its_limits() {
    let server = Server::start(|path| match path {
        "/endless" => "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_owned(),
        "/never" => String::new(),
        "/missing" => "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone".to_owned(),
        "/binary" => {
            "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 3\r\n\r\na\0b".to_owned()
        }
        _ => document("hello"),
    })
    .await;
    let allowed = || Fetch::builder().with_private_host(&server.host()).with_size_limit(2000);
    let url = |path: &str| format!("http://{}{path}", server.host());
    let found = get(allowed(), &url("/endless")).await.unwrap();
    assert_eq!((found["text"].as_str().unwrap().len(), &found["is_cut_off"]), (2000, &json!(true)));
    let found = get(allowed(), &url("/missing")).await.unwrap();
    assert_eq!((&found["status"], &found["text"]), (&json!(404), &json!("none")));
    let failure = get(allowed(), &url("/binary")).await.unwrap_err();
    assert_eq!(
        failure.message,
        format!("`{}` is binary (image/png), expected text", url("/binary"))
    );
    let since = Instant::now();
    let hasty = allowed().with_size_limit(usize::MAX).with_time_limit(Duration::from_millis(300));
    for path in ["/never", "/endless"] {
        let failure = get(hasty.clone(), &url(path)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout, "{path}: {failure}");
    }
    assert!(since.elapsed() < Duration::from_secs(20));
}

/// R5: each redirect alone is within the limit.
#[tokio::test]
async fn r5_the_time_limit_includes_redirects() {
    let server = Server::start(|_| redirect("/slow")).await;
    let fetch = Fetch::builder().with_private_host(&server.host());
    let fetch = fetch.with_time_limit(Duration::from_millis(500));
    let failure = get(fetch, &format!("http://{}/slow", server.host())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
    assert!(server.connections() > 1, "it was redirected");
}

/// R5: headers cannot be used to get around the size limit.
#[tokio::test]
async fn r5_the_headers_of_a_document_are_limited() {
    let long = "x".repeat(5000);
    let server = Server::start(move |path| match path {
        "/moved" => redirect(&format!("/{long}")),
        _ => format!("HTTP/1.1 200 OK\r\ncontent-type: {long}\r\ncontent-length: 0\r\n\r\n"),
    })
    .await;
    let allowed = || Fetch::builder().with_private_host(&server.host());
    let found = get(allowed(), &format!("http://{}/", server.host())).await.unwrap();
    assert_eq!(found["content_type"], "x".repeat(200));
    let failure = get(allowed(), &format!("http://{}/moved", server.host())).await.unwrap_err();
    assert!(failure.message.ends_with("bytes, expected at most 4096"), "{failure}");
    assert_eq!(server.connections(), 2);
}
