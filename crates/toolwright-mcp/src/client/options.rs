//! What a host may choose about a client. Never acts on it.

use std::time::Duration;

/// How a client behaves. Change what you need:
///
/// ```
/// use std::time::Duration;
/// use toolwright_mcp::client::{ClientOptions, DriftPolicy};
///
/// let mut options = ClientOptions::default();
/// options.call_timeout = Duration::from_secs(5);
/// options.drift = DriftPolicy::Warn;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// How long a call may take whose tool does not say so itself. A minute.
    pub call_timeout: Duration,
    /// How long it may take to reach a server. 30 seconds.
    pub connect_timeout: Duration,
    /// How long a server may think about `server/discover` before it is taken for one of the older era. 5 seconds.
    pub probe_timeout: Duration,
    /// How many bytes a message of a server may have. 16 MiB.
    pub max_message_bytes: usize,
    /// What becomes of calls when a server's tools are not those a toolset was written for.
    pub drift: DriftPolicy,
    /// How long to wait before a server is tried again: after the first failure, and at most; each failure doubles it.
    /// 100 milliseconds and 30 seconds.
    pub backoff: (Duration, Duration),
}

/// What becomes of calls when a server's tools are not those a toolset was written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriftPolicy {
    /// Calls of tools that changed or are missing fail; others go on.
    #[default]
    Refuse,
    /// A warning is traced; all calls go on.
    Warn,
    /// Nothing is compared.
    Ignore,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            max_message_bytes: 16 * 1024 * 1024,
            drift: DriftPolicy::default(),
            backoff: (Duration::from_millis(100), Duration::from_secs(30)),
        }
    }
}
