//! The options of both sides of a remote toolset.

use crate::debug::debug;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::net::unix::UCred;
use toolwright::Scope;

use super::ApprovalKey;

/// The default number of connections at once.
const MAX_CONNECTIONS: usize = 256;
/// The default number of calls of a connection at once.
const MAX_CALLS: usize = 256;
/// The default time limit for replies to requests other than calls.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of a remote toolset's server and client: see [`Source::serve_unix`](crate::Source::serve_unix) and
/// [`RemoteToolset::connect_unix`](super::RemoteToolset::connect_unix). Scopes, connections and calls are options of servers
/// only.
#[derive(Clone)]
pub struct RemoteOptions {
    peer_filter: PeerFilter,
    pub(super) scope_rule: Option<ScopeRule>,
    pub(super) approval_key: Option<ApprovalKey>,
    pub(super) max_connections: usize,
    pub(super) max_calls: usize,
    pub(super) answer_timeout: Duration,
}

/// The other end of a connection, according to the kernel or to TLS.
#[derive(Clone, Default)]
pub struct Peer {
    user: Option<UCred>,
    /// The certificate that TLS verified, in DER.
    certificate: Option<Arc<[u8]>>,
}

type PeerFilter = Arc<dyn Fn(&Peer) -> bool + Send + Sync>;
type ScopeRule = Arc<dyn Fn(&Peer, Scope) -> Scope + Send + Sync>;

debug!(Peer, peer => {
    user_id: peer.user_id(),
    process_id: peer.process_id(),
    has_certificate: peer.certificate.is_some()
});
debug!(RemoteOptions, options => { max_connections: options.max_connections, max_calls: options.max_calls });

impl Peer {
    /// Returns the peer of a socket. Its user and process are unknown if the kernel does not provide them.
    pub(super) fn of(stream: &UnixStream) -> Self {
        Self { user: stream.peer_cred().ok(), certificate: None }
    }

    /// Returns the peer of a connection over TLS with its certificate, if it has one.
    #[cfg(feature = "tls")]
    pub(super) fn with_certificate(certificate: Option<&[u8]>) -> Self {
        Self { user: None, certificate: certificate.map(Into::into) }
    }

    /// Returns the id of its user, which is known for Unix sockets only.
    pub fn user_id(&self) -> Option<u32> {
        Some(self.user?.uid())
    }

    /// Returns the id of its process, on systems that provide it.
    pub fn process_id(&self) -> Option<i32> {
        self.user?.pid()
    }

    /// Returns its certificate in DER (X.509), which TLS has verified. Only peers over TLS have one.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    /// Returns whether it is of the user of this process, or has a verified certificate.
    fn is_known(&self) -> bool {
        self.user_id() == Some(rustix::process::geteuid().as_raw()) || self.certificate.is_some()
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RemoteOptions {
    /// Creates options that accept only peers of the user of this process or with a verified certificate, ignore the scopes that they send, and run no calls
    /// that need an approval.
    pub fn new() -> Self {
        Self {
            peer_filter: Arc::new(Peer::is_known),
            scope_rule: None,
            approval_key: None,
            max_connections: MAX_CONNECTIONS,
            max_calls: MAX_CALLS,
            answer_timeout: ANSWER_TIMEOUT,
        }
    }

    /// Sets the clients that a server accepts, and the servers that a client accepts, on Unix sockets and over TLS. By default
    /// these are processes of the same user, and peers whose certificate TLS has verified. Other users also need the permission to connect to the socket file, which
    /// [`bind_unix`](super::bind_unix) does not give.
    #[must_use]
    pub fn with_peers(mut self, accepts: impl Fn(&Peer) -> bool + Send + Sync + 'static) -> Self {
        self.peer_filter = Arc::new(accepts);
        self
    }

    /// Sets a function that returns the scope of the toolset and of its calls, given the scope that the peer sent. By default
    /// the scope has only a run id, which is unique for each connection.
    #[must_use]
    pub fn with_scope(
        mut self,
        rule: impl Fn(&Peer, Scope) -> Scope + Send + Sync + 'static,
    ) -> Self {
        self.scope_rule = Some(Arc::new(rule));
        self
    }

    /// Accepts the scopes that peers send, if all peers are processes of the host. This has no effect on which peers are
    /// accepted and which calls are approved.
    #[must_use]
    pub fn trusting_peers(self) -> Self {
        self.with_scope(|_, sent| sent)
    }

    /// Sets the key for approval codes, which must be the same on both sides. Without it, calls of tools that need an approval
    /// are refused.
    #[must_use]
    pub fn with_approval_key(mut self, key: ApprovalKey) -> Self {
        self.approval_key = Some(key);
        self
    }

    /// Sets the number of connections at once, at least one. The default is 256. Further peers wait,
    /// over TLS at most for the [time limit for answers](Self::with_answer_timeout). For each connected
    /// peer, the server may keep an unread result of up to 31 MiB until it disconnects the peer.
    #[must_use]
    pub fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Sets the number of calls of a connection at once, at least one. The default is 256. A [`RemoteToolset`] waits before it
    /// makes further calls; further calls of other clients fail.
    ///
    /// [`RemoteToolset`]: super::RemoteToolset
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls.max(1);
        self
    }

    /// Sets the time limit for the other side to open a connection, to reply to a request other than a call, and to read a
    /// reply, with a second more for each 64 KiB of it. The default is 10 seconds. Calls have the time limits of their tools.
    #[must_use]
    pub fn with_answer_timeout(mut self, time: Duration) -> Self {
        self.answer_timeout = time;
        self
    }

    /// Returns the number of calls of a connection at once.
    pub fn max_calls(&self) -> usize {
        self.max_calls
    }

    /// Returns the time limit for replies to requests other than calls.
    pub fn answer_timeout(&self) -> Duration {
        self.answer_timeout
    }

    pub(super) fn accepts(&self, peer: &Peer) -> bool {
        (self.peer_filter)(peer)
    }

    /// Returns whether a server accepts a peer, and logs if not.
    pub(super) fn admits(&self, peer: &Peer) -> bool {
        let accepts = self.accepts(peer);
        if !accepts {
            tracing::warn!(?peer, "the options of a remote toolset do not accept a peer");
        }
        accepts
    }
}
