//! Cancelled calls, disconnected clients and shutdowns.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{HttpOptions, ServeError};

use crate::lab::{Lab, lab_with};
use crate::lines::Connection;
use crate::wire::{INITIALIZE, META, MODERN, Response, in_session, initialize, send, serve, until};

const WAIT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;

const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

async fn within_seconds<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it happens in time")
}

async fn waiting(lab: &Lab) -> Connection {
    let mut connection = Connection::open(lab_with(lab.clone()));
    connection.send(INITIALIZE).await;
    connection.next_message().await;
    connection.send(WAIT).await;
    within_seconds(lab.waiting.notified()).await;
    connection
}

#[tokio::test]
async fn a_cancelled_call_stops_and_is_not_answered() {
    let lab = Lab::default();
    let mut connection = waiting(&lab).await;
    connection
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    within_seconds(lab.given_up.notified()).await;
    connection.send(PING).await;
    assert_eq!(connection.next_message().await["id"], 2, "the cancelled call gets no response");
    connection.send(WAIT).await;
    within_seconds(lab.waiting.notified()).await;
}

/// With tokio's paused clock the test does not wait for the five seconds.
#[tokio::test(start_paused = true)]
async fn a_closed_connection_stops_its_calls() {
    let lab = Lab::default();
    drop(waiting(&lab).await);
    within_seconds(lab.given_up.notified()).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_does_not_keep_the_server_running() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let serving = tokio::spawn(lab_with(Lab::default()).serve_streams(input, output));
    let (_unread, mut output) = tokio::io::split(ours);
    for line in [INITIALIZE, PING, "nonsense", PING, PING] {
        output.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    output.shutdown().await.unwrap();
    within_seconds(serving).await.unwrap().unwrap();
}

/// Starts a call of `wait` over HTTP as a client of 2026-07-28.
async fn waiting_over_http(
    lab: &Lab,
    options: HttpOptions,
) -> (JoinHandle<Result<(), ServeError>>, JoinHandle<Response>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(lab_with(lab.clone()).serve_listener(listener, options));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"wait",{META}}}}}"#
    );
    let asking = tokio::spawn(async move {
        let mut headers = MODERN.to_vec();
        headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", "wait")]);
        send(address, "POST", &headers, &body).await
    });
    within_seconds(lab.waiting.notified()).await;
    (serving, asking)
}

#[tokio::test]
async fn closing_the_connection_of_a_request_stops_its_call() {
    let lab = Lab::default();
    let (_serving, asking) = waiting_over_http(&lab, HttpOptions::new()).await;
    asking.abort();
    within_seconds(lab.given_up.notified()).await;
}

