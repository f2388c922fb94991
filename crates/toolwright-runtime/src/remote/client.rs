//! The client: a toolset that forwards calls to a server in another process.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use toolwright::spec::ToolAnnotations;
use toolwright::untrusted::{line, visible};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure,
    ToolResult,
};

use super::error::RemoteError;
use super::listing::{self, Listing};
use super::options::{Peer, RemoteOptions};
use super::protocol::{
    MAX_LINE_BYTES, MAX_OPEN_BYTES, Reply, Request, VERSION, line_of, shown_handles,
};
use crate::tools::{ToolEntry, Toolset};
use crate::watch::traceparent;
use crate::wire::WireScope;

/// The most characters of the reason of a server that refuses a connection.
const LONGEST_REASON: usize = 400;

/// A toolset in another process, used over a connection. Dropping it closes the connection, and the server exits the toolset.
///
/// The server enters the toolset once for each connection, so that all users of this instance share one remote instance. To
/// have an instance for each run or session, register a factory that connects.
pub struct RemoteToolset {
    /// Each is a line.
    requests: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    next_id: AtomicU64,
    /// A permit for each call that the server runs at once.
    calls: Semaphore,
    /// A single permit: requests other than calls are made one after another.
    others: Semaphore,
    nonce: String,
    /// The scope that was sent when the connection was opened.
    scope: WireScope,
    options: RemoteOptions,
    listing: Listing,
}

/// The most calls at once, even if the server allows more.
const MAX_CALLS: usize = 4096;

/// The data that the toolset shares with the task that reads replies.
struct Shared {
    /// The receivers of replies, by request id; `None` once the connection is closed.
    waiting: Mutex<Option<BTreeMap<u64, oneshot::Sender<Reply>>>>,
    /// The open handles, as the server sent them last, on one line each.
    open_handles: Mutex<Vec<String>>,
}

debug!(RemoteToolset, _toolset => {});

impl RemoteToolset {
    /// Connects to a Unix socket, for a run or session with this scope. Servers of other users are refused before anything is
    /// sent, unless the [options](RemoteOptions::with_peers) accept them.
    ///
    /// # Errors
    ///
    /// No server listens on the socket, the server runs as another user, violates the protocol, or could not provide its
    /// toolset; or the ids and labels of the scope have more than 64 KiB.
    pub async fn connect_unix(
        path: impl AsRef<Path>,
        scope: &Scope,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        let stream = UnixStream::connect(path).await?;
        let server = Peer::of(&stream);
        if !options.accepts(&server) {
            return Err(RemoteError::UntrustedPeer { user_id: server.user_id() });
        }
        let (input, output) = stream.into_split();
        Self::connect_stream(input, output, scope, options).await
    }

    /// Connects over any byte stream. The caller must make sure that the server can be trusted.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteToolset::connect_unix`].
    pub async fn connect_stream(
        input: impl AsyncRead + Send + Unpin + 'static,
        mut output: impl AsyncWrite + Send + Unpin + 'static,
        scope: &Scope,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        let mut input = BufReader::new(input);
        let open = line_of(&Request::Open { version: VERSION, scope: scope.into() });
        if open.len() > MAX_OPEN_BYTES {
            return Err(RemoteError::ScopeTooLong { bytes: open.len() });
        }
        let opening = async {
            write(&mut output, &open).await?;
            read::<Reply>(&mut input, MAX_LINE_BYTES).await
        };
        let opened = timeout(options.answer_timeout, opening).await.map_err(io::Error::from)??;
        let (calls, nonce) = match opened {
            Some((Reply::Opened { calls, nonce }, _)) => (calls.clamp(1, MAX_CALLS), nonce),
            Some((Reply::Refused { why }, _)) => {
                return Err(RemoteError::Refused { reason: line(&why, LONGEST_REASON) });
            }
            _ => return Err(RemoteError::Disconnected),
        };
        // Two places for each request: one for itself, one for its cancellation.
        let (requests, queue) = mpsc::channel(2 * (calls + 1));
        let waiting = Mutex::new(Some(BTreeMap::new()));
        let shared = Arc::new(Shared { waiting, open_handles: Mutex::default() });
        tokio::spawn(forward(input, output, queue, Arc::clone(&shared)));
        let (next_id, listing) = (AtomicU64::new(0), Listing::default());
        let (calls, others) = (Semaphore::new(calls), Semaphore::new(1));
        let scope = scope.into();
        Ok(Self { requests, shared, next_id, calls, others, nonce, scope, options, listing })
    }

