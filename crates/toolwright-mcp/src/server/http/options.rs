//! What a host may choose about a server on HTTP. Never serves anything.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::transport::StreamableHttpServerConfig;
use tokio_util::sync::CancellationToken;
use toolwright::Scope;

use super::BearerLayer;
use crate::server::handler::Derive;

/// How a server is served over HTTP.
///
/// By default it answers loopback names alone, to browsers too: a page of another site that gets a name resolved
/// to this machine (DNS rebinding) is refused with 403. A server for other machines names the hosts it is known by.
///
/// ```
/// use toolwright_mcp::HttpOptions;
///
/// let options = HttpOptions::new()
///     .with_allowed_hosts(["tools.example.com"])
///     .with_allowed_origins(["https://app.example.com:443"])
///     .with_max_body(1 << 20);
/// # drop(options);
/// ```
#[derive(Clone)]
pub struct HttpOptions {
    pub(super) path: String,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    pub(super) max_body: usize,
    streamed: bool,
    pub(super) session_idle: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) shutdown: CancellationToken,
    pub(super) bearer: Option<BearerLayer>,
    pub(super) derive: Option<Derive>,
    pub(super) principal: Option<PrincipalOf>,
}

/// Whom the host takes a request to be from.
pub(super) type PrincipalOf = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions")
            .field("path", &self.path)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("max_body", &self.max_body)
            .finish_non_exhaustive()
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            allowed_hosts: LOOPBACK.map(str::to_owned).into(),
            allowed_origins: LOOPBACK.map(|host| format!("http://{host}:*")).into(),
            max_body: 4 << 20,
            streamed: false,
            session_idle: Some(Duration::from_hours(1)),
            grace: Duration::from_secs(10),
            shutdown: CancellationToken::new(),
            bearer: None,
            derive: None,
            principal: None,
        }
    }
}

impl HttpOptions {
    /// At `/mcp`, for loopback names, without authentication.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the path of the endpoint; otherwise it is `/mcp`.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the hosts that requests may be addressed to (`Host`), with or without a port.
    #[must_use]
    pub fn with_allowed_hosts(
        mut self,
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Accepts requests for any host: for a server behind a proxy that checks it.
    #[must_use]
    pub fn with_any_host(mut self) -> Self {
        self.allowed_hosts.clear();
        self
    }

    /// Sets the origins whose pages may send requests (`Origin`): scheme, host and port, or `*` for any port. Requests
    /// without an origin do not come from a page, and pass.
    #[must_use]
    pub fn with_allowed_origins(
        mut self,
        origins: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.allowed_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how many bytes a request may have; otherwise 4 MiB. A longer one is answered with 413.
    #[must_use]
    pub fn with_max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Answers requests without a session as a stream of events too. Otherwise they are answered in JSON, which is
    /// faster, unless a tool reports progress.
    #[must_use]
    pub fn with_streamed_answers(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Sets how long a session may be silent before it is forgotten; otherwise an hour. A call that runs keeps its
    /// session. `None` keeps sessions until their clients end them, which many never do.
    #[must_use]
    pub fn with_session_idle(mut self, time: Option<Duration>) -> Self {
        self.session_idle = time;
        self
    }

    /// Stops serving when a token is cancelled: no new connection is accepted, calls that run may end.
    #[must_use]
    pub fn with_shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// Sets how long calls may run on after a shutdown; otherwise 10 seconds.
    #[must_use]
    pub fn with_grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    /// Lets requests through only with a bearer token that is accepted.
    #[must_use]
    pub fn with_bearer(mut self, bearer: BearerLayer) -> Self {
        self.bearer = Some(bearer);
        self
    }

    /// Sets what the scope of a call is filled with from its HTTP request, for tools that are injected a run, a session
    /// or a label. Without it, calls of a session have the ids of that session, and a request that stands alone
    /// (2026-07-28) has none: only a host knows which of those belong together. Whose a session
    /// is, [`HttpOptions::with_principal`] says; tools which tell users apart need the user from here and not the session.
    #[must_use]
    pub fn with_scope(
        mut self,
        derive: impl Fn(&Parts, &mut Scope) + Send + Sync + 'static,
    ) -> Self {
        self.derive = Some(Arc::new(move |extensions, scope| {
            if let Some(request) = extensions.get::<Parts>() {
                derive(request, scope);
            }
        }));
        self
    }

    /// Sets whom a request is from, as the host has authenticated it. A session belongs to the principal that opened it:
    /// for any other, and for nobody, there is no such session (404). Sessions are counted by it, too.
    ///
    /// Without it the principal is the bearer token that a [`BearerLayer`] has accepted, so that a client whose token is
    /// renewed begins a new session. Without either, who knows a session's id may use it.
    ///
    /// ```
    /// # use toolwright_mcp::HttpOptions;
    /// # #[derive(Clone)]
    /// # struct User(String);
    /// let options = HttpOptions::new().with_principal(|request| {
    ///     request.extensions.get().map(|User(name)| name.clone())
    /// });
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn with_principal(
        mut self,
        principal: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.principal = Some(Arc::new(principal));
        self
    }

    /// The part that rmcp sees to.
    pub(super) fn transport(&self, streams: CancellationToken) -> StreamableHttpServerConfig {
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(&self.allowed_hosts)
            .with_allowed_origins(&self.allowed_origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(self.max_body)
            .with_json_response(!self.streamed)
            .with_cancellation_token(streams)
    }
}
