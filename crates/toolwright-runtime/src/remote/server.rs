//! Offers a toolset to whoever connects. Never offers more than it was given, and believes no peer more than its options
//! say.

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
use super::approval::Approved;
use super::client::{RemoteError, read};
use super::options::{Peer, RemoteOptions};
use super::protocol::{LONGEST, Reply, Request, VERSION, WireTool};

use crate::execute::{Attended, panicked};
use crate::tools::{Entered, Source, ToolEntry, Toolset, cleared, unavailable};
use crate::wire::{WireCall, WireScope};

/// How many replies wait for a peer to read them before nothing more is read from it.
const REPLIES: usize = 64;

/// The pause after a temporary error of the listener.
const PAUSE: Duration = Duration::from_secs(1);

impl Source {
    /// Serves every peer that may connect to a socket, until the listener fails. Failed connections are logged. After a
    /// temporary error of the listener, such as too many open files, it goes on a second later. The other side is a
    /// [`RemoteToolset`](super::RemoteToolset).
    ///
    /// # Errors
    ///
    /// The listener's own.
    pub async fn serve_unix(
        self,
        listener: UnixListener,
        options: RemoteOptions,
    ) -> io::Result<()> {
        let places = Arc::new(Semaphore::new(options.connections));
        let mut connections = JoinSet::new();
        loop {
            let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) if passes(&error) => {
                    tracing::warn!(%error, "a connection to a remote toolset was not taken");
                    sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let peer = Peer::of(&stream);
            if !options.accepts(&peer) {
                tracing::warn!(?peer, "a peer may not use a remote toolset and was refused");
                continue;
            }
            let (toolset, options) = (self.clone(), options.clone());
            connections.spawn(async move {
                let (input, output) = stream.into_split();
                if let Err(error) = toolset.serve(peer, input, output, &options).await {
                    tracing::warn!(?peer, %error, "a remote toolset's connection ended badly");
                }
                drop(place);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    /// Serves one client over any byte stream, until it leaves. Who it is, the caller has seen to.
    ///
    /// # Errors
    ///
    /// A broken stream, a client that does not keep the protocol, a toolset that does not enter.
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
        let (replies, queue) = mpsc::channel(REPLIES);
        let mut writing = pin!(write(output, queue));
        tokio::select! {
            biased;
            ended = converse(BufReader::new(input), self, peer, options, replies) => {
                let written = timeout(options.answer_timeout, writing).await.map_err(io::Error::from)?;
                ended.and(written.map_err(RemoteError::Io))
            }
            // Whoever cannot be told anything has left.
            written = &mut writing => written.map_err(RemoteError::Io),
        }
    }
}

/// Returns whether a listener's error is temporary.
fn passes(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::CONNABORTED)
    )
}

/// Where the replies about an entered toolset go. Dropped by all, it ends the writing.
struct Replies {
    toolset: Arc<dyn Toolset>,
    queue: mpsc::Sender<Reply>,
    /// The open handles that the client was told last. Locked while a reply is sent, so that none overtakes its handles.
    told: Mutex<Vec<String>>,
}

impl Replies {
    fn new(toolset: Arc<dyn Toolset>, queue: mpsc::Sender<Reply>) -> Self {
        Self { toolset, queue, told: Mutex::default() }
    }

    /// Sends a reply, and before it the handles that are open, where these have changed. Waits while the client does not
    /// read; one that has left is told nothing.
    async fn send(&self, reply: Reply) {
        let Ok(mut places) = self.queue.reserve_many(2).await else { return };
        let mut send = |reply| places.next().expect("two places are reserved").send(reply);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let names = self.toolset.open_handles();
        if *told != names {
            told.clone_from(&names);
            send(Reply::OpenHandles { names });
        }
        send(reply);
    }
}

/// Writes replies until nobody makes one any more.
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

/// One connection, whose toolset is entered.
struct Connection<'a> {
    options: &'a RemoteOptions,
    peer: Peer,
    toolset: Arc<dyn Toolset>,
    /// The scope it was entered for.
    scope: Arc<Scope>,
    /// The scope that the client stated, believed or not.
    stated: WireScope,
    nonce: String,
    /// The requests that were shown to be approved. Only those who have the key add to it.
    approved: BTreeSet<u64>,
}

async fn converse(
    mut input: BufReader<impl AsyncRead + Unpin>,
    source: Source,
    peer: Peer,
    options: &RemoteOptions,
    replies: mpsc::Sender<Reply>,
) -> Result<(), RemoteError> {
    let first = timeout(options.answer_timeout, read(&mut input)).await.map_err(io::Error::from)?;
    let (version, stated) = match first? {
        Some((Request::Open { version, scope }, _)) => (version, scope),
        Some(_) => {
            let what = "the first line does not open a connection";
            return Err(RemoteError::Protocol(what.to_owned()));
        }
        // It has asked for nothing.
        None => return Ok(()),
    };
    let scope = Arc::new(match &options.believes {
        Some(believes) => believes(&peer, stated.clone().into()),
        None => Scope { run_id: Some(fresh_id("run")), ..Scope::default() },
    });
    match open(version, &source, &scope).await {
        Ok((toolset, entered)) => {
            let (nonce, approved) = (fresh_nonce(), BTreeSet::new());
            let connection = Connection { options, peer, toolset, scope, stated, nonce, approved };
            let ended = connection.attend(&mut input, replies).await;
            entered.close().await;
            ended
        }
        Err(why) => {
            // A client that has left needs no answer.
            let _ = replies.send(Reply::Refused { why: why.clone() }).await;
            Err(RemoteError::Refused { why })
        }
    }
}

