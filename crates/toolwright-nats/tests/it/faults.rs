//! Workers that end or are killed, and servers that stop, under load.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use toolwright::{FailureKind, Recovery, Scope};
use toolwright_engines::nats;
use toolwright_nats::{NatsOptions, NatsToolset, async_nats, serve};
use toolwright_runtime::Toolset;

use crate::{Log, call, connect, failure, kind, start, tools, until, worker};

/// The environment variable with the server for the worker of [`a_worker_in_a_process`].
const URL: &str = "TOOLWRIGHT_NATS_WORKER";

/// A worker in a process of its own, when this binary is started by [`spawn`].
#[tokio::test]
async fn a_worker_in_a_process() {
    let Ok(url) = std::env::var(URL) else { return };
    let client = async_nats::connect(url).await.unwrap();
    let _worker = serve(&client, "t", tools(&Log::default()), NatsOptions::new()).await.unwrap();
    std::future::pending::<()>().await;
}

/// A process that is killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(url: &str) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "faults::a_worker_in_a_process"]).env(URL, url);
    Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_by_its_deadline_when_a_worker_is_killed_under_load() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _stays = worker(&server, "t", &log, NatsOptions::new()).await;
    let killed = spawn(&server.url());
    let client = async_nats::connect(server.url()).await.unwrap();
    // Both answer `PING` before the calls begin.
    for _ in 0..1_000 {
        let mut replies = client.subscribe("count").await.unwrap();
        client.publish_with_reply("$SRV.PING.toolwright-t", "count", "".into()).await.unwrap();
        let both = async { (replies.next().await, replies.next().await) };
        if tokio::time::timeout(Duration::from_millis(50), both).await.is_ok() {
            break;
        }
    }
    let limit = Duration::from_secs(30);
    let options = NatsOptions::new().with_call_timeout(limit);
    let toolset = NatsToolset::connect(&client, "t", options).await.unwrap();
    let toolset = Arc::new(toolset);
    let calls: Vec<_> = (0..1_000)
        .map(|n| {
            let (toolset, tool) = (Arc::clone(&toolset), ["sleep", "read", "short"][n % 3]);
            tokio::spawn(async move {
                let since = Instant::now();
                (tool, toolset.call(&call(tool, 40)).await, since.elapsed())
            })
        })
        .collect();
    until(|| log.counts().1 > 100).await;
    drop(killed);
    let (mut done, mut failed) = (0, [0; 3]);
    for call in calls {
        let (tool, result, time) = call.await.unwrap();
        assert!(time < Duration::from_secs(10), "{time:?}");
        let Err(failure) = result.outcome else {
            done += 1;
            continue;
        };
        // `short` ends at its deadline, and may not have begun. The others end when the worker is seen to be gone.
        let (at, expected) = match (tool, failure.kind) {
            ("sleep", FailureKind::Internal) => (0, Recovery::Replan),
            ("read", FailureKind::Unavailable) => (1, Recovery::Retry),
            ("short", FailureKind::Timeout) if failure.message.ends_with("before it ran") => {
                (2, Recovery::Retry)
            }
            ("short", FailureKind::Timeout) => (2, Recovery::Replan),
            ("short", FailureKind::Unavailable) => (2, Recovery::Retry),
            _ => panic!("{tool}: {failure}"),
        };
        assert_eq!(failure.recovery, expected, "{failure}");
        failed[at] += 1;
    }
    eprintln!("{done} results, and failures of calls that may have run: {failed:?}");
    assert_eq!(done + failed.iter().sum::<usize>(), 1_000);
    assert!(
        failed[..2].iter().sum::<usize>() <= 256,
        "only those of the killed worker: {failed:?}"
    );
    assert!(done > 300, "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_shuts_down_under_load_loses_no_call() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _stays = worker(&server, "t", &log, NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    for round in 0..5 {
        let leaving = worker(&server, "t", &log, NatsOptions::new()).await;
        let calls: Vec<_> = (0..400).map(|n| start(&toolset, "sleep", n % 50)).collect();
        until(|| log.counts().1 > round * 400 + 50).await;
        leaving.shutdown().await;
        for call in calls {
            let outcome = call.await.unwrap().outcome;
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
    assert_eq!(log.counts(), (2_000, 2_000, 0), "each ran once");
}

#[tokio::test]
async fn a_shutdown_ends_at_its_limit_and_the_calls_say_that_they_may_have_run() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let options = NatsOptions::new().with_drain_timeout(Duration::from_millis(200));
    let worker = worker(&server, "t", &log, options).await;
    let toolset = connect(&server, "t").await;
    let calls = [start(&toolset, "sleep", 60_000), start(&toolset, "read", 60_000)];
    until(|| log.counts().0 == 2).await;
    let since = Instant::now();
    worker.shutdown().await;
    assert!(since.elapsed() < Duration::from_secs(3));
    let [sleep, read] = calls;
    let failed = failure(sleep.await.unwrap());
    assert_eq!((failed.kind, &failed.recovery), (FailureKind::Internal, &Recovery::Replan));
    assert!(failed.message.contains("may have taken effect"), "{failed}");
    assert_eq!(kind(read.await.unwrap()), Some(FailureKind::Unavailable));
    assert_eq!(log.counts(), (2, 0, 2));
}

