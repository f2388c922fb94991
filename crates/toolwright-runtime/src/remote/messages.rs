//! Both sides of the protocol for transports that carry a message and its reply instead of a stream of lines, such as NATS.
//!
//! A client sends questions about the toolset, which any server of it answers. For a call it first opens a connection, which is
//! for this call only; the reply has the nonce of the connection. The transport takes the call to the server that sent the
//! nonce. Messages and replies are those of the streams, one JSON object each.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolwright::untrusted::visible;
use toolwright::{BoxError, Outcome, ToolCall, ToolFailure};

use super::answers::{Answers, Opening, check_version, scope_of_a_run};
use super::error::RemoteError;
use super::listing::{self, Listing};
use super::options::{Peer, RemoteOptions};
use super::protocol::{MAX_OPEN_MESSAGE_BYTES, Reply, Request, VERSION};
use crate::debug::debug;
use crate::tools::{EnteredToolset, Source, ToolEntry};
use crate::watch::traceparent;
use crate::wire::{WireCall, WireScope};

/// The id of the only request of its kind. The ids of streams distinguish the requests of a connection.
const ID: u64 = 0;

/// Serves a shared toolset over a transport of messages. It is entered once, for all clients.
pub struct MessageServer {
    answers: Answers,
    entered: EnteredToolset,
    digest: [u8; 32],
}

/// A message of a client.
#[derive(Debug)]
pub enum Message {
    /// A question about the toolset.
    Question(Question),
    /// Opens a connection for a call.
    Open(OpenMessage),
    /// The call of a connection.
    Call(CallMessage),
    /// Cancels the call of a connection. There is no reply.
    Cancel,
}

/// A question about the toolset.
pub struct Question(Request);

/// A message that opens a connection for a call.
pub struct OpenMessage {
    version: u32,
    scope: WireScope,
}

/// An open connection for a call.
pub struct Opened(Opening);

/// A call of a client.
pub struct CallMessage {
    id: u64,
    call: WireCall,
    approval: Option<[u8; 32]>,
    traceparent: Option<String>,
}

debug!(MessageServer, _server => {});
debug!(Question, _question => {});
debug!(OpenMessage, open => { version: open.version });
debug!(Opened, _opened => {});
debug!(CallMessage, message => { tool: message.call.tool });

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    ///
    /// It is not a message of this protocol, or of a kind that only streams carry, or it opens a connection and has more than a
    /// kibibyte.
    pub fn read(message: &[u8]) -> Result<Self, RemoteError> {
        let request = serde_json::from_slice(message);
        Ok(match request.map_err(|error| RemoteError::Protocol(error.to_string()))? {
            Request::Open { .. } if message.len() > MAX_OPEN_MESSAGE_BYTES => {
                let bytes = message.len();
                return Err(RemoteError::Protocol(format!(
                    "a message that opens a connection has {bytes} bytes, expected at most {MAX_OPEN_MESSAGE_BYTES}"
                )));
            }
            Request::Open { version, scope } => Self::Open(OpenMessage { version, scope }),
            Request::Call { id, call, approval, traceparent } => {
                Self::Call(CallMessage { id, call, approval, traceparent })
            }
            Request::Cancel { .. } => Self::Cancel,
            question @ (Request::List { .. } | Request::Instructions { .. }) => {
                Self::Question(Question(question))
            }
            Request::Save { .. } | Request::Restore { .. } => {
                let message = "a toolset that several clients share has no state to save";
                return Err(RemoteError::Protocol(message.to_owned()));
            }
        })
    }

    /// Returns the reply that refuses a message.
    pub fn refused(reason: &str) -> Vec<u8> {
        json(&Reply::Refused { why: reason.to_owned() })
    }
}

impl CallMessage {
    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.call.tool
    }

    /// Returns a function that makes the reply with a failure of this call.
    pub fn failures(&self) -> impl Fn(&ToolFailure) -> Vec<u8> + Send + 'static {
        let id = self.id;
        move |failure| {
            let outcome: Outcome = Err(failure.clone());
            json(&Reply::Outcome { id, outcome: (&outcome).into() })
        }
    }
}

impl MessageServer {
    /// Enters a toolset. Its scope has only a run id, or is what [`with_scope`](RemoteOptions::with_scope) returns for the default
    /// scope and for a peer without user and process. Without that function, each call has a run id of its own.
    ///
    /// # Errors
    ///
    /// The toolset has an instance for each run, cannot be entered, or cannot list its tools.
    pub async fn enter(source: &Source, options: RemoteOptions) -> Result<Self, RemoteError> {
        let refused = |reason| RemoteError::Refused { reason };
        if !source.is_shared() {
            let reason = "it has an instance for each run, expected one that runs share";
            return Err(refused(reason.to_owned()));
        }
        let scope = WireScope::default();
        let entering = Answers::enter(options, Peer::default(), source, &scope);
        let (answers, entered) = entering.await.map_err(refused)?;
        match answers.list().await {
            Ok(_) => {
                let mut sum = Sha256::new();
                answers.listed().iter().for_each(|tool| sum.update(tool.digest));
                Ok(Self { answers, entered, digest: sum.finalize().into() })
            }
            Err(reason) => {
                entered.close().await;
                Err(refused(reason))
            }
        }
    }

    /// Returns a tool of the last listing.
    pub fn tool(&self, name: &str) -> Option<ToolEntry> {
        let listed = self.answers.listed();
        Some(ToolEntry::find(&listed, name)?.entry.clone())
    }

    /// Returns the SHA-256 of the digests of the tools as they were when the toolset was entered, in the order of the list.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns the options.
    pub fn options(&self) -> &RemoteOptions {
        &self.answers.options
    }