/// A word that no other connection has; it need not be secret.
fn fresh_nonce() -> String {
    fresh_id(&fresh_id("nonce"))
}

async fn open(
    version: u32,
    source: &Source,
    scope: &Arc<Scope>,
) -> Result<(Arc<dyn Toolset>, Entered), String> {
    if version != VERSION {
        return Err(format!("the client speaks version {version}, expected {VERSION}"));
    }
    let made = source.resolve("remote", scope).await.map_err(|error| error.to_string())?;
    let toolset = made.ok_or("there is no toolset for this run")?;
    let entering = Entered::enter(Arc::clone(&toolset), Arc::clone(scope));
    let entered = entering.await.map_err(|error| error.to_string())?;
    Ok((toolset, entered))
}

/// A call under way.
struct Running {
    task: AbortHandle,
    /// The length of its request.
    bytes: usize,
}

impl Connection<'_> {
    /// Answers requests side by side, until the client leaves; what is under way then is given up.
    async fn attend(
        mut self,
        input: &mut BufReader<impl AsyncRead + Unpin>,
        replies: mpsc::Sender<Reply>,
    ) -> Result<(), RemoteError> {
        let mut listed = Arc::new(Vec::<(ToolEntry, [u8; 32])>::new());
        // A client reads this first; handles follow with the reply to its first request.
        let opened = Reply::Opened { calls: self.options.calls, nonce: self.nonce.clone() };
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
                        let told = wire(&**toolset, &tools);
                        let digests = told.iter().map(WireTool::digest);
                        listed = Arc::new(tools.into_iter().zip(digests).collect());
                        told
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
                    let what = format!("request {id} is not answered yet, and another has its id");
                    return Err(RemoteError::Protocol(what));
                }
                Request::Call { id, call, approval } => {
                    let under_way: usize = running.values().map(|call| call.bytes).sum();
                    if running.len() >= self.options.calls || under_way + bytes > LONGEST {
                        let outcome: Outcome = Err(too_many(self.options.calls));
                        replies.send(Reply::Outcome { id, outcome: (&outcome).into() }).await;
                        continue;
                    }
                    let call = self.admit(id, call, approval, &listed);
                    let (toolset, listed) = (Arc::clone(&self.toolset), Arc::clone(&listed));
                    let replies = Arc::clone(&replies);
                    let task = tasks.spawn(async move {
                        let _attended = Attended::on(Handle::current());
                        let outcome = run(&*toolset, &listed, call).await;
                        replies.send(Reply::Outcome { id, outcome: (&outcome).into() }).await;
                    });
                    running.insert(id, Running { task, bytes });
                }
            }
        }
        Ok(())
    }

    /// The call as far as it is believed, and whether it was shown that it is approved.
    fn admit(
        &mut self,
        request: u64,
        call: WireCall,
        approval: Option<[u8; 32]>,
        listed: &[(ToolEntry, [u8; 32])],
    ) -> Admitted {
        let key = self.options.approval_key.as_ref();
        let tool = listed.iter().find(|(tool, _)| tool.name() == call.tool);
        let is_shown = |code: &[u8; 32], key: &ApprovalKey, tool| {
            let (nonce, opened_for, call) = (&self.nonce, &self.stated, &call);
            key.verify(&Approved { nonce, opened_for, request, call, tool }, code)
        };
        let shown = approval.zip(key).zip(tool);
        let shown = shown.is_some_and(|((code, key), (_, digest))| is_shown(&code, key, digest))
            && self.approved.insert(request);
        let call = ToolCall::from(call);
        let scope = match &self.options.believes {
            Some(believes) => believes(&self.peer, call.scope().clone()),
            None => Scope::clone(&self.scope),
        };
        Admitted { call: call.with_scope(scope), is_approved: shown, has_key: key.is_some() }
    }
}

/// A call of a peer.
struct Admitted {
    call: ToolCall,
    /// Whether its code shows that it was approved.
    is_approved: bool,
    /// Whether there is a key, so that anything could be shown.
    has_key: bool,
}

fn wire(toolset: &dyn Toolset, tools: &[ToolEntry]) -> Vec<WireTool> {
    tools.iter().map(|tool| WireTool::new(tool, toolset.is_available(tool.name()))).collect()
}

/// Runs a call with arguments and result checked by the tool's own codecs, which the client does not have. A client
/// calls what it has listed.
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
            return Err(not_shown(tool, has_key));
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
        "a connection may have {calls} calls and {LONGEST} bytes of them under way"
    ))
}

/// The failure of a call whose approval the client has not shown.
fn not_shown(tool: &ToolEntry, has_key: bool) -> ToolFailure {
    let message = format!("`{}` needs an approval, and this call shows none", tool.name());
    let detail = if has_key {
        "the call came without a code made with the server's key for this request; give the client the same key with \
         `RemoteOptions::with_approval_key`, and call through a runtime that asks"
    } else {
        "the server of the remote toolset has no approval key; give the same one to it and to \
         its client with `RemoteOptions::with_approval_key`"
    };
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(detail)
}
