//! The server for byte streams: reads requests from lines, and has them answered.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};
use toolwright::call::fresh_id;
use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};

use super::answers::{Answers, Opening, check_version};
use super::client::read;
use super::error::RemoteError;
use super::options::{Peer, RemoteOptions};
use super::protocol::{MAX_LINE_BYTES, MAX_OPEN_BYTES, Reply, Request, line_of};
use crate::caught::caught;
use crate::tools::{Source, Toolset};

/// The number of unread replies at which the server stops reading requests from a peer.
const MAX_REPLIES: usize = 64;

/// The bytes of unread replies at which the server stops reading requests from a peer. One reply may be larger.
const MAX_UNREAD_BYTES: usize = 1 << 20;

/// The bytes of a reply that a peer must read in a second, beyond the time limit for answers.
const MIN_BYTES_PER_SECOND: u64 = 64 << 10;

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
        let accept = |context: &mut Context<'_>| listener.poll_accept(context);
        accept_all(accept, &options.clone(), |(stream, _)| {
            let (toolset, options) = (self.clone(), options.clone());
            async move {
                let peer = Peer::of(&stream);
                if options.admits(&peer) {
                    let (input, output) = stream.into_split();
                    toolset.serve_admitted(peer, input, output, &options).await;
                }
            }
        })
        .await
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

    /// Serves a client of a listener that the options admit. Failures are logged.
    pub(super) async fn serve_admitted(
        self,
        peer: Peer,
        input: impl AsyncRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin,
        options: &RemoteOptions,
    ) {
        if let Err(error) = self.serve(peer.clone(), input, output, options).await {
            tracing::warn!(?peer, %error, "a connection to a remote toolset failed");
        }
    }

    async fn serve(
        self,
        peer: Peer,
        input: impl AsyncRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin,
        options: &RemoteOptions,
    ) -> Result<(), RemoteError> {
        let (replies, queue) = mpsc::channel(MAX_REPLIES);
        let mut writing = pin!(write(output, queue, options.answer_timeout));
        tokio::select! {
            biased;
            ended = serve_connection(BufReader::new(input), self, peer, options, replies) => {
                let written = timeout(options.answer_timeout, writing).await.map_err(io::Error::from)?;
                ended.and(written.map_err(RemoteError::Io))
            }
            // The connection is closed if nothing can be written, or the peer does not read.
            written = &mut writing => written.map_err(RemoteError::Io),
        }
    }
}

