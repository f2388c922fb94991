//! Toolsets over a real NATS server.

mod approvals;
mod calls;
mod discovery;
mod faults;
mod names;
mod raw;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::spec::{CallLimits, ToolAnnotations};
use toolwright::{FailureKind, Payload, ToolCall, ToolFailure, ToolResult, ToolSpec, described};
use toolwright_engines::Nats;
use toolwright_nats::{NatsOptions, NatsToolset, Worker, async_nats, serve};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{FunctionTool, Toolset};

described! {
    struct N {
        n: i64,
    }
}

/// What the tools of a worker did.
#[derive(Clone, Default)]
struct Log {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn counts(&self) -> (usize, usize, usize) {
        let of = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (of(&self.begun), of(&self.ended), of(&self.dropped))
    }
}

/// Counts a call that was dropped before its end.
struct OnDrop(Option<Log>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(log) = &self.0 {
            log.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Tools that wait, and whose results are large.
fn tools(log: &Log) -> Combined {
    let sleeping = |log: Log| {
        move |args: N| {
            let log = log.clone();
            async move {
                log.begun.fetch_add(1, Ordering::SeqCst);
                let mut guard = OnDrop(Some(log.clone()));
                tokio::time::sleep(Duration::from_millis(args.n.unsigned_abs())).await;
                log.ended.fetch_add(1, Ordering::SeqCst);
                guard.0 = None;
                Ok::<_, ToolFailure>(args.n)
            }
        }
    };
    let limits = |time| CallLimits { timeout: Some(time), ..CallLimits::UNLIMITED };
    let idempotent = ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::default() };
    let read = ToolSpec::new("read").with_annotations(idempotent);
    let short = ToolSpec::new("short").with_limits(limits(Duration::from_millis(300)));
    Combined::new()
        .with("sleep", FunctionTool::new(ToolSpec::new("sleep"), sleeping(log.clone())))
        .with("read", FunctionTool::new(read, sleeping(log.clone())))
        .with("short", FunctionTool::new(short, sleeping(log.clone())))
        .with(
            "repeat",
            FunctionTool::new(ToolSpec::new("repeat"), async |args: N| {
                "x".repeat(usize::try_from(args.n).unwrap())
            }),
        )
}

async fn client(nats: &Nats) -> async_nats::Client {
    async_nats::connect(nats.url()).await.unwrap()
}

/// Starts a worker with a connection of its own.
async fn worker(nats: &Nats, toolset: &str, log: &Log, options: NatsOptions) -> Worker {
    serve(&client(nats).await, toolset, tools(log), options).await.unwrap()
}

async fn connect(nats: &Nats, toolset: &str) -> Arc<NatsToolset> {
    let options = NatsOptions::new().with_call_timeout(Duration::from_secs(20));
    Arc::new(NatsToolset::connect(&client(nats).await, toolset, options).await.unwrap())
}

fn call(tool: &str, n: i64) -> ToolCall {
    ToolCall::new(tool, Payload::new(format!(r#"{{"n":{n}}}"#)))
}

/// Calls a tool in the background.
fn start(toolset: &Arc<NatsToolset>, tool: &str, n: i64) -> tokio::task::JoinHandle<ToolResult> {
    let (toolset, call) = (Arc::clone(toolset), call(tool, n));
    tokio::spawn(async move { toolset.call(&call).await })
}

fn failure(result: ToolResult) -> ToolFailure {
    result.outcome.unwrap_err()
}

fn kind(result: ToolResult) -> Option<FailureKind> {
    result.outcome.err().map(|failure| failure.kind)
}

/// Waits until something is true, for ten seconds.
async fn until(is_true: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if is_true() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not become true in ten seconds");
}
