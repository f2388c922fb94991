//! The transport for byte streams: one JSON-RPC message per line. Limits the length of lines, and ignores lines that are
//! not messages.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;
use toolwright::untrusted::Redactor;

use super::child::ServerProcess;
use super::message_codec::{Decoded, MessageCodec, invalid_response};
use super::options::ClientOptions;
use super::reply_limit::ReplyLimit;
use crate::oversized::IdScanner;

/// The two streams of a connection, and the server's process if it was started.
pub(super) struct LineTransport<R, W> {
    input: LineReader<R>,
    output: Arc<Mutex<Option<W>>>,
    codec: Arc<MessageCodec>,
    redactor: Redactor,
    replies: ReplyLimit,
    /// A message that was read; a request may have to wait for a permit.
    received: Option<ServerJsonRpcMessage>,
    process: Option<ServerProcess>,
    probe_timeout: Duration,
    /// Its drop signals that the transport has ended.
    _alive: mpsc::Sender<()>,
    /// When an unanswered probe is given up.
    probe_deadline: Option<Instant>,
}

struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    /// Scans the rest of a line that is too long.
    oversized: Option<IdScanner>,
}

/// The result of reading a line.
enum Line {
    /// A line, which is in the reader's buffer.
    Complete,
    /// A line that is too long.
    Oversized(IdScanner),
    /// The end of the input.
    End,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(super) fn new(
        (input, output): (R, W),
        process: Option<ServerProcess>,
        codec: Arc<MessageCodec>,
        options: &ClientOptions,
        alive: mpsc::Sender<()>,
    ) -> Self {
        let max_bytes = options.max_message_bytes;
        let input = LineReader {
            input: BufReader::new(input),
            line: Vec::new(),
            max_bytes,
            oversized: None,
        };
        let output = Arc::new(Mutex::new(Some(output)));
        Self {
            input,
            output,
            codec,
            redactor: Redactor::default(),
            replies: ReplyLimit::default(),
            received: None,
            process,
            probe_timeout: options.probe_timeout,
            _alive: alive,
            probe_deadline: None,
        }
    }

    /// Removes secrets from everything that the server sends.
    pub(super) fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Returns the next message, or `None` at the end. If the probe is not answered in time, returns an error for it.
    async fn next_or_probe_timeout(&mut self) -> Option<ServerJsonRpcMessage> {
        while let Some(deadline) = self.probe_deadline.filter(|_| self.codec.is_probing()) {
            if let Ok(message) = tokio::time::timeout_at(deadline, self.next()).await {
                return message;
            }
            self.probe_deadline = None;
            if let Some(message) = self.codec.give_up_probe() {
                return Some(message);
            }
        }
        self.next().await
    }

    /// Returns the next message, or `None` at the end.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.input.read().await {
                Ok(Line::Complete) => {
                    let line = str::from_utf8(self.input.line.trim_ascii()).ok();
                    let message = line.map(|line| self.codec.decode_redacted(line, &self.redactor));
                    self.input.line.clear();
                    match message {
                        Some(Ok(Decoded::Message(message))) => return Some(*message),
                        Some(Ok(Decoded::Ignored)) => {}
                        // Some servers print other text to standard output.
                        Some(Err(_)) | None => tracing::debug!("a line is not a message"),
                    }
                }
                Ok(Line::Oversized(scanner)) => {
                    let reason = format!("a message has more than {} bytes", self.input.max_bytes);
                    if let Some(id) = scanner.id() {
                        return Some(invalid_response(id, reason));
                    }
                    tracing::warn!("{reason}; it is ignored");
                }
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::debug!("the output of a server cannot be read any more: {error}");
                    return None;
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads to the end of a line. Cancel safe: if it is dropped earlier, the next call continues.
    async fn read(&mut self) -> io::Result<Line> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(available.len(), |end| end + 1);
            if let Some(scanner) = &mut self.oversized {
                scanner.feed(&available[..length]);
            } else if self.line.len() + length > self.max_bytes {
                let mut scanner = IdScanner::default();
                scanner.feed(&self.line);
                scanner.feed(&available[..length]);
                self.line = Vec::new();
                self.oversized = Some(scanner);
            } else {
                self.line.extend_from_slice(&available[..length]);
            }
            self.input.consume(length);
            if end.is_some() {
                let oversized = self.oversized.take();
                return Ok(oversized.map_or(Line::Complete, Line::Oversized));
            }
        }
    }
}

/// Joins the lines of a message, because arguments may contain line breaks. In JSON they occur only between tokens.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.probe_deadline = Some(Instant::now() + self.probe_timeout);
        }
        let text = self.codec.encode(&message);
        let output = self.output.clone();
        let writing = self.replies.writing(&message);
        async move {
            let _held_until_sent = writing;
            let mut line = one_line(text?);
            line.push('\n');
            let mut output = output.lock().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the connection is closed");
            let output = output.as_mut().ok_or_else(closed)?;
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        // rmcp may drop this future at any time, so the message is kept until it is admitted.
        if self.received.is_none() {
            self.received = self.next_or_probe_timeout().await;
        }
        self.replies.admit(self.received.as_ref()?).await;
        self.received.take()
    }

    async fn close(&mut self) -> io::Result<()> {
        // If the lock is held, a write waits for a server that does not read. The server is ended anyway.
        if let Ok(mut output) = self.output.try_lock() {
            drop(output.take());
        }
        if let Some(mut process) = self.process.take() {
            process.end().await;
        }
        Ok(())
    }
}
