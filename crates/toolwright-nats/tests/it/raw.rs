//! Clients and workers that send messages by hand.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use serde_json::{Map, Value, json};
use toolwright::{FailureKind, Recovery};
use toolwright_engines::{Nats, nats};
use toolwright_nats::async_nats::{Client, HeaderMap, Subscriber};
use toolwright_nats::{NatsOptions, NatsToolset};
use toolwright_runtime::Toolset;
use toolwright_runtime::remote::RemoteOptions;

use crate::{Log, call, client, failure, until, worker};

const GROUP: &str = "toolwright.disks";

/// Sends a message that waits for this time, and returns the content of the reply, whatever its kind.
pub(crate) async fn send(client: &Client, subject: &str, message: &Value, wait: &str) -> Value {
    let mut headers = HeaderMap::new();
    headers.insert("Toolwright-Timeout-Ms", wait);
    let message = message.to_string().into();
    let reply = client.request_with_headers(subject.to_owned(), headers, message).await.unwrap();
    let reply: Map<String, Value> = serde_json::from_slice(&reply.payload).unwrap();
    reply.into_iter().next().unwrap().1
}

/// Opens a connection, and returns its subject.
pub(crate) async fn open(client: &Client) -> String {
    let open = json!({ "open": { "version": 5, "scope": {} } });
    let reply = send(client, GROUP, &open, "9000").await;
    format!("{GROUP}.{}", reply["nonce"].as_str().unwrap())
}

/// A call of the tool `sleep`.
fn sleep(n: u64) -> Value {
    let call =
        json!({ "id": "c", "tool": "sleep", "args": json!({ "n": n }).to_string(), "scope": {} });
    json!({ "call": { "id": 0, "call": call, "approval": null } })
}

fn cancel() -> Value {
    json!({ "cancel": { "id": 0 } })
}

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

/// A worker that runs one call at once.
async fn narrow(server: &Nats, log: &Log) -> toolwright_nats::Worker {
    let one = RemoteOptions::new().with_max_calls(1);
    worker(server, "disks", log, NatsOptions::new().with_remote(one)).await
}

#[tokio::test]
async fn a_call_whose_time_has_passed_does_not_run_and_a_worker_stops_at_the_deadline() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _worker = worker(&server, "disks", &log, NatsOptions::new()).await;
    let client = client(&server).await;
    let passed = Some(("retry", "the time limit of `sleep` passed before it ran"));
    let advice = "the call may have taken effect, so find out before calling again";
    for (wait, limit, time, expected) in [
        (0, "5000", 1, None),
        (0, "0", 1, passed),
        (0, "250", 60_000, Some(("replan", advice))),
        // The worker measures from the moment at which it opened the connection.
        (300, "200", 1, passed),
    ] {
        let own = open(&client).await;
        pause(wait).await;
        let reply = send(&client, &own, &sleep(time), limit).await;
        let failure = &reply["outcome"]["failure"];
        let Some((recovery, message)) = expected else {
            assert_eq!(reply["outcome"]["payload"], "1");
            continue;
        };
        assert_eq!((&failure["kind"], &failure["recovery"]), (&json!("timeout"), &json!(recovery)));
        assert!(failure["message"].as_str().unwrap().ends_with(message), "{failure}");
    }
    assert_eq!(log.counts(), (2, 1, 1));
}

#[tokio::test]
async fn a_connection_carries_one_call_which_its_copies_do_not_affect() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _worker = worker(&server, "disks", &log, NatsOptions::new()).await;
    let client = client(&server).await;
    let own = open(&client).await;
    let running = tokio::spawn({
        let (client, own) = (client.clone(), own.clone());
        async move { send(&client, &own, &sleep(60_000), "60000").await }
    });
    until(|| log.counts().0 == 1).await;
    assert!(send(&client, &own, &sleep(1), "9000").await["why"].is_string());
    client.publish(own.clone(), cancel().to_string().into()).await.unwrap();
    until(|| log.counts() == (1, 0, 1)).await;
    assert!(send(&client, &own, &sleep(1), "9000").await["why"].is_string());
    running.abort();
}

#[tokio::test]
async fn a_client_that_waits_at_a_full_worker_is_passed_on() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    for shuts_down in [false, true] {
        let full = narrow(&server, &log).await;
        let client = client(&server).await;
        let place = open(&client).await;
        let waiting = tokio::spawn({
            let client = client.clone();
            async move { open(&client).await }
        });
        pause(100).await;
        let free = narrow(&server, &log).await;
        let id = free.id();
        let opened = if shuts_down {
            let ((), opened) = tokio::join!(full.shutdown(), waiting);
            opened.unwrap()
        } else {
            let opened = waiting.await.unwrap();
            client.publish(place, cancel().to_string().into()).await.unwrap();
            full.shutdown().await;
            opened
        };
        // The place at the full worker is free again after five seconds.
        assert!(opened.contains(id), "{opened}");
        client.publish(opened, cancel().to_string().into()).await.unwrap();
        free.shutdown().await;
    }
}

#[tokio::test]
async fn a_worker_that_shuts_down_runs_the_calls_of_the_connections_that_it_opened() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let worker = worker(&server, "disks", &log, NatsOptions::new()).await;
    let client = client(&server).await;
    let (used, _unused) = (open(&client).await, open(&client).await);
    let ending = tokio::spawn(worker.shutdown());
    pause(300).await;
    assert_eq!(send(&client, &used, &sleep(100), "5000").await["outcome"]["payload"], "100");
    tokio::time::timeout(Duration::from_secs(8), ending).await.expect("not the limit").unwrap();
}

