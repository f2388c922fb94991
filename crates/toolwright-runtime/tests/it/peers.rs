//! Peers of a remote toolset that mean harm: what they can reach, say and fill.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};
use toolwright_runtime::remote::{
    ApprovalKey, RemoteError, RemoteOptions, RemoteToolset, bind_unix,
};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    ApprovalRequest, FunctionTool, Registry, Runtime, Source, ToolEntry, Toolset, Verdict,
};

use crate::approvals::guarded;
use crate::planners::brief;
use crate::tools::{Log, N, call};
use crate::toys::{spec, tool};

/// Long enough for what happens at all.
const SOON: Duration = Duration::from_millis(300);

/// A server, and a peer that says to it what it likes.
struct Raw {
    input: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    nonce: String,
    /// The first tool as it was listed, as of one that cannot be used.
    tool: String,
    _serving: JoinHandle<()>,
}

impl Raw {
    async fn open(toolset: Source, options: RemoteOptions, scope: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            // It ends badly where the peer is as bad as these.
            let _ = toolset.serve_stream(input, output, options).await;
        });
        let (input, output) = tokio::io::split(ours);
        let input = BufReader::new(input).lines();
        let mut raw =
            Self { input, output, nonce: String::new(), tool: String::new(), _serving: serving };
        raw.say(json!({"say": "open", "version": 4, "scope": scope})).await;
        raw.hear().await["nonce"].as_str().unwrap().clone_into(&mut raw.nonce);
        raw
    }

    async fn say(&mut self, request: Value) {
        self.output.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.input.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn list(&mut self) {
        self.say(json!({"say": "list", "id": 0})).await;
        let told = self.input.next_line().await.unwrap().unwrap();
        let tool = told.strip_prefix(r#"{"say":"tools","id":0,"tools":{"Ok":["#).unwrap();
        let tool = tool.strip_suffix("]}}").unwrap();
        self.tool = tool.replace(r#""available":true"#, r#""available":false"#);
    }

    async fn call(&mut self, id: u64, call: Value, approval: Value) {
        self.say(json!({"say": "call", "id": id, "call": call, "approval": approval})).await;
    }
}

fn stated(tool: &str) -> Value {
    json!({"id": "c1", "tool": tool, "args": "{\"n\":1}", "approved": true, "scope": {"run_id": "root"}})
}

#[tokio::test]
async fn a_socket_is_for_its_user_alone_from_the_first_moment() {
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
    assert!(taken.starts_with("a file that is no socket is at"), "{taken}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[tokio::test]
async fn only_peers_of_the_same_user_may_connect_unless_the_server_says_otherwise() {
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
async fn a_client_says_nothing_to_the_server_of_a_stranger() {
    let folder = tempfile::tempdir().unwrap();
    let us = std::fs::metadata(folder.path()).unwrap().uid();
    let path = folder.path().join("socket");
    let listener = bind_unix(&path).unwrap();
    let strangers = RemoteOptions::new().with_peers(move |peer| peer.user_id() == Some(us + 1));
    let refused = RemoteToolset::connect_unix(&path, &Scope::default(), strangers).await;
    let Err(error @ RemoteError::Stranger { user_id }) = refused else { panic!("it connected") };
    assert_eq!(user_id, Some(us));
    assert!(error.to_string().starts_with(&format!("the socket is served by user {us}")));
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).await.unwrap();
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_says_how_long_a_silent_server_is_waited_for() {
    let since = tokio::time::Instant::now();
    let (ours, _silent) = tokio::io::duplex(1 << 10);
    let (input, output) = tokio::io::split(ours);
    let options = RemoteOptions::new().with_answer_timeout(SOON);
    let opened = RemoteToolset::over(input, output, &Scope::default(), options).await;
    assert!(matches!(opened, Err(RemoteError::Io(_))));
    assert_eq!(since.elapsed().as_millis(), SOON.as_millis());
}

/// A toolset that says for whom it was made, and whose tool says for whom it is called.
fn telling_scopes() -> (Source, Log) {
    let log = Log::default();
    let made = log.clone();
    let source = (move |scope: Scope| {
        let told = made.clone();
        told.push(format!("made for {:?} {:?}", scope.run_id, scope.labels.get("user")));
        FunctionTool::new(spec("tell"), move |_: N, call: ToolCall| {
            let scope = call.scope();
            let user = scope.labels.get("user");
            told.push(format!("{} {:?} {:?} {user:?}", call.id(), scope.run_id, scope.session_id));
            std::future::ready(Ok::<_, ToolFailure>(true))
        })
    })
    .into_source();
    (source, log)
}

#[tokio::test]
async fn a_peer_states_no_identity_that_the_server_does_not_believe() {
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
    let told = called(RemoteOptions::new()).await;
    assert!(!told.concat().contains("root") && !told.concat().contains("ann"), "{told:?}");
    let run = told[0].strip_prefix("made for ").unwrap().strip_suffix(" None").unwrap();
    assert!(run.starts_with("Some(\"run_"), "{run}");
    assert_eq!(told[1], format!("c1 {run} None None"), "one run, and the id of the call");

    let told = called(RemoteOptions::new().trusting_peers()).await;
    let expected =
        [r#"made for Some("root") Some("ann")"#, r#"c1 Some("root") Some("s") Some("ann")"#];
    assert_eq!(told, expected);

    let only_runs = RemoteOptions::new()
        .with_scope(|_, stated| Scope { run_id: stated.run_id, ..Scope::default() });
    let told = called(only_runs).await;
    assert_eq!(told, [r#"made for Some("root") None"#, r#"c1 Some("root") None None"#]);
}

/// Counts how often it is listed.
struct Listed(Arc<AtomicUsize>, FunctionTool);

impl Toolset for Listed {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.1.call(call)
    }
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_not_read_from() {
    let listed = Arc::new(AtomicUsize::new(0));
    let toolset = Listed(Arc::clone(&listed), tool("plus", |n| n + 1)).into_source();
    let mut raw = Raw::open(toolset, RemoteOptions::new(), json!({})).await;
    let mut said = 0;
    let flooding = async {
        while said < 200_000 {
            raw.say(json!({"say": "list", "id": said})).await;
            said += 1;
        }
    };
    assert!(timeout(SOON * 2, flooding).await.is_err(), "it has to wait");
    // Replies on the stream, and those that wait; requests on the stream.
    let listed = listed.load(Ordering::SeqCst);
    assert!(listed < 500, "{listed} lists were made for nobody");
    assert!(said < 10_000, "{said} requests were taken");
}

#[tokio::test]
async fn peers_over_the_limit_of_connections_wait_until_one_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let toolset = tool("plus", |n| n + 1).into_source();
    let options = RemoteOptions::new().with_connections(1);
    let serving = tokio::spawn(toolset.serve_unix(bind_unix(&path).unwrap(), options));
    let first = connect(&path, None).await;
    let mut second = Box::pin(connect(&path, None));
    assert!(timeout(SOON, &mut second).await.is_err());
    drop(first);
    timeout(SOON * 20, second).await.unwrap();
    serving.abort();
}

/// Runs itself again in a process that may open few files.
#[tokio::test]
async fn a_server_out_of_files_goes_on_once_it_has_some() {
    const NAME: &str = "peers::a_server_out_of_files_goes_on_once_it_has_some";
    if std::env::var_os("FEW_FILES").is_none() {
        let this = std::env::current_exe().unwrap();
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", r#"ulimit -n 40 && exec "$0" --exact "$1""#]).arg(this).arg(NAME);
        let ended = limited.env("FEW_FILES", "1").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
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
    // One for the client's end, none for the server's.
    files.pop();
    let mut second = Box::pin(connect(&path, None));
    assert!(timeout(SOON, &mut second).await.is_err(), "there is no file for it");
    assert!(!serving.is_finished());
    drop(files);
    timeout(SOON * 20, second).await.unwrap();
    assert!(!first.tools(&Scope::default()).await.unwrap().is_empty(), "it is still served");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_opens_its_connection_is_left() {
    let (_silent, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let toolset = tool("plus", |n| n + 1).into_source();
    let ended = toolset.serve_stream(input, output, RemoteOptions::new()).await;
    let Err(RemoteError::Io(error)) = ended else { panic!("{ended:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let (ours, _silent) = tokio::io::duplex(1 << 10);
    let (input, output) = tokio::io::split(ours);
    let scope = Scope::default();
    let opening = RemoteToolset::over(input, output, &scope, RemoteOptions::new());
    let opened = timeout(SOON * 100, opening).await.expect("the opening has a limit");
    let Err(RemoteError::Io(error)) = opened else { panic!("it cannot have opened") };
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);

    let (ours, mut silent) = tokio::io::duplex(1 << 10);
    let opened = json!({"say": "opened", "calls": 4, "nonce": "n"});
    silent.write_all(format!("{opened}\n").as_bytes()).await.unwrap();
    let (input, output) = tokio::io::split(ours);
    let remote = RemoteToolset::over(input, output, &scope, RemoteOptions::new()).await.unwrap();
    let listed = timeout(SOON * 100, remote.tools(&scope)).await.expect("lists have a limit");
    assert!(listed.unwrap_err().to_string().contains("broke"));
    assert!(timeout(SOON * 100, remote.save(&scope)).await.expect("so has saving").is_err());
    let calling = timeout(SOON * 1_000, remote.call(&call("plus", "a", 1))).await;
    assert!(calling.is_err(), "calls have limits of their own");
}

#[tokio::test]
async fn calls_over_the_limit_of_a_connection_fail_and_cancelled_ones_make_room() {
    let stuck = FunctionTool::new(spec("stuck"), std::future::pending::<bool>);
    let options = RemoteOptions::new().with_calls(2);
    let mut raw = Raw::open(stuck.into_source(), options, json!({})).await;
    raw.list().await;
    let stuck = json!({"id": "c", "tool": "stuck", "args": "{}", "scope": {}});
    for id in 1..=3 {
        raw.call(id, stuck.clone(), Value::Null).await;
    }
    let refused = raw.hear().await;
    assert_eq!((&refused["id"], failure(&refused)), (&json!(3), "rate_limited"));
    raw.say(json!({"say": "cancel", "id": 1})).await;
    raw.call(4, stuck.clone(), Value::Null).await;
    assert!(timeout(SOON, raw.hear()).await.is_err(), "the fourth call runs");
    raw.call(4, stuck, Value::Null).await;
    assert_eq!(raw.input.next_line().await.unwrap(), None, "an id stands for one request");
}

fn failure(reply: &Value) -> &str {
    reply["outcome"]["failure"]["kind"].as_str().unwrap_or("none")
}

/// A server that reads nothing after it has opened gets as many calls as it takes at once, and their cancellations.
#[tokio::test]
async fn a_client_sends_no_more_calls_than_the_server_takes() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, mut output) = tokio::io::split(theirs);
    let mut input = BufReader::new(input).lines();
    let opened = json!({"say": "opened", "calls": 4, "nonce": "n"});
    output.write_all(format!("{opened}\n").as_bytes()).await.unwrap();
    let (reading, writing) = tokio::io::split(ours);
    let remote =
        RemoteToolset::over(reading, writing, &Scope::default(), RemoteOptions::new()).await;
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
            let line: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            sent.push(line["say"].as_str().unwrap().to_owned());
        }
        assert_eq!(sent, ["call"; 4]);
        // Those that wait for a place go first, so that none gets one.
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

/// A runtime that approves everything, of the tools of a remote toolset.
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

async fn connect(path: &Path, secret: Option<[u8; 32]>) -> RemoteToolset {
    let mut options = RemoteOptions::new();
    if let Some(secret) = secret {
        options = options.with_approval_key(ApprovalKey::new(secret));
    }
    RemoteToolset::connect_unix(path, &Scope::default(), options).await.unwrap()
}

/// H6: a call that was approved here runs there only where both sides have one key; else the failure says what to do.
#[tokio::test]
async fn h6_an_approval_here_counts_there_only_with_a_key_that_both_have() {
    let log = Log::default();
    assert_eq!(brief(&approving(&log, Some(SECRET), Some(SECRET)).await), r#"{"n":1}"#);
    assert_eq!(log.lines().len(), 1);
    let no_key = "the server of the remote toolset has no approval key; give the same one to it";
    let no_code = "the call came without a code made with the server's key";
    for (server, client, expected) in [
        (None, None, no_key),
        (None, Some(SECRET), no_key),
        (Some(SECRET), None, no_code),
        (Some(SECRET), Some([8; 32]), no_code),
    ] {
        let failure = approving(&log, server, client).await.outcome.unwrap_err();
        assert_eq!(failure.message, "`wipe` needs an approval, and this call shows none");
        let detail = failure.detail.unwrap();
        assert!(detail.starts_with(expected), "{detail}");
    }
    assert_eq!(log.lines().len(), 1, "nothing else ran");
}

/// H6: a hostile peer that says it was approved runs nothing, with whatever code but one made for this very request.
#[tokio::test]
async fn h6_a_peer_that_says_it_was_approved_runs_nothing() {
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

/// H6: who carries the lines of an approved call, and has no key, changes neither for whom it runs nor what was asked.
#[tokio::test]
async fn h6_an_approved_call_runs_only_as_it_was_sent_and_asked() {
    for (from, to, expected) in [
        ("nothing of this", "is said", r#"{"n":1}"#),
        (r#""labels":{}"#, r#""labels":{"user":"root"}"#, "denied"),
        (r#""session_id":""#, r#""session_id":"other_"#, "denied"),
        (
            r#""say":"open","version":4,"scope":{"run_id":null"#,
            r#""say":"open","version":4,"scope":{"run_id":"r""#,
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
        let remote = RemoteToolset::over(input, output, &Scope::default(), options).await.unwrap();
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
        let said = match &result.outcome {
            Ok(payload) => payload.as_str().to_owned(),
            Err(failure) => failure.kind.to_string(),
        };
        assert_eq!(said, expected, "{from}");
        assert_eq!(log.lines().len(), usize::from(expected != "denied"), "{from}");
    }
}

/// Carries lines, with one text in place of another.
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

/// HMAC-SHA256 (RFC 2104), written here again: what the protocol says a code is.
fn code(secret: &[u8; 32], nonce: &str, request: u64, args: &str, tool: &str) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let pad = |byte: u8| -> Vec<u8> {
        let mut block = [byte; 64];
        block.iter_mut().zip(secret).for_each(|(byte, secret)| *byte ^= secret);
        block.to_vec()
    };
    let mut text = request.to_be_bytes().to_vec();
    let scope = |run: &str| {
        let others =
            r#""session_id":null,"turn_id":null,"parent_call_id":null,"labels":{},"depth":0"#;
        format!(r#"{{"run_id":{run},{others}}}"#)
    };
    let (opened_for, called_in) = (scope("null"), scope(r#""root""#));
    let tool = Sha256::digest(tool);
    let parts = [nonce, &opened_for, "c1", "wipe", args, &called_in].map(str::as_bytes);
    for part in parts.into_iter().chain([&tool[..]]) {
        text.extend((part.len() as u64).to_be_bytes());
        text.extend(part);
    }
    let inner = Sha256::digest([pad(0x36), text].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}
