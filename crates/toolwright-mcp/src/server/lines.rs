//! Messages on byte streams, one a line. Never leaves a request without an answer, and ends with its input or its
//! output alone: what rmcp would break down on does not reach it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::message::{self, Message, Refusal};
use super::{Counters, Limits};
use crate::oversized::IdScanner;

/// How long a line may be, in bytes. A client that never ends its line would fill the memory.
const LONGEST_LINE: usize = 16 << 20;

/// How much of a long line's memory is kept for the next one.
const KEPT: usize = 1 << 16;

/// How many answers may wait to be written before those who answer wait too.
const UNWRITTEN: usize = 64;

/// How many requests may be in flight beside calls and subscriptions: pings are answered while those wait.
const OTHERS: usize = 64;

/// How long a client may take to read what was answered before its input ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// One connection. It holds a bounded number of requests, each from when it is read until its answer is written: while
/// there are so many, calls wait, and while too much waits, nothing is read.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Reads the rest of a line that is too long.
    skipping: Option<IdScanner>,
    ended: bool,
    /// Whether rmcp knows the client's era. It breaks down on anything but a request before.
    begun: bool,
    /// The requests that owe an answer, with their permits to be in flight. A call that waits has none.
    owed: HashMap<RequestId, Option<OwnedSemaphorePermit>>,
    calls: Arc<Semaphore>,
    others: Arc<Semaphore>,
    /// One of the others' permits for the next line, should it need one.
    permit: Option<OwnedSemaphorePermit>,
    waiting: VecDeque<WaitingCall>,
    waiting_bytes: usize,
    most_waiting_bytes: usize,
    counters: Counters,
    refusals: VecDeque<Vec<u8>>,
    output: Option<mpsc::Sender<Outgoing>>,
    writing: Option<JoinHandle<io::Result<()>>>,
}

/// A call that is read and not begun.
struct WaitingCall {
    id: RequestId,
    message: ClientJsonRpcMessage,
    bytes: usize,
}

/// A line to be written, and the permit that this gives back.
struct Outgoing {
    line: Vec<u8>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(
        input: R,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limits: &Limits,
        counters: Counters,
    ) -> Self {
        let (sender, lines) = mpsc::channel(UNWRITTEN);
        let calls = limits.session_calls.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: None,
            ended: false,
            begun: false,
            owed: HashMap::new(),
            calls: Arc::new(Semaphore::new(calls)),
            others: Arc::new(Semaphore::new(OTHERS)),
            permit: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            most_waiting_bytes: limits.waiting_bytes,
            counters,
            refusals: VecDeque::new(),
            output: Some(sender),
            writing: Some(tokio::spawn(write(output, lines))),
        }
    }

    /// Reads on until a line is whole, and says whether there is one. Dropped before that, it goes on where it was.
    async fn next_line(&mut self) -> io::Result<bool> {
        if self.permit.is_none() {
            self.permit = Arc::clone(&self.others).acquire_owned().await.ok();
        }
        loop {
            let read = self.input.fill_buf().await?;
            self.ended = read.is_empty();
            let end = read.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(read.len());
            let part = &read[..length];
            if let Some(scanner) = &mut self.skipping {
                scanner.feed(part);
            } else if self.line.len() + length > LONGEST_LINE {
                let mut scanner = IdScanner::default();
                scanner.feed(&self.line);
                scanner.feed(part);
                self.skipping = Some(scanner);
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            self.input.consume(end.map_or(length, |end| end + 1));
            if end.is_none() && !self.ended {
                continue;
            }
            let Some(scanner) = self.skipping.take() else { return Ok(!self.line.is_empty()) };
            // An id that is in use would be taken for the answer of its first request.
            let id = scanner.id().filter(|id| !self.owed.contains_key(id));
            let message = format!("a message of more than {LONGEST_LINE} bytes is not read");
            self.refuse(Refusal::invalid(id, message));
            return Ok(false);
        }
    }

    /// The message of the line, if it is one for rmcp now.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut line = std::mem::take(&mut self.line);
        let message = if line.trim_ascii().is_empty() {
            None
        } else {
            let admitted = parse(&line).and_then(|message| self.admit(message, line.len()));
            admitted.unwrap_or_else(|refusal| {
                self.refuse(refusal);
                None
            })
        };
        line.clear();
        line.shrink_to(KEPT);
        self.line = line;
        message
    }

    /// Keeps account of what owes an answer, and keeps calls back that too many others are before.
    fn admit(
        &mut self,
        message: Option<ClientJsonRpcMessage>,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        match &message {
            Some(ClientJsonRpcMessage::Request(request)) => {
                self.begun = self.begun || begins(&request.request);
                let id = request.id.clone();
                if self.owed.contains_key(&id) {
                    let message = "a request with this `id` is not answered yet; use another";
                    return Err(Refusal::invalid(Some(id), message));
                }
                if !lasts(&request.request) {
                    self.owed.insert(id, self.permit.take());
                    return Ok(message);
                }
                let permit = Arc::clone(&self.calls).try_acquire_owned().ok();
                let permit = permit.filter(|_| self.waiting.is_empty());
                let waits = permit.is_none();
                self.owed.insert(id.clone(), permit);
                if waits {
                    self.counters.count(|counts| counts.calls_delayed += 1);
                    self.waiting_bytes += bytes;
                    self.waiting.extend(message.map(|message| WaitingCall { id, message, bytes }));
                    return Ok(None);
                }
            }
            _ if !self.begun => return Ok(None),
            Some(ClientJsonRpcMessage::Notification(notification)) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.owed.remove(id);
                    if let Some(at) = self.waiting.iter().position(|call| call.id == *id) {
                        self.take_waiting(at);
                    }
                }
            }
            _ => {}
        }
        Ok(message)
    }

    fn take_waiting(&mut self, at: usize) -> Option<WaitingCall> {
        let call = self.waiting.remove(at)?;
        self.waiting_bytes -= call.bytes;
        Some(call)
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.refusals.push_back(line(refusal.into_text()));
    }

    /// Hands over answers of our own; `None` when nobody takes them any more.
    async fn send_refusals(&mut self) -> Option<()> {
        while !self.refusals.is_empty() {
            let permit = self.output.as_ref()?.reserve().await.ok()?;
            permit.send(Outgoing { line: self.refusals.pop_front()?, _permit: None });
        }
        Some(())
    }
}

