//! A server on streamable HTTP, in both eras of the protocol at one path. Never looks into a message:
//! see `handler`.

mod bearer;
mod intake;
mod options;

pub use bearer::{Bearer, BearerLayer};
pub use options::HttpOptions;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio_util::sync::CancellationToken;

use super::exposure::Exposure;
use super::handler::Handler;
use super::{McpServer, ServeError};
use intake::Intake;

/// How long a response that is ready may take to be written once everything else has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl McpServer {
    /// Serves streamable HTTP at an address, until [`HttpOptions::with_shutdown`] says otherwise.
    ///
    /// # Errors
    ///
    /// An address that cannot be bound, a schema that is not one, a listener that breaks down.
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
        let stop = shutdown.clone();
        let served = axum::serve(listener.tap_io(answer_at_once), router)
            .with_graceful_shutdown(stop.cancelled_owned());
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
            served = served => served.map_err(ServeError::Listen),
            () = ending => Ok(()),
        }
    }

    /// The server as a part of an application of one's own, which listens, stops and adds its layers itself.
    /// [`HttpOptions::with_shutdown`] ends open streams and running calls at once here.
    ///
    /// Set TCP_NODELAY on accepted connections: without it, the answers of a session take 40 ms each.
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
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = options.session_idle;
    let inner = StreamableHttpService::new(handler, Arc::new(sessions), options.transport(streams));
    let service = Intake { inner, exposure: Arc::clone(exposure), max_body: options.max_body };
    let router = Router::new().route_service(&options.path, service);
    match options.bearer {
        Some(bearer) => router.layer(bearer),
        None => router,
    }
}

/// Answers are small and the last of their kind; held back for more, each would wait for the client's
/// delayed acknowledgement.
fn answer_at_once(stream: &mut TcpStream) {
    // A connection that refuses is slow and nothing worse.
    let _ = stream.set_nodelay(true);
}
