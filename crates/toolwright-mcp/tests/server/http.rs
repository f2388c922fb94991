//! Tests the HTTP transport: hosts, origins, tokens, sessions, headers and bodies.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{BearerLayer, HttpOptions};

use crate::lab::lab;
use crate::wire::{ACCEPT, HOST, JSON, META, MODERN, Response, send, served};

async fn call_of(address: SocketAddr, more: &[(&str, &str)], tool: &str, args: &str) -> Response {
    let mut headers = MODERN.to_vec();
    headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]);
    headers.extend(more);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{args},{META}}}}}"#
    );
    send(address, "POST", &headers, &body).await
}

async fn call(address: SocketAddr, more: &[(&str, &str)]) -> Response {
    call_of(address, more, "echo", r#"{"a":1}"#).await
}

fn initialize() -> String {
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#)
}

#[tokio::test]
async fn a_request_of_2026_07_28_needs_no_session_and_gets_json() {
    let response = call(served(HttpOptions::new()).await, &[]).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert!(response.body.contains(r#""structuredContent":{"a":1}"#), "{}", response.body);
    assert_eq!(response.header("mcp-session-id"), None);
}

/// Serde_json represents raw values by objects with a certain key.
#[tokio::test]
async fn structured_content_is_the_value_of_the_text_whatever_its_keys_are() {
    let address = served(HttpOptions::new()).await;
    for value in [r#""{\"x\":1}""#, "7", r#""not json""#] {
        let result = format!(r#"{{"d":{{"$serde_json::private::RawValue":{value}}}}}"#);
        let response = call_of(address, &[], "echo", &result).await;
        let expected = format!(r#""structuredContent":{result}"#);
        assert!(response.body.contains(&expected), "{}", response.body);
    }
}

#[tokio::test]
async fn initialize_opens_a_session_for_calls() {
    let address = served(HttpOptions::new()).await;
    let headers = [HOST, JSON, ACCEPT];
    let response = send(address, "POST", &headers, &initialize()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"old"}}"#;
    let headers = [HOST, JSON, ACCEPT, ("Mcp-Session-Id", session.as_str())];
    let response = send(address, "POST", &headers, call).await;
    assert!(response.body.contains(r#""text":"24""#), "it has a session id: {}", response.body);
    let ended = send(address, "DELETE", &headers, "").await;
    assert_eq!(ended.status, 202);
    assert_eq!(send(address, "POST", &headers, call).await.status, 404, "the session is over");
}

#[tokio::test]
async fn a_stateless_request_has_no_session_id_unless_the_host_sets_one() {
    let address = served(HttpOptions::new()).await;
    assert!(call_of(address, &[], "old", "{}").await.body.contains(r#""text":"0""#));
    let options = HttpOptions::new().with_scope(|request, scope| {
        let user = request.headers.get("x-user").and_then(|user| user.to_str().ok());
        scope.session_id = user.map(str::to_owned);
    });
    let address = served(options).await;
    let response = call_of(address, &[("X-User", "ann")], "old", "{}").await;
    assert!(response.body.contains(r#""text":"3""#), "{}", response.body);
}

#[tokio::test]
async fn another_host_or_origin_is_forbidden() {
    let address = served(HttpOptions::new()).await;
    let mut headers = vec![("Host", "evil.example")];
    headers.extend(&MODERN[1..]);
    assert_eq!(send(address, "POST", &headers, "{}").await.status, 403);
    for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
        assert_eq!(call(address, &[("Origin", origin)]).await.status, 403, "{origin}");
    }
    for origin in ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:1"] {
        assert_eq!(call(address, &[("Origin", origin)]).await.status, 200, "{origin}");
    }
}

#[tokio::test]
async fn only_allowed_hosts_and_origins_are_accepted() {
    let options = HttpOptions::new()
        .with_allowed_hosts(["tools.example"])
        .with_allowed_origins(["https://app.example:443"]);
    let address = served(options).await;
    assert_eq!(call(address, &[]).await.status, 403, "localhost is no longer allowed");
    let options =
        HttpOptions::new().with_any_host().with_allowed_origins(["https://app.example:443"]);
    let address = served(options).await;
    assert_eq!(call(address, &[("Origin", "https://app.example")]).await.status, 200);
    assert_eq!(call(address, &[("Origin", "http://localhost")]).await.status, 403);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let address = served(HttpOptions::new().with_max_body(2_000)).await;
    assert_eq!(call(address, &[]).await.status, 200);
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(2_000));
    assert_eq!(call_of(address, &[], "echo", &long).await.status, 413);
}

#[tokio::test]
async fn a_missing_or_invalid_token_gets_a_challenge() {
    #[derive(Clone)]
    struct User(&'static str);
    let bearer = BearerLayer::new(|token| async move {
        tokio::task::yield_now().await;
        (token == "sesame").then_some(User("ali"))
    });
    let bearer = bearer.with_resource_metadata("https://tools.example/meta").unwrap();
    let options = HttpOptions::new().with_bearer(bearer).with_scope(|request, scope| {
        let user: Option<&User> = request.extensions.get();
        scope.session_id = user.map(|user| user.0.to_owned());
    });
    let address = served(options).await;
    let meta = r#"resource_metadata="https://tools.example/meta""#;
    for (header, challenge) in [
        (("X-None", "x"), format!("Bearer {meta}")),
        (("Authorization", "Basic c2VzYW1l"), format!("Bearer {meta}")),
        (("Authorization", "Bearer "), format!("Bearer {meta}")),
        (("Authorization", "Bearer guess"), format!(r#"Bearer error="invalid_token", {meta}"#)),
    ] {
        let response = call(address, &[header]).await;
        assert_eq!(response.status, 401, "{header:?}");
        assert_eq!(response.header("www-authenticate"), Some(challenge.as_str()), "{header:?}");
        assert_eq!(response.body, "");
    }
    let response = call_of(address, &[("Authorization", "bearer sesame")], "old", "{}").await;
    assert_eq!(response.status, 200);
    assert!(response.body.contains(r#""text":"3""#), "the caller is known: {}", response.body);
}

#[tokio::test]
async fn a_shutdown_ends_the_server_and_its_open_streams() {
    let stop = CancellationToken::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = HttpOptions::new().with_shutdown(stop.clone());
    let serving = tokio::spawn(lab().serve_listener(listener, options));
    let headers = [HOST, JSON, ACCEPT];
    let response = send(address, "POST", &headers, &initialize()).await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let listening = tokio::spawn(async move {
        let headers = [HOST, ("Accept", "text/event-stream"), ("Mcp-Session-Id", &session)];
        send(address, "GET", &headers, "").await.status
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!listening.is_finished());
    stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), serving).await;
    ended.expect("it ends").unwrap().unwrap();
    assert_eq!(listening.await.unwrap(), 200);
}

#[tokio::test]
async fn the_stream_of_a_session_has_list_notifications() {
    let mut server = lab();
    let (list, stop) = (server.tool_list(), CancellationToken::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = HttpOptions::new().with_shutdown(stop.clone());
    let serving = tokio::spawn(server.serve_listener(listener, options));
    let response = send(address, "POST", &[HOST, JSON, ACCEPT], &initialize()).await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let headers = [HOST, JSON, ACCEPT, ("Mcp-Session-Id", session.as_str())];
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for _ in 0..2 {
        assert_eq!(send(address, "POST", &headers, initialized).await.status, 202);
    }
    let stream = session.clone();
    let listening = tokio::spawn(async move {
        let headers = [HOST, ("Accept", "text/event-stream"), ("Mcp-Session-Id", &stream)];
        send(address, "GET", &headers, "").await.body
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    list.hide("echo").unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stop.cancel();
    serving.await.unwrap().unwrap();
    let events = listening.await.unwrap();
    let times = events.matches("notifications/tools/list_changed").count();
    assert_eq!(times, 1, "{events}");
}

/// A call in a session is answered as a stream, which without TCP_NODELAY waits 40 ms for an acknowledgment.
#[tokio::test]
async fn a_call_does_not_wait_for_delayed_acknowledgments() {
    let address = served(HttpOptions::new()).await;
    let response = send(address, "POST", &[HOST, JSON, ACCEPT], &initialize()).await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let since = std::time::Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut read = String::new();
        while !read.ends_with("\r\n0\r\n\r\n") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).await.unwrap();
            assert_ne!(length, 0, "{read}");
            read += std::str::from_utf8(&part[..length]).unwrap();
        }
        assert!(read.contains(r#""text":"0""#), "{read}");
        fastest = fastest.min(since.elapsed());
    }
    assert!(fastest < Duration::from_millis(20), "{fastest:?}");
}

#[tokio::test]
async fn a_malformed_message_gets_400_with_a_json_error() {
    let address = served(HttpOptions::new()).await;
    for (body, code) in [("{", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1}"#, -32600)] {
        let response = send(address, "POST", &MODERN, body).await;
        assert_eq!(response.status, 400, "{body}");
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert!(response.body.contains(&format!(r#""code":{code}"#)), "{}", response.body);
    }
}

/// They are kept as long as the request, and are in each message about it.
#[tokio::test]
async fn ids_and_progress_tokens_are_short() {
    let address = served(HttpOptions::new()).await;
    let called = async |id: String, token: String| {
        let meta = META.replace("\"_meta\":{", &format!("\"_meta\":{{\"progressToken\":{token},"));
        let params = format!(r#"{{"name":"old","arguments":{{}},{meta}}}"#);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        let more = [("Mcp-Method", "tools/call"), ("Mcp-Name", "old")];
        send(address, "POST", &[&MODERN[..], &more].concat(), &body).await
    };
    let text = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    assert_eq!(called(text(1024), text(1024)).await.status, 200);
    let refused = called(text(1025), text(3)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("`id` is too long"), "{}", refused.body);
    assert!(!refused.body.contains("xxx"), "{}", refused.body);
    let refused = called("1".to_owned(), text(1025)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("`progressToken` is too long"), "{}", refused.body);
    for rest in [r#""jsonrpc":"1.0","method":"ping""#, r#""jsonrpc":"2.0""#] {
        let body = format!(r#"{{"id":{},{rest}}}"#, text(1025));
        let refused = send(address, "POST", &MODERN, &body).await;
        assert!(
            refused.body.contains("error") && !refused.body.contains("xxx"),
            "{}",
            refused.body
        );
    }
}

/// rmcp keeps them as trees, which take many times their bytes, as long as the request.
#[tokio::test]
async fn metadata_and_parameters_of_requests_are_short() {
    let address = served(HttpOptions::new()).await;
    for (method, name, length, status) in [
        ("tools/call", "old", 63, 200),
        ("tools/call", "old", 65, 400),
        ("subscriptions/listen", "", 65, 400),
        ("tools/list", "", 65, 400),
    ] {
        let more = format!("\"_meta\":{{\"a\":[{}0],", "0,".repeat(length << 9));
        let meta = META.replace("\"_meta\":{", &more);
        let params = format!(r#"{{"name":"{name}","arguments":{{}},{meta}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let more = [("Mcp-Method", method), ("Mcp-Name", name)];
        let response = send(address, "POST", &[&MODERN[..], &more].concat(), &body).await;
        let is_refused = response.body.contains("is too long, expected at most 65536 bytes");
        assert_eq!((response.status, is_refused), (status, status == 400), "{}", response.body);
    }
}

/// The error is ours, though rmcp refuses the body.
#[tokio::test]
async fn metadata_that_is_nested_too_deep_gets_400_with_a_json_error() {
    let address = served(HttpOptions::new()).await;
    let deep = [r#"{"a":"#.repeat(200), "1".to_owned(), "}".repeat(200)].concat();
    let deep = format!(r#"{{"io.modelcontextprotocol/a":{deep}}}"#);
    for method in ["tools/call", "tools/list"] {
        let params = format!(r#"{{"name":"echo","_meta":{deep}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        let response = send(address, "POST", &MODERN, &body).await;
        assert_eq!(response.status, 400, "{}", response.body);
        let message = format!("`params` are not those of `{method}`");
        assert!(response.body.contains(r#""code":-32602"#), "{}", response.body);
        assert!(response.body.contains(&message), "{}", response.body);
    }
}

/// RFC 8259, section 8.1.
#[tokio::test]
async fn a_byte_order_mark_is_ignored() {
    let address = served(HttpOptions::new()).await;
    for (method, params) in [("server/discover", ""), ("tools/call", r#""name":"old","#)] {
        let params = format!("{{{params}{META}}}");
        let body = format!(
            "\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{method}\",\"params\":{params}}}"
        );
        let mut headers = [&MODERN[..], &[("Mcp-Method", method)]].concat();
        headers.extend((method == "tools/call").then_some(("Mcp-Name", "old")));
        let response = send(address, "POST", &headers, &body).await;
        assert_eq!(response.status, 200, "{}", response.body);
    }
}

/// The body of a request with invalid headers is not read.
#[tokio::test]
async fn headers_are_checked_before_the_body_is_read() {
    let address = served(HttpOptions::new()).await;
    let mut wrong = vec![HOST, JSON];
    assert_eq!(send(address, "POST", &wrong, "{").await.status, 406, "no Accept");
    wrong[0] = ("Host", "evil.example");
    assert_eq!(send(address, "POST", &wrong, "{").await.status, 403);
    let text = [HOST, ACCEPT, ("Content-Type", "text/plain")];
    assert_eq!(send(address, "POST", &text, "{").await.status, 415);
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let address = served(HttpOptions::new()).await;
    for (name, value) in [("Mcp-Method", "tools/list"), ("Mcp-Name", "count")] {
        let mut headers = MODERN.to_vec();
        headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")]);
        headers.retain(|(known, _)| *known != name);
        headers.push((name, value));
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{}},{META}}}}}"#
        );
        let response = send(address, "POST", &headers, &body).await;
        assert_eq!(response.status, 400, "{name}");
        assert!(response.body.contains("-32020"), "{}", response.body);
    }
}

/// An argument with `x-mcp-header` is compared with its header, and still reaches its codec as it was sent.
#[tokio::test]
async fn an_argument_that_contradicts_its_header_is_refused() {
    let address = served(HttpOptions::new()).await;
    for (region, status) in [("eu", 200), ("us", 400)] {
        let args = r#"{"region":"eu","more":100000000000000000000000}"#;
        let response = call_of(address, &[("Mcp-Param-Region", region)], "regional", args).await;
        assert_eq!(response.status, status, "{}", response.body);
        assert_eq!(response.body.contains("100000000000000000000000"), status == 200);
    }
    assert_eq!(call_of(address, &[], "regional", r#"{"region":"eu"}"#).await.status, 400);
}

#[tokio::test]
async fn a_panic_in_the_hosts_scope_function_is_an_internal_error() {
    let options = HttpOptions::new().with_scope(|_, _| panic!("for this test"));
    let response = call(served(options).await, &[]).await;
    assert!(response.body.contains("-32603"), "{}", response.body);
    assert!(!response.body.contains("for this test"));
}
