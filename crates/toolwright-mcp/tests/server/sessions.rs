//! HTTP sessions: their owners, limits and end.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolwright_mcp::{BearerLayer, Counters, HttpOptions, Limits};
use tower::ServiceExt as _;
use tower::util::Oneshot;

use crate::lab::{Lab, lab, lab_with};
use crate::wire::{
    ACCEPT, HOST, INITIALIZE, JSON, Response, in_session, initialize, send, serve, until,
};

const COUNT: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}"#;
const WAIT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

const ANN: (&str, &str) = ("Authorization", "Bearer ann-1");
const ANN_LATER: (&str, &str) = ("Authorization", "Bearer ann-2");
const BOB: (&str, &str) = ("Authorization", "Bearer bob-1");

#[derive(Clone)]
struct User(String);

/// Accepts tokens that begin with the name of a user.
fn bearer() -> BearerLayer {
    BearerLayer::new(|token| {
        let user = token.split_once('-').map(|(name, _)| User(name.to_owned()));
        std::future::ready(user)
    })
}

async fn limited(limits: Limits, options: HttpOptions) -> (SocketAddr, Counters) {
    let server = lab().with_limits(limits);
    let counters = server.counters();
    (serve(server, options).await, counters)
}

async fn call_count(address: SocketAddr, session: &str, more: &[(&str, &str)]) -> u16 {
    in_session(address, session, more, "POST", COUNT).await.status
}

/// Checks that a request was refused for now.
fn assert_busy(response: &Response, status: u16) {
    assert_eq!(response.status, status, "{}", response.body);
    assert!(response.header("retry-after").is_some_and(|wait| wait.parse::<u64>().is_ok()));
    assert!(response.body.contains(r#""code":-32000"#), "{}", response.body);
    assert!(response.body.contains(r#""id":"#), "it names the request: {}", response.body);
}

#[tokio::test]
async fn a_client_with_too_many_sessions_gets_retry_after() {
    let limits = Limits { client_sessions: 2, ..Limits::default() };
    let (address, counters) = limited(limits, HttpOptions::new()).await;
    let first = initialize(address, &[]).await.session();
    initialize(address, &[]).await.session();
    assert_busy(&initialize(address, &[]).await, 429);
    assert_eq!((counters.read().sessions, counters.read().sessions_refused), (2, 1));
    assert_eq!(in_session(address, &first, &[], "DELETE", "").await.status, 202);
    until(&counters, |counts| counts.open_sessions == 1).await;
    initialize(address, &[]).await.session();
}

/// Returns the memory of this process in MiB.
#[cfg(target_os = "linux")]
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() >> 10
}

/// Each session sends `initialize` twice, with 3 MiB in another place.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_session_keeps_little_of_its_initialize() {
    let (address, _) = limited(Limits::default(), HttpOptions::new()).await;
    let long = "x".repeat(3 << 20);
    let table = [
        r#""protocolVersion":"2025-11-25","capabilities":{"experimental":{"a":{"b":"LONG"}}},"clientInfo":{"name":"t","version":"1"}"#,
        r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"LONG","version":"1"}"#,
        r#""protocolVersion":"LONG","capabilities":{},"clientInfo":{"name":"t","version":"1"}"#,
        r#""protocolVersion":"2025-11-25","capabilities":{},"_meta":{"a":"LONG"},"clientInfo":{"name":"t","version":"1","title":"t"}"#,
    ];
    let before = memory();
    for params in table {
        let params = params.replace("LONG", &long);
        let body = |id: u8| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{{params}}}}}"#)
        };
        for _ in 0..20 {
            let session = send(address, "POST", &[HOST, JSON, ACCEPT], &body(0)).await.session();
            let again = in_session(address, &session, &[], "POST", &body(1)).await;
            assert_eq!(again.status, 200, "{}", again.body);
        }
    }
    let kept = memory().saturating_sub(before);
    assert!(kept < 100, "80 sessions keep {kept} MiB");
}

