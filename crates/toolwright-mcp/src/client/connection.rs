//! One connection to a server: the handshake in either era of the protocol, requests, and the end. [`super::Client`]
//! reconnects.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, GetMeta, ListToolsRequest, PaginatedRequestParams, ProgressToken,
    ProtocolVersion, RequestId,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions,
    RunningService, ServiceError,
};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolwright::untrusted::line;
use toolwright_runtime::watch::traceparent;

use super::address::{ServerAddress, redactor};
use super::child;
use super::error::{ClientError, MAX_SERVER_TEXT, error_chain};
use super::lines::LineTransport;
use super::message_codec::{Arguments, INVALID_RESPONSE, MessageCodec};
use super::notifications::NotificationHandler;
use super::options::ClientOptions;

/// The newest revision of each era.
const NEWER: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const OLDER: ProtocolVersion = ProtocolVersion::LATEST_WITH_INITIALIZE;

/// The most time that closing a connection takes. A server that was started is killed earlier.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of a field of [`ServerInfo`].
const MAX_INFO: usize = 256;

/// The server's description of itself. Fields that the server left out are `None`; each is a visible line, cut after
/// 256 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The name of the server.
    pub name: Option<String>,
    /// The version of the server.
    pub version: Option<String>,
    /// The protocol revision of the connection.
    pub protocol: Option<String>,
}

/// A connection. Dropping it closes it, and ends a server that was started for it.
pub(super) struct Connection {
    service: RunningService<RoleClient, NotificationHandler>,
    codec: Arc<MessageCodec>,
    /// True if rmcp needs the arguments too, because its HTTP transport repeats some of them in headers.
    passes_arguments: bool,
    /// True once the server has ended the session.
    has_ended: AtomicBool,
    /// Closed once the transport is dropped and a server that was started has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

impl Connection {
    /// Connects with the newer era if the server answers its probe, else with the older one.
    pub(super) async fn connect(
        address: &ServerAddress,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let half = options.connect_timeout / 2;
        let newer_first = ClientLifecycleMode::Auto {
            preferred_versions: vec![NEWER],
            legacy_version: Some(OLDER),
        };
        let first = match Self::attempt_within(half, address, options, newer_first).await {
            Ok(connection) => return Ok(connection),
            Err(AttemptError::Final(reason)) => return Err(connect_error(address, reason)),
            Err(AttemptError::Retryable(reason)) => reason,
        };
        // Some servers exit when they get a request that they do not know, so try the older era alone.
        let mode = ClientLifecycleMode::Initialize;
        Self::attempt_within(half, address, options, mode).await.map_err(|second| {
            let second = second.reason();
            let is_same = second == first;
            let reason =
                if is_same { second } else { format!("{first}; second attempt: {second}") };
            connect_error(address, reason)
        })
    }

