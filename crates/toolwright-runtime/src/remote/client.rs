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
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Outcome, Payload, Recovery, Scope, ToolCall, ToolFailure,
    ToolResult,
};

use super::approval::Approved;
use super::options::{Peer, RemoteOptions};
use super::protocol::{LONGEST, Reply, Request, VERSION};
use crate::tools::{ToolEntry, Toolset, check_cleared};
use crate::wire::{WireCall, WireScope};

/// A toolset behind a connection. Dropped, it leaves, and the server exits what it had entered.
///
/// As an instance it is a shared reference: its connection is one entering, whoever uses it. To have the server make
/// an instance for each run or session, register a factory that connects.
pub struct RemoteToolset {
    requests: mpsc::Sender<Request>,
    shared: Arc<Shared>,
    next: AtomicU64,
    /// As many places as the server runs calls at once.
    calls: Semaphore,
    /// One place: what is no call is answered one by one.
    others: Semaphore,
    nonce: String,
    /// The scope that the connection was opened for.
    opened_for: WireScope,
    options: RemoteOptions,
    /// The tools as they were listed last, by name.
    listed: Mutex<BTreeMap<String, Listed>>,
}

/// A tool that the server listed.
struct Listed {
    tool: ToolEntry,
    is_available: bool,
    /// The digest of the tool that an approval code covers.
    digest: [u8; 32],
}

/// The most calls that are under way at once, whatever a server says.
const CALLS: usize = 4096;

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
    /// The options do not let the client speak with the server of a socket, whose user has this id.
    Stranger {
        /// The id, where the kernel says it.
        user_id: Option<u32>,
    },
}

debug!(RemoteToolset, _toolset => {});

impl RemoteToolset {
    /// Connects to a socket, on behalf of a run or a session. Nothing is sent to a server of another user, unless the
    /// options [say otherwise](RemoteOptions::with_peers).
    ///
    /// # Errors
    ///
    /// No server listens on the socket, the server belongs to another user, breaks the protocol, or could not offer its
    /// toolset.
    pub async fn connect_unix(
        path: impl AsRef<Path>,
        scope: &Scope,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        let stream = UnixStream::connect(path).await?;
        let server = Peer::of(&stream);
        if !options.accepts(&server) {
            return Err(RemoteError::Stranger { user_id: server.user_id() });
        }
        let (input, output) = stream.into_split();
        Self::over(input, output, scope, options).await
    }

    /// Opens a conversation over any byte stream. Who is at its other end, the caller has seen to.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteToolset::connect_unix`].
    pub async fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        mut output: impl AsyncWrite + Send + Unpin + 'static,
        scope: &Scope,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        let mut input = BufReader::new(input);
        let opening = async {
            write(&mut output, &Request::Open { version: VERSION, scope: scope.into() }).await?;
            read::<Reply>(&mut input).await
        };
        let opened = timeout(options.answer_timeout, opening).await.map_err(io::Error::from)??;
        let (calls, nonce) = match opened {
            Some((Reply::Opened { calls, nonce }, _)) => (calls.clamp(1, CALLS), nonce),
            Some((Reply::Refused { why }, _)) => return Err(RemoteError::Refused { why }),
            _ => return Err(RemoteError::Gone),
        };
        // For each request that is waited for, a place for it and one for its cancellation.
        let (requests, queue) = mpsc::channel(2 * (calls + 1));
        let waiting = Mutex::new(Some(BTreeMap::new()));
        let shared = Arc::new(Shared { waiting, open_handles: Mutex::default() });
        tokio::spawn(carry(input, output, queue, Arc::clone(&shared)));
        let (next, listed) = (AtomicU64::new(0), Mutex::default());
        let (calls, others) = (Semaphore::new(calls), Semaphore::new(1));
        let opened_for = scope.into();
        Ok(Self { requests, shared, next, calls, others, nonce, opened_for, options, listed })
    }

    /// Asks once there is a place, and waits for the reply. Given up meanwhile, the server is told.
    async fn ask(
        &self,
        places: &Semaphore,
        request: impl FnOnce(u64) -> Request,
    ) -> Result<Reply, RemoteError> {
        let _place = places.acquire().await.map_err(|_| RemoteError::Gone)?;
        let cancelling = self.requests.clone().reserve_owned().await;
        let cancelling = cancelling.map_err(|_| RemoteError::Gone)?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let reply = self.shared.register(id).ok_or(RemoteError::Gone)?;
        let mut owed = Owed { shared: &self.shared, id, cancelling: Some(cancelling) };
        self.requests.send(request(id)).await.map_err(|_| RemoteError::Gone)?;
        let reply = reply.await;
        owed.cancelling = None;
        reply.map_err(|_| RemoteError::Gone)
    }

    /// What is asked about the toolset, and not of a tool.
    async fn ask_other(&self, request: impl FnOnce(u64) -> Request) -> Result<Reply, RemoteError> {
        let answering = self.ask(&self.others, request);
        timeout(self.options.answer_timeout, answering).await.map_err(io::Error::from)?
    }

    /// The code that shows that a call was approved by whoever our runtime asked.
    fn approval(&self, request: u64, call: &ToolCall, sent: &WireCall) -> Option<[u8; 32]> {
        let key = self.options.approval_key.as_ref()?;
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let Listed { tool, digest, .. } = listed.get(call.tool())?;
        check_cleared(call, tool.spec()).ok()?;
        let (nonce, opened_for) = (&self.nonce, &self.opened_for);
        Some(key.sign(&Approved { nonce, opened_for, request, call: sent, tool: digest }))
    }

    async fn run(&self, call: &ToolCall) -> Outcome {
        let request = |id| {
            let sent = call.into();
            Request::Call { id, approval: self.approval(id, call, &sent), call: sent }
        };
        match self.ask(&self.calls, request).await {
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
    shared: &'a Shared,
    id: u64,
    /// The place to give it up in, as long as there is no reply.
    cancelling: Option<mpsc::OwnedPermit<Request>>,
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        if let Some(cancelling) = self.cancelling.take()
            && self.shared.take(self.id).is_some()
        {
            cancelling.send(Request::Cancel { id: self.id });
        }
    }
}

