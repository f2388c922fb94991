//! Tests the generated executors of toolsets of MCP servers: their calls of a [`Remote`], and how they handle its answers. No
//! server is started.

use std::sync::{Arc, Mutex};

use toolwright::{
    BoxFuture, Executor, ExecutorFactory, FailureKind, Payload, Recovery, Registrar,
    RegistrationError, Remote, RemoteCall, ToolCall, ToolFailure, ToolSpec,
};

use crate::real_servers::{git_tools, memory_tools};

/// Gives every call the same answer, and records the calls.
pub(crate) struct Peer {
    answer: Result<&'static str, FailureKind>,
    calls: Mutex<Vec<(&'static str, String)>>,
}

impl Peer {
    pub(crate) fn answering(answer: Result<&'static str, FailureKind>) -> Arc<Self> {
        Arc::new(Self { answer, calls: Mutex::default() })
    }

    fn calls(&self) -> Vec<(&'static str, String)> {
        self.calls.lock().expect("no test panics while it holds the lock").clone()
    }
}

impl Remote for Peer {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        let called = (call.remote_name(), call.args().to_string());
        self.calls.lock().expect("no test panics while it holds the lock").push(called);
        let answer = self.answer.map(Payload::new);
        let failed = |kind| ToolFailure::new(kind, "the peer failed", Recovery::Retry);
        Box::pin(std::future::ready(answer.map_err(failed)))
    }
}

const STATUS: &str = r#"{ "repo_path":"/srv" , "depth":18446744073709551617.0 }"#;

async fn git_status(peer: &Arc<Peer>, args: &str) -> Result<Payload, ToolFailure> {
    let executor = git_tools::executor::GitExecutor::new(peer.clone());
    let call = ToolCall::new("git_status", Payload::new(args));
    executor.execute(&call).await.outcome.as_ref().cloned().map_err(Clone::clone)
}

/// G23: arguments are checked and reach the server unchanged, and its answer comes back unchanged.
#[tokio::test]
async fn a_valid_call_reaches_the_server_as_it_was_written() {
    let peer = Peer::answering(Ok(r#"{ "branch" : "main" }"#));
    let answer = git_status(&peer, STATUS).await.expect("the peer answers");
    assert_eq!(answer.as_str(), r#"{ "branch" : "main" }"#);
    assert_eq!(peer.calls(), [("git_status", STATUS.to_owned())]);
}

/// G23: arguments that the schema refuses are not sent.
#[tokio::test]
async fn arguments_that_break_the_schema_never_reach_the_server() {
    let peer = Peer::answering(Ok("{}"));
    for args in ["{}", r#"{"repo_path":7}"#, r#"{"repo_path":"a","repo_path":"b"}"#, "{"] {
        let failure = git_status(&peer, args).await.expect_err(args);
        assert_eq!(failure.kind, FailureKind::InvalidCall, "{args}");
        assert!(matches!(failure.recovery, Recovery::CorrectCall(_)), "{args}");
    }
    assert_eq!(peer.calls(), []);
}

#[tokio::test]
async fn a_result_that_breaks_the_schema_is_malformed_and_a_failure_keeps_its_kind() {
    let executor = |answer| memory_tools::executor::MemoryExecutor::new(Peer::answering(answer));
    let call = ToolCall::new("read_graph", Payload::new("{}"));
    let cases = [
        (Ok(r#"{"entities":1}"#), FailureKind::MalformedResult),
        (Ok("["), FailureKind::MalformedResult),
        (Err(FailureKind::Unavailable), FailureKind::Unavailable),
    ];
    for (answer, kind) in cases {
        let result = executor(answer).execute(&call).await;
        assert_eq!(result.outcome.as_ref().expect_err("it fails").kind, kind, "{answer:?}");
    }
    let unknown = ToolCall::new("read_grap", Payload::new("{}"));
    let result = executor(Ok("{}")).execute(&unknown).await;
    assert_eq!(result.outcome.as_ref().expect_err("it fails").kind, FailureKind::NotFound);
}

/// A registrar that records what is registered.
#[derive(Default)]
struct Recorder(Vec<(&'static [&'static ToolSpec], Arc<dyn Executor>)>);

impl Registrar for Recorder {
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        self.0.push((specs, executor));
        Ok(())
    }

    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError> {
        self.register(specs, factory())
    }
}

/// G24: registration takes the connection to the server in place of an executor.
#[tokio::test]
async fn registration_takes_the_connection_to_the_server() {
    let peer = Peer::answering(Ok("{}"));
    let mut recorder = Recorder::default();
    git_tools::register(&mut recorder, peer.clone()).expect("the recorder accepts everything");
    for (specs, executor) in recorder.0 {
        assert_eq!(specs.len(), git_tools::specs::ALL.len());
        executor.execute(&ToolCall::new("git_status", Payload::new(STATUS))).await;
    }
    assert_eq!(peer.calls().len(), 1);
}

#[test]
fn the_origin_of_a_toolset_names_its_server_and_its_tools() {
    let origin = &git_tools::specs::REMOTE;
    assert_eq!(origin.server, "git");
    assert_eq!(origin.tools.len(), git_tools::specs::ALL.len());
    assert_eq!(origin.tool("git_log").map(ToolSpec::name), Some("git_log"));
}