    /// Answers a question.
    pub async fn answer(&self, question: Question) -> Vec<u8> {
        match self.answers.answer(question.0).await {
            Some(reply) => json(&reply),
            None => Message::refused("it is no question"),
        }
    }

    /// Opens a connection for a call, and returns the reply. The nonce must be unique among the connections to all servers with
    /// the same key. Only a client that has this reply can send a call with a valid approval code.
    ///
    /// # Errors
    ///
    /// The client uses another version of the protocol. The reply is the error.
    pub fn open(&self, message: OpenMessage, nonce: &str) -> Result<(Opened, Vec<u8>), Vec<u8>> {
        check_version(message.version).map_err(|reason| Message::refused(&reason))?;
        let scope = Arc::new(scope_of_a_run());
        let opened = Opened(Opening::new(nonce.to_owned(), message.scope, scope));
        Ok((opened, json(&Reply::Opened { calls: 1, nonce: nonce.to_owned() })))
    }

    /// Runs the call of a connection, which this closes, and returns the reply. Dropping the future cancels the call.
    pub async fn call(&self, opened: Opened, message: CallMessage) -> Vec<u8> {
        let (Opened(mut opening), CallMessage { id, call, approval, traceparent }) =
            (opened, message);
        let admitted = self.answers.admit(&mut opening, id, call, approval);
        let outcome = self.answers.run(admitted, traceparent.as_deref()).await;
        json(&Reply::Outcome { id, outcome: (&outcome).into() })
    }

    /// Exits the toolset.
    pub async fn exit(self) {
        self.entered.close().await;
    }
}

/// The messages of a client, and what it knows from replies.
pub struct MessageClient {
    options: RemoteOptions,
    listing: Listing,
}

debug!(MessageClient, client => { options: client.options });

impl MessageClient {
    /// Creates a client, which knows no tools before the first [`listed`](Self::listed).
    pub fn new(options: RemoteOptions) -> Self {
        Self { options, listing: Listing::default() }
    }

    /// Returns the question for the tools.
    pub fn list() -> Vec<u8> {
        json(&Request::List { id: ID })
    }

    /// Reads the reply to [`list`](Self::list).
    ///
    /// # Errors
    ///
    /// The server cannot list its tools, or lists some with wrong names.
    pub fn listed(&self, reply: &[u8]) -> Result<Vec<ToolEntry>, BoxError> {
        match read(reply)? {
            Reply::Tools { tools, .. } => self.listing.replace(tools),
            _ => Err(unexpected().into()),
        }
    }

    /// Returns the question for the instructions.
    pub fn ask_instructions() -> Vec<u8> {
        json(&Request::Instructions { id: ID })
    }

    /// Reads the reply to [`ask_instructions`](Self::ask_instructions).
    ///
    /// # Errors
    ///
    /// The reply is of another kind.
    pub fn instructions(reply: &[u8]) -> Result<Option<String>, RemoteError> {
        match read(reply)? {
            Reply::Instructions { text, .. } => Ok(text.map(|text| visible(&text).into_owned())),
            _ => Err(unexpected()),
        }
    }

    /// Returns the message that opens a connection for a call.
    pub fn open() -> Vec<u8> {
        json(&Request::Open { version: VERSION, scope: WireScope::default() })
    }

    /// Reads the reply to [`open`](Self::open), and returns the nonce of the connection.
    ///
    /// # Errors
    ///
    /// The server refuses the connection.
    pub fn opened(reply: &[u8]) -> Result<String, RemoteError> {
        match read(reply)? {
            Reply::Opened { nonce, .. } => Ok(nonce),
            _ => Err(unexpected()),
        }
    }

    /// Returns the message with a call. If the runtime of this process had it approved, and the options have a key, it has an
    /// approval code.
    pub fn call(&self, call: &ToolCall, nonce: &str) -> Vec<u8> {
        let (sent, key) = (call.into(), self.options.approval_key.as_ref());
        let connection = (nonce, &WireScope::default());
        let approval = self.listing.approval_code(key, connection, ID, call, &sent);
        json(&Request::Call { id: ID, call: sent, approval, traceparent: traceparent() })
    }

    /// Returns the message that cancels the call of a connection.
    pub fn cancel() -> Vec<u8> {
        json(&Request::Cancel { id: ID })
    }

    /// Reads the reply to a call.
    ///
    /// # Errors
    ///
    /// The server refused the message, and did not run the call, or the reply is of another kind.
    pub fn outcome(reply: &[u8]) -> Result<Outcome, RemoteError> {
        match read(reply)? {
            Reply::Outcome { outcome, .. } => Ok(listing::outcome(outcome)),
            _ => Err(unexpected()),
        }
    }

    /// Returns a tool of the last listing.
    pub fn tool(&self, name: &str) -> Option<ToolEntry> {
        self.listing.tool(name)
    }

    /// Returns whether the server said that a tool is available, in the last listing.
    pub fn is_available(&self, tool: &str) -> bool {
        self.listing.is_available(tool)
    }
}

fn read(reply: &[u8]) -> Result<Reply, RemoteError> {
    match serde_json::from_slice(reply) {
        Ok(Reply::Refused { why }) => {
            Err(RemoteError::Refused { reason: visible(&why).into_owned() })
        }
        Ok(reply) => Ok(reply),
        Err(error) => Err(RemoteError::Protocol(error.to_string())),
    }
}

fn unexpected() -> RemoteError {
    RemoteError::Protocol("the reply is of another kind than the request".to_owned())
}

fn json(message: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have no keys that JSON cannot have")
}
