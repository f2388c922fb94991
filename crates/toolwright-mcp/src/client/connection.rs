//! One conversation with a server, from its beginning in either era of the protocol to its end. Never begins another:
//! [`super::Client`] does.

use std::error::Error;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ProgressToken, ProtocolVersion,
    RequestId,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions,
    RunningService, ServiceError,
};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolwright::untrusted::line;

use super::address::ServerAddress;
use super::ear::Ear;
use super::error::{ClientError, LONGEST, described};
use super::options::ClientOptions;
use super::texts::{Arguments, Texts, UNUSABLE};
use super::{child, lines};

/// The newest revision of each era.
const NEWER: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const OLDER: ProtocolVersion = ProtocolVersion::LATEST_WITH_INITIALIZE;

/// What a server says of itself; `None` says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The revision of the protocol that is spoken.
    pub protocol: Option<String>,
}

/// A conversation. Dropped, it ends, and with it the server that was started for it.
pub(super) struct Connection {
    service: RunningService<RoleClient, Ear>,
    texts: Arc<Texts>,
    /// Whether rmcp has to see arguments too: its HTTP transport puts some of them in headers.
    shows_arguments: bool,
    /// Closed once the transport is gone, and with it the server that was started.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

impl Connection {
    /// Begins a conversation: the newer era if the server answers its probe, else the older one.
    pub(super) async fn begin(
        address: &ServerAddress,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let half = options.connect_timeout / 2;
        let newer_first = ClientLifecycleMode::Auto {
            preferred_versions: vec![NEWER],
            legacy_version: Some(OLDER),
        };
        let first = match Self::within(half, address, options, newer_first).await {
            Ok(connection) => return Ok(connection),
            Err(Unbegun::Final(why)) => return Err(connect_error(address, why)),
            Err(Unbegun::Open(why)) => why,
        };
        // Some servers leave when they are asked what they do not know.
        let second = Self::within(half, address, options, ClientLifecycleMode::Initialize).await;
        second.map_err(|again| {
            let again = again.why();
            let why = if again == first { again } else { format!("{first}; and again: {again}") };
            connect_error(address, why)
        })
    }