#[tokio::test]
async fn sessions_are_limited_by_principal_and_in_total() {
    let limits = Limits { client_sessions: 2, sessions: 3, ..Limits::default() };
    let options = HttpOptions::new().with_bearer(bearer());
    let (address, counters) = limited(limits, options).await;
    for _ in 0..2 {
        initialize(address, &[ANN]).await.session();
    }
    assert_busy(&initialize(address, &[ANN]).await, 429);
    initialize(address, &[BOB]).await.session();
    assert_busy(&initialize(address, &[BOB]).await, 503);
    assert_eq!(counters.read().open_sessions, 3);
}

/// If an application does not provide addresses, only the limit of all sessions applies.
#[tokio::test]
async fn sessions_of_a_router_are_limited_by_address_if_it_is_known() {
    let limits = Limits { client_sessions: 1, sessions: 2, ..Limits::default() };
    for (addresses, statuses) in [(true, [200, 429, 429]), (false, [200, 200, 503])] {
        let router = lab().with_limits(limits).into_router(HttpOptions::new()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            if addresses {
                let service = router.into_make_service_with_connect_info::<SocketAddr>();
                axum::serve(listener, service).await
            } else {
                axum::serve(listener, router).await
            }
        });
        for status in statuses {
            assert_eq!(initialize(address, &[]).await.status, status, "{addresses}");
        }
    }
}

