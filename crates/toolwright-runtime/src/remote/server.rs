//! Offers a toolset to whoever connects. Never offers more than it was given.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use toolwright::{FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure};

use super::client::RemoteError;
use super::protocol::{Reply, Request, VERSION, WireTool};

use crate::execute::panicked;
use crate::tools::Entered;
use crate::tools::{Source, ToolEntry, Toolset, cleared};
use crate::wire::WireCall;

impl Source {
    /// Serves everybody who connects to a socket, until the listener fails. Connections that end badly are logged. The
    /// other side is a [`RemoteToolset`](super::RemoteToolset).
    ///
    /// # Errors
    ///
    /// The listener's own.
    pub async fn serve_unix(self, listener: UnixListener) -> io::Result<()> {
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await?;
            let toolset = self.clone();
            connections.spawn(async move {
                let (input, output) = stream.into_split();
                if let Err(error) = toolset.serve_stream(input, output).await {
                    tracing::warn!(%error, "a remote toolset's connection ended badly");
                }
            });
            while connections.try_join_next().is_some() {}
        }
    }

    /// Serves one client over any byte stream, until it leaves.
    ///
    /// # Errors
    ///
    /// A broken stream, a client that does not keep the protocol, a toolset that does not enter.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin,
    ) -> Result<(), RemoteError> {
        let (replies, queue) = mpsc::unbounded_channel();
        let conversation = converse(BufReader::new(input), self, replies);
        let (ended, written) = tokio::join!(conversation, write(output, queue));
        ended.and(written.map_err(RemoteError::Io))
    }
}

/// Where the replies about an entered toolset go. Dropped by all, it ends the writing.
struct Replies {
    toolset: Arc<dyn Toolset>,
    queue: mpsc::UnboundedSender<Reply>,
    /// The open handles that the client was told last. Locked while a reply is sent, so that none overtakes its handles.
    told: Mutex<Vec<String>>,
}

impl Replies {
    fn new(toolset: Arc<dyn Toolset>, queue: mpsc::UnboundedSender<Reply>) -> Self {
        Self { toolset, queue, told: Mutex::default() }
    }

    /// Sends a reply, and before it the handles that are open, where these have changed. A client that has left is told
    /// nothing.
    fn send(&self, reply: Reply) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let names = self.toolset.open_handles();
        if *told != names {
            told.clone_from(&names);
            let _ = self.queue.send(Reply::OpenHandles { names });
        }
        let _ = self.queue.send(reply);
    }
}

/// Writes replies until nobody makes one any more.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Reply>,
) -> io::Result<()> {
    while let Some(reply) = queue.recv().await {
        let mut line = serde_json::to_vec(&reply).map_err(io::Error::other)?;
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}

async fn converse(
    mut input: BufReader<impl AsyncRead + Unpin>,
    source: Source,
    replies: mpsc::UnboundedSender<Reply>,
) -> Result<(), RemoteError> {
    let Some(Request::Open { version, scope }) = super::client::read(&mut input).await? else {
        return Err(RemoteError::Protocol("the first line does not open a connection".to_owned()));
    };
    let scope: Arc<Scope> = Arc::new(scope.into());
    match open(version, &source, &scope).await {
        Ok((toolset, entered)) => {
            let ended = attend(&mut input, &toolset, &scope, &replies).await;
            entered.close().await;
            ended
        }
        Err(why) => {
            // A client that has left needs no answer.
            let _ = replies.send(Reply::Refused { why: why.clone() });
            Err(RemoteError::Refused { why })
        }
    }
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

/// Answers requests side by side, until the client leaves; what is under way then is given up.
async fn attend(
    input: &mut BufReader<impl AsyncRead + Unpin>,
    toolset: &Arc<dyn Toolset>,
    scope: &Arc<Scope>,
    replies: &mpsc::UnboundedSender<Reply>,
) -> Result<(), RemoteError> {
    let mut listed = Arc::new(Vec::new());
    // A client reads this first; handles follow with the reply to its first request.
    let _ = replies.send(Reply::Opened);
    let replies = Arc::new(Replies::new(Arc::clone(toolset), replies.clone()));
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<u64, AbortHandle> = BTreeMap::new();
    while let Some(request) = super::client::read(input).await? {
        while tasks.try_join_next().is_some() {}
        running.retain(|_, task| !task.is_finished());
        match request {
            Request::Cancel { id } => drop(running.remove(&id).map(|task| task.abort())),
            Request::Open { .. } => {
                return Err(RemoteError::Protocol("the connection was opened twice".to_owned()));
            }
            Request::List { id } => {
                let tools = toolset.tools(scope).await.map_err(|error| error.to_string());
                let tools = tools.map(|tools| {
                    listed = Arc::new(tools);
                    wire(&**toolset, &listed)
                });
                replies.send(Reply::Tools { id, tools });
            }
            Request::Instructions { id } => {
                let text = toolset.instructions(scope).await;
                replies.send(Reply::Instructions { id, text });
            }
            Request::Save { id } => {
                let saved = toolset.save(scope).await.map_err(|error| error.to_string());
                let saved = saved.map(|saved| saved.map(|saved| saved.to_string()));
                replies.send(Reply::Saved { id, saved });
            }
            Request::Restore { id, saved } => {
                let restored = toolset.restore(scope, &Payload::new(saved)).await;
                let restored = restored.map_err(|error| error.to_string());
                replies.send(Reply::Restored { id, restored });
            }
            Request::Call { id, call } => {
                let (toolset, listed) = (Arc::clone(toolset), Arc::clone(&listed));
                let replies = Arc::clone(&replies);
                let task = tasks.spawn(async move {
                    let outcome = run(&*toolset, &listed, call).await;
                    replies.send(Reply::Outcome { id, outcome: (&outcome).into() });
                });
                running.insert(id, task);
            }
        }
    }
    Ok(())
}

fn wire(toolset: &dyn Toolset, tools: &[ToolEntry]) -> Vec<WireTool> {
    tools.iter().map(|tool| WireTool::new(tool, toolset.is_available(tool.name()))).collect()
}

/// Runs a call with arguments and result checked by the tool's own codecs, which the client does not have. A client
/// calls what it has listed.
async fn run(toolset: &dyn Toolset, listed: &[ToolEntry], call: WireCall) -> Outcome {
    let (approved, call) = (call.approved, ToolCall::from(call));
    let Some(tool) = listed.iter().find(|tool| tool.name() == call.tool()) else {
        let known = listed.iter().map(ToolEntry::name);
        return Err(ToolFailure::not_found(call.tool(), known));
    };
    if tool.delegates() {
        let message = format!("`{}` is answered by an agent, and there is none here", call.tool());
        return Err(ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan));
    }
    if let Err(issues) = tool.spec().check_args(call.args().as_bytes()) {
        return Err(ToolFailure::invalid_call(tool.spec(), &call, issues));
    }
    // A client says whether its call was approved.
    let call = if approved { cleared(call, tool.spec()) } else { call };
    let running = async { toolset.call(&call).await.outcome };
    match std::panic::AssertUnwindSafe(running).catch_unwind().await {
        Ok(outcome) => tool.spec_ref().checked(outcome),
        Err(panic) => Err(panicked("the executor", &*panic)),
    }
}
