//! The transport for byte streams: one JSON-RPC message per line. Answers malformed messages itself, because rmcp would
//! end the connection.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
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

use super::message::{self, ErrorResponse, Message};
use super::{Counters, Limits};
use crate::oversized::IdScanner;

/// The maximum length of a line in bytes. Without it, a client that never ends its line would fill the memory.
const MAX_LINE: usize = 16 << 20;

/// The capacity of the line buffer, in bytes, that is kept after a longer line.
const KEPT_CAPACITY: usize = 1 << 16;

/// The number of responses that may wait to be written. Sending another one waits.
const MAX_UNWRITTEN: usize = 64;

/// The bytes of responses to calls that are made before earlier ones are read. A longer one is made alone.
const MAX_UNREAD: u32 = 4 << 20;

/// The bytes of a response for each byte of its result, which it has as escaped text and as structured content.
const BYTES_PER_RESULT_BYTE: usize = 3;

/// The number of requests in flight that are neither calls nor subscriptions. They have a limit of their own, so that
/// pings are answered while calls wait.
const MAX_SHORT_REQUESTS: usize = 64;

/// How long a client may take to read the last responses after its input ended.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection on byte streams.
///
/// The number of requests in flight is limited. A request is in flight from when it is read until its response is
/// written. Beyond the limit calls wait, and while too many bytes of calls wait, nothing is read. While the client does not
/// read responses, no calls start, and the results of running calls are not made into responses.
pub(crate) struct LineTransport<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Scans the rest of a line that is too long.
    skipping: Option<IdScanner>,
    ended: bool,
    /// True if the input has ended, and subscriptions do not count any more.
    is_draining: bool,
    /// True if rmcp knows the client's era. Until then, rmcp fails on a message that is not a request.
    era_known: bool,
    unanswered: HashMap<RequestId, Unanswered>,
    calls: Arc<Semaphore>,
    /// A permit for each byte of responses that may be unread.
    unread: Arc<Semaphore>,
    short_requests: Arc<Semaphore>,
    /// A permit of `short_requests` for the next line, in case it needs one.
    permit: Option<OwnedSemaphorePermit>,
    waiting: VecDeque<WaitingCall>,
    waiting_bytes: usize,
    max_waiting_bytes: usize,
    counters: Counters,
    error_responses: VecDeque<Vec<u8>>,
    output: Option<mpsc::Sender<Outgoing>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

/// A request without a response.
#[derive(Default)]
struct Unanswered {
    /// The permit to be in flight. A waiting call has none.
    permit: Option<OwnedSemaphorePermit>,
    room: Option<ResponseRoom>,
    is_subscription: bool,
}

