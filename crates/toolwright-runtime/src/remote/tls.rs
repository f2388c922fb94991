//! Remote toolsets over TCP with TLS, whose two sides verify each other's certificates.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::Context;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use toolwright::Scope;

use super::client::RemoteToolset;
use super::error::RemoteError;
use super::options::{Peer, RemoteOptions};
use super::server::accept_one;
use crate::tools::Source;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, CommonState, ServerConfig};
pub use tokio_rustls::rustls;

/// The most connections whose peers are not known yet.
const MAX_OPENING: usize = 256;

impl Source {
    /// Serves all clients of a TCP listener over TLS, until the listener fails. The configuration must ask clients for
    /// certificates ([`WebPkiClientVerifier`](rustls::server::WebPkiClientVerifier)): clients without one are refused, unless the
    /// [options](RemoteOptions::with_peers) accept them. Otherwise it is as [`Source::serve_unix`].
    ///
    /// # Errors
    ///
    /// A permanent error of the listener.
    pub async fn serve_tls(
        self,
        listener: TcpListener,
        config: Arc<ServerConfig>,
        options: RemoteOptions,
    ) -> io::Result<()> {
        let acceptor = TlsAcceptor::from(config);
        let accept = |context: &mut Context<'_>| listener.poll_accept(context);
        let permits = Arc::new(Semaphore::new(options.max_connections));
        let (mut opening, mut connections) = (JoinSet::new(), JoinSet::new());
        let mut oldest: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            tokio::select! {
                accepted = accept_one(&accept) => {
                    let opened = open(accepted?.0, acceptor.clone());
                    let opened = opening.spawn(timeout(options.answer_timeout, opened));
                    // A peer that is yet unknown keeps none out: the one that has waited longest must make room.
                    oldest.retain(|task| !task.is_finished());
                    if oldest.len() == MAX_OPENING && let Some(task) = oldest.pop_front() {
                        task.abort();
                    }
                    oldest.push_back(opened);
                }
                Some(opened) = opening.join_next() => match opened {
                    Ok(Ok(Ok(stream))) => {
                        let (toolset, options) = (self.clone(), options.clone());
                        connections.spawn(serve(toolset, stream, Arc::clone(&permits), options));
                    }
                    failed => tracing::warn!(?failed, "a peer did not open a TLS connection"),
                },
            }
            while connections.try_join_next().is_some() {}
        }
    }
}

async fn open(stream: TcpStream, acceptor: TlsAcceptor) -> io::Result<TlsStream<TcpStream>> {
    stream.set_nodelay(true)?;
    acceptor.accept(stream).await
}

/// Serves an open connection, once there is room for it.
async fn serve(
    toolset: Source,
    stream: TlsStream<TcpStream>,
    permits: Arc<Semaphore>,
    options: RemoteOptions,
) {
    let peer = peer(stream.get_ref().1);
    if !options.admits(&peer) {
        return;
    }
    let Ok(Ok(_permit)) = timeout(options.answer_timeout, permits.acquire()).await else {
        tracing::warn!(?peer, "a remote toolset has as many connections as it may have");
        return;
    };
    let (input, output) = tokio::io::split(stream);
    toolset.serve_admitted(peer, input, output, &options).await;
}

impl RemoteToolset {
    /// Connects over TLS, for a run or session with this scope. The configuration says which servers are trusted, and has the
    /// certificate of this client; [options](RemoteOptions::with_peers) may refuse further servers.
    ///
    /// # Errors
    ///
    /// The server has no certificate that the configuration and the options accept, refuses that of this client, violates the
    /// protocol, or could not provide its toolset.
    pub async fn connect_tls(
        stream: TcpStream,
        server: ServerName<'static>,
        config: Arc<ClientConfig>,
        scope: &Scope,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        stream.set_nodelay(true)?;
        let connecting = TlsConnector::from(config).connect(server, stream);
        let connected = timeout(options.answer_timeout, connecting).await;
        let stream = connected.map_err(io::Error::from)??;
        let peer = peer(stream.get_ref().1);
        if !options.accepts(&peer) {
            return Err(RemoteError::UntrustedPeer { user_id: None });
        }
        let (input, output) = tokio::io::split(stream);
        Self::connect_stream(input, output, scope, options).await
    }
}

fn peer(connection: &CommonState) -> Peer {
    let certificate = connection.peer_certificates().and_then(<[_]>::first);
    Peer::with_certificate(certificate.map(AsRef::as_ref))
}