/// Carries requests out and replies in, until either side leaves.
async fn carry(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Request>,
    shared: Arc<Shared>,
) {
    let outward = async {
        while let Some(request) = queue.recv().await {
            write(&mut output, &request).await?;
        }
        io::Result::Ok(())
    };
    let inward = async {
        while let Some((reply, _)) = read::<Reply>(&mut input).await? {
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
            Self::Opened { .. } | Self::Refused { .. } | Self::OpenHandles { .. } => None,
        }
    }
}

async fn write(output: &mut (impl AsyncWrite + Unpin), request: &Request) -> io::Result<()> {
    let mut line = serde_json::to_vec(request).map_err(io::Error::other)?;
    line.push(b'\n');
    output.write_all(&line).await?;
    output.flush().await
}

/// Reads one line, and says how many bytes it had; none at the end of the stream.
pub(super) async fn read<T: DeserializeOwned>(
    input: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<(T, usize)>> {
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
    let said = serde_json::from_slice(&line)?;
    Ok(Some((said, line.len())))
}

impl Toolset for RemoteToolset {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let Reply::Tools { tools, .. } = self.ask_other(|id| Request::List { id }).await?
            else {
                return Err(RemoteError::Gone.into());
            };
            let mut entries = Vec::new();
            let listed = tools?.into_iter().map(|told| {
                let (is_available, digest) = (told.is_available(), told.digest());
                let tool = told.into_entry();
                entries.push(tool.clone());
                (tool.name().to_owned(), Listed { tool, is_available, digest })
            });
            let listed = listed.collect();
            *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = listed;
            Ok(entries)
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            ToolResult { call_id: call.id().to_owned(), outcome: self.run(call).await }
        })
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(async move {
            match self.ask_other(|id| Request::Save { id }).await? {
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
            match self.ask_other(|id| Request::Restore { id, saved: saved.to_string() }).await? {
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
            match self.ask_other(|id| Request::Instructions { id }).await {
                Ok(Reply::Instructions { text, .. }) => text,
                Ok(_) | Err(_) => None,
            }
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.get(tool).is_none_or(|listed| listed.is_available)
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
            Self::Stranger { user_id } => {
                let user = user_id.map_or("an unknown user".to_owned(), |id| format!("user {id}"));
                write!(
                    f,
                    "the socket is served by {user}, expected a process that `RemoteOptions::with_peers` lets in, by default of \
                     this user"
                )
            }
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