    /// Sends a request and waits for the reply. If the future is dropped, the request is cancelled. A request that is too long is not
    /// sent: the server would close the connection.
    async fn request(&self, request: impl FnOnce(u64) -> Request) -> Result<Reply, NoReply> {
        let unsent = NoReply::Disconnected { may_have_run: false };
        let cancellation = self.requests.clone().reserve_owned().await.map_err(|_| unsent)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let line = line_of(&request(id));
        if line.len() > MAX_LINE_BYTES {
            return Err(NoReply::TooLong { bytes: line.len() });
        }
        let reply = self.shared.register(id).ok_or(unsent)?;
        let shared = &self.shared;
        let mut guard = CancelOnDrop { shared, id, cancellation: Some(cancellation) };
        self.requests.send(line).await.map_err(|_| unsent)?;
        let reply = reply.await;
        guard.cancellation = None;
        reply.map_err(|_| NoReply::Disconnected { may_have_run: true })
    }

    /// Makes a request other than a call, with the time limit for these. It does not include the wait for earlier ones, each of which
    /// has the limit too.
    async fn request_other(
        &self,
        request: impl FnOnce(u64) -> Request,
    ) -> Result<Reply, RemoteError> {
        let _permit = self.others.acquire().await.map_err(|_| RemoteError::Disconnected)?;
        let replying = self.request(request);
        let reply = timeout(self.options.answer_timeout, replying).await;
        reply.map_err(io::Error::from)?.map_err(|no_reply| match no_reply {
            NoReply::Disconnected { .. } => RemoteError::Disconnected,
            NoReply::TooLong { bytes } => RemoteError::TooLong { bytes },
        })
    }

    async fn run(&self, call: &ToolCall) -> Outcome {
        let request = |id| {
            let sent = call.into();
            let (key, connection) =
                (self.options.approval_key.as_ref(), (self.nonce.as_str(), &self.scope));
            let approval = self.listing.approval_code(key, connection, id, call, &sent);
            Request::Call { id, approval, call: sent, traceparent: traceparent() }
        };
        let Ok(_permit) = self.calls.acquire().await else { return Err(disconnected()) };
        match self.request(request).await {
            Ok(Reply::Outcome { outcome, .. }) => listing::outcome(outcome),
            Err(NoReply::Disconnected { may_have_run: false }) => Err(disconnected()),
            Err(NoReply::TooLong { bytes }) => Err(too_long(bytes)),
            Ok(_) | Err(_) => {
                let tool = self.listing.tool(call.tool());
                let annotations =
                    tool.map_or(ToolAnnotations::UNKNOWN, |tool| tool.spec().annotations());
                Err(disconnected().with_possible_effect(annotations))
            }
        }
    }
}

impl Shared {
    fn register(&self, id: u64) -> Option<oneshot::Receiver<Reply>> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.insert(id, sender);
        Some(receiver)
    }

    fn take(&self, id: u64) -> Option<oneshot::Sender<Reply>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&id)
    }

    /// Passes a reply to its receiver.
    fn deliver(&self, reply: Reply) {
        if let Reply::OpenHandles { names } = reply {
            let shown = shown_handles(&names);
            *self.open_handles.lock().unwrap_or_else(PoisonError::into_inner) = shown;
            return;
        }
        let receiver = reply.id().and_then(|id| self.take(id));
        // The receiver may have been dropped.
        let _ = receiver.map(|receiver| receiver.send(reply));
    }

    /// Drops all receivers and handles, as the connection is closed.
    fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.open_handles.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Why a request has no reply.
#[derive(Clone, Copy)]
enum NoReply {
    /// The connection was closed before. `may_have_run` is true if the server may have received the request.
    Disconnected { may_have_run: bool },
    /// It is longer than a line of the protocol may be.
    TooLong { bytes: usize },
}

