//! The transport to a server on standard streams: a message a line. Keeps results as texts, bounds what it keeps, and
//! passes over what is no message. Never starts a server: see [`super::child`].

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use super::child::ServerProcess;
use super::replies::Replies;
use super::texts::{Incoming, Texts, unusable};
use crate::oversized::IdScanner;

/// Both directions of a conversation, and the process at its other end, where there is one.
pub(super) struct Lines<R, W> {
    input: LineReader<R>,
    output: Arc<Mutex<Option<W>>>,
    texts: Arc<Texts>,
    replies: Replies,
    /// A request that waits for a permit.
    held: Option<ServerJsonRpcMessage>,
    process: Option<ServerProcess>,
    probe: Duration,
    /// Dropped with the transport, and so seen by whoever waits for its end.
    _alive: mpsc::Sender<()>,
    /// When an unanswered probe is given up.
    probe_ends: Option<Instant>,
}

struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    /// Reads on through a line that is too long.
    oversized: Option<IdScanner>,
}

/// What was read.
enum Line {
    Whole,
    Oversized(IdScanner),
    End,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// A conversation whose longest line has so many bytes and whose probe may take so long.
    pub(super) fn new(
        (input, output): (R, W),
        process: Option<ServerProcess>,
        texts: Arc<Texts>,
        longest: usize,
        probe: Duration,
        alive: mpsc::Sender<()>,
    ) -> Self {
        let input =
            LineReader { input: BufReader::new(input), line: Vec::new(), longest, oversized: None };
        let output = Arc::new(Mutex::new(Some(output)));
        Self {
            input,
            output,
            texts,
            replies: Replies::default(),
            held: None,
            process,
            probe,
            _alive: alive,
            probe_ends: None,
        }
    }

    /// The next message, or that the probe was not answered in time; nothing at the end.
    async fn next_in_time(&mut self) -> Option<ServerJsonRpcMessage> {
        while let Some(end) = self.probe_ends.filter(|_| self.texts.is_probing()) {
            if let Ok(message) = tokio::time::timeout_at(end, self.next()).await {
                return message;
            }
            self.probe_ends = None;
            if let Some(message) = self.texts.give_up_probe() {
                return Some(message);
            }
        }
        self.next().await
    }

    /// The next message, or nothing at the end.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.input.read().await {
                Ok(Line::Whole) => {
                    let message = self.texts.incoming(self.input.line.trim_ascii());
                    self.input.line.clear();
                    match message {
                        Ok(Incoming::Message(message)) => return Some(*message),
                        Ok(Incoming::Nothing) => {}
                        // Servers print to standard output what they should not.
                        Err(error) => tracing::debug!("a line is no message: {error}"),
                    }
                }
                Ok(Line::Oversized(scanner)) => {
                    let why = format!("a message has more than {} bytes", self.input.longest);
                    if let Some(id) = scanner.id() {
                        return Some(unusable(id, why));
                    }
                    tracing::warn!("{why}; it is passed over");
                }
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::debug!("a server can be heard no longer: {error}");
                    return None;
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads on to the end of a line. Given up in the middle of one, it goes on there when it is called again.
    async fn read(&mut self) -> io::Result<Line> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if let Some(scanner) = &mut self.oversized {
                scanner.feed(&available[..taken]);
            } else if self.line.len() + taken > self.longest {
                let mut scanner = IdScanner::default();
                scanner.feed(&self.line);
                scanner.feed(&available[..taken]);
                self.line = Vec::new();
                self.oversized = Some(scanner);
            } else {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            if end.is_some() {
                let oversized = self.oversized.take();
                return Ok(oversized.map_or(Line::Whole, Line::Oversized));
            }
        }
    }
}

/// A message on one line: arguments may have been written on several, and between tokens alone JSON has line ends.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
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
            self.probe_ends = Some(Instant::now() + self.probe);
        }
        let text = self.texts.outgoing(&message);
        let output = self.output.clone();
        let permit = self.replies.permit(&message);
        async move {
            let _until_it_is_written = permit;
            let mut line = one_line(text?);
            line.push('\n');
            let mut output = output.lock().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the server was left");
            let output = output.as_mut().ok_or_else(closed)?;
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        // rmcp gives this up whenever it has something else to do.
        if self.held.is_none() {
            self.held = self.next_in_time().await;
        }
        self.replies.admit(self.held.as_ref()?).await;
        self.held.take()
    }

    async fn close(&mut self) -> io::Result<()> {
        // Whoever holds the lock waits for a server that does not listen; it must not keep us from ending it.
        if let Ok(mut output) = self.output.try_lock() {
            drop(output.take());
        }
        if let Some(mut process) = self.process.take() {
            process.end().await;
        }
        Ok(())
    }
}