/// A client that opens many sessions holds memory only for a few.
#[tokio::test]
async fn an_idle_session_is_evicted_for_a_new_one_of_its_client() {
    let lab = Lab::default();
    let limits =
        Limits { client_sessions: 3, evictable_after: Duration::ZERO, ..Limits::default() };
    let server = lab_with(lab.clone()).with_limits(limits);
    let counters = server.counters();
    let address = serve(server, HttpOptions::new()).await;
    let (busy, idle) =
        (initialize(address, &[]).await.session(), initialize(address, &[]).await.session());
    let session = busy.clone();
    let call = tokio::spawn(async move { in_session(address, &session, &[], "POST", WAIT).await });
    lab.waiting.notified().await;
    for _ in 0..50 {
        initialize(address, &[]).await.session();
        assert!(counters.read().open_sessions <= 3);
    }
    assert_eq!(counters.read().sessions_evicted, 49);
    assert_eq!(call_count(address, &idle, &[]).await, 404, "it was evicted");
    lab.release.notify_one();
    let answer = call.await.unwrap();
    assert!(
        answer.body.contains(r#""text":"1""#),
        "a session with a running call is not evicted: {}",
        answer.body
    );
    assert_eq!(call_count(address, &busy, &[]).await, 200);
}

#[tokio::test]
async fn a_failed_initialize_does_not_count_as_a_session() {
    let limits = Limits { client_sessions: 1, ..Limits::default() };
    let (address, counters) = limited(limits, HttpOptions::new()).await;
    let headers = [HOST, JSON, ACCEPT];
    let broken = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert_eq!(send(address, "POST", &headers, broken).await.status, 400);
    until(&counters, |counts| counts.open_sessions == 0).await;
    initialize(address, &[]).await.session();
}

fn request(method: &str, more: &[(&str, &str)], body: &str) -> Request<Body> {
    let request = Request::builder().uri("/mcp").method(method);
    let headers = [&[HOST, JSON, ACCEPT], more].concat();
    let request =
        headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    request.body(Body::from(body.to_owned())).unwrap()
}

fn initialize_request() -> Request<Body> {
    request("POST", &[], INITIALIZE)
}

/// Opens a session of a router.
async fn open_session(router: &Router) -> String {
    let answer = router.clone().oneshot(initialize_request()).await.unwrap();
    answer.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

/// Polls a request to a router once, which does not complete it.
async fn begin(
    router: &Router,
    request: Request<Body>,
) -> Pin<Box<Oneshot<Router, Request<Body>>>> {
    let mut answering = Box::pin(router.clone().oneshot(request));
    let polled = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await;
    assert!(polled.is_pending());
    answering
}

async fn text(body: Body) -> String {
    let reading = axum::body::to_bytes(body, usize::MAX);
    let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
    String::from_utf8(read.expect("the body ends").unwrap().to_vec()).unwrap()
}

/// Drops an `initialize` request whose session has begun and whose answer was made, but not read.
async fn abandoned(limits: Limits, options: HttpOptions) -> (Router, Counters) {
    let server = lab().with_limits(limits);
    let counters = server.counters();
    let router = server.into_router(options).unwrap();
    let answering = begin(&router, initialize_request()).await;
    run_other_tasks().await;
    drop(answering);
    run_other_tasks().await;
    assert_eq!(counters.read().open_sessions, 1, "the session goes on without the request");
    (router, counters)
}

async fn run_other_tasks() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_initialize_was_abandoned_expires() {
    let options = HttpOptions::new().with_session_idle(Some(Duration::from_secs(9)));
    let (_router, counters) = abandoned(Limits::default(), options).await;
    until(&counters, |counts| counts.open_sessions == 0).await;
    assert_eq!(counters.read().sessions_expired, 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_initialize_was_abandoned_can_be_evicted() {
    let limits = Limits { sessions: 1, evictable_after: Duration::ZERO, ..Limits::default() };
    let (router, counters) = abandoned(limits, HttpOptions::new()).await;
    let answer = router.oneshot(initialize_request()).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(counters.read().sessions_evicted, 1);
}

/// A session id in the header does not bypass the limit.
#[tokio::test]
async fn no_session_is_opened_beyond_the_limit() {
    let limits = Limits { client_sessions: 1, ..Limits::default() };
    let (address, counters) = limited(limits, HttpOptions::new()).await;
    initialize(address, &[]).await.session();
    for (id, status) in [("\u{ff}", 429), ("", 404), ("guess", 404)] {
        let more = [("Mcp-Session-Id", id)];
        assert_eq!(initialize(address, &more).await.status, status, "{id}");
    }
    assert_eq!(counters.read().open_sessions, 1);
}

/// Another principal that knows the id of a session gets 404.
#[tokio::test]
async fn a_session_belongs_to_the_principal_that_opened_it() {
    let by_token = HttpOptions::new().with_bearer(bearer());
    let by_name = HttpOptions::new()
        .with_bearer(bearer())
        .with_principal(|request| request.extensions.get().map(|User(name)| name.clone()));
    for (options, later) in [(by_token, 404), (by_name, 200)] {
        let lab = Lab::default();
        let server = lab_with(lab.clone());
        let counters = server.counters();
        let address = serve(server, options).await;
        let session = initialize(address, &[ANN]).await.session();
        let own = session.clone();
        let call =
            tokio::spawn(async move { in_session(address, &own, &[ANN], "POST", WAIT).await });
        lab.waiting.notified().await;
        for (method, body) in [("POST", COUNT), ("POST", CANCEL), ("GET", ""), ("DELETE", "")] {
            let stranger = in_session(address, &session, &[BOB], method, body).await;
            assert_eq!(stranger.status, 404, "{method} {body}");
        }
        assert_eq!(counters.read().sessions_denied, 4);
        assert_eq!(call_count(address, &session, &[]).await, 401);
        assert_eq!(call_count(address, &session, &[ANN_LATER]).await, later, "a renewed token");
        lab.release.notify_one();
        let answer = call.await.unwrap();
        assert!(answer.body.contains(r#""text":"1""#), "it was not cancelled: {}", answer.body);
        assert_eq!(call_count(address, &session, &[ANN]).await, 200, "it was not ended");
    }
}

#[tokio::test]
async fn a_panic_in_the_hosts_principal_function_is_500() {
    let options = HttpOptions::new().with_principal(|_| panic!("for this test"));
    let (address, _) = limited(Limits::default(), options).await;
    let response = initialize(address, &[]).await;
    assert_eq!(response.status, 500);
    assert!(!response.body.contains("for this test"));
}

#[tokio::test]
async fn a_running_call_keeps_its_session_alive() {
    let (lab, idle) = (Lab::default(), Duration::from_millis(800));
    let server = lab_with(lab.clone());
    let counters = server.counters();
    let address = serve(server, HttpOptions::new().with_session_idle(Some(idle))).await;
    let session = initialize(address, &[]).await.session();
    let own = session.clone();
    let call = tokio::spawn(async move { in_session(address, &own, &[], "POST", WAIT).await });
    lab.waiting.notified().await;
    tokio::time::sleep(idle + idle / 2).await;
    lab.release.notify_one();
    let answer = call.await.unwrap();
    assert!(answer.body.contains(r#""text":"1""#), "{}", answer.body);
    assert_eq!(
        call_count(address, &session, &[]).await,
        200,
        "time counts from the end of the call"
    );
    until(&counters, |counts| counts.sessions_expired == 1 && counts.open_sessions == 0).await;
    assert_eq!(call_count(address, &session, &[]).await, 404);
}

#[tokio::test]
async fn calls_beyond_the_limit_of_a_session_are_refused() {
    let lab = Lab::default();
    let limits = Limits { session_calls: 1, ..Limits::default() };
    let server = lab_with(lab.clone()).with_limits(limits);
    let counters = server.counters();
    let address = serve(server, HttpOptions::new()).await;
    let session = initialize(address, &[]).await.session();
    let own = session.clone();
    let call = tokio::spawn(async move { in_session(address, &own, &[], "POST", WAIT).await });
    lab.waiting.notified().await;
    assert_busy(&in_session(address, &session, &[], "POST", COUNT).await, 429);
    let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    assert_eq!(in_session(address, &session, &[], "POST", ping).await.status, 200);
    let other = initialize(address, &[]).await.session();
    assert_eq!(call_count(address, &other, &[]).await, 200, "it is the limit of one session");
    lab.release.notify_one();
    call.await.unwrap();
    assert_eq!(call_count(address, &session, &[]).await, 200);
    assert_eq!(counters.read().calls_refused, 1);
}

#[tokio::test]
async fn a_request_with_the_id_of_a_call_in_flight_is_refused() {
    let lab = Lab::default();
    let address = serve(lab_with(lab.clone()), HttpOptions::new()).await;
    let session = initialize(address, &[]).await.session();
    let own = session.clone();
    let call = tokio::spawn(async move { in_session(address, &own, &[], "POST", WAIT).await });
    lab.waiting.notified().await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for request in [WAIT, ping] {
        let refused = in_session(address, &session, &[], "POST", request).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body.contains("is still in flight; use another"), "{}", refused.body);
    }
    let other = initialize(address, &[]).await.session();
    assert_eq!(in_session(address, &other, &[], "POST", ping).await.status, 200);
    lab.release.notify_one();
    let answer = call.await.unwrap();
    assert!(answer.body.contains(r#""text":"1""#), "{}", answer.body);
    assert_eq!(in_session(address, &session, &[], "POST", ping).await.status, 200);
}

#[tokio::test]
async fn a_request_with_the_id_of_any_request_in_flight_is_refused() {
    let router = lab().into_router(HttpOptions::new()).unwrap();
    let session = open_session(&router).await;
    let more = [("Mcp-Session-Id", &*session)];
    let [ping, list, call] = ["ping", "tools/list", "tools/call"].map(|method| {
        let params = r#"{"name":"count"}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        move || request("POST", &more, &body)
    });
    for (first, second) in [(list(), list()), (ping(), call()), (call(), ping())] {
        let answering = begin(&router, first).await;
        let refused = router.clone().oneshot(second).await.unwrap();
        assert_eq!(refused.status(), 400);
        let refused = text(refused.into_body()).await;
        assert!(refused.contains("is still in flight; use another"), "{refused}");
        let answer = text(answering.await.unwrap().into_body()).await;
        assert!(answer.contains(r#""id":7,"result":"#), "{answer}");
    }
}

/// The client does not wait for the end of the stream.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_can_be_used_again_as_soon_as_its_answer_is_read() {
    let address = serve(lab(), HttpOptions::new()).await;
    let session = initialize(address, &[]).await.session();
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    for body in [ping, COUNT].into_iter().cycle().take(400) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).await.unwrap();
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains(r#""id":2"#) {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0);
        }
        let read = String::from_utf8(read).unwrap();
        assert!(read.starts_with("HTTP/1.1 200 "), "{read}");
    }
}

/// The client disconnects before the session has its request.
#[tokio::test(start_paused = true)]
async fn nothing_of_a_request_that_is_dropped_at_once_is_kept() {
    let router = lab().into_router(HttpOptions::new()).unwrap();
    let session = open_session(&router).await;
    let more = [("Mcp-Session-Id", &*session), ("Last-Event-ID", "0/0")];
    drop(begin(&router, request("POST", &more[..1], COUNT)).await);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let resumed = router.oneshot(request("GET", &more, "")).await.unwrap();
    assert_eq!(text(resumed.into_body()).await, "", "the stream is closed");
}
