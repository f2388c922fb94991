//! Tools that block: their time limits apply, and other calls are not delayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use toolwright::progress::{self, Progress, Watcher};
use toolwright::spec::{CallLimits, ToolAnnotations};
use toolwright::{FailureKind, Payload, Recovery, ToolCall};
use toolwright_runtime::execute::{blocking, occupied_threads};
use toolwright_runtime::{ExecutionService, FunctionTool, Registry, Runtime};

use crate::planners::brief;
use crate::toys::{spec, tool};

/// The time limit of the tool that blocks.
const LIMIT: Duration = Duration::from_millis(100);

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(4);

/// A runtime with the tool `quick`, and the tool `stuck`, which blocks its thread until the sender is dropped.
fn quick_beside_stuck(has_own_thread: bool) -> (Runtime, mpsc::Sender<()>) {
    let (held, until) = mpsc::channel::<()>();
    let until = Arc::new(std::sync::Mutex::new(until));
    let limits = CallLimits { timeout: Some(LIMIT), ..CallLimits::UNLIMITED };
    let stuck = FunctionTool::new(spec("stuck").with_limits(limits), move || {
        let until = Arc::clone(&until);
        let work = move || until.lock().unwrap().recv_timeout(LONG).is_ok();
        async move { if has_own_thread { blocking(work).await } else { work() } }
    });
    let registry = Registry::new();
    registry.register_tool(stuck).unwrap();
    registry.register_tool(FunctionTool::new(spec("quick"), async || true)).unwrap();
    (Runtime::new(registry), held)
}

/// Other work still has threads. Further blocking calls wait for a thread and run as soon as one is free.
#[test]
fn blocking_calls_without_a_free_thread_are_unavailable_and_do_not_block_others() {
    let (held, until) = mpsc::channel::<()>();
    let until = Arc::new(std::sync::Mutex::new(until));
    let begun = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&begun);
    let limits = CallLimits { timeout: Some(LIMIT), ..CallLimits::UNLIMITED };
    let reads = ToolAnnotations { read_only: Some(true), ..ToolAnnotations::UNKNOWN };
    let spec_of_stuck = spec("stuck").with_limits(limits).with_annotations(reads);
    let stuck = FunctionTool::new(spec_of_stuck, move || {
        let (until, begun) = (Arc::clone(&until), Arc::clone(&counted));
        blocking(move || {
            begun.fetch_add(1, Ordering::SeqCst);
            until.lock().unwrap().recv_timeout(LONG).is_ok()
        })
    });
    let registry = Registry::new();
    registry.register_tool(stuck).unwrap();
    let execute = ExecutionService::default().with_blocking_threads(1);
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    for mut tokio in
        [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()]
    {
        begun.store(0, Ordering::SeqCst);
        let tokio = tokio.enable_time().max_blocking_threads(2).build().unwrap();
        tokio.block_on(async {
            let first = runtime.call(call("stuck"));
            let second = async {
                tokio::time::sleep(LIMIT / 4).await;
                runtime.call(call("stuck")).await
            };
            let (first, second) = tokio::join!(first, second);
            assert_eq!(brief(&first), "timeout");
            let failure = second.outcome.unwrap_err();
            assert_eq!(
                (failure.kind, failure.recovery),
                (FailureKind::Unavailable, Recovery::Retry)
            );
            assert_eq!(failure.message, "`stuck` is busy and did not begin within 100ms");
            assert_eq!(begun.load(Ordering::SeqCst), 1);
            let other = tokio::task::spawn_blocking(|| true);
            assert!(
                tokio::time::timeout(LONG / 2, other).await.expect("a thread is left").unwrap()
            );
            held.send(()).unwrap();
            let third = runtime.call(call("stuck"));
            let releasing = async {
                tokio::time::sleep(LIMIT / 4).await;
                held.send(()).unwrap();
            };
            assert_eq!(brief(&tokio::join!(third, releasing).0), "true");
        });
    }
}

/// They changed something before their work, so that another attempt would change it again: one of them before it first awaited
/// anything.
#[test]
fn a_call_that_waits_for_a_thread_after_something_else_may_have_taken_effect() {
    let limits = CallLimits { timeout: Some(LIMIT), attempts: Some(2), ..CallLimits::UNLIMITED };
    let charged = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&charged);
    let paying = |name, yields: bool| {
        let counted = Arc::clone(&counted);
        FunctionTool::new(spec(name).with_limits(limits), move || {
            let charged = Arc::clone(&counted);
            async move {
                if yields {
                    tokio::task::yield_now().await;
                }
                charged.fetch_add(1, Ordering::SeqCst);
                blocking(|| true).await
            }
        })
    };
    let twice = FunctionTool::new(spec("twice").with_limits(limits), || async {
        // The second has no thread before the first has ended.
        let stuck = blocking(|| std::thread::sleep(3 * LIMIT));
        tokio::join!(stuck, blocking(|| true)).1
    });
    let registry = Registry::new();
    let (pay, pay_now) = (paying("pay", true), paying("pay_now", false));
    registry.register_tools([pay, pay_now, twice]).unwrap();
    let execute = ExecutionService::default().with_blocking_threads(1);
    let runtime = Runtime::builder(registry).with_execution_service(execute).build();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio.block_on(async {
        let first = runtime.call(call("twice"));
        let second = async {
            tokio::time::sleep(LIMIT / 4).await;
            tokio::join!(runtime.call(call("pay")), runtime.call(call("pay_now")))
        };
        let (first, (second, third)) = tokio::join!(first, second);
        assert_eq!([first, second, third].map(|result| brief(&result)), ["timeout"; 3]);
    });
    assert_eq!(charged.load(Ordering::SeqCst), 2);
}

