//! Toolsets that stand for an MCP server: what their generated executors ask of a [`Remote`], and what they make of its
//! answers. Never connects to a server: `toolwright-mcp` does.

use std::sync::{Arc, Mutex};

use toolwright::{
    BoxFuture, Executor, ExecutorFactory, FailureKind, Payload, Recovery, Registrar,
    RegistrationError, Remote, RemoteCall, ToolCall, ToolFailure, ToolSpec,
};

use crate::real_servers::{git_tools, memory_tools};

/// Answers every call alike, and keeps what it was asked.
pub(crate) struct Peer {
    answer: Result<&'static str, FailureKind>,
    asked: Mutex<Vec<(&'static str, String)>>,
}

impl Peer {
    pub(crate) fn answering(answer: Result<&'static str, FailureKind>) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<(&'static str, String)> {
        self.asked.lock().expect("no test panics while it asks").clone()
    }
}

impl Remote for Peer {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        let asked = (call.remote_name(), call.args().to_string());
        self.asked.lock().expect("no test panics while it asks").push(asked);
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

/// G23: arguments are judged here and reach the server to the last digit; its answer comes back so too.
#[tokio::test]
async fn a_valid_call_reaches_the_server_as_it_was_written() {
    let peer = Peer::answering(Ok(r#"{ "branch" : "main" }"#));
    let answer = git_status(&peer, STATUS).await.expect("the peer answers");
    assert_eq!(answer.as_str(), r#"{ "branch" : "main" }"#);
    assert_eq!(peer.asked(), [("git_status", STATUS.to_owned())]);
}

/// G23: what the schema does not accept never gets there.
#[tokio::test]
async fn arguments_that_break_the_schema_never_reach_the_server() {
    let peer = Peer::answering(Ok("{}"));
    for args in ["{}", r#"{"repo_path":7}"#, r#"{"repo_path":"a","repo_path":"b"}"#, "{"] {
        let failure = git_status(&peer, args).await.expect_err(args);
        assert_eq!(failure.kind, FailureKind::InvalidCall, "{args}");
        assert!(matches!(failure.recovery, Recovery::CorrectCall(_)), "{args}");
    }
    assert_eq!(peer.asked(), []);
}

#[tokio::test]
async fn a_result_that_breaks_the_schema_is_malformed_and_a_failure_stays_what_it_is() {
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

/// Keeps what is registered.
#[derive(Default)]
struct Shelf(Vec<(&'static [&'static ToolSpec], Arc<dyn Executor>)>);

impl Registrar for Shelf {
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

/// G24: registration takes what reaches the server, in place of an executor.
#[tokio::test]
async fn registration_takes_what_reaches_the_server() {
    let peer = Peer::answering(Ok("{}"));
    let mut shelf = Shelf::default();
    git_tools::register(&mut shelf, peer.clone()).expect("the shelf takes all");
    for (specs, executor) in shelf.0 {
        assert_eq!(specs.len(), git_tools::specs::ALL.len());
        executor.execute(&ToolCall::new("git_status", Payload::new(STATUS))).await;
    }
    assert_eq!(peer.asked().len(), 1);
}

#[test]
fn the_origin_of_a_toolset_names_its_server_and_its_tools() {
    let origin = &git_tools::specs::REMOTE;
    assert_eq!(origin.server, "git");
    assert_eq!(origin.tools.len(), git_tools::specs::ALL.len());
    assert_eq!(origin.tool("git_log").map(ToolSpec::name), Some("git_log"));
}
