//! The options of both sides of a remote toolset.

use crate::debug::debug;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::net::unix::UCred;
use toolwright::Scope;

use super::ApprovalKey;

/// How many connections there may be at once.
const CONNECTIONS: usize = 256;
/// How many calls of a connection may be under way at once.
const CALLS: usize = 256;
/// How long the other side may take to answer a request other than a call.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of a remote toolset's server and client: see [`Source::serve_unix`](crate::Source::serve_unix) and
/// [`RemoteToolset::connect_unix`](super::RemoteToolset::connect_unix). Scopes and numbers are of servers alone.
#[derive(Clone)]
pub struct RemoteOptions {
    accepts: Accepts,
    pub(super) believes: Option<Believes>,
    pub(super) approval_key: Option<ApprovalKey>,
    pub(super) connections: usize,
    pub(super) calls: usize,
    pub(super) answer_timeout: Duration,
}

/// Who is at the other end of a connection, as the kernel says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peer(Option<UCred>);

type Accepts = Arc<dyn Fn(&Peer) -> bool + Send + Sync>;
type Believes = Arc<dyn Fn(&Peer, Scope) -> Scope + Send + Sync>;

debug!(RemoteOptions, options => { connections: options.connections, calls: options.calls });

impl Peer {
    /// The peer of a socket; one of whom nothing is known where the kernel does not say.
    pub(super) fn of(stream: &UnixStream) -> Self {
        Self(stream.peer_cred().ok())
    }

    /// The id of its user. Nothing is known of the peer of a stream that is no Unix socket.
    pub fn user_id(&self) -> Option<u32> {
        Some(self.0?.uid())
    }

    /// The id of its process, on systems that tell it.
    pub fn process_id(&self) -> Option<i32> {
        self.0?.pid()
    }

    fn is_of_this_user(&self) -> bool {
        self.user_id() == Some(rustix::process::geteuid().as_raw())
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RemoteOptions {
    /// Accepts peers of this process's user alone, believes nothing that they state, and takes no call for approved.
    pub fn new() -> Self {
        Self {
            accepts: Arc::new(Peer::is_of_this_user),
            believes: None,
            approval_key: None,
            connections: CONNECTIONS,
            calls: CALLS,
            answer_timeout: ANSWER_TIMEOUT,
        }
    }

    /// Sets which peers may connect to a socket, and which server a client speaks with; otherwise those of this process's
    /// user. Others also need the permission of the socket's file, which [`bind_unix`](super::bind_unix) gives to nobody
    /// else.
    #[must_use]
    pub fn with_peers(mut self, accepts: impl Fn(&Peer) -> bool + Send + Sync + 'static) -> Self {
        self.accepts = Arc::new(accepts);
        self
    }

    /// Sets the scope of the toolset and of its calls, made of what a peer states. Otherwise each connection has a run of
    /// its own, and nothing else.
    #[must_use]
    pub fn with_scope(
        mut self,
        believes: impl Fn(&Peer, Scope) -> Scope + Send + Sync + 'static,
    ) -> Self {
        self.believes = Some(Arc::new(believes));
        self
    }

    /// Takes runs, sessions and labels as peers state them: for peers that are processes of the host itself. It lets
    /// nobody in, and approves nothing.
    #[must_use]
    pub fn trusting_peers(self) -> Self {
        self.with_scope(|_, stated| stated)
    }

    /// Sets the key with which clients show that a call was approved, the same on both sides. Without it, tools that need an
    /// approval run no call.
    #[must_use]
    pub fn with_approval_key(mut self, key: ApprovalKey) -> Self {
        self.approval_key = Some(key);
        self
    }

    /// Sets how many connections there may be at once, at least one; otherwise 256. Further peers wait.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets how many calls of a connection may be under way at once, at least one; otherwise 256. Our client waits with
    /// further ones, those of others fail.
    #[must_use]
    pub fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls.max(1);
        self
    }

    /// Sets how long the other side may take to open a connection, to answer a request other than a call, and to read the
    /// last replies; by default 10 seconds. Calls have their own limits.
    #[must_use]
    pub fn with_answer_timeout(mut self, time: Duration) -> Self {
        self.answer_timeout = time;
        self
    }

    pub(super) fn accepts(&self, peer: &Peer) -> bool {
        (self.accepts)(peer)
    }
}
