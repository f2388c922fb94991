//! H6: approval codes over NATS. A code is valid for one call, of one connection to one worker.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use toolwright::spec::{Approval, text};
use toolwright::{ToolResult, ToolSpec};
use toolwright_engines::{Nats, nats};
use toolwright_nats::{NatsOptions, NatsToolset, Worker, serve};
use toolwright_runtime::remote::{ApprovalKey, RemoteOptions};
use toolwright_runtime::{ApprovalRequest, FunctionTool, Registry, Runtime, Verdict};

use crate::raw::{open, send};
use crate::{Log, N, call, client, failure};

fn options(key: Option<u8>) -> NatsOptions {
    let remote = RemoteOptions::new();
    NatsOptions::new().with_remote(match key {
        Some(key) => remote.with_approval_key(ApprovalKey::new([key; 32])),
        None => remote,
    })
}

async fn guarded(nats: &Nats, log: &Log, key: Option<u8>) -> Worker {
    let log = log.clone();
    let approval =
        Approval { prompt: Some(text("Wipe {{ args.n }} disks?")), ..Approval::default() };
    let spec = ToolSpec::new("wipe").with_approval(approval);
    let wipe = FunctionTool::new(spec, move |args: N| {
        log.lines.lock().unwrap().push(args.n.to_string());
        std::future::ready(args.n)
    });
    serve(&client(nats).await, "disks", wipe, options(key)).await.unwrap()
}

/// Makes a call with a runtime that approves everything.
async fn approved(nats: &Nats, key: Option<u8>) -> ToolResult {
    let toolset = NatsToolset::connect(&client(nats).await, "disks", options(key)).await.unwrap();
    let registry = Registry::new();
    registry.register_toolset("far", toolset).unwrap();
    let catalog = registry.catalog();
    catalog.publish("far", "x").unwrap();
    catalog.allow("agent", "far").unwrap();
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(registry).with_catalog(catalog).with_approver(yes).build();
    let session = runtime.open_session("agent").await.unwrap();
    session.tools().await.unwrap();
    session.call(call("x.wipe", 1)).await
}

#[tokio::test]
async fn h6_an_approval_is_valid_for_a_worker_only_with_a_shared_key() {
    let Some(server) = nats() else { return };
    for (worker, client, runs) in [
        (Some(7), Some(7), true),
        (Some(7), Some(8), false),
        (Some(7), None, false),
        (None, Some(7), false),
        (None, None, false),
    ] {
        let log = Log::default();
        let serving = guarded(&server, &log, worker).await;
        let result = approved(&server, client).await;
        assert_eq!(result.outcome.is_ok(), runs, "{worker:?} {client:?} {result:?}");
        assert_eq!(log.lines.lock().unwrap().len(), usize::from(runs));
        if !runs {
            let expected = "`wipe` needs an approval, and this call has none";
            assert_eq!(failure(result).message, expected);
        }
        serving.shutdown().await;
    }
}

/// H6: who reads an approved call can run it neither again, nor with other arguments, nor by another worker.
#[tokio::test]
async fn h6_a_recorded_code_is_worth_nothing() {
    let Some(server) = nats() else { return };
    let (log, other_log) = (Log::default(), Log::default());
    let spy = client(&server).await;
    let mut seen = spy.subscribe("toolwright.disks.>").await.unwrap();
    spy.flush().await.unwrap();
    let worker = guarded(&server, &log, Some(7)).await;
    assert!(approved(&server, Some(7)).await.outcome.is_ok());
    let recorded = loop {
        let message = tokio::time::timeout(Duration::from_secs(5), seen.next()).await.unwrap();
        let message = message.unwrap();
        let json: Value = serde_json::from_slice(&message.payload).unwrap();
        if json["call"].is_object() {
            break (message.subject.to_string(), json, message.headers.unwrap());
        }
    };
    let (subject, message, headers) = recorded;
    assert!(message["call"]["approval"].is_array());

    let wait = headers.get("Toolwright-Timeout-Ms").unwrap().as_str();
    let send = async |subject: &str, message: &Value| send(&spy, subject, message, wait).await;
    // The connection is closed.
    assert!(send(&subject, &message).await["why"].is_string());
    // A new connection to the same worker has another nonce.
    let own = open(&spy).await;
    let kind = |reply: &Value| reply["outcome"]["failure"]["kind"].clone();
    assert_eq!(kind(&send(&own, &message).await), "denied");
    let mut forged = message.clone();
    forged["call"]["approval"] = json!(vec![7; 32]);
    let own = open(&spy).await;
    assert_eq!(kind(&send(&own, &forged).await), "denied");
    assert!(send(&own, &forged).await["why"].is_string(), "a connection is for one call");
    assert_eq!(log.lines.lock().unwrap().len(), 1);

    // Another worker with the same key does not know the connection.
    worker.shutdown().await;
    let _other = guarded(&server, &other_log, Some(7)).await;
    let own = open(&spy).await;
    assert_eq!(kind(&send(&own, &message).await), "denied");
    let without = "toolwright.disks".to_owned();
    assert!(send(&without, &message).await["why"].is_string(), "a call needs a connection");
    assert_eq!(other_log.lines.lock().unwrap().len(), 0);
}
