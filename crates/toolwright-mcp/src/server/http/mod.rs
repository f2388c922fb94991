//! A server on streamable HTTP, in both eras of the protocol at one path. Never looks into a message:
//! see `handler`.

mod bearer;
mod connections;
mod head;
mod intake;
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

use super::exposure::Exposure;
use super::handler::Handler;
use super::sessions::Sessions;
use super::{McpServer, ServeError, operators};
use head::Identity;
use intake::{Gate, Intake};
use resumption::ResumableSessions;

/// How long a response that is ready may take to be written once everything else has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl McpServer {
    /// Serves streamable HTTP at an address, until [`HttpOptions::with_shutdown`] says otherwise.
    ///
    /// # Errors
    ///
    /// An address that cannot be bound, a schema that is not one.
    pub async fn serve_http(
        self,
        address: impl ToSocketAddrs,
        options: HttpOptions,
    ) -> Result<(), ServeError> {
        let listener = TcpListener::bind(address).await.map_err(ServeError::Listen)?;
        self.serve_listener(listener, options).await
    }

    /// Serves streamable HTTP on a listener that is bound already.
    ///
    /// # Errors
    ///
    /// Those of [`McpServer::serve_http`].
    pub async fn serve_listener(
        self,
        listener: TcpListener,
        options: HttpOptions,
    ) -> Result<(), ServeError> {
        let (shutdown, grace) = (options.shutdown.clone(), options.grace);
        let (exposure, streams) = (Arc::new(Exposure::new(self)?), CancellationToken::new());
        let router = router(&exposure, options, streams.clone());
        let (limits, counters) = (exposure.limits(), exposure.counters());
        let served = connections::serve(listener, router, limits, counters, &shutdown);
        let ending = async {
            shutdown.cancelled().await;
            // Calls may end; what only listens need not be waited for.
            let ended = tokio::time::timeout(grace, exposure.idle()).await;
            if ended.is_ok() {
                tokio::time::sleep(LAST_WORDS).await;
            }
            streams.cancel();
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = served => {}
            () = ending => {}
        }
        operators::flush().await;
        Ok(())
    }

    /// The server as a part of an application of one's own, which listens, stops and adds its layers itself.
    /// [`HttpOptions::with_shutdown`] ends open streams and running calls at once here.
    ///
    /// Set TCP_NODELAY on accepted connections: without it, the answers of a session take 40 ms each. How many there may
    /// be and how long a client may take to send a head or to read an answer is the application's to limit.
    ///
    /// # Errors
    ///
    /// A schema that is not one.
    pub fn into_router(self, options: HttpOptions) -> Result<Router, ServeError> {
        let streams = options.shutdown.clone();
        Ok(router(&Arc::new(Exposure::new(self)?), options, streams))
    }
}

fn router(exposure: &Arc<Exposure>, options: HttpOptions, streams: CancellationToken) -> Router {
    let (shared, derive) = (Arc::clone(exposure), options.derive.clone());
    let handler = move || Ok(Handler::of_requests(Arc::clone(&shared), derive.clone()));
    let mut manager = LocalSessionManager::default();
    // rmcp counts silence from the beginning of a call; `sessions` ends idle ones.
    manager.session_config.keep_alive = None;
    // What rmcp keeps of calls that have ended is not needed: `resumption` keeps answers that were not read.
    manager.session_config.completed_cache_ttl = Duration::from_secs(1);
    let manager = Arc::new(manager);
    let (limits, counters) = (*exposure.limits(), exposure.counters().clone());
    let sessions = Sessions::new(Arc::clone(&manager), options.session_idle, limits, counters);
    let manager = Arc::new(ResumableSessions::new(manager, limits.session_calls));
    let inner = StreamableHttpService::new(handler, manager, options.transport(streams));
    let gate = Gate {
        exposure: Arc::clone(exposure),
        sessions: Arc::new(sessions),
        memory: Arc::new(Semaphore::new(limits.request_bytes.min(Semaphore::MAX_PERMITS))),
        identity: Identity { principal: options.principal, bearer: options.bearer.is_some() },
        max_body: options.max_body,
    };
    let service = Intake { inner, gate: Arc::new(gate) };
    let router = Router::new().route_service(&options.path, service);
    match options.bearer {
        Some(bearer) => router.layer(bearer),
        None => router,
    }
}
