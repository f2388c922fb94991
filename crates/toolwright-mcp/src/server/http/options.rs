//! The options of an HTTP server.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::transport::StreamableHttpServerConfig;
use tokio_util::sync::CancellationToken;
use toolwright::Scope;

use super::BearerLayer;
use crate::server::handler::FillScope;

/// Options for serving over HTTP.
///
/// By default the server accepts only requests for loopback names, and from pages of loopback names. That protects it
/// from pages of other sites whose names resolve to this machine (DNS rebinding): they get 403. A server for other
/// machines has to set its allowed hosts.
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
    pub(super) fill_scope: Option<FillScope>,
    pub(super) principal: Option<PrincipalOf>,
}

/// The host's function that returns the principal of a request.
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
            fill_scope: None,
            principal: None,
        }
    }
}

impl HttpOptions {
    /// Creates the default options: the path `/mcp`, loopback names, no authentication.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the path of the endpoint. The default is `/mcp`.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the accepted values of `Host`, with or without a port.
    #[must_use]
    pub fn with_allowed_hosts(
        mut self,
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Accepts any `Host`. Use it behind a proxy that checks the host.
    #[must_use]
    pub fn with_any_host(mut self) -> Self {
        self.allowed_hosts.clear();
        self
    }

    /// Sets the accepted values of `Origin`: scheme, host and port, or `*` for any port. Requests without `Origin` do
    /// not come from web pages and are always accepted.
    #[must_use]
    pub fn with_allowed_origins(
        mut self,
        origins: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.allowed_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum size of a request's body in bytes. The default is 4 MiB. A larger one gets 413.
    #[must_use]
    pub fn with_max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Always answers requests without a session with a stream of events. By default such a request is answered with
    /// JSON, which is faster, unless its tool reports progress.
    #[must_use]
    pub fn with_streamed_answers(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Sets how long a session may be idle before it is closed. The default is one hour. A session with a running call is
    /// not idle. With `None`, sessions stay open until their clients close them, which many clients never do.
    #[must_use]
    pub fn with_session_idle(mut self, time: Option<Duration>) -> Self {
        self.session_idle = time;
        self
    }

    /// Sets a token that stops the server when it is cancelled: the server accepts no new connections and waits for
    /// running calls.
    #[must_use]
    pub fn with_shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// Sets how long a shutdown waits for running calls. The default is 10 seconds.
    #[must_use]
    pub fn with_grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    /// Requires a valid bearer token.
    #[must_use]
    pub fn with_bearer(mut self, bearer: BearerLayer) -> Self {
        self.bearer = Some(bearer);
        self
    }

    /// Sets a function that fills the scope of a call from its HTTP request, for tools with an injected run, session or
    /// label. Without it, calls in a session have the ids of that session, and each stateless request (2026-07-28) is a
    /// run of its own, because only the host knows which of them belong together. Tools that tell users apart should use a user id
    /// that is set here, not the session id.
    #[must_use]
    pub fn with_scope(
        mut self,
        fill_scope: impl Fn(&Parts, &mut Scope) + Send + Sync + 'static,
    ) -> Self {
        self.fill_scope = Some(Arc::new(move |extensions, scope| {
            if let Some(request) = extensions.get::<Parts>() {
                fill_scope(request, scope);
            }
        }));
        self
    }

    /// Sets a function that returns the principal of a request, as the host has authenticated it. A session belongs to
    /// the principal that opened it: requests of any other principal, or of none, get 404. The limit
    /// [`client_sessions`](crate::Limits::client_sessions) applies to each principal.
    ///
    /// Without this function the principal is the bearer token that a [`BearerLayer`] has validated, so a client whose
    /// token is renewed has to open a new session. Without both, anyone who knows the id of a session can use it.
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

    /// Returns rmcp's part of the options.
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
