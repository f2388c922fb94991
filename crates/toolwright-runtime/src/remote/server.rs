//! The server, which offers a toolset to clients.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use toolwright::call::fresh_id;
use toolwright::{FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure};

use super::ApprovalKey;
use super::approval::SignedCall;
use super::client::{RemoteError, read};
use super::options::{Peer, RemoteOptions};
use super::protocol::{MAX_LINE_BYTES, Reply, Request, VERSION, WireTool};

use crate::execute::{DriverGuard, panicked};
use crate::tools::{EnteredToolset, Source, ToolEntry, Toolset, cleared, unavailable};
use crate::wire::{WireCall, WireScope};

/// The number of unread replies at which the server stops reading requests from a peer.
const MAX_REPLIES: usize = 64;

/// The pause after a temporary error of the listener.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

impl Source {
    /// Serves all clients of a Unix socket, until the listener fails. The clients are [`RemoteToolset`](super::RemoteToolset)s.
    /// Failed connections are logged. After a temporary error of the listener, such as too many open files, it continues a
    /// second later.
    ///
    /// # Errors
    ///
    /// A permanent error of the listener.
    pub async fn serve_unix(
        self,
        listener: UnixListener,
        options: RemoteOptions,
    ) -> io::Result<()> {
        let permits = Arc::new(Semaphore::new(options.max_connections));
        let mut connections = JoinSet::new();
        loop {
            let permit = Arc::clone(&permits).acquire_owned().await.map_err(io::Error::other)?;
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) if is_temporary(&error) => {
                    tracing::warn!(%error, "a connection to a remote toolset was not accepted");
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let peer = Peer::of(&stream);
            if !options.accepts(&peer) {
                tracing::warn!(?peer, "the options of a remote toolset do not accept a peer");
                continue;
            }
            let (toolset, options) = (self.clone(), options.clone());
            connections.spawn(async move {
                let (input, output) = stream.into_split();
                if let Err(error) = toolset.serve(peer, input, output, &options).await {
                    tracing::warn!(?peer, %error, "a connection to a remote toolset failed");
                }
                drop(permit);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    /// Serves one client over any byte stream, until it closes the connection. The caller must make sure that the client may use
    /// the toolset.
    ///
    /// # Errors
    ///
    /// The stream fails, the client violates the protocol, or the toolset cannot be entered.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin,
        options: RemoteOptions,
    ) -> Result<(), RemoteError> {
        self.serve(Peer::default(), input, output, &options).await
    }

    async fn serve(
        self,
        peer: Peer,
        input: impl AsyncRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin,
        options: &RemoteOptions,
    ) -> Result<(), RemoteError> {
        let (replies, queue) = mpsc::channel(MAX_REPLIES);
        let mut writing = pin!(write(output, queue));
        tokio::select! {
            biased;
            ended = serve_connection(BufReader::new(input), self, peer, options, replies) => {
                let written = timeout(options.answer_timeout, writing).await.map_err(io::Error::from)?;
                ended.and(written.map_err(RemoteError::Io))
            }
            // If nothing can be written, the connection is closed.
            written = &mut writing => written.map_err(RemoteError::Io),
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::CONNABORTED)
    )
}

/// Sends replies, and the open handles of the toolset before them.
struct Replies {
    toolset: Arc<dyn Toolset>,
    queue: mpsc::Sender<Reply>,
    /// The open handles that were sent last. Locked while a reply is sent, so that the handles stay before their reply.
    sent_handles: Mutex<Vec<String>>,
}

impl Replies {
    fn new(toolset: Arc<dyn Toolset>, queue: mpsc::Sender<Reply>) -> Self {
        Self { toolset, queue, sent_handles: Mutex::default() }
    }

    /// Sends the open handles if they have changed, and then a reply. Waits while the queue is full. Does nothing if the
    /// connection is closed.
    async fn send(&self, reply: Reply) {
        let Ok(mut permits) = self.queue.reserve_many(2).await else { return };
        let mut send = |reply| permits.next().expect("two permits are reserved").send(reply);
        let mut last_handles = self.sent_handles.lock().unwrap_or_else(PoisonError::into_inner);
        let names = self.toolset.open_handles();
        if *last_handles != names {
            last_handles.clone_from(&names);
            send(Reply::OpenHandles { names });
        }
        send(reply);
    }
}

/// Writes replies until all senders are dropped.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Reply>,
) -> io::Result<()> {
    while let Some(reply) = queue.recv().await {
        let mut line = serde_json::to_vec(&reply).map_err(io::Error::other)?;
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}

/// An open connection.
struct Connection<'a> {
    options: &'a RemoteOptions,
    peer: Peer,
    toolset: Arc<dyn Toolset>,
    /// The scope that the toolset was entered with.
    scope: Arc<Scope>,
    /// The scope that the client sent.
    sent_scope: WireScope,
    nonce: String,
    /// The ids of requests with a valid approval code, each of which is valid once.
    approved: BTreeSet<u64>,
}

async fn serve_connection(
    mut input: BufReader<impl AsyncRead + Unpin>,
    source: Source,
    peer: Peer,
    options: &RemoteOptions,
    replies: mpsc::Sender<Reply>,
) -> Result<(), RemoteError> {
    let first = timeout(options.answer_timeout, read(&mut input)).await.map_err(io::Error::from)?;
    let (version, sent_scope) = match first? {
        Some((Request::Open { version, scope }, _)) => (version, scope),
        Some(_) => {
            let message = "the first line does not open a connection";
            return Err(RemoteError::Protocol(message.to_owned()));
        }
        // The client closed the connection without a request.
        None => return Ok(()),
    };
    let scope = Arc::new(match &options.scope_rule {
        Some(rule) => rule(&peer, sent_scope.clone().into()),
        None => Scope { run_id: Some(fresh_id("run")), ..Scope::default() },
    });
    match open(version, &source, &scope).await {
        Ok((toolset, entered)) => {
            let (nonce, approved) = (fresh_nonce(), BTreeSet::new());
            let connection =
                Connection { options, peer, toolset, scope, sent_scope, nonce, approved };
            let ended = connection.serve_requests(&mut input, replies).await;
            entered.close().await;
            ended
        }
        Err(reason) => {
            // The connection may be closed.
            let _ = replies.send(Reply::Refused { why: reason.clone() }).await;
            Err(RemoteError::Refused { reason })
        }
    }
}

/// Returns a nonce that is unique to the connection. It need not be secret.
fn fresh_nonce() -> String {
    fresh_id(&fresh_id("nonce"))
}

async fn open(
    version: u32,
    source: &Source,
    scope: &Arc<Scope>,
) -> Result<(Arc<dyn Toolset>, EnteredToolset), String> {
    if version != VERSION {
        return Err(format!("the client uses version {version}, expected {VERSION}"));
    }
    let made = source.resolve("remote", scope).await.map_err(|error| error.to_string())?;
    let toolset = made.ok_or("there is no toolset for this run")?;
    let entering = EnteredToolset::enter(Arc::clone(&toolset), Arc::clone(scope));
    let entered = entering.await.map_err(|error| error.to_string())?;
    Ok((toolset, entered))
}

/// An active call.
struct Running {
    task: AbortHandle,
    /// The length of its request.
    bytes: usize,
}

impl Connection<'_> {
    /// Replies to requests until the client closes the connection. Calls run concurrently, and are cancelled at the end.
    async fn serve_requests(
        mut self,
        input: &mut BufReader<impl AsyncRead + Unpin>,
        replies: mpsc::Sender<Reply>,
    ) -> Result<(), RemoteError> {
        let mut listed = Arc::new(Vec::<(ToolEntry, [u8; 32])>::new());
        // The client reads this first. The open handles are sent with the first reply to a request.
        let opened = Reply::Opened { calls: self.options.max_calls, nonce: self.nonce.clone() };
        let _ = replies.send(opened).await;
        let replies = Arc::new(Replies::new(Arc::clone(&self.toolset), replies));
        let mut tasks = JoinSet::new();
        let mut running: BTreeMap<u64, Running> = BTreeMap::new();
        while let Some((request, bytes)) = read(input).await? {
            while tasks.try_join_next().is_some() {}
            running.retain(|_, call| !call.task.is_finished());
            let (toolset, scope) = (&self.toolset, &self.scope);
            match request {
                Request::Cancel { id } => drop(running.remove(&id).map(|call| call.task.abort())),
                Request::Open { .. } => {
                    return Err(RemoteError::Protocol(
                        "the connection was opened twice".to_owned(),
                    ));
                }
                Request::List { id } => {
                    let tools = toolset.tools(scope).await.map_err(|error| error.to_string());
                    let tools = tools.map(|tools| {
                        let wire = wire_tools(&**toolset, &tools);
                        let digests = wire.iter().map(WireTool::digest);
                        listed = Arc::new(tools.into_iter().zip(digests).collect());
                        wire
                    });
                    replies.send(Reply::Tools { id, tools }).await;
                }
                Request::Instructions { id } => {
                    let text = toolset.instructions(scope).await;
                    replies.send(Reply::Instructions { id, text }).await;
                }
                Request::Save { id } => {
                    let saved = toolset.save(scope).await.map_err(|error| error.to_string());
                    let saved = saved.map(|saved| saved.map(|saved| saved.to_string()));
                    replies.send(Reply::Saved { id, saved }).await;
                }
                Request::Restore { id, saved } => {
                    let restored = toolset.restore(scope, &Payload::new(saved)).await;
                    let restored = restored.map_err(|error| error.to_string());
                    replies.send(Reply::Restored { id, restored }).await;
                }
                Request::Call { id, .. } if running.contains_key(&id) => {
                    let message = format!("two active requests have the id {id}");
                    return Err(RemoteError::Protocol(message));
                }
                Request::Call { id, call, approval } => {
                    let active_bytes: usize = running.values().map(|call| call.bytes).sum();
                    let is_too_large = active_bytes + bytes > MAX_LINE_BYTES;
                    if running.len() >= self.options.max_calls || is_too_large {
                        let outcome: Outcome = Err(too_many(self.options.max_calls));
                        replies.send(Reply::Outcome { id, outcome: (&outcome).into() }).await;
                        continue;
                    }
                    let call = self.admit(id, call, approval, &listed);
                    let (toolset, listed) = (Arc::clone(&self.toolset), Arc::clone(&listed));
                    let replies = Arc::clone(&replies);
                    let task = tasks.spawn(async move {
                        let _driver = DriverGuard::new(Handle::current());
                        let outcome = run(&*toolset, &listed, call).await;
                        replies.send(Reply::Outcome { id, outcome: (&outcome).into() }).await;
                    });
                    running.insert(id, Running { task, bytes });
                }
            }
        }
        Ok(())
    }

    /// Sets the scope of a call that a client sent, and checks its approval code.
    fn admit(
        &mut self,
        request: u64,
        call: WireCall,
        approval: Option<[u8; 32]>,
        listed: &[(ToolEntry, [u8; 32])],
    ) -> Admitted {
        let key = self.options.approval_key.as_ref();
        let tool = listed.iter().find(|(tool, _)| tool.name() == call.tool);
        let is_valid = |code: &[u8; 32], key: &ApprovalKey, tool| {
            let (nonce, connection_scope, call) = (&self.nonce, &self.sent_scope, &call);
            key.verify(&SignedCall { nonce, connection_scope, request, call, tool }, code)
        };
        let code = approval.zip(key).zip(tool);
        let is_approved = code.is_some_and(|((code, key), (_, tool))| is_valid(&code, key, tool))
            && self.approved.insert(request);
        let call = ToolCall::from(call);
        let scope = match &self.options.scope_rule {
            Some(rule) => rule(&self.peer, call.scope().clone()),
            None => Scope::clone(&self.scope),
        };
        Admitted { call: call.with_scope(scope), is_approved, has_key: key.is_some() }
    }
}

/// A call of a client.
struct Admitted {
    call: ToolCall,
    /// Whether its approval code is valid.
    is_approved: bool,
    /// Whether the server has an approval key.
    has_key: bool,
}

fn wire_tools(toolset: &dyn Toolset, tools: &[ToolEntry]) -> Vec<WireTool> {
    tools.iter().map(|tool| WireTool::new(tool, toolset.is_available(tool.name()))).collect()
}

/// Runs a call of a listed tool. The arguments and the result are checked here, as the client does not have the codecs.
async fn run(
    toolset: &dyn Toolset,
    listed: &[(ToolEntry, [u8; 32])],
    admitted: Admitted,
) -> Outcome {
    let Admitted { mut call, is_approved, has_key } = admitted;
    let Some((tool, _)) = listed.iter().find(|(tool, _)| tool.name() == call.tool()) else {
        let known = listed.iter().map(|(tool, _)| tool.name());
        return Err(ToolFailure::not_found(call.tool(), known));
    };
    if tool.delegates() {
        let message = format!("`{}` is answered by an agent, and there is none here", call.tool());
        return Err(ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan));
    }
    if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
        return Err(ToolFailure::invalid_call(tool.spec(), &call, issues));
    }
    if tool.approval().is_some() {
        if !is_approved {
            return Err(not_approved(tool, has_key));
        }
        call = cleared(call, tool.spec());
    }
    let running = async {
        if !toolset.is_available(tool.name()) {
            return Err(unavailable(tool));
        }
        toolset.call(&call).await.outcome
    };
    match std::panic::AssertUnwindSafe(running).catch_unwind().await {
        Ok(outcome) => tool.spec_ref().checked(outcome),
        Err(panic) => Err(panicked("the executor", &*panic)),
    }
}

fn too_many(calls: usize) -> ToolFailure {
    let message = "too many calls run at once; call again when one has ended";
    ToolFailure::new(FailureKind::RateLimited, message, Recovery::Retry).with_detail(format!(
        "a connection may have {calls} active calls with {MAX_LINE_BYTES} bytes together"
    ))
}

/// The failure of a call without a valid approval code.
fn not_approved(tool: &ToolEntry, has_key: bool) -> ToolFailure {
    let message = format!("`{}` needs an approval, and this call has none", tool.name());
    let detail = if has_key {
        "the call has no approval code that is valid for this request; give the client the same key with \
         `RemoteOptions::with_approval_key`, and make the call through a runtime with an approver"
    } else {
        "the server of the remote toolset has no approval key; give the same one to it and to \
         its client with `RemoteOptions::with_approval_key`"
    };
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(detail)
}
