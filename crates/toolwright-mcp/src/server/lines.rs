//! Messages on byte streams, one a line. Never leaves a request without an answer, and never ends before its input
//! does: what rmcp would break down on does not reach it.

use std::collections::{HashSet, VecDeque};
use std::io;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::message::{self, Message, Refusal};

/// How long a line may be, in bytes. A client that never ends its line would fill the memory.
const LONGEST_LINE: usize = 16 << 20;

/// How much of a long line's memory is kept for the next one.
const KEPT: usize = 1 << 16;

/// How many answers may wait to be written before those who answer wait too.
const WAITING: usize = 64;

/// One connection.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether what comes is the rest of a line that is too long.
    skipping: bool,
    ended: bool,
    /// Whether rmcp knows the client's era. It breaks down on anything but a request before.
    begun: bool,
    /// The ids of requests that owe an answer.
    owed: HashSet<RequestId>,
    refusals: VecDeque<Vec<u8>>,
    output: Option<mpsc::Sender<Vec<u8>>>,
    writing: Option<JoinHandle<io::Result<()>>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: false,
            ended: false,
            begun: false,
            owed: HashSet::new(),
            refusals: VecDeque::new(),
            output: Some(sender),
            writing: Some(tokio::spawn(write(output, lines))),
        }
    }

    /// Reads on until a line is whole, and says whether there is one. Dropped before that, it goes on where it was.
    async fn next_line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                self.ended = true;
                return Ok(!self.line.is_empty());
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(read.len());
            let too_long = self.line.len() + length > LONGEST_LINE;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&read[..length]);
            }
            self.input.consume(end.map_or(length, |end| end + 1));
            if too_long && !self.skipping {
                self.skipping = true;
                self.line.clear();
                let message = format!("a message of more than {LONGEST_LINE} bytes is not read");
                self.refuse(Refusal::invalid(None, message));
            }
            if end.is_none() {
                continue;
            }
            if !std::mem::take(&mut self.skipping) {
                return Ok(true);
            }
            return Ok(false);
        }
    }

    /// The message of the line, if it is one for rmcp.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut line = std::mem::take(&mut self.line);
        let message = if line.trim_ascii().is_empty() {
            None
        } else {
            parse(&line).and_then(|message| self.admit(message)).unwrap_or_else(|refusal| {
                self.refuse(refusal);
                None
            })
        };
        line.clear();
        line.shrink_to(KEPT);
        self.line = line;
        message
    }

    /// Keeps account of what owes an answer.
    fn admit(
        &mut self,
        message: Option<ClientJsonRpcMessage>,
    ) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        match &message {
            Some(ClientJsonRpcMessage::Request(request)) => {
                self.begun = self.begun || begins(&request.request);
                if !self.owed.insert(request.id.clone()) {
                    let message = "a request with this `id` is not answered yet; use another";
                    return Err(Refusal::invalid(Some(request.id.clone()), message));
                }
            }
            _ if !self.begun => return Ok(None),
            Some(ClientJsonRpcMessage::Notification(notification)) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.owed.remove(id);
                }
            }
            _ => {}
        }
        Ok(message)
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.refusals.push_back(line(refusal.into_text()));
    }

    /// Hands over answers of our own; `None` when nobody takes them any more.
    async fn send_refusals(&mut self) -> Option<()> {
        while !self.refusals.is_empty() {
            let permit = self.output.as_ref()?.reserve().await.ok()?;
            permit.send(self.refusals.pop_front()?);
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
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        // Those that wait already go out together.
        while let Ok(line) = lines.try_recv() {
            output.write_all(&line).await?;
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
        match &message {
            ServerJsonRpcMessage::Response(response) => self.owed.remove(&response.id),
            ServerJsonRpcMessage::Error(error) => {
                error.id.as_ref().is_some_and(|id| self.owed.remove(id))
            }
            _ => false,
        };
        let output = self.output.clone();
        let text = serde_json::to_vec(&message).map(line);
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            output.ok_or_else(closed)?.send(text?).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.send_refusals().await?;
            if self.ended {
                return None;
            }
            let there_is_one = match self.next_line().await {
                Ok(there_is_one) => there_is_one,
                Err(error) => {
                    tracing::warn!(%error, "the input broke off");
                    return None;
                }
            };
            if there_is_one && let Some(message) = self.take_message() {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.take());
        match self.writing.take() {
            Some(writing) => writing.await?,
            None => Ok(()),
        }
    }
}
