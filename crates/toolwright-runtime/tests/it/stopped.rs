//! Sessions that are stopped, and runs in them.

use std::sync::Arc;

use toolwright::{BoxFuture, FailureKind, ToolCall};
use toolwright_runtime::{
    ApprovalRequest, Approver, FunctionTool, ResumeError, ResumeRequest, RunRequest, Session,
    Verdict,
};

use crate::approval_lists::of_session;
use crate::planners::briefs;
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// A tool that logs its calls.
fn own(log: &Log) -> FunctionTool {
    let log = log.clone();
    tool("own", move |n| {
        log.push("own");
        n
    })
}

/// Neither tools of the session nor those of the run.
#[tokio::test]
async fn p5_a_run_in_a_stopped_session_is_cancelled_before_its_first_call() {
    let ran = Log::default();
    let calls = vec![vec![call("x.free", "a", 1), call("own", "b", 2)]];
    let runtime = of_session(&ran, calls);
    let session = runtime.open_session("worker").await.unwrap();
    let request = RunRequest::new("worker", payload(0)).with_toolset("own", own(&ran));
    let request = request.in_session(&session);
    let outcome = runtime.run(request.clone()).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#]);
    assert_eq!(ran.lines().len(), 2);
    let cancelled = async |request| {
        let outcome = runtime.run(request).await.unwrap();
        assert_eq!(outcome.calls().count(), 0);
        assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Cancelled);
    };
    session.stop().await;
    cancelled(request.clone()).await;
    drop(session);
    cancelled(request).await;
    assert_eq!(ran.lines().len(), 2);
}

#[tokio::test]
async fn a_waiting_run_of_a_stopped_session_keeps_its_answers() {
    let ran = Log::default();
    let runtime = of_session(&ran, vec![vec![call("x.free", "a", 1)]]);
    let session = runtime.open_session("worker").await.unwrap();
    let request = RunRequest::new("worker", payload(0)).with_approval_of(["x.free"]);
    let outcome = runtime.run(request.in_session(&session)).await.unwrap();
    let run = outcome.suspended().unwrap();
    session.stop().await;
    let resuming = |session| {
        let answers = [run.pending()[0].approve()];
        runtime.resume(ResumeRequest::new(run, answers).in_session(session))
    };
    let error = resuming(&session).await.unwrap_err();
    assert!(matches!(error, ResumeError::SessionStopped), "{error}");
    let other = runtime.open_session("worker").await.unwrap();
    let outcome = resuming(&other).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
}

/// P5: the first call stops the session of its run, and ends at the same moment.
#[tokio::test]
async fn p5_no_call_begins_after_its_session_was_stopped() {
    for one_at_a_time in [false, true] {
        let ran = Log::default();
        let both = ["own", "x.free"].map(|name| call(name, name, 1)).to_vec();
        let stopping = vec![call("stop", "a", 0)];
        let calls =
            if one_at_a_time { vec![[stopping, both].concat()] } else { vec![stopping, both] };
        let runtime = of_session(&ran, calls);
        let session = Arc::new(runtime.open_session("worker").await.unwrap());
        let stopped = Arc::clone(&session);
        let stop = FunctionTool::new(spec("stop"), move |args: N| {
            let stopped = Arc::clone(&stopped);
            async move {
                stopped.stop().await;
                args
            }
        });
        let request = RunRequest::new("worker", payload(0)).in_session(&session);
        let request = request.with_toolset("stop", stop).with_toolset("own", own(&ran));
        let request = if one_at_a_time { request.one_at_a_time() } else { request };
        let outcome = runtime.run(request).await.unwrap();
        assert_eq!(briefs(&outcome)[0], r#"{"n":0}"#);
        assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Cancelled);
        assert!(ran.lines().is_empty(), "{:?}", ran.lines());
    }
}

/// P5: the approver of a call stops the session of its run, and approves the call at the same moment.
#[tokio::test]
async fn p5_a_call_that_is_approved_as_its_session_is_stopped_does_not_begin() {
    let ran = Log::default();
    let runtime = of_session(&ran, vec![vec![call("own", "a", 1)]]);
    let session = Arc::new(runtime.open_session("worker").await.unwrap());
    let request = RunRequest::new("worker", payload(0)).with_approval_of(["own"]);
    let request = request.in_session(&session).with_toolset("own", own(&ran));
    let outcome = runtime.run(request.with_approver(Arc::new(Stopping(session)))).await.unwrap();
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Cancelled);
    assert!(ran.lines().is_empty(), "{:?}", ran.lines());
}

/// An approver that stops a session before it approves.
struct Stopping(Arc<Session>);

impl Approver for Stopping {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            self.0.stop().await;
            Verdict::Approve
        })
    }
}

#[tokio::test]
async fn a_run_in_a_session_has_the_id_of_the_session() {
    let runtime = of_session(&Log::default(), vec![vec![call("own", "a", 1)]]);
    let session = runtime.open_session("worker").await.unwrap();
    let seen = Log::default();
    let log = seen.clone();
    let own = FunctionTool::new(spec("own"), move |args: N, call: ToolCall| {
        log.push(call.session_id().unwrap_or_default());
        async move { args }
    });
    let request = RunRequest::new("worker", payload(0)).in_session(&session);
    let request = request.with_toolset("own", own);
    runtime.run(request.clone()).await.unwrap();
    runtime.run(request.with_session_id("mine")).await.unwrap();
    assert_eq!(seen.lines(), [session.id(), "mine"]);
}
