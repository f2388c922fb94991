//! The toolset that stands for one in another process. Never decides anything about its tools.

use crate::debug::debug;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure,
    ToolResult,
};

use super::protocol::{LONGEST, Reply, Request, VERSION, WireTool};
use crate::tools::{ToolEntry, Toolset};

/// A toolset behind a connection. Dropped, it leaves, and the server exits what it had entered.
///
/// As an instance it is a shared reference: its connection is one entering, whoever uses it. To have the server make
/// an instance for each run or session, register a factory that connects.
pub struct RemoteToolset {
    requests: mpsc::UnboundedSender<Request>,
    shared: Arc<Shared>,
    next: AtomicU64,
    /// Which tools could be used when they were listed last.
    available: Mutex<BTreeMap<String, bool>>,
}

/// What the toolset and the task that reads replies share.
struct Shared {
    /// Those who wait for replies, by the ids of their requests; none any more once the connection is gone.
    waiting: Mutex<Option<BTreeMap<u64, oneshot::Sender<Reply>>>>,
    /// The handles that are open there, as the server said last.
    open_handles: Mutex<Vec<String>>,
}

/// Why a remote toolset could not be reached or offered.
#[derive(Debug)]
#[non_exhaustive]
pub enum RemoteError {
    /// The stream could not be opened, or broke.
    Io(io::Error),
    /// The server could not offer its toolset.
    Refused {
        /// The server's words.
        why: String,
    },
    /// The other side said something that is not of the protocol.
    Protocol(String),
    /// The server left.
    Gone,
}

debug!(RemoteToolset, _toolset => {});

impl RemoteToolset {
    /// Connects to a socket, on behalf of a run or a session.
    ///
    /// # Errors
    ///
    /// A socket nobody listens on, a server that does not keep the protocol or could not offer its toolset.
    pub async fn connect_unix(path: impl AsRef<Path>, scope: &Scope) -> Result<Self, RemoteError> {
        let (input, output) = UnixStream::connect(path).await?.into_split();
        Self::over(input, output, scope).await
    }

    /// Opens a conversation over any byte stream.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteToolset::connect_unix`].
    pub async fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        mut output: impl AsyncWrite + Send + Unpin + 'static,
        scope: &Scope,
    ) -> Result<Self, RemoteError> {
        let mut input = BufReader::new(input);
        write(&mut output, &Request::Open { version: VERSION, scope: scope.into() }).await?;
        match read(&mut input).await? {
            Some(Reply::Opened) => {}
            Some(Reply::Refused { why }) => return Err(RemoteError::Refused { why }),
            _ => return Err(RemoteError::Gone),
        }
        let (requests, queue) = mpsc::unbounded_channel();
        let waiting = Mutex::new(Some(BTreeMap::new()));
        let shared = Arc::new(Shared { waiting, open_handles: Mutex::default() });
        tokio::spawn(carry(input, output, queue, Arc::clone(&shared)));
        let (next, available) = (AtomicU64::new(0), Mutex::default());
        Ok(Self { requests, shared, next, available })
    }

    /// Asks, and waits for the reply. Given up meanwhile, the server is told.
    async fn ask(&self, request: impl FnOnce(u64) -> Request) -> Result<Reply, RemoteError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let reply = self.shared.register(id).ok_or(RemoteError::Gone)?;
        let mut owed = Owed { remote: self, id, answered: false };
        self.requests.send(request(id)).map_err(|_| RemoteError::Gone)?;
        let reply = reply.await;
        owed.answered = true;
        reply.map_err(|_| RemoteError::Gone)
    }

    fn note(&self, tools: &[WireTool]) {
        let noted = tools.iter().map(|tool| (tool.name().to_owned(), tool.is_available()));
        *self.available.lock().unwrap_or_else(PoisonError::into_inner) = noted.collect();
    }

    async fn run(&self, call: &ToolCall) -> Outcome {
        match self.ask(|id| Request::Call { id, call: call.into() }).await {
            Ok(Reply::Outcome { outcome, .. }) => outcome.into(),
            Ok(_) | Err(_) => Err(gone()),
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

    /// Takes in what the server says.
    fn take_in(&self, reply: Reply) {
        if let Reply::OpenHandles { names } = reply {
            *self.open_handles.lock().unwrap_or_else(PoisonError::into_inner) = names;
            return;
        }
        let asker = reply.id().and_then(|id| self.take(id));
        // Who has given up needs no reply.
        let _ = asker.map(|asker| asker.send(reply));
    }

    /// Nobody is answered any more, and what was open there has ended with the connection.
    fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.open_handles.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A request whose reply is waited for.
struct Owed<'a> {
    remote: &'a RemoteToolset,
    id: u64,
    answered: bool,
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        if !self.answered && self.remote.shared.take(self.id).is_some() {
            // A server that has left has given up already.
            let _ = self.remote.requests.send(Request::Cancel { id: self.id });
        }
    }
}