/// Cancels a request when it is dropped before the reply.
struct CancelOnDrop<'a> {
    shared: &'a Shared,
    id: u64,
    /// The place in the queue for the cancellation; `None` after the reply.
    cancellation: Option<mpsc::OwnedPermit<Vec<u8>>>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(cancellation) = self.cancellation.take()
            && self.shared.take(self.id).is_some()
        {
            cancellation.send(line_of(&Request::Cancel { id: self.id }));
        }
    }
}

/// Writes requests and reads replies, until either side closes the connection.
async fn forward(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Vec<u8>>,
    shared: Arc<Shared>,
) {
    let writing = async {
        while let Some(line) = queue.recv().await {
            write(&mut output, &line).await?;
        }
        io::Result::Ok(())
    };
    let reading = async {
        while let Some((reply, _)) = read::<Reply>(&mut input, MAX_LINE_BYTES).await? {
            if let Reply::Refused { why } = reply {
                let reason =
                    format!("it refused the connection later: {}", line(&why, LONGEST_REASON));
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            shared.deliver(reply);
        }
        io::Result::Ok(())
    };
    let ended = tokio::select! { ended = writing => ended, ended = reading => ended };
    if let Err(error) = ended {
        // Its text is a short line, also if it quotes the server.
        let error = RemoteError::from(error);
        tracing::warn!(%error, "the connection to a remote toolset failed");
    }
    shared.close();
}

impl Reply {
    fn id(&self) -> Option<u64> {
        match self {
            Self::Tools { id, .. }
            | Self::Instructions { id, .. }
            | Self::Outcome { id, .. }
            | Self::Saved { id, .. }
            | Self::Restored { id, .. } => Some(*id),
            Self::Opened { .. } | Self::Refused { .. } | Self::OpenHandles { .. } => None,
        }
    }
}

async fn write(output: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    output.write_all(line).await?;
    output.flush().await
}

/// Reads a line of at most `limit` bytes, and returns its value and its length in bytes; `None` at the end of the stream.
pub(super) async fn read<T: DeserializeOwned>(
    input: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Option<(T, usize)>> {
    let mut line = Vec::new();
    let mut limited = input.take(limit as u64);
    limited.read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let message = format!("a line is longer than {limit} bytes, or was cut off");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let value = serde_json::from_slice(&line)?;
    Ok(Some((value, line.len())))
}

impl Toolset for RemoteToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let Reply::Tools { tools, .. } = self.request_other(|id| Request::List { id }).await?
            else {
                return Err(RemoteError::Disconnected.into());
            };
            self.listing.replace(tools)
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            ToolResult { call_id: call.id().to_owned(), outcome: self.run(call).await }
        })
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(async move {
            match self.request_other(|id| Request::Save { id }).await? {
                Reply::Saved { saved, .. } => Ok(saved.map_err(shown)?.map(Payload::new)),
                _ => Err(RemoteError::Disconnected.into()),
            }
        })
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let request = |id| Request::Restore { id, saved: saved.to_string() };
            match self.request_other(request).await? {
                Reply::Restored { restored, .. } => Ok(restored.map_err(shown)?),
                _ => Err(RemoteError::Disconnected.into()),
            }
        })
    }

    fn open_handles(&self) -> Vec<String> {
        self.shared.open_handles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            match self.request_other(|id| Request::Instructions { id }).await {
                Ok(Reply::Instructions { text, .. }) => text.map(shown),
                Ok(_) | Err(_) => None,
            }
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        self.listing.is_available(tool)
    }
}

fn shown(text: String) -> String {
    visible(&text).into_owned()
}

fn too_long(bytes: usize) -> ToolFailure {
    let message = format!("the call has {bytes} bytes, expected at most {MAX_LINE_BYTES}");
    ToolFailure::new(FailureKind::InvalidCall, message, Recovery::Replan)
        .with_detail("a line of the protocol of remote toolsets cannot hold it, so it was not sent")
}

fn disconnected() -> ToolFailure {
    let message = "the tool cannot be reached now";
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry)
        .with_detail("the connection to the remote toolset is closed")
}