#[tokio::test]
async fn a_shutdown_waits_for_running_calls() {
    let (lab, stop) = (Lab::default(), CancellationToken::new());
    let options = HttpOptions::new().with_shutdown(stop.clone());
    let (serving, asking) = waiting_over_http(&lab, options).await;
    stop.cancel();
    assert!(within_a_moment(lab.given_up.notified()).await.is_err(), "the call goes on");
    lab.release.notify_one();
    let response = within_seconds(asking).await.unwrap();
    assert!(response.body.contains(r#""text":"1""#), "{}", response.body);
    within_seconds(serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_shutdown_waits_no_longer_than_its_grace_period() {
    let (lab, stop) = (Lab::default(), CancellationToken::new());
    let options =
        HttpOptions::new().with_shutdown(stop.clone()).with_grace(Duration::from_millis(50));
    let (serving, _asking) = waiting_over_http(&lab, options).await;
    stop.cancel();
    within_seconds(serving).await.unwrap().unwrap();
    within_seconds(lab.given_up.notified()).await;
}

#[tokio::test]
async fn a_call_whose_id_is_still_in_use_is_refused_and_the_first_goes_on() {
    let lab = Lab::default();
    let mut connection = waiting(&lab).await;
    connection.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    let refused = connection.next_message().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&1.into(), &(-32600).into()));
    assert!(within_a_moment(lab.given_up.notified()).await.is_err(), "the call goes on");
}

async fn within_a_moment(
    work: impl Future<Output = ()>,
) -> Result<(), tokio::time::error::Elapsed> {
    tokio::time::timeout(Duration::from_millis(50), work).await
}

/// Opens a session, starts a call of `wait` and disconnects.
async fn disconnected(lab: &Lab) -> (SocketAddr, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(lab_with(lab.clone()).serve_listener(listener, HttpOptions::new()));
    (address, disconnected_from(address, lab).await)
}

async fn disconnected_from(address: SocketAddr, lab: &Lab) -> String {
    let session = initialize(address, &[]).await.session();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    in_session(address, &session, &[], "POST", ready).await;
    let asked = session.clone();
    let asking = tokio::spawn(async move { in_session(address, &asked, &[], "POST", WAIT).await });
    within_seconds(lab.waiting.notified()).await;
    asking.abort();
    session
}

#[tokio::test]
async fn a_shutdown_waits_for_the_call_of_a_client_that_is_disconnected() {
    let (lab, stop) = (Lab::default(), CancellationToken::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = lab_with(lab.clone());
    let counters = server.counters();
    let options = HttpOptions::new().with_shutdown(stop.clone());
    let mut serving = tokio::spawn(server.serve_listener(listener, options));
    disconnected_from(address, &lab).await;
    stop.cancel();
    let early = tokio::time::timeout(Duration::from_secs(1), &mut serving).await;
    assert!(early.is_err(), "the call goes on");
    lab.release.notify_one();
    within_seconds(serving).await.unwrap().unwrap();
    until(&counters, |counts| counts.open_sessions == 0).await;
}

/// rmcp reads the number of a stream, however it is written.
#[tokio::test]
async fn a_call_stops_without_its_client_however_its_event_was_written() {
    let stops = async |event: &'static str| {
        let lab = Lab::default();
        let (address, session) = disconnected(&lab).await;
        let asking = tokio::spawn(async move {
            in_session(address, &session, &[("Last-Event-ID", event)], "GET", "").await
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        asking.abort();
        within_seconds(lab.given_up.notified()).await;
    };
    tokio::join!(stops("0/00"), stops("0/+0"));
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_http_stops_and_is_not_answered() {
    let lab = Lab::default();
    let address = serve(lab_with(lab.clone()), HttpOptions::new()).await;
    let session = initialize(address, &[]).await.session();
    let own = session.clone();
    let asking = tokio::spawn(async move { in_session(address, &own, &[], "POST", WAIT).await });
    within_seconds(lab.waiting.notified()).await;
    let cancel = async |id: u8| {
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        in_session(address, &session, &[], "POST", &cancel).await.status
    };
    assert_eq!(cancel(7).await, 202);
    assert!(within_a_moment(lab.given_up.notified()).await.is_err(), "it has another id");
    assert_eq!(cancel(1).await, 202);
    within_seconds(lab.given_up.notified()).await;
    let answer = within_seconds(asking).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(!answer.body.contains(r#""id":1"#), "{}", answer.body);
    // The id is free soon after the call has ended.
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let again =
        async { while in_session(address, &session, &[], "POST", ping).await.status != 200 {} };
    within_seconds(again).await;
}

#[tokio::test]
async fn a_call_of_a_session_stops_if_its_client_does_not_reconnect() {
    let lab = Lab::default();
    let start = Instant::now();
    let _session = disconnected(&lab).await;
    within_seconds(lab.given_up.notified()).await;
    assert!(start.elapsed() > Duration::from_secs(4), "the server waits for it to reconnect");
}

/// The id of the first event of a stream is `0/0`.
#[tokio::test]
async fn a_client_that_reconnects_gets_the_answer_that_was_kept() {
    let lab = Lab::default();
    let (address, session) = disconnected(&lab).await;
    // Long enough for the server to notice the disconnect.
    tokio::time::sleep(Duration::from_millis(300)).await;
    lab.release.notify_one();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let more = [("Last-Event-ID", "0/0")];
    let answer = within_seconds(in_session(address, &session, &more, "GET", "")).await;
    assert!(answer.body.contains(r#""text":"1""#), "{}", answer.body);
    assert!(answer.body.contains(r#""id":1"#), "{}", answer.body);
    let again = within_seconds(in_session(address, &session, &more, "GET", "")).await;
    assert!(!again.body.contains(r#""id":1"#), "it was delivered: {}", again.body);
}

#[tokio::test]
async fn a_client_that_reconnects_to_a_running_call_gets_its_answer() {
    let lab = Lab::default();
    let (address, session) = disconnected(&lab).await;
    let asking = tokio::spawn(async move {
        in_session(address, &session, &[("Last-Event-ID", "0/0")], "GET", "").await
    });
    let away = tokio::time::timeout(Duration::from_secs(6), lab.given_up.notified()).await;
    assert!(away.is_err(), "the client has reconnected");
    lab.release.notify_one();
    let answer = within_seconds(asking).await.unwrap();
    assert!(answer.body.contains(r#""text":"1""#), "{}", answer.body);
}