/// Carries requests out and replies in, until either side leaves.
async fn carry(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Request>,
    shared: Arc<Shared>,
) {
    let outward = async {
        while let Some(request) = queue.recv().await {
            write(&mut output, &request).await?;
        }
        io::Result::Ok(())
    };
    let inward = async {
        while let Some(reply) = read::<Reply>(&mut input).await? {
            shared.take_in(reply);
        }
        io::Result::Ok(())
    };
    let ended = tokio::select! { ended = outward => ended, ended = inward => ended };
    if let Err(error) = ended {
        tracing::warn!(%error, "the connection to a remote toolset broke");
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
            Self::Opened | Self::Refused { .. } | Self::OpenHandles { .. } => None,
        }
    }
}

async fn write(output: &mut (impl AsyncWrite + Unpin), request: &Request) -> io::Result<()> {
    let mut line = serde_json::to_vec(request).map_err(io::Error::other)?;
    line.push(b'\n');
    output.write_all(&line).await?;
    output.flush().await
}

/// Reads one line; none at the end of the stream.
pub(super) async fn read<T: DeserializeOwned>(
    input: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let mut limited = input.take(LONGEST as u64);
    limited.read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let what = format!("a line is longer than {LONGEST} bytes, or was cut off");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    serde_json::from_slice(&line).map(Some).map_err(Into::into)
}

impl Toolset for RemoteToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let Reply::Tools { tools, .. } = self.ask(|id| Request::List { id }).await? else {
                return Err(RemoteError::Gone.into());
            };
            let tools = tools?;
            self.note(&tools);
            Ok(tools.into_iter().map(WireTool::into_entry).collect())
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            ToolResult { call_id: call.id().to_owned(), outcome: self.run(call).await }
        })
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(async move {
            match self.ask(|id| Request::Save { id }).await? {
                Reply::Saved { saved, .. } => Ok(saved?.map(Payload::new)),
                _ => Err(RemoteError::Gone.into()),
            }
        })
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            match self.ask(|id| Request::Restore { id, saved: saved.to_string() }).await? {
                Reply::Restored { restored, .. } => Ok(restored?),
                _ => Err(RemoteError::Gone.into()),
            }
        })
    }

    fn open_handles(&self) -> Vec<String> {
        self.shared.open_handles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            match self.ask(|id| Request::Instructions { id }).await {
                Ok(Reply::Instructions { text, .. }) => text,
                Ok(_) | Err(_) => None,
            }
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        let available = self.available.lock().unwrap_or_else(PoisonError::into_inner);
        available.get(tool).copied().unwrap_or(true)
    }
}

fn gone() -> ToolFailure {
    let message = "the tool cannot be reached now";
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry)
        .with_detail("the connection to the remote toolset is gone")
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the stream to a remote toolset broke: {error}"),
            Self::Refused { why } => write!(f, "the remote toolset cannot be had: {why}"),
            Self::Protocol(what) => {
                write!(f, "the other side of a remote toolset does not keep the protocol: {what}")
            }
            Self::Gone => f.write_str("the remote toolset has left"),
        }
    }
}

impl Error for RemoteError {}

impl From<io::Error> for RemoteError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidData {
            return Self::Protocol(error.to_string());
        }
        Self::Io(error)
    }
}