fn call(tool: &str) -> ToolCall {
    ToolCall::new(tool, Payload::new("{}"))
}

/// Asserts that the stuck call times out and a concurrent quick call ends, long before the tool returns. The thread is
/// counted as occupied until then.
async fn strikes_beside_a_quick_call((runtime, held): (Runtime, mpsc::Sender<()>)) {
    let since = Instant::now();
    let calling = runtime.clone();
    let stuck = tokio::spawn(async move {
        // After a timer, the stuck call runs on the worker that polls timers.
        tokio::time::sleep(Duration::from_millis(20)).await;
        calling.call(call("stuck")).await
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(brief(&runtime.call(call("quick")).await), "true");
    assert_eq!(brief(&stuck.await.unwrap()), "timeout");
    assert!(since.elapsed() < LONG / 2, "{:?}", since.elapsed());
    assert!(occupied_threads() > 0);
    drop(held);
    let returned = async {
        while occupied_threads() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, returned).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_a_time_limit_ends_a_call_whose_tool_blocks_a_worker() {
    strikes_beside_a_quick_call(quick_beside_stuck(false)).await;
}

/// R11: it is dropped immediately, and not later on another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r11_a_call_on_its_own_task_is_dropped_when_it_is_cancelled() {
    let held = Arc::new(());
    let holding = Arc::clone(&held);
    let limits = CallLimits { timeout: Some(LONG), ..CallLimits::UNLIMITED };
    let waiting = FunctionTool::new(spec("wait").with_limits(limits), move || {
        let holding = Arc::clone(&holding);
        async move {
            std::future::pending::<()>().await;
            Arc::strong_count(&holding) > 0
        }
    });
    let registry = Registry::new();
    registry.register_tool(waiting).unwrap();
    let runtime = Runtime::new(registry);
    for _ in 0..50 {
        let calling = tokio::time::timeout(Duration::from_millis(5), runtime.call(call("wait")));
        assert!(calling.await.is_err());
        assert_eq!(Arc::strong_count(&held), 2, "the tool's own, and this one");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_on_the_task_of_a_call_fails_only_that_call() {
    let registry = Registry::new();
    registry.register_tool(tool("panic", |_| panic!("a bug"))).unwrap();
    let result = Runtime::new(registry).call(crate::tools::call("panic", "a", 1)).await;
    let failure = result.outcome.unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the executor panicked: a bug"));
}

#[tokio::test]
async fn h3_a_time_limit_ends_blocking_work_on_a_single_threaded_runtime() {
    strikes_beside_a_quick_call(quick_beside_stuck(true)).await;
}

#[test]
fn blocking_work_of_a_cancelled_call_does_not_begin() {
    let mut tokio = tokio::runtime::Builder::new_current_thread();
    let tokio = tokio.enable_time().max_blocking_threads(1).build().unwrap();
    let count = Arc::new(AtomicU32::new(0));
    let begin = || {
        let count = Arc::clone(&count);
        blocking(move || {
            count.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(LIMIT * 2);
        })
    };
    tokio.block_on(async {
        let first = tokio::time::timeout(LIMIT, begin());
        let second = tokio::time::timeout(LIMIT / 2, begin());
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_err() && second.is_err());
    });
    // Waits for all work that has begun.
    drop(tokio);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

struct Heard(mpsc::Sender<Progress>);

impl Watcher for Heard {
    fn on_progress(&self, progress: Progress) {
        self.0.send(progress).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_reported_from_the_task_of_a_call_and_from_blocking_work() {
    let report = |done| progress::report(done, None, None);
    let registry = Registry::new();
    let reporting = FunctionTool::new(spec("report"), move || async move {
        report(1.0);
        blocking(move || report(2.0)).await;
        true
    });
    registry.register_tool(reporting).unwrap();
    let (sender, heard) = mpsc::channel();
    let calling = Runtime::new(registry);
    progress::watch(Arc::new(Heard(sender)), calling.call(call("report"))).await;
    assert_eq!(heard.iter().map(|progress| progress.done).collect::<Vec<_>>(), [1.0, 2.0]);
}

#[tokio::test]
async fn a_panic_in_blocking_work_fails_only_its_call() {
    let registry = Registry::new();
    let panicking = || blocking(|| -> bool { panic!("a bug") });
    registry.register_tool(FunctionTool::new(spec("panic"), panicking)).unwrap();
    let result = Runtime::new(registry).call(call("panic")).await;
    let failure = result.outcome.unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the executor panicked: a bug"));
}