#[tokio::test]
async fn tools_are_unavailable_while_no_worker_responds() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let first = worker(&server, "t", &log, NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    assert!(toolset.is_available("sleep"));
    first.shutdown().await;
    let since = Instant::now();
    let failed = failure(toolset.call(&call("sleep", 1)).await);
    assert!(since.elapsed() < Duration::from_secs(1), "it does not wait for the deadline");
    assert_eq!((failed.kind, &failed.recovery), (FailureKind::Unavailable, &Recovery::Retry));
    assert_eq!(failed.detail.as_deref(), Some("no worker of the toolset `t` responds"));
    assert!(!toolset.is_available("sleep"));
    assert_eq!(toolset.tools(&Scope::default()).await.unwrap().len(), 4, "the last list");
    let _second = worker(&server, "t", &log, NatsOptions::new()).await;
    until(|| toolset.is_available("sleep")).await;
    assert_eq!(kind(toolset.call(&call("sleep", 1)).await), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_survive_a_server_that_pauses_for_five_seconds() {
    let Some(server) = nats() else { return };
    let log = Log::default();
    let _worker = worker(&server, "t", &log, NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    let running: Vec<_> = (0..50).map(|_| start(&toolset, "sleep", 1_000)).collect();
    until(|| log.counts().0 == 50).await;
    server.process.pause();
    let waiting: Vec<_> = (0..50).map(|_| start(&toolset, "sleep", 1)).collect();
    let short: Vec<_> = (0..50).map(|_| start(&toolset, "short", 1)).collect();
    for call in short {
        assert_eq!(kind(call.await.unwrap()), Some(FailureKind::Unavailable), "at its deadline");
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    server.process.resume();
    for call in running.into_iter().chain(waiting) {
        assert_eq!(kind(call.await.unwrap()), None);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(log.counts(), (100, 100, 0), "those whose deadline passed never ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_continue_after_the_server_was_killed_and_started_again() {
    let Some(mut server) = nats() else { return };
    let log = Log::default();
    let _worker = worker(&server, "t", &log, NatsOptions::new()).await;
    let toolset = connect(&server, "t").await;
    let running: Vec<_> = (0..20).map(|_| start(&toolset, "short", 100)).collect();
    until(|| log.counts().0 == 20).await;
    server.process.kill();
    for call in running {
        let result = call.await.unwrap();
        assert!(matches!(kind(result), None | Some(FailureKind::Timeout)));
    }
    server.process.restart();
    let mut last = None;
    for _ in 0..50 {
        last = kind(toolset.call(&call("sleep", 1)).await);
        if last.is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{last:?}");
}
