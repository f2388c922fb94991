//! Serves streamable HTTP: both eras of the protocol at one path.

mod admission;
mod bearer;
mod connections;
mod head;
mod options;
mod paced;
mod resumption;

pub use bearer::{Bearer, BearerLayer};
pub use options::HttpOptions;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::sessions::Sessions;
use super::state::ServerState;
use super::{McpServer, ServeError, operator_log};
use admission::{AdmissionService, Gate};
use head::CallerResolver;
use resumption::ResumableSessions;

/// How long a shutdown waits for the last responses to be written.
const WRITE_GRACE: Duration = Duration::from_millis(100);

impl McpServer {
    /// Serves streamable HTTP at an address until the token of [`HttpOptions::with_shutdown`] is cancelled.
    ///
    /// # Errors
    ///
    /// Fails if the address cannot be bound or a tool's schema is invalid.
    pub async fn serve_http(
        self,
        address: impl ToSocketAddrs,
        options: HttpOptions,
    ) -> Result<(), ServeError> {
        let listener = TcpListener::bind(address).await.map_err(ServeError::Listen)?;
        self.serve_listener(listener, options).await
    }

    /// Serves streamable HTTP on a bound listener.
    ///
    /// # Errors
    ///
    /// Fails if a tool's schema is invalid.
    pub async fn serve_listener(
        self,
        listener: TcpListener,
        options: HttpOptions,
    ) -> Result<(), ServeError> {
        let (shutdown, grace) = (options.shutdown.clone(), options.grace);
        let (state, streams) = (Arc::new(ServerState::new(self)?), CancellationToken::new());
        let router = router(&state, options, streams.clone());
        let (limits, counters) = (state.limits(), state.counters());
        let served = connections::serve(listener, router, limits, counters, &shutdown);
        let idle = async {
            shutdown.cancelled().await;
            // Wait for calls, but not for streams that only listen.
            tokio::time::timeout(grace, state.idle()).await
        };
        tokio::pin!(served, idle);
        tokio::select! {
            // The calls of clients that are disconnected go on.
            () = &mut served => drop(idle.await),
            ended = &mut idle => {
                let ending = async {
                    if ended.is_ok() {
                        tokio::time::sleep(WRITE_GRACE).await;
                    }
                    streams.cancel();
                    tokio::time::sleep(WRITE_GRACE).await;
                };
                tokio::select! {
                    () = &mut served => {}
                    () = ending => {}
                }
            }
        }
        streams.cancel();
        operator_log::flush().await;
        Ok(())
    }

    /// Returns a router for an application that listens, shuts down and adds its layers itself. Cancelling the token of
    /// [`HttpOptions::with_shutdown`] ends open streams and running calls at once.
    ///
    /// Set TCP_NODELAY on accepted connections: without it, each answer in a session takes 40 ms. The application has to
    /// limit the number of connections and the time for sending a head or reading an answer.
    ///
    /// # Errors
    ///
    /// Fails if a tool's schema is invalid.
    pub fn into_router(self, options: HttpOptions) -> Result<Router, ServeError> {
        let streams = options.shutdown.clone();
        Ok(router(&Arc::new(ServerState::new(self)?), options, streams))
    }
}

fn router(state: &Arc<ServerState>, options: HttpOptions, streams: CancellationToken) -> Router {
    let (shared, fill_scope) = (Arc::clone(state), options.fill_scope.clone());
    let handler = move || Ok(Handler::of_requests(Arc::clone(&shared), fill_scope.clone()));
    let mut manager = LocalSessionManager::default();
    // rmcp would count the time of a running call as idle. `sessions` closes idle sessions instead.
    manager.session_config.keep_alive = None;
    // rmcp need not keep ended calls: `resumption` keeps unread answers.
    manager.session_config.completed_cache_ttl = Duration::from_secs(1);
    let manager = Arc::new(manager);
    let (limits, counters) = (*state.limits(), state.counters().clone());
    let sessions = Sessions::new(Arc::clone(&manager), options.session_idle, limits, counters);
    let manager = Arc::new(ResumableSessions::new(manager, limits.session_calls));
    let inner = StreamableHttpService::new(handler, manager, options.transport(streams));
    let gate = Gate {
        state: Arc::clone(state),
        sessions: Arc::new(sessions),
        memory: Arc::new(Semaphore::new(limits.request_bytes.min(Semaphore::MAX_PERMITS))),
        callers: CallerResolver { principal: options.principal, bearer: options.bearer.is_some() },
        max_body: options.max_body,
    };
    let service = AdmissionService { inner, gate: Arc::new(gate) };
    let router = Router::new().route_service(&options.path, service);
    match options.bearer {
        Some(bearer) => router.layer(bearer),
        None => router,
    }
}
