//! Hostile peers of remote toolsets: what they can access, claim and overload.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolwright::{Scope, ToolCall, ToolFailure, ToolResult};
use toolwright_runtime::remote::{
    ApprovalKey, RemoteError, RemoteOptions, RemoteToolset, bind_unix,
};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    ApprovalRequest, FunctionTool, Registry, Runtime, Source, Toolset, Verdict,
};

use crate::approvals::guarded;
use crate::planners::brief;
use crate::tools::{Log, N, call};
use crate::toys::{spec, tool};

/// Long enough for anything that is not blocked.
pub(crate) const SOON: Duration = Duration::from_millis(300);

/// A server, and a peer that can send anything.
pub(crate) struct Raw {
    input: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    nonce: String,
    /// The first listed tool, marked as unavailable.
    tool: String,
    _serving: JoinHandle<()>,
}

impl Raw {
    pub(crate) async fn open(toolset: Source, options: RemoteOptions, scope: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            // The server returns an error for some of these peers.
            let _ = toolset.serve_stream(input, output, options).await;
        });
        let (input, output) = tokio::io::split(ours);
        let input = BufReader::new(input).lines();
        let mut raw =
            Self { input, output, nonce: String::new(), tool: String::new(), _serving: serving };
        raw.say(json!({"open": {"version": 5, "scope": scope}})).await;
        raw.hear().await["nonce"].as_str().unwrap().clone_into(&mut raw.nonce);
        raw
    }

    pub(crate) async fn say(&mut self, request: Value) {
        self.output.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    /// Returns the content of the next reply, whatever its kind.
    pub(crate) async fn hear(&mut self) -> Value {
        content(&self.input.next_line().await.unwrap().unwrap()).1
    }

    pub(crate) async fn list(&mut self) {
        self.say(json!({"list": {"id": 0}})).await;
        let seen = self.input.next_line().await.unwrap().unwrap();
        let tool = seen.strip_prefix(r#"{"tools":{"id":0,"tools":{"Ok":["#).unwrap();
        let tool = tool.strip_suffix("]}}}").unwrap();
        self.tool = tool.replace(r#""available":true"#, r#""available":false"#);
    }

    pub(crate) async fn call(&mut self, id: u64, call: Value, approval: Value) {
        self.say(json!({"call": {"id": id, "call": call, "approval": approval}})).await;
    }
}

/// Returns the kind of a message and its content.
pub(crate) fn content(message: &str) -> (String, Value) {
    let message: Map<String, Value> = serde_json::from_str(message).unwrap();
    message.into_iter().next().unwrap()
}

pub(crate) fn stated(tool: &str) -> Value {
    json!({"id": "c1", "tool": tool, "args": "{\"n\":1}", "approved": true, "scope": {"run_id": "root"}})
}

#[tokio::test]
async fn only_the_user_of_a_socket_can_ever_connect_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = bind_unix(&path).unwrap();
    let found = std::fs::symlink_metadata(&path).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");

    let taken = bind_unix(&path).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    drop(listener);
    let again = bind_unix(&path).expect("a socket that a server left is replaced");
    drop(again);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    let taken = bind_unix(&path).unwrap_err().to_string();
    assert!(taken.starts_with("there is a file that is not a socket at"), "{taken}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[tokio::test]
async fn peers_of_other_users_are_refused_unless_the_server_accepts_them() {
    let folder = tempfile::tempdir().unwrap();
    let us = std::fs::metadata(folder.path()).unwrap().uid();
    let connect = async |name: &str, options: RemoteOptions| {
        let path = folder.path().join(name);
        let toolset = tool("plus", |n| n + 1).into_source();
        let serving = tokio::spawn(toolset.serve_unix(bind_unix(&path).unwrap(), options));
        let connected =
            RemoteToolset::connect_unix(&path, &Scope::default(), RemoteOptions::new()).await;
        serving.abort();
        connected.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(connect("same", RemoteOptions::new()).await, Ok(()));
    let others = RemoteOptions::new().with_peers(move |peer| peer.user_id() == Some(us + 1));
    assert!(connect("others", others).await.is_err());
    let this_process = RemoteOptions::new().with_peers(|peer| {
        peer.process_id().is_none_or(|id| u32::try_from(id) == Ok(std::process::id()))
    });
    assert_eq!(connect("process", this_process).await, Ok(()));
}

#[tokio::test]
async fn a_client_sends_nothing_to_a_server_of_an_untrusted_user() {
    let folder = tempfile::tempdir().unwrap();
    let us = std::fs::metadata(folder.path()).unwrap().uid();
    let path = folder.path().join("socket");
    let listener = bind_unix(&path).unwrap();
    let strangers = RemoteOptions::new().with_peers(move |peer| peer.user_id() == Some(us + 1));
    let refused = RemoteToolset::connect_unix(&path, &Scope::default(), strangers).await;
    let Err(error @ RemoteError::UntrustedPeer { user_id }) = refused else {
        panic!("it connected")
    };
    assert_eq!(user_id, Some(us));
    assert!(error.to_string().starts_with(&format!("user {us} serves the socket")));
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    assert!(text.is_empty(), "{text:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_sets_the_time_limit_for_a_silent_server() {
    let since = tokio::time::Instant::now();
    let (ours, _silent) = tokio::io::duplex(1 << 10);
    let (input, output) = tokio::io::split(ours);
    let options = RemoteOptions::new().with_answer_timeout(SOON);
    let opened = RemoteToolset::connect_stream(input, output, &Scope::default(), options).await;
    assert!(matches!(opened, Err(RemoteError::Io(_))));
    assert_eq!(since.elapsed().as_millis(), SOON.as_millis());
}

/// A toolset that logs the scope of its factory and of its calls.
fn telling_scopes() -> (Source, Log) {
    let log = Log::default();
    let made = log.clone();
    let source = (move |scope: Scope| {
        let seen = made.clone();
        seen.push(format!("made for {:?} {:?}", scope.run_id, scope.labels.get("user")));
        FunctionTool::new(spec("tell"), move |_: N, call: ToolCall| {
            let scope = call.scope();
            let user = scope.labels.get("user");
            seen.push(format!("{} {:?} {:?} {user:?}", call.id(), scope.run_id, scope.session_id));
            std::future::ready(Ok::<_, ToolFailure>(true))
        })
    })
    .into_source();
    (source, log)
}

#[tokio::test]
async fn the_scope_that_a_peer_sends_is_ignored_unless_the_server_accepts_it() {
    let forged = json!({"run_id": "root", "session_id": "s", "labels": {"user": "ann"}});
    let called = |options: RemoteOptions| {
        let forged = forged.clone();
        async move {
            let (source, log) = telling_scopes();
            let mut raw = Raw::open(source, options, forged.clone()).await;
            raw.list().await;
            let call = json!({"id": "c1", "tool": "tell", "args": "{\"n\":1}", "scope": forged});
            raw.call(1, call, Value::Null).await;
            raw.hear().await;
            log.lines()
        }
    };
    let seen = called(RemoteOptions::new()).await;
    assert!(!seen.concat().contains("root") && !seen.concat().contains("ann"), "{seen:?}");
    let run = seen[0].strip_prefix("made for ").unwrap().strip_suffix(" None").unwrap();
    assert!(run.starts_with("Some(\"run_"), "{run}");
    assert_eq!(seen[1], format!("c1 {run} None None"), "one run, and the id of the call");

    let seen = called(RemoteOptions::new().trusting_peers()).await;
    let expected =
        [r#"made for Some("root") Some("ann")"#, r#"c1 Some("root") Some("s") Some("ann")"#];
    assert_eq!(seen, expected);

    let only_runs = RemoteOptions::new()
        .with_scope(|_, stated| Scope { run_id: stated.run_id, ..Scope::default() });
    let seen = called(only_runs).await;
    assert_eq!(seen, [r#"made for Some("root") None"#, r#"c1 Some("root") None None"#]);
}

#[tokio::test]
async fn peers_over_the_connection_limit_wait_until_one_disconnects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let toolset = tool("plus", |n| n + 1).into_source();
    let options = RemoteOptions::new().with_max_connections(1);
    let serving = tokio::spawn(toolset.serve_unix(bind_unix(&path).unwrap(), options));
    let first = connect(&path, None).await;
    let mut second = Box::pin(connect(&path, None));
    assert!(timeout(SOON, &mut second).await.is_err());
    drop(first);
    timeout(SOON * 20, second).await.unwrap();
    serving.abort();
}

/// Runs itself in a process with a low limit of open files.
#[tokio::test]
async fn a_server_without_free_file_descriptors_continues_once_it_has_some() {
    const NAME: &str = "peers::a_server_without_free_file_descriptors_continues_once_it_has_some";
    if std::env::var_os("FEW_FILES").is_none() {
        let this = std::env::current_exe().unwrap();
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", r#"ulimit -n 40 && exec "$0" --exact "$1""#]).arg(this).arg(NAME);
        let ended = limited.env("FEW_FILES", "1").output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let toolset = tool("plus", |n| n + 1).into_source();
    let listener = bind_unix(&path).unwrap();
    let serving = tokio::spawn(toolset.serve_unix(listener, RemoteOptions::new()));
    let first = connect(&path, None).await;
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    // One file descriptor for the client, and none for the server.
    files.pop();
    let mut second = Box::pin(connect(&path, None));
    assert!(timeout(SOON, &mut second).await.is_err(), "there is no file for it");
    assert!(!serving.is_finished());
    drop(files);
    timeout(SOON * 20, second).await.unwrap();
    assert!(!first.tools(&Scope::default()).await.unwrap().is_empty(), "it is still served");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_opens_its_connection_is_disconnected() {
    let (_silent, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let toolset = tool("plus", |n| n + 1).into_source();
    let ended = toolset.serve_stream(input, output, RemoteOptions::new()).await;
    let Err(RemoteError::Io(error)) = ended else { panic!("{ended:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_not_waited_for() {
    let (ours, _silent) = tokio::io::duplex(1 << 10);
    let (input, output) = tokio::io::split(ours);
    let scope = Scope::default();
    let opening = RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new());
    let opened = timeout(SOON * 100, opening).await.expect("the opening has a limit");
    let Err(RemoteError::Io(error)) = opened else { panic!("it cannot have opened") };
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);

    let (ours, mut silent) = tokio::io::duplex(1 << 10);
    let opened = json!({"opened": {"calls": 4, "nonce": "n"}});
    silent.write_all(format!("{opened}\n").as_bytes()).await.unwrap();
    let (input, output) = tokio::io::split(ours);
    let remote =
        RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new()).await.unwrap();
    let listed = timeout(SOON * 100, remote.tools(&scope)).await.expect("lists have a limit");
    assert!(listed.unwrap_err().to_string().contains("failed"));
    assert!(timeout(SOON * 100, remote.save(&scope)).await.expect("so has saving").is_err());
    let calling = timeout(SOON * 1_000, remote.call(&call("plus", "a", 1))).await;
    assert!(calling.is_err(), "calls have limits of their own");
}

#[tokio::test]
async fn calls_over_the_limit_of_a_connection_fail_until_others_are_cancelled() {
    let stuck = FunctionTool::new(spec("stuck"), std::future::pending::<bool>);
    let options = RemoteOptions::new().with_max_calls(2);
    let mut raw = Raw::open(stuck.into_source(), options, json!({})).await;
    raw.list().await;
    let stuck = json!({"id": "c", "tool": "stuck", "args": "{}", "scope": {}});
    for id in 1..=3 {
        raw.call(id, stuck.clone(), Value::Null).await;
    }
    let refused = raw.hear().await;
    assert_eq!((&refused["id"], failure(&refused)), (&json!(3), "rate_limited"));
    raw.say(json!({"cancel": {"id": 1}})).await;
    raw.call(4, stuck.clone(), Value::Null).await;
    assert!(timeout(SOON, raw.hear()).await.is_err(), "the fourth call runs");
    raw.call(4, stuck, Value::Null).await;
    assert_eq!(raw.input.next_line().await.unwrap(), None, "an id can be used for one request");
}

fn failure(reply: &Value) -> &str {
    reply["outcome"]["failure"]["kind"].as_str().unwrap_or("none")
}

/// A server that stops reading gets as many calls as it accepts at once, and their cancellations.
#[tokio::test]
async fn a_client_sends_no_more_calls_than_the_server_accepts() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, mut output) = tokio::io::split(theirs);
    let mut input = BufReader::new(input).lines();
    let opened = json!({"opened": {"calls": 4, "nonce": "n"}});
    output.write_all(format!("{opened}\n").as_bytes()).await.unwrap();
    let (reading, writing) = tokio::io::split(ours);
    let remote =
        RemoteToolset::connect_stream(reading, writing, &Scope::default(), RemoteOptions::new())
            .await;
    let remote = Arc::new(remote.unwrap());
    input.next_line().await.unwrap();
    for _ in 0..3 {
        let calls = (0..1_000).map(|n| {
            let remote = Arc::clone(&remote);
            tokio::spawn(async move { remote.call(&call("plus", "a", n)).await })
        });
        let calls: Vec<_> = calls.collect();
        let mut sent = Vec::new();
        while let Ok(line) = timeout(SOON, input.next_line()).await {
            sent.push(content(&line.unwrap().unwrap()).0);
        }
        assert_eq!(sent, ["call"; 4]);
        // Drop the waiting calls first, so that none of them gets a permit.
        calls.iter().rev().for_each(JoinHandle::abort);
        for call in calls {
            assert!(call.await.unwrap_err().is_cancelled());
        }
        for _ in 0..4 {
            let line = input.next_line().await.unwrap().unwrap();
            assert!(line.contains("cancel"), "{line}");
        }
    }
}

const SECRET: [u8; 32] = [7; 32];

/// Makes a call of a remote toolset with a runtime that approves everything.
async fn approving(log: &Log, server: Option<[u8; 32]>, client: Option<[u8; 32]>) -> ToolResult {
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let mut options = RemoteOptions::new();
    if let Some(secret) = server {
        options = options.with_approval_key(ApprovalKey::new(secret));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let toolset = Combined::new().with("disks", guarded(log)).into_source();
    let serving = tokio::spawn(toolset.serve_unix(bind_unix(&path).unwrap(), options));
    let remote = connect(&path, client).await;
    let registry = Registry::new();
    registry.register_toolset("far", remote).unwrap();
    let catalog = registry.catalog();
    catalog.publish("far", "x").unwrap();
    catalog.allow("agent", "far").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).with_approver(yes);
    let session = runtime.build().open_session("agent").await.unwrap();
    session.tools().await.unwrap();
    let result = session.call(call("x.wipe", "a", 1)).await;
    serving.abort();
    result
}

pub(crate) async fn connect(path: &Path, secret: Option<[u8; 32]>) -> RemoteToolset {
    let mut options = RemoteOptions::new();
    if let Some(secret) = secret {
        options = options.with_approval_key(ApprovalKey::new(secret));
    }
    RemoteToolset::connect_unix(path, &Scope::default(), options).await.unwrap()
}

#[tokio::test]
async fn h6_an_approval_is_valid_for_the_server_only_with_a_shared_key() {
    let log = Log::default();
    assert_eq!(brief(&approving(&log, Some(SECRET), Some(SECRET)).await), r#"{"n":1}"#);
    assert_eq!(log.lines().len(), 1);
    let no_key = "the server of the remote toolset has no approval key; give the same one to it";
    let no_code = "the call has no approval code that is valid for this request";
    for (server, client, expected) in [
        (None, None, no_key),
        (None, Some(SECRET), no_key),
        (Some(SECRET), None, no_code),
        (Some(SECRET), Some([8; 32]), no_code),
    ] {
        let failure = approving(&log, server, client).await.outcome.unwrap_err();
        assert_eq!(failure.message, "`wipe` needs an approval, and this call has none");
        let detail = failure.detail.unwrap();
        assert!(detail.starts_with(expected), "{detail}");
    }
    assert_eq!(log.lines().len(), 1, "nothing else ran");
}

/// H6: the code must be for exactly this request.
#[tokio::test]
async fn h6_a_peer_without_a_valid_approval_code_runs_nothing() {
    let log = Log::default();
    let toolset = Combined::new().with("disks", guarded(&log)).into_source();
    let options = RemoteOptions::new().trusting_peers();
    let options = options.with_approval_key(ApprovalKey::new(SECRET));
    let mut raw = Raw::open(toolset, options, json!({})).await;
    raw.list().await;
    for (id, code) in [(1, Value::Null), (2, json!(vec![0; 32])), (3, json!(vec![7; 32]))] {
        raw.call(id, stated("wipe"), code).await;
        assert_eq!(failure(&raw.hear().await), "denied");
    }
    assert!(log.lines().is_empty());
    let tool = raw.tool.clone();
    let code =
        |nonce: &str, request: u64, args: &str| json!(code(&SECRET, nonce, request, args, &tool));
    let nonce = raw.nonce.clone();
    let args = r#"{"n":1}"#;
    for (id, wrong) in [
        (4, code("nonce_of_another", 4, args)),
        (5, code(&nonce, 4, args)),
        (6, code(&nonce, 6, r#"{"n":2}"#)),
    ] {
        raw.call(id, stated("wipe"), wrong).await;
        assert_eq!(failure(&raw.hear().await), "denied", "{id}");
    }
    assert!(log.lines().is_empty());
    for expected in ["none", "denied"] {
        raw.call(7, stated("wipe"), code(&nonce, 7, args)).await;
        assert_eq!(failure(&raw.hear().await), expected, "a code is good once");
    }
    assert_eq!(log.lines().len(), 1);
}

/// H6: a relay without the key can change neither the scope nor the tool of a call.
#[tokio::test]
async fn h6_an_approved_call_that_was_changed_in_transit_runs_nothing() {
    for (from, to, expected) in [
        ("nothing of this", "is said", r#"{"n":1}"#),
        (r#""labels":{}"#, r#""labels":{"user":"root"}"#, "denied"),
        (r#""session_id":""#, r#""session_id":"other_"#, "denied"),
        (
            r#""open":{"version":5,"scope":{"run_id":null"#,
            r#""open":{"version":5,"scope":{"run_id":"r""#,
            "denied",
        ),
        ("Wipe {{ args.n }} disks?", "Read the weather?", "denied"),
        (r#"\"high\""#, r#"\"low\""#, "denied"),
    ] {
        let log = Log::default();
        let toolset = Combined::new().with("disks", guarded(&log)).into_source();
        let options = RemoteOptions::new().trusting_peers();
        let options = options.with_approval_key(ApprovalKey::new(SECRET));
        let (ours, between) = tokio::io::duplex(1 << 16);
        let (relayed, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let _serving = tokio::spawn(toolset.serve_stream(input, output, options));
        let (requests, replies_to) = tokio::io::split(between);
        let (replies, requests_to) = tokio::io::split(relayed);
        let _requests = tokio::spawn(relay(requests, requests_to, from, to));
        let _replies = tokio::spawn(relay(replies, replies_to, from, to));
        let (input, output) = tokio::io::split(ours);
        let options = RemoteOptions::new().with_approval_key(ApprovalKey::new(SECRET));
        let remote =
            RemoteToolset::connect_stream(input, output, &Scope::default(), options).await.unwrap();
        let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
        let registry = Registry::new();
        registry.register_toolset("far", remote).unwrap();
        let catalog = registry.catalog();
        catalog.publish("far", "x").unwrap();
        catalog.allow("agent", "far").unwrap();
        let runtime = Runtime::builder(registry).with_catalog(catalog).with_approver(yes).build();
        let session = runtime.open_session("agent").await.unwrap();
        session.tools().await.unwrap();
        let result = session.call(call("x.wipe", "a", 1)).await;
        let text = match &result.outcome {
            Ok(payload) => payload.as_str().to_owned(),
            Err(failure) => failure.kind.to_string(),
        };
        assert_eq!(text, expected, "{from}");
        assert_eq!(log.lines().len(), usize::from(expected != "denied"), "{from}");
    }
}

/// Relays lines, and replaces one text by another.
async fn relay(
    input: ReadHalf<DuplexStream>,
    mut output: WriteHalf<DuplexStream>,
    from: &'static str,
    to: &'static str,
) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line = line.replace(from, to) + "\n";
        if output.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The approval code of the protocol, computed independently: HMAC-SHA256 (RFC 2104).
fn code(secret: &[u8; 32], nonce: &str, request: u64, args: &str, tool: &str) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let pad = |byte: u8| -> Vec<u8> {
        let mut block = [byte; 64];
        block.iter_mut().zip(secret).for_each(|(byte, secret)| *byte ^= secret);
        block.to_vec()
    };
    let request = request.to_be_bytes();
    let scope = |run: &str| {
        let others =
            r#""session_id":null,"turn_id":null,"parent_call_id":null,"labels":{},"depth":0"#;
        format!(r#"{{"run_id":{run},{others}}}"#)
    };
    let (opened_for, called_in) = (scope("null"), scope(r#""root""#));
    let tool = Sha256::digest(tool);
    let texts = [nonce, &opened_for, "c1", "wipe", args, &called_in].map(str::as_bytes);
    let parts = [b"connection", &request[..]].into_iter().chain(texts);
    let mut message = Vec::new();
    for part in parts.chain([&tool[..]]) {
        message.extend((part.len() as u64).to_be_bytes());
        message.extend(part);
    }
    let inner = Sha256::digest([pad(0x36), message].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}
