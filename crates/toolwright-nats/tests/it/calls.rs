//! Calls of workers: how they are shared, cancelled, limited and ended.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use toolwright::{FailureKind, Recovery, Scope, ToolCall, ToolSpec};
use toolwright_engines::nats;
use toolwright_nats::{NatsOptions, serve};
use toolwright_runtime::remote::RemoteOptions;
use toolwright_runtime::{FunctionTool, Toolset};

use crate::{Log, N, call, client, connect, failure, kind, start, until, worker};

#[tokio::test]
async fn workers_share_calls() {
    let Some(server) = nats() else { return };
    let logs = [Log::default(), Log::default()];
    let _workers = [
        worker(&server, "t", &logs[0], NatsOptions::new()).await,
        worker(&server, "t", &logs[1], NatsOptions::new()).await,
    ];
    let toolset = connect(&server, "t").await;
    let calls: Vec<_> = (0..500).map(|n| (n, start(&toolset, "sleep", n % 10))).collect();
    for (n, call) in calls {
        assert_eq!(call.await.unwrap().outcome.unwrap().as_str(), (n % 10).to_string());
    }
    let ended = logs.each_ref().map(|log| log.counts().1);
    assert!(ended.iter().all(|ended| *ended > 50), "{ended:?}");
    assert_eq!(ended.iter().sum::<usize>(), 500);
}

#[tokio::test]
async fn each_call_is_a_run_of_its_own_unless_the_worker_accepts_scopes() {
    let Some(server) = nats() else { return };
    let runs = async |toolset: &str, options: RemoteOptions| {
        let tell = FunctionTool::new(ToolSpec::new("tell"), async |_: N, call: ToolCall| {
            call.run_id().unwrap_or_default().to_owned()
        });
        let options = NatsOptions::new().with_remote(options);
        let _worker = serve(&client(&server).await, toolset, tell, options).await.unwrap();
        let mut runs = BTreeSet::new();
        for _client in 0..2 {
            let toolset = connect(&server, toolset).await;
            for _ in 0..2 {
                let scope = Scope { run_id: Some("root".to_owned()), ..Scope::default() };
                let told = toolset.call(&call("tell", 0).with_scope(scope)).await;
                runs.insert(told.outcome.unwrap().to_string());
            }
        }
        runs
    };
    let seen = runs("strict", RemoteOptions::new()).await;
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen.iter().all(|run| run.starts_with("\"run_")), "{seen:?}");
    let seen = runs("trusting", RemoteOptions::new().with_scope(|_, sent| sent)).await;
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["\"root\""]);
}

#[tokio::test]
async fn calls_over_the_limit_of_a_worker_wait_or_go_to_another() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let few = NatsOptions::new().with_remote(RemoteOptions::new().with_max_calls(2));
    let _first = worker(&server, "t", &log, few.clone()).await;
    let toolset = connect(&server, "t").await;
    let since = Instant::now();
    let calls: Vec<_> = (0..6).map(|_| start(&toolset, "sleep", 200)).collect();
    for call in calls {
        assert_eq!(kind(call.await.unwrap()), None);
    }
    assert!(since.elapsed() >= Duration::from_millis(600), "two at once");
    let occupying = [start(&toolset, "sleep", 60_000), start(&toolset, "sleep", 60_000)];
    until(|| log.counts().0 == 8).await;
    let late = start(&toolset, "sleep", 1);
    let second = Log::default();
    let _added = worker(&server, "t", &second, few).await;
    assert_eq!(kind(late.await.unwrap()), None);
    assert_eq!(second.counts().1, 1, "it was passed on");
    occupying.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_in_its_worker() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let one = NatsOptions::new().with_remote(RemoteOptions::new().with_max_calls(1));
    let _worker = worker(&server, "t", &log, one).await;
    let toolset = connect(&server, "t").await;
    for round in 1..=20 {
        let stuck = start(&toolset, "sleep", 60_000);
        until(|| log.counts().0 == round).await;
        stuck.abort();
        until(|| log.counts().2 == round).await;
    }
    // Calls that are dropped while their connections open leave no place taken.
    let more: Vec<_> = (0..50).map(|_| start(&toolset, "sleep", 60_000)).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    more.iter().for_each(tokio::task::JoinHandle::abort);
    let since = Instant::now();
    assert_eq!(kind(toolset.call(&call("sleep", 1)).await), None);
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
}

#[tokio::test]
async fn a_call_ends_at_its_deadline_on_both_sides() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _worker = worker(&server, "t", &log, NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    let since = Instant::now();
    let failed = failure(toolset.call(&call("short", 60_000)).await);
    assert!(since.elapsed() < Duration::from_secs(2));
    assert_eq!((failed.kind, &failed.recovery), (FailureKind::Timeout, &Recovery::Replan));
    // The worker measures from a little later, if it was the first to end the call.
    let message = failed.message.split_once("ms and").unwrap();
    assert!(message.0.starts_with("`short` took longer than "), "{failed}");
    let advice = " was cancelled; the call may have taken effect, so find out before calling again";
    assert_eq!(message.1, advice);
    until(|| log.counts().2 == 1).await;
}

#[tokio::test]
async fn a_call_that_no_worker_can_begin_by_its_deadline_never_runs() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let one = NatsOptions::new().with_remote(RemoteOptions::new().with_max_calls(1));
    let _worker = worker(&server, "t", &log, one).await;
    let toolset = connect(&server, "t").await;
    let stuck = start(&toolset, "sleep", 1_500);
    until(|| log.counts().0 == 1).await;
    let failed = failure(toolset.call(&call("short", 1)).await);
    assert_eq!((failed.kind, &failed.recovery), (FailureKind::Unavailable, &Recovery::Retry));
    let expected = "no worker accepted the call before its deadline";
    assert_eq!(failed.detail.as_deref(), Some(expected));
    assert_eq!(kind(stuck.await.unwrap()), None);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(log.counts(), (1, 1, 0));
}

#[tokio::test]
async fn payloads_that_nats_does_not_carry_are_refused_by_size_on_both_sides() {
    let Some(server) = nats() else { return };
    let _worker = worker(&server, "t", &Log::default(), NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    let long = format!(r#"{{"n":1{}}}"#, " ".repeat(2 << 20));
    let long = ToolCall::new("repeat", toolwright::Payload::new(long));
    let failed = failure(toolset.call(&long).await);
    assert_eq!(failed.kind, FailureKind::InvalidCall);
    assert_eq!(failed.code.as_deref(), Some("payload_too_large"));
    assert!(failed.message.contains("and at most 1048576 can be sent"), "{failed}");
    let failed = failure(toolset.call(&call("repeat", 2 << 20)).await);
    assert_eq!(failed.kind, FailureKind::MalformedResult);
    assert_eq!(failed.code.as_deref(), Some("payload_too_large"));
    assert!(failed.message.starts_with("`repeat` ran, but its result has 2097"), "{failed}");
    assert_eq!(kind(toolset.call(&call("repeat", 1_000_000)).await), None);
}

#[tokio::test]
async fn arguments_and_unknown_tools_are_refused_by_the_worker() {
    let Some(server) = nats() else { return };
    let _worker = worker(&server, "t", &Log::default(), NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    let wrong = ToolCall::new("sleep", toolwright::Payload::new("{}"));
    assert_eq!(kind(toolset.call(&wrong).await), Some(FailureKind::InvalidCall));
    assert_eq!(kind(toolset.call(&call("nothing", 1)).await), Some(FailureKind::NotFound));
    assert_eq!(toolset.instructions(&Scope::default()).await, None);
}