    async fn attempt_within(
        limit: Duration,
        address: &ServerAddress,
        options: &ClientOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, AttemptError> {
        let attempt = Self::attempt(address, options, lifecycle);
        match tokio::time::timeout(limit, attempt).await {
            Ok(result) => result,
            Err(_) => Err(AttemptError::Retryable(format!("it did not answer within {limit:?}"))),
        }
    }

    async fn attempt(
        address: &ServerAddress,
        options: &ClientOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, AttemptError> {
        let codec = Arc::<MessageCodec>::default();
        let handler = NotificationHandler::new(address.roots());
        let (alive, ended) = mpsc::channel(1);
        let connected = match address {
            ServerAddress::Command(command) => {
                let (process, input, output) = child::start(command).map_err(|error| {
                    AttemptError::Final(format!("it could not be started: {error}"))
                })?;
                let streams = (input, output);
                let transport =
                    LineTransport::new(streams, Some(process), codec.clone(), options, alive)
                        .with_redactor(redactor(&command.secrets));
                handler.serve_with_lifecycle(transport, lifecycle).await
            }
            ServerAddress::Url(url) => {
                let transport = http_transport(url, options, &codec, handler.changes(), alive)
                    .map_err(AttemptError::Final)?;
                handler.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        let passes_arguments = matches!(address, ServerAddress::Url(_));
        let ended = tokio::sync::Mutex::new(ended);
        let service = connected.map_err(attempt_error)?;
        if let Some(server) = service.peer().peer_info() {
            let version = &server.protocol_version;
            if !ProtocolVersion::KNOWN_VERSIONS.contains(version) {
                return Err(AttemptError::Final(unknown_version(version)));
            }
        }
        let has_ended = AtomicBool::new(false);
        let connection = Self { service, codec, passes_arguments, has_ended, ended };
        connection.subscribe();
        Ok(connection)
    }

    /// Subscribes to changes of the tool list if the server supports that. The older era needs no subscription.
    fn subscribe(&self) {
        let peer = self.service.peer();
        let is_newer =
            peer.peer_info().is_some_and(|server| !server.protocol_version.has_initialize());
        if is_newer && self.announces_changes() {
            self.service.service().subscribe(peer.clone());
        }
    }

    /// Returns whether the server says that it announces changes of its tool list.
    fn announces_changes(&self) -> bool {
        let server = self.service.peer().peer_info();
        let tools = server.as_ref().and_then(|server| server.capabilities.tools.as_ref());
        tools.is_some_and(|tools| tools.list_changed == Some(true))
    }

    /// Returns whether the connection is closed, or its session ended.
    pub(super) fn is_closed(&self) -> bool {
        let has_ended = self.has_ended.load(Ordering::Relaxed) || self.codec.is_exhausted();
        has_ended || self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Returns whether the tool list may have changed since this was last asked: the server has announced a change, or could not.
    pub(super) fn take_tools_changed(&self) -> bool {
        let changes = self.service.service().changes();
        let may_be_missed = changes.may_be_missed() && self.announces_changes();
        changes.take() || may_be_missed
    }

    /// Returns the server's description of itself.
    pub(super) fn server(&self) -> ServerInfo {
        let info = self.service.peer().peer_info();
        let about = info.as_deref().and_then(|info| info.server_info.as_ref());
        ServerInfo {
            name: about.map(|about| line(&about.name, MAX_INFO)),
            version: about.map(|about| line(&about.version, MAX_INFO)),
            protocol: info.as_deref().map(|info| line(info.protocol_version.as_str(), MAX_INFO)),
        }
    }

    /// Requests a page of the tool list.
    pub(super) async fn tools_page(
        &self,
        cursor: Option<String>,
    ) -> Result<Box<RawValue>, ClientError> {
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        self.request(ClientRequest::ListToolsRequest(request)).await
    }

    /// Calls a tool. Dropping the future cancels the call on the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &RawValue,
    ) -> Result<Box<RawValue>, ClientError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        if self.passes_arguments {
            params.arguments = serde_json::from_str(arguments.get()).ok();
        }
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(Arguments(Arc::from(arguments.to_owned())));
        let mut request = ClientRequest::CallToolRequest(request);
        if let Some(parent) = traceparent() {
            request.get_meta_mut().set_traceparent(&parent);
        }
        self.request(request).await
    }

    async fn request(&self, request: ClientRequest) -> Result<Box<RawValue>, ClientError> {
        let peer = self.service.peer();
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|error| self.error(error))?;
        let mut pending = PendingRequest {
            id: handle.id.clone(),
            token: handle.progress_token.clone(),
            connection: self,
            is_answered: false,
        };
        if let Some(watcher) = toolwright::progress::watcher() {
            self.service.service().watch_progress(pending.token.clone(), watcher);
        }
        let answer = handle.await_response().await;
        pending.is_answered = true;
        // Also after an error: the codec would keep a later response to a request that it has not forgotten.
        let result = self.codec.take_result(&pending.id);
        answer.map_err(|error| self.error(error))?;
        result.ok_or_else(|| {
            ClientError::InvalidResponse("the server sent a response of another method".to_owned())
        })
    }

    /// Converts the error of a request, and notices that the session has ended.
    fn error(&self, error: ServiceError) -> ClientError {
        if let ServiceError::TransportSend(error) = &error
            && has_ended_session(&*error.error)
        {
            self.has_ended.store(true, Ordering::Relaxed);
        }
        service_error(error)
    }

    /// Closes the connection, and waits until a server that was started for it has ended. A transport that does not end within
    /// [`CLOSE_LIMIT`] is left behind: rmcp's waits for room in its queue, which a server can keep full.
    pub(super) async fn close(&self) {
        self.service.cancellation_token().cancel();
        let ended = async { self.ended.lock().await.recv().await };
        let _ = tokio::time::timeout(CLOSE_LIMIT, ended).await;
    }
}

/// A request in flight. Dropping it before the response arrives cancels it.
struct PendingRequest<'a> {
    id: RequestId,
    token: ProgressToken,
    connection: &'a Connection,
    is_answered: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.connection.service.service().unwatch_progress(&self.token);
        if self.is_answered {
            return;
        }
        self.connection.codec.take_result(&self.id);
        let (peer, id) = (self.connection.service.peer().clone(), self.id.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(cancel(peer, id));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let reason = "the caller no longer waits".to_owned();
    let params = CancelledNotificationParam::new(Some(id), Some(reason));
    let notification = CancelledNotification::new(params);
    if let Err(error) = peer.send_notification(notification.into()).await {
        tracing::debug!("the cancellation of a call could not be sent: {error}");
    }
}

/// The reason why an attempt to connect failed.
enum AttemptError {
    /// An attempt with the older era may succeed.
    Retryable(String),
    Final(String),
}

impl AttemptError {
    fn reason(self) -> String {
        match self {
            Self::Retryable(reason) | Self::Final(reason) => reason,
        }
    }
}

fn attempt_error(error: ClientInitializeError) -> AttemptError {
    let reason = error_chain(&error);
    match handshake_status(&error) {
        Some(401) => {
            let reason = "it needs a bearer token, or refused the one it got (HTTP status 401)";
            AttemptError::Final(reason.to_owned())
        }
        Some(300..=399) => AttemptError::Final(reason),
        _ => AttemptError::Retryable(reason),
    }
}

/// Returns the HTTP status with which a handshake failed.
fn handshake_status(error: &ClientInitializeError) -> Option<u16> {
    match error {
        ClientInitializeError::TransportError { error, .. } => match http_error(&*error.error)? {
            ClientError::Http { status, .. } => status,
            _ => None,
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake_status(fallback),
        _ => None,
    }
}

/// A client must disconnect from a server whose revision it does not support (MCP 2025-11-25, "Version Negotiation").
fn unknown_version(version: &ProtocolVersion) -> String {
    let known: Vec<_> =
        ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let version = line(version.as_str(), 40);
    format!("it uses the unknown revision `{version}` of MCP, expected one of {}", known.join(", "))
}

fn connect_error(address: &ServerAddress, reason: String) -> ClientError {
    ClientError::Connect { server: address.to_string(), reason }
}

fn service_error(error: ServiceError) -> ClientError {
    match error {
        ServiceError::McpError(error) if error.code == INVALID_RESPONSE => {
            ClientError::InvalidResponse(line(&error.message, MAX_SERVER_TEXT))
        }
        ServiceError::McpError(error) => {
            let message = line(&error.message, MAX_SERVER_TEXT);
            ClientError::JsonRpc { code: error.code.0, message }
        }
        ServiceError::TransportSend(error) => send_error(&*error.error),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
            ClientError::ConnectionLost
        }
        ServiceError::Timeout { timeout } => ClientError::Timeout(timeout),
        other => ClientError::InvalidResponse(error_chain(&other)),
    }
}

/// Converts the error of sending a request or of reading its response.
fn send_error(error: &(dyn Error + Send + Sync + 'static)) -> ClientError {
    if let Some(error) = http_error(error) {
        return error;
    }
    tracing::debug!("a request could not be sent: {}", error_chain(error));
    ClientError::ConnectionLost
}

#[cfg(feature = "http-client")]
use super::url::{client_error as http_error, has_ended_session, transport as http_transport};

#[cfg(not(feature = "http-client"))]
fn http_error(_: &(dyn Error + Send + Sync + 'static)) -> Option<ClientError> {
    None
}

#[cfg(not(feature = "http-client"))]
fn has_ended_session(_: &(dyn Error + Send + Sync + 'static)) -> bool {
    false
}

#[cfg(not(feature = "http-client"))]
fn http_transport(
    _: &super::address::ServerUrl,
    _: &ClientOptions,
    _: &Arc<MessageCodec>,
    _: &Arc<super::notifications::ListChanges>,
    _: mpsc::Sender<()>,
) -> Result<LineTransport<tokio::io::Empty, tokio::io::Sink>, String> {
    Err("a URL needs the feature `http-client` of `toolwright-mcp`".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

    use super::*;
    use crate::client::tool_cache::ToolCache;

    /// Answers the handshake; then each page of the list with a line that is too long, and after each but the first, with the answer
    /// to the one before, which is late.
    async fn serve(stream: DuplexStream) {
        let (input, mut output) = split(stream);
        let mut lines = BufReader::new(input).lines();
        let mut late = None;
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).expect("it is a message");
            let id = &request["id"];
            let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
            let answers = match request["method"].as_str() {
                Some("initialize") => vec![answer(json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "late", "version": "1"},
                }))],
                Some("tools/list") => {
                    let page = answer(json!({"tools": []}));
                    let long = answer(json!({"tools": [], "padding": "-".repeat(5_000)}));
                    late.replace(page).into_iter().chain([long]).collect()
                }
                _ => Vec::new(),
            };
            for answer in answers {
                output.write_all(format!("{answer}\n").as_bytes()).await.expect("it is read");
            }
        }
    }

    /// Connects to a server that [`serve`]s.
    async fn connect(options: ClientOptions) -> Connection {
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn(serve(theirs));
        let codec = Arc::<MessageCodec>::default();
        let (alive, ended) = mpsc::channel(1);
        let transport = LineTransport::new(split(ours), None, codec.clone(), &options, alive);
        let handler = NotificationHandler::new(&[]);
        let service = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize);
        Connection {
            service: service.await.expect("it answers the handshake"),
            codec,
            passes_arguments: false,
            has_ended: AtomicBool::new(false),
            ended: tokio::sync::Mutex::new(ended),
        }
    }

    #[tokio::test]
    async fn a_late_response_to_a_request_that_failed_is_not_kept() {
        let connection = connect(ClientOptions::default().with_max_message_bytes(4_000)).await;
        for _ in 0..2 {
            let error = connection.tools_page(None).await.expect_err("it is too long");
            assert!(matches!(error, ClientError::InvalidResponse(_)), "{error}");
        }
        for id in 0..10 {
            assert!(connection.codec.take_result(&RequestId::Number(id)).is_none(), "{id}");
        }
    }

    #[tokio::test]
    async fn a_list_with_the_same_text_is_not_parsed_again() {
        let connection = Arc::new(connect(ClientOptions::default()).await);
        // So the server cannot announce changes.
        connection.service.service().changes().stream_closed();
        let cache = ToolCache::default();
        let first = cache.tools(&connection).await.expect("it answers");
        assert!(connection.take_tools_changed(), "it is listed each time");
        let second = cache.tools(&connection).await.expect("it answers");
        assert!(Arc::ptr_eq(&first, &second));
    }
}