#[tokio::test]
async fn messages_of_other_kinds_and_versions_are_refused() {
    let Some(server) = nats() else { return };
    let _worker = worker(&server, "disks", &Log::default(), NatsOptions::new()).await;
    let client = client(&server).await;
    let own = open(&client).await;
    for (subject, message, expected) in [
        (GROUP, json!({ "open": { "version": 3, "scope": {} } }), "version 3, expected 5"),
        (GROUP, json!({ "save": { "id": 0 } }), "no state to save"),
        (GROUP, json!({ "restore": { "id": 0, "saved": "x" } }), "no state to save"),
        (GROUP, cancel(), "a call needs a connection"),
        (GROUP, sleep(1), "a call needs a connection"),
        (GROUP, json!("what"), "violates the protocol"),
        (&own, json!({ "list": { "id": 0 } }), "a connection carries a call only"),
        (&own, json!({ "what": {} }), "violates the protocol"),
    ] {
        let reply = send(&client, subject, &message, "9000").await;
        assert!(reply["why"].is_string(), "{reply}");
        assert!(reply["why"].as_str().unwrap().contains(expected), "{reply}");
    }
}

/// A worker that opens a connection, and answers its call with this text.
async fn fake(client: &Client, answer: &'static str) -> tokio::task::JoinHandle<()> {
    let mut messages = client.subscribe("toolwright.fake.>").await.unwrap();
    let mut group = client.subscribe("toolwright.fake").await.unwrap();
    let client = client.clone();
    client.flush().await.unwrap();
    tokio::spawn(async move {
        let mut opened = false;
        loop {
            let (message, answer) = tokio::select! {
                Some(message) = messages.next() => (message, answer),
                Some(message) = group.next() => {
                    let answer = if message.payload.starts_with(br#"{"list":"#) {
                        r#"{"tools":{"id":0,"tools":{"Ok":[]}}}"#
                    } else if std::mem::replace(&mut opened, true) {
                        continue;
                    } else {
                        r#"{"opened":{"calls":1,"nonce":"w.1"}}"#
                    };
                    (message, answer)
                }
            };
            if let Some(reply) = message.reply {
                client.publish(reply, answer.into()).await.unwrap();
            }
        }
    })
}

#[tokio::test]
async fn a_worker_that_violates_the_protocol_hangs_no_call() {
    let Some(server) = nats() else { return };
    let client = client(&server).await;
    for (answer, kind, recovery, detail) in [
        // Nothing ran, so that another try is safe.
        (
            r#"{"refused":{"why":"no"}}"#,
            FailureKind::Unavailable,
            Recovery::Retry,
            "no worker accepted the call before its deadline",
        ),
        ("what", FailureKind::Internal, Recovery::Replan, "violates the protocol"),
        (
            r#"{"tools":{"id":0,"tools":{"Ok":[]}}}"#,
            FailureKind::Internal,
            Recovery::Replan,
            "the reply is of another kind",
        ),
    ] {
        let serving = fake(&client, answer).await;
        pause(100).await;
        let options = NatsOptions::new().with_call_timeout(Duration::from_millis(700));
        let toolset = Arc::new(NatsToolset::connect(&client, "fake", options).await.unwrap());
        let failed = failure(toolset.call(&call("sleep", 1)).await);
        assert_eq!((failed.kind, &failed.recovery), (kind, &recovery), "{failed}");
        assert!(failed.detail.as_ref().unwrap().contains(detail), "{failed:?}");
        serving.abort();
        let _ = serving.await;
    }
}

/// Connects to a worker that [`fake`] plays, and subscribes to what its connection gets.
async fn connected(client: &Client) -> (NatsToolset, Subscriber) {
    let toolset = NatsToolset::connect(client, "fake", NatsOptions::new()).await.unwrap();
    let own = client.subscribe("toolwright.fake.w.1").await.unwrap();
    client.flush().await.unwrap();
    (toolset, own)
}

#[tokio::test]
async fn a_call_whose_reply_is_unreadable_is_cancelled_in_its_worker() {
    let Some(server) = nats() else { return };
    let client = client(&server).await;
    let serving = fake(&client, "what").await;
    let (toolset, mut own) = connected(&client).await;
    assert_eq!(failure(toolset.call(&call("sleep", 1)).await).kind, FailureKind::Internal);
    let cancelled =
        async { while !own.next().await.unwrap().payload.starts_with(br#"{"cancel":"#) {} };
    tokio::time::timeout(Duration::from_secs(5), cancelled).await.expect("a cancellation");
    serving.abort();
}

#[tokio::test]
async fn a_connection_that_is_open_when_its_call_is_dropped_is_closed() {
    let Some(server) = nats() else { return };
    let client = client(&server).await;
    let serving = fake(&client, "").await;
    let (toolset, mut own) = connected(&client).await;
    let call = call("sleep", 1);
    let mut calling = toolset.call(&call);
    assert!((&mut calling).now_or_never().is_none(), "no connection is open");
    // The worker answers, and nothing takes its answer.
    pause(300).await;
    drop(calling);
    let message = tokio::time::timeout(Duration::from_secs(5), own.next()).await;
    let message = message.expect("the connection is closed").unwrap();
    assert!(message.payload.starts_with(br#"{"cancel":"#), "{message:?}");
    serving.abort();
}
