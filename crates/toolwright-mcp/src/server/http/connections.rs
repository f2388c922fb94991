//! Accepts connections and enforces their limits.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http;
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::head::MOST_HEAD_BYTES;
use super::paced::Paced;
use crate::server::sessions::Caller;
use crate::server::{Counters, Limits};

/// The longest timeout that is set. A longer one means no limit, and could overflow a timer.
const MAX_TIMEOUT: Duration = Duration::from_hours(24 * 365);

/// The number of open connections of each client that has any.
type Clients = Arc<Mutex<HashMap<Caller, usize>>>;

/// Counts a connection as open until it is dropped.
struct OpenConnection {
    client: Caller,
    clients: Clients,
    counters: Counters,
    _permit: Option<OwnedSemaphorePermit>,
}

/// Serves connections until `shutdown` is cancelled, then waits for the open ones to end.
pub(super) async fn serve(
    mut listener: TcpListener,
    router: Router,
    limits: &Limits,
    counters: &Counters,
    shutdown: &CancellationToken,
) {
    let header_timeout = limits.header_timeout.min(MAX_TIMEOUT);
    let write_timeout = limits.write_timeout.min(MAX_TIMEOUT);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(header_timeout).max_buf_size(MOST_HEAD_BYTES);
    let permits = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
    let permits = Arc::new(Semaphore::new(permits));
    let clients = Clients::default();
    let (ending, mut open) = (GracefulShutdown::new(), JoinSet::new());
    loop {
        let (stream, peer, open_connection) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&mut listener, &permits, &clients, limits, counters) => accepted,
            Some(_) = open.join_next() => continue,
        };
        // With Nagle's algorithm each answer would wait for the client's delayed acknowledgment. If the option cannot be
        // set, the connection is only slower.
        let _ = stream.set_nodelay(true);
        let stream = Paced::new(stream, write_timeout, limits.write_rate);
        let service = router.clone().map_request(move |request: http::Request<Incoming>| {
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let connection =
            http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = ending.watch(connection);
        open.spawn(async move {
            if connection.await.is_err_and(|error| timed_out(&error)) {
                open_connection.counters.count(|counts| counts.connections_timed_out += 1);
            }
        });
    }
    drop(listener);
    ending.shutdown().await;
}

/// Waits until another connection may be open, and accepts it. Closes connections of clients that have too many.
async fn accept(
    listener: &mut TcpListener,
    permits: &Arc<Semaphore>,
    clients: &Clients,
    limits: &Limits,
    counters: &Counters,
) -> (TcpStream, SocketAddr, OpenConnection) {
    if permits.available_permits() == 0 {
        counters.count(|counts| counts.connections_awaited += 1);
    }
    let permit = Arc::clone(permits).acquire_owned().await.ok();
    loop {
        let (stream, peer) = listener.accept().await;
        let client = Caller::of_address(peer.ip());
        let mut open = clients.lock().unwrap_or_else(PoisonError::into_inner);
        let of_client = open.entry(client.clone()).or_default();
        if *of_client >= limits.client_connections.max(1) {
            counters.count(|counts| counts.connections_refused += 1);
            continue;
        }
        *of_client += 1;
        counters.count(|counts| {
            counts.connections += 1;
            counts.open_connections += 1;
        });
        let (clients, counters) = (Arc::clone(clients), counters.clone());
        return (stream, peer, OpenConnection { client, clients, counters, _permit: permit });
    }
}

fn timed_out(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    error.is_timeout() || cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_client) = open.get_mut(&self.client) {
            *of_client -= 1;
            if *of_client == 0 {
                open.remove(&self.client);
            }
        }
        drop(open);
        self.counters.count(|counts| counts.open_connections -= 1);
    }
}