/// What rmcp would make of a line, but for the arguments of calls. Nothing for what wants no answer and cannot be read.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let (text, message) = message::read(line)?;
    match message {
        Message::Call(call) => call.into_request().map(Some),
        Message::Unanswered => Ok(serde_json::from_str(text).ok()),
        Message::Request(request) => match serde_json::from_str(text) {
            Ok(message) => Ok(Some(message)),
            Err(_) => Err(request.unread()),
        },
    }
}

/// Whether a request is answered when something ends, and not at once.
fn lasts(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_) | ClientRequest::SubscriptionsListenRequest(_)
    )
}

/// Whether rmcp takes a first request for the beginning of one era or the other.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let version = meta.protocol_version();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && version.is_some_and(|named| ProtocolVersion::KNOWN_VERSIONS.contains(&named))
        }
    }
}

fn line(mut text: Vec<u8>) -> Vec<u8> {
    text.push(b'\n');
    text
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Outgoing>,
) -> io::Result<()> {
    while let Some(outgoing) = lines.recv().await {
        output.write_all(&outgoing.line).await?;
        // Those that wait already go out together.
        while let Ok(outgoing) = lines.try_recv() {
            output.write_all(&outgoing.line).await?;
        }
        output.flush().await?;
    }
    output.shutdown().await
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let permit = answered.and_then(|id| self.owed.remove(id)).flatten();
        let output = self.output.clone();
        let text = serde_json::to_vec(&message).map(line);
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let outgoing = Outgoing { line: text?, _permit: permit };
            output.ok_or_else(closed)?.send(outgoing).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.send_refusals().await?;
            let waits = !self.waiting.is_empty();
            let reads = !self.ended && (!waits || self.waiting_bytes < self.most_waiting_bytes);
            if !waits && !reads {
                return None;
            }
            let (output, calls) = (self.output.clone()?, Arc::clone(&self.calls));
            tokio::select! {
                biased;
                // Nobody reads answers any more.
                () = output.closed() => return None,
                permit = calls.acquire_owned(), if waits => {
                    let call = self.take_waiting(0)?;
                    self.owed.insert(call.id, permit.ok());
                    return Some(call.message);
                }
                read = self.next_line(), if reads => match read {
                    Ok(true) => {
                        if let Some(message) = self.take_message() {
                            return Some(message);
                        }
                    }
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(%error, "the input broke off");
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.take());
        let Some(mut writing) = self.writing.take() else { return Ok(()) };
        let Ok(written) = tokio::time::timeout(LAST_WORDS, &mut writing).await else {
            writing.abort();
            return Err(io::ErrorKind::TimedOut.into());
        };
        written?
    }
}