/// Serves all streams of a listener, up to the number of connections at once, until the listener fails.
async fn accept_all<S, F: Future<Output = ()> + Send + 'static>(
    accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<S>>,
    options: &RemoteOptions,
    serve: impl Fn(S) -> F,
) -> io::Result<()> {
    let permits = Arc::new(Semaphore::new(options.max_connections));
    let mut connections = JoinSet::new();
    loop {
        let permit = Arc::clone(&permits).acquire_owned().await.map_err(io::Error::other)?;
        let serving = serve(accept_one(&accept).await?);
        connections.spawn(async move {
            serving.await;
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Accepts the next stream of a listener. Waits a second after a temporary error.
pub(super) async fn accept_one<S>(
    accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<S>>,
) -> io::Result<S> {
    loop {
        match poll_fn(&accept).await {
            Err(error) if is_temporary(&error) => {
                tracing::warn!(%error, "a connection to a remote toolset was not accepted");
                sleep(ACCEPT_PAUSE).await;
            }
            ended => return ended,
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::CONNABORTED)
    )
}

/// One or two replies as lines.
struct Lines {
    text: Vec<u8>,
    /// The share of [`MAX_UNREAD_BYTES`] that it has until it is written.
    _unread: Option<OwnedSemaphorePermit>,
}

impl From<Reply> for Lines {
    fn from(reply: Reply) -> Self {
        Self { text: text_of(&reply), _unread: None }
    }
}

/// Returns a reply as a line. If it is too long for the client, the line is a reply that says so.
fn text_of(reply: &Reply) -> Vec<u8> {
    let line = line_of(reply);
    if line.len() > MAX_LINE_BYTES { line_of(&reply.too_long(line.len())) } else { line }
}

/// Sends replies, and the open handles of the toolset before them.
struct Replies {
    toolset: Arc<dyn Toolset>,
    queue: mpsc::Sender<Lines>,
    /// A permit for each byte that may be unread.
    unread: Arc<Semaphore>,
    /// The open handles that were sent last. Locked while a reply is sent, so that the handles stay before their reply, and the
    /// results of other calls wait as the toolset returned them.
    sent_handles: Mutex<Vec<String>>,
}

impl Replies {
    fn new(toolset: Arc<dyn Toolset>, queue: mpsc::Sender<Lines>) -> Self {
        let unread = Arc::new(Semaphore::new(MAX_UNREAD_BYTES));
        Self { toolset, queue, unread, sent_handles: Mutex::default() }
    }

    /// Sends the open handles if they have changed, and then a reply. Waits while too much is unread. Does nothing if the
    /// connection is closed.
    async fn send(&self, reply: impl FnOnce() -> Reply) {
        let mut last_handles = self.sent_handles.lock().await;
        let mut text = Vec::new();
        // If it panics, the handles stay as they were.
        let names = caught(|| self.toolset.open_handles()).unwrap_or_else(|_| last_handles.clone());
        if *last_handles != names {
            text = text_of(&Reply::OpenHandles { names: names.clone() });
        }
        text.append(&mut text_of(&reply()));
        let bytes = u32::try_from(text.len().min(MAX_UNREAD_BYTES)).unwrap_or(u32::MAX);
        let unread = Arc::clone(&self.unread).acquire_many_owned(bytes).await.ok();
        if self.queue.send(Lines { text, _unread: unread }).await.is_ok() {
            *last_handles = names;
        }
    }

    /// Waits until replies may be unread again.
    async fn wait(&self) {
        drop(self.unread.acquire().await);
    }
}

/// Writes replies until all senders are dropped, or the peer does not read for too long.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Lines>,
    answer_timeout: Duration,
) -> io::Result<()> {
    while let Some(lines) = queue.recv().await {
        let writing = async {
            output.write_all(&lines.text).await?;
            output.flush().await
        };
        let for_size = Duration::from_secs(lines.text.len() as u64 / MIN_BYTES_PER_SECOND);
        timeout(answer_timeout.saturating_add(for_size), writing)
            .await
            .map_err(io::Error::from)??;
    }
    Ok(())
}

/// An open connection.
struct Connection {
    answers: Arc<Answers>,
    opening: Opening,
}

async fn serve_connection(
    mut input: BufReader<impl AsyncRead + Unpin>,
    source: Source,
    peer: Peer,
    options: &RemoteOptions,
    replies: mpsc::Sender<Lines>,
) -> Result<(), RemoteError> {
    let reading = read(&mut input, MAX_OPEN_BYTES);
    let first = timeout(options.answer_timeout, reading).await.map_err(io::Error::from)?;
    let first = match first.map_err(RemoteError::from) {
        Ok(first) => first,
        Err(error) => {
            // The peer may not read it.
            let _ = replies.send(Reply::Refused { why: error.to_string() }.into()).await;
            return Err(error);
        }
    };
    let (version, sent_scope) = match first {
        Some((Request::Open { version, scope }, _)) => (version, scope),
        Some(_) => {
            let message = "the first line does not open a connection";
            return Err(RemoteError::Protocol(message.to_owned()));
        }
        // The client closed the connection without a request.
        None => return Ok(()),
    };
    let opened = match check_version(version) {
        // A connection has no steps, as a session has none.
        Ok(()) => Answers::enter(options.clone(), peer, &source.per_run(), &sent_scope).await,
        Err(reason) => Err(reason),
    };
    match opened {
        Ok((answers, entered)) => {
            let opening = Opening::new(fresh_nonce(), sent_scope, Arc::clone(&answers.scope));
            let connection = Connection { answers: Arc::new(answers), opening };
            let ended = connection.serve_requests(&mut input, replies).await;
            entered.close().await;
            ended
        }
        Err(reason) => {
            // The connection may be closed.
            let _ = replies.send(Reply::Refused { why: reason.clone() }.into()).await;
            Err(RemoteError::Refused { reason })
        }
    }
}

/// Returns a nonce that is unique to a connection.
fn fresh_nonce() -> String {
    fresh_id(&fresh_id("nonce"))
}

/// An active call.
struct Running {
    task: AbortHandle,
    /// The length of its request.
    bytes: usize,
}

impl Connection {
    /// Replies to requests until the client closes the connection. Calls run concurrently, and are cancelled at the end.
    async fn serve_requests(
        mut self,
        input: &mut BufReader<impl AsyncRead + Unpin>,
        replies: mpsc::Sender<Lines>,
    ) -> Result<(), RemoteError> {
        let answers = &self.answers;
        let max_calls = answers.options.max_calls;
        // The client reads this first. The open handles are sent with the first reply to a request.
        let opened = Reply::Opened { calls: max_calls, nonce: self.opening.nonce.clone() };
        let _ = replies.send(opened.into()).await;
        let replies = Arc::new(Replies::new(Arc::clone(&answers.toolset), replies));
        let mut tasks = JoinSet::new();
        let mut running: BTreeMap<u64, Running> = BTreeMap::new();
        while let Some((request, bytes)) = read(input, MAX_LINE_BYTES).await? {
            while tasks.try_join_next().is_some() {}
            running.retain(|_, call| !call.task.is_finished());
            replies.wait().await;
            match request {
                Request::Cancel { id } => drop(running.remove(&id).map(|call| call.task.abort())),
                Request::Call { id, .. } if running.contains_key(&id) => {
                    let message = format!("two active requests have the id {id}");
                    return Err(RemoteError::Protocol(message));
                }
                Request::Call { id, call, approval, traceparent } => {
                    let active_bytes: usize = running.values().map(|call| call.bytes).sum();
                    let is_too_large = active_bytes + bytes > MAX_LINE_BYTES;
                    if running.len() >= max_calls || is_too_large {
                        let outcome: Outcome = Err(too_many(max_calls));
                        replies.send(|| Reply::Outcome { id, outcome: (&outcome).into() }).await;
                        continue;
                    }
                    let call = answers.admit(&mut self.opening, id, call, approval);
                    let (answers, replies) = (Arc::clone(answers), Arc::clone(&replies));
                    let task = tasks.spawn(async move {
                        let outcome = answers.run(call, traceparent.as_deref()).await;
                        replies.send(|| Reply::Outcome { id, outcome: (&outcome).into() }).await;
                    });
                    running.insert(id, Running { task, bytes });
                    // A result that is soon there may have to be read before the next call.
                    yield_now().await;
                }
                request => match answers.answer(request).await {
                    Some(reply) => replies.send(|| reply).await,
                    None => {
                        return Err(RemoteError::Protocol(
                            "the connection was opened twice".to_owned(),
                        ));
                    }
                },
            }
        }
        Ok(())
    }
}

fn too_many(calls: usize) -> ToolFailure {
    let message = "too many calls run at once; call again when one has ended";
    ToolFailure::new(FailureKind::RateLimited, message, Recovery::Retry).with_detail(format!(
        "a connection may have {calls} active calls with {MAX_LINE_BYTES} bytes together"
    ))
}