    async fn within(
        limit: Duration,
        address: &ServerAddress,
        options: &ClientOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, Unbegun> {
        let attempt = Self::attempt(address, options, lifecycle);
        match tokio::time::timeout(limit, attempt).await {
            Ok(result) => result,
            Err(_) => Err(Unbegun::Open(format!("it did not answer within {limit:?}"))),
        }
    }

    async fn attempt(
        address: &ServerAddress,
        options: &ClientOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, Unbegun> {
        let texts = Arc::<Texts>::default();
        let ear = Ear::new(address.roots());
        let (alive, ended) = mpsc::channel(1);
        let begun = match address {
            ServerAddress::Command(command) => {
                let (process, input, output) = child::start(command)
                    .map_err(|error| Unbegun::Final(format!("it could not be started: {error}")))?;
                let (longest, probe) = (options.max_message_bytes, options.probe_timeout);
                let streams = (input, output);
                let lines =
                    lines::Lines::new(streams, Some(process), texts.clone(), longest, probe, alive);
                ear.serve_with_lifecycle(lines, lifecycle).await
            }
            ServerAddress::Url(url) => {
                let transport =
                    http_transport(url, options, &texts, alive).map_err(Unbegun::Final)?;
                ear.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        let shows_arguments = matches!(address, ServerAddress::Url(_));
        let ended = tokio::sync::Mutex::new(ended);
        let service = begun.map_err(unbegun)?;
        if let Some(server) = service.peer().peer_info() {
            let spoken = &server.protocol_version;
            if !ProtocolVersion::KNOWN_VERSIONS.contains(spoken) {
                return Err(Unbegun::Final(unknown_version(spoken)));
            }
        }
        let connection = Self { service, texts, shows_arguments, ended };
        connection.listen();
        Ok(connection)
    }

    /// Has the server tell when its tools change, if it can.
    fn listen(&self) {
        let peer = self.service.peer();
        let Some(server) = peer.peer_info() else { return };
        let tools = server.capabilities.tools.as_ref();
        let tells = tools.is_some_and(|tools| tools.list_changed == Some(true));
        if tells && !server.protocol_version.has_initialize() {
            self.service.service().subscribe(peer.clone());
        }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the list of tools has changed since this was asked last.
    pub(super) fn tools_changed(&self) -> bool {
        self.service.service().tools_changed()
    }

    /// What the server says of itself.
    pub(super) fn server(&self) -> ServerInfo {
        let info = self.service.peer().peer_info();
        let about = info.as_deref().and_then(|info| info.server_info.as_ref());
        ServerInfo {
            name: about.map(|about| about.name.clone()),
            version: about.map(|about| about.version.clone()),
            protocol: info.as_deref().map(|info| info.protocol_version.to_string()),
        }
    }

    /// A page of the list of tools.
    pub(super) async fn tools_page(
        &self,
        cursor: Option<String>,
    ) -> Result<Box<RawValue>, ClientError> {
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        self.ask(ClientRequest::ListToolsRequest(request)).await
    }

    /// Calls a tool. Given up, it is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &RawValue,
    ) -> Result<Box<RawValue>, ClientError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        if self.shows_arguments {
            params.arguments = serde_json::from_str(arguments.get()).ok();
        }
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(Arguments(Arc::from(arguments.to_owned())));
        self.ask(ClientRequest::CallToolRequest(request)).await
    }

    async fn ask(&self, request: ClientRequest) -> Result<Box<RawValue>, ClientError> {
        let peer = self.service.peer();
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(service_error)?;
        let mut pending = Pending {
            id: handle.id.clone(),
            token: handle.progress_token.clone(),
            connection: self,
            is_answered: false,
        };
        if let Some(watcher) = toolwright::progress::watcher() {
            self.service.service().attend(pending.token.clone(), watcher);
        }
        let answer = handle.await_response().await;
        pending.is_answered = true;
        answer.map_err(service_error)?;
        let text = self.texts.take(&pending.id);
        text.ok_or_else(|| ClientError::Unusable("the answer is to another question".to_owned()))
    }

    /// Ends it, and waits until the server that was started for it is gone.
    pub(super) async fn end(&self) {
        self.service.cancellation_token().cancel();
        self.ended.lock().await.recv().await;
    }
}

/// A request that waits. Dropped before it is answered, it is cancelled.
struct Pending<'a> {
    id: RequestId,
    token: ProgressToken,
    connection: &'a Connection,
    is_answered: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.connection.service.service().ignore(&self.token);
        if self.is_answered {
            return;
        }
        self.connection.texts.take(&self.id);
        let (peer, id) = (self.connection.service.peer().clone(), self.id.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(cancel(peer, id));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let why = "the call was given up".to_owned();
    let params = CancelledNotificationParam::new(Some(id), Some(why));
    let notification = CancelledNotification::new(params);
    if let Err(error) = peer.send_notification(notification.into()).await {
        tracing::debug!("a server could not be told that a call was given up: {error}");
    }
}

/// Why a conversation did not begin, and whether another way of beginning may do better.
enum Unbegun {
    Open(String),
    Final(String),
}

impl Unbegun {
    fn why(self) -> String {
        match self {
            Self::Open(why) | Self::Final(why) => why,
        }
    }
}

fn unbegun(error: ClientInitializeError) -> Unbegun {
    let why = described(&error);
    let is_redirected = match &error {
        ClientInitializeError::TransportError { error, .. } => {
            let error = http_error(&*error.error);
            matches!(error, Some(ClientError::Http { status: Some(300..=399), .. }))
        }
        _ => false,
    };
    if error.is_authorization_required() || is_redirected {
        Unbegun::Final(why)
    } else {
        Unbegun::Open(why)
    }
}

/// A client leaves a server whose revision it does not know (MCP 2025-11-25, "Version Negotiation").
fn unknown_version(spoken: &ProtocolVersion) -> String {
    let known: Vec<_> =
        ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let spoken = line(spoken.as_str(), 40);
    format!(
        "it speaks the unknown revision `{spoken}` of MCP, expected one of {}",
        known.join(", ")
    )
}

fn connect_error(address: &ServerAddress, why: String) -> ClientError {
    ClientError::Connect { server: address.to_string(), why }
}

fn service_error(error: ServiceError) -> ClientError {
    match error {
        ServiceError::McpError(error) if error.code == UNUSABLE => {
            ClientError::Unusable(line(&error.message, LONGEST))
        }
        ServiceError::McpError(error) => {
            let message = line(&error.message, LONGEST);
            ClientError::Refused { code: error.code.0, message }
        }
        ServiceError::TransportSend(error) => unsent(&*error.error),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => ClientError::Lost,
        ServiceError::Timeout { timeout } => ClientError::Timeout(timeout),
        other => ClientError::Unusable(described(&other)),
    }
}

/// Why a request could not be sent, or its response not be read.
fn unsent(error: &(dyn Error + Send + Sync + 'static)) -> ClientError {
    if let Some(error) = http_error(error) {
        return error;
    }
    tracing::debug!("a request could not be sent: {}", described(error));
    ClientError::Lost
}

#[cfg(feature = "http-client")]
use super::url::{client_error as http_error, transport as http_transport};

#[cfg(not(feature = "http-client"))]
fn http_error(_: &(dyn Error + Send + Sync + 'static)) -> Option<ClientError> {
    None
}

#[cfg(not(feature = "http-client"))]
fn http_transport(
    _: &super::address::ServerUrl,
    _: &ClientOptions,
    _: &Arc<Texts>,
    _: mpsc::Sender<()>,
) -> Result<lines::Lines<tokio::io::Empty, tokio::io::Sink>, String> {
    Err("URLs need the feature `http-client` of `toolwright-mcp`".to_owned())
}
