//! Remote toolsets over TCP with TLS, whose two sides verify each other's certificates.

use std::io;
use std::sync::Arc;
use std::task::Context;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use toolwright::Scope;

use super::client::RemoteToolset;
use super::error::RemoteError;
use super::options::{Peer, RemoteOptions};
use super::server::accept_all;
use crate::tools::Source;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, CommonState, ServerConfig};
pub use tokio_rustls::rustls;

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
        accept_all(accept, &options.clone(), |(stream, _)| {
            let (toolset, options, acceptor) = (self.clone(), options.clone(), acceptor.clone());
            async move {
                let accepting = async {
                    stream.set_nodelay(true)?;
                    acceptor.accept(stream).await
                };
                let accepted = timeout(options.answer_timeout, accepting).await;
                match accepted.map_err(io::Error::from).flatten() {
                    Ok(stream) => {
                        let peer = peer(stream.get_ref().1);
                        let (input, output) = tokio::io::split(stream);
                        toolset.serve_accepted(peer, input, output, &options).await;
                    }
                    Err(error) => tracing::warn!(%error, "a peer did not open a TLS connection"),
                }
            }
        })
        .await
    }
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