/// The room for the response to a call, in the extensions of its request.
#[derive(Clone, Debug)]
pub(crate) struct ResponseRoom {
    unread: Arc<Semaphore>,
    taken: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl ResponseRoom {
    fn new(unread: &Arc<Semaphore>) -> Self {
        Self { unread: Arc::clone(unread), taken: Arc::default() }
    }

    /// Waits until there is room for a result of this size. The room is free again when the response is written, or never will
    /// be.
    pub(crate) async fn take(&self, bytes: usize) {
        let bytes = bytes.saturating_mul(BYTES_PER_RESULT_BYTE).clamp(1, MAX_UNREAD as usize);
        let permits = u32::try_from(bytes).unwrap_or(MAX_UNREAD);
        let taken = Arc::clone(&self.unread).acquire_many_owned(permits).await.ok();
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
    }

    fn taken(&self) -> Option<OwnedSemaphorePermit> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A call that was read but has not started.
struct WaitingCall {
    id: RequestId,
    message: ClientJsonRpcMessage,
    bytes: usize,
}

/// A line to write, with the permits that are released afterwards.
struct Outgoing {
    line: Vec<u8>,
    _permits: [Option<OwnedSemaphorePermit>; 2],
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    pub(crate) fn new(
        input: R,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limits: &Limits,
        counters: Counters,
    ) -> Self {
        let (sender, lines) = mpsc::channel(MAX_UNWRITTEN);
        let calls = limits.session_calls.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: None,
            ended: false,
            is_draining: false,
            era_known: false,
            unanswered: HashMap::new(),
            calls: Arc::new(Semaphore::new(calls)),
            unread: Arc::new(Semaphore::new(MAX_UNREAD as usize)),
            short_requests: Arc::new(Semaphore::new(MAX_SHORT_REQUESTS)),
            permit: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            max_waiting_bytes: limits.waiting_bytes,
            counters,
            error_responses: VecDeque::new(),
            output: Some(sender),
            writer: Some(tokio::spawn(write(output, lines))),
        }
    }

    /// Reads to the end of a line and returns whether there is one to parse. Cancel safe: if it is dropped earlier, the
    /// next call continues.
    async fn next_line(&mut self) -> io::Result<bool> {
        if self.permit.is_none() {
            self.permit = Arc::clone(&self.short_requests).acquire_owned().await.ok();
        }
        loop {
            let read = self.input.fill_buf().await?;
            self.ended = read.is_empty();
            let end = read.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(read.len());
            let part = &read[..length];
            if let Some(scanner) = &mut self.skipping {
                scanner.feed(part);
            } else if self.line.len() + length > MAX_LINE {
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
            // If the id is in use, the client would take this error for the response to the first request.
            let id = scanner.id().filter(|id| !self.unanswered.contains_key(id));
            let message = format!("a message has at most {MAX_LINE} bytes; send less");
            self.reject(ErrorResponse::invalid_request(id, message));
            return Ok(false);
        }
    }

    /// Parses the line. Returns the message if rmcp should handle it now.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut line = std::mem::take(&mut self.line);
        let message = if line.trim_ascii().is_empty() {
            None
        } else {
            let admitted = parse(&line).and_then(|message| self.admit(message, line.len()));
            admitted.unwrap_or_else(|error| {
                self.reject(error);
                None
            })
        };
        line.clear();
        line.shrink_to(KEPT_CAPACITY);
        self.line = line;
        message
    }

    /// Registers a request as unanswered, and queues a call if too many are in flight.
    fn admit(
        &mut self,
        mut message: Option<ClientJsonRpcMessage>,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, ErrorResponse> {
        match &mut message {
            Some(ClientJsonRpcMessage::Request(request)) => {
                self.era_known = self.era_known || establishes_era(&request.request);
                let id = request.id.clone();
                if self.unanswered.contains_key(&id) {
                    return Err(ErrorResponse::id_in_use(id));
                }
                if !is_long_running(&request.request) {
                    let permit = self.permit.take();
                    self.unanswered.insert(id, Unanswered { permit, ..Unanswered::default() });
                    return Ok(message);
                }
                let has_room = self.waiting.is_empty() && self.unread.available_permits() > 0;
                let permit = Arc::clone(&self.calls).try_acquire_owned().ok();
                let permit = permit.filter(|_| has_room);
                let waits = permit.is_none();
                let room = ResponseRoom::new(&self.unread);
                let is_subscription = match &mut request.request {
                    ClientRequest::CallToolRequest(call) => {
                        call.extensions.insert(room.clone());
                        false
                    }
                    _ => true,
                };
                let unanswered = Unanswered { permit, room: Some(room), is_subscription };
                self.unanswered.insert(id.clone(), unanswered);
                if waits {
                    self.counters.count(|counts| counts.calls_delayed += 1);
                    self.waiting_bytes += bytes;
                    self.waiting.extend(message.map(|message| WaitingCall { id, message, bytes }));
                    return Ok(None);
                }
            }
            _ if !self.era_known => return Ok(None),
            Some(ClientJsonRpcMessage::Notification(notification)) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
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

    /// Lets the calls that wait start in place of the subscriptions of a client whose input has ended: they end only with the
    /// connection.
    fn release_subscriptions(&mut self) {
        let is_call = |id: &RequestId| {
            self.unanswered.get(id).is_some_and(|request| !request.is_subscription)
        };
        self.waiting.retain(|waiting| is_call(&waiting.id));
        self.waiting_bytes = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        for request in self.unanswered.values_mut().filter(|request| request.is_subscription) {
            request.permit = None;
        }
    }

    fn reject(&mut self, error: ErrorResponse) {
        self.error_responses.push_back(line(error.into_text()));
    }

    /// Sends the error responses of this transport. Returns `None` if the output is closed.
    async fn send_error_responses(&mut self) -> Option<()> {
        while !self.error_responses.is_empty() {
            let permit = self.output.as_ref()?.reserve().await.ok()?;
            let line = self.error_responses.pop_front()?;
            permit.send(Outgoing { line, _permits: [None, None] });
        }
        Some(())
    }
}

/// Parses a line as rmcp would, but keeps the arguments of calls as text. Returns `None` for a notification or response
/// that rmcp cannot parse.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, ErrorResponse> {
    let (text, message) = message::read(line)?;
    match message {
        Message::Call(call) => call.into_request().map(Some),
        Message::Unanswered => Ok(serde_json::from_str(text).ok()),
        Message::Request(request) => match serde_json::from_str(text) {
            Ok(message) => Ok(Some(message::without_unused_params(message))),
            Err(_) => Err(request.unparseable()),
        },
    }
}

/// Returns whether a request may stay in flight for long: a call or a subscription.
fn is_long_running(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_) | ClientRequest::SubscriptionsListenRequest(_)
    )
}

/// Returns whether rmcp can tell the client's era from this first request.
fn establishes_era(request: &ClientRequest) -> bool {
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
        // LineTransport that are waiting already share one flush.
        while let Ok(outgoing) = lines.try_recv() {
            output.write_all(&outgoing.line).await?;
        }
        output.flush().await?;
    }
    output.shutdown().await
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Unanswered { permit, room, .. } =
            id.and_then(|id| self.unanswered.remove(id)).unwrap_or_default();
        let room = room.and_then(|room| room.taken());
        let output = self.output.clone();
        let text = serde_json::to_vec(&message).map(line);
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let outgoing = Outgoing { line: text?, _permits: [permit, room] };
            output.ok_or_else(closed)?.send(outgoing).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.send_error_responses().await?;
            if self.ended && !self.is_draining {
                self.is_draining = true;
                self.release_subscriptions();
            }
            let waits = !self.waiting.is_empty();
            let reads = !self.ended && (!waits || self.waiting_bytes < self.max_waiting_bytes);
            if !waits && !reads {
                return None;
            }
            let output = self.output.clone()?;
            let (calls, unread) = (Arc::clone(&self.calls), Arc::clone(&self.unread));
            let starting = async {
                drop(unread.acquire().await);
                calls.acquire_owned().await.ok()
            };
            tokio::select! {
                biased;
                // The client no longer reads responses.
                () = output.closed() => return None,
                permit = starting, if waits => {
                    let call = self.take_waiting(0)?;
                    self.unanswered.entry(call.id).or_default().permit = permit;
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
                        tracing::warn!(%error, "the input cannot be read any more");
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.take());
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let Ok(written) = tokio::time::timeout(CLOSE_TIMEOUT, &mut writer).await else {
            writer.abort();
            return Err(io::ErrorKind::TimedOut.into());
        };
        written?
    }
}
