//! What a host may choose about a client. Never acts on it.

use std::time::Duration;

/// How a client behaves. Change what you need:
///
/// ```
/// use std::time::Duration;
/// use toolwright_mcp::client::{ClientOptions, DriftPolicy};
///
/// let options = ClientOptions::default()
///     .with_call_timeout(Duration::from_secs(5))
///     .with_drift(DriftPolicy::Warn);
/// ```
#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub(super) call_timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) probe_timeout: Duration,
    pub(super) max_message_bytes: usize,
    pub(super) drift: DriftPolicy,
    pub(super) hidden_text: bool,
    /// How long to wait before a server is tried again: at first, and at most.
    pub(super) backoff: (Duration, Duration),
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

impl ClientOptions {
    /// How long a call may take whose tool does not say so itself; a minute unless given.
    #[must_use]
    pub fn with_call_timeout(self, call_timeout: Duration) -> Self {
        Self { call_timeout, ..self }
    }

    /// How long it may take to reach a server; 30 seconds unless given.
    #[must_use]
    pub fn with_connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// How long a server may think about `server/discover` before it is taken for one of the older era; 5 seconds unless
    /// given.
    #[must_use]
    pub fn with_probe_timeout(self, probe_timeout: Duration) -> Self {
        Self { probe_timeout, ..self }
    }

    /// How many bytes a message of a server may have; 16 MiB unless given.
    #[must_use]
    pub fn with_max_message_bytes(self, max_message_bytes: usize) -> Self {
        Self { max_message_bytes, ..self }
    }

    /// What becomes of calls when a server's tools are not those a toolset was written for.
    #[must_use]
    pub fn with_drift(self, drift: DriftPolicy) -> Self {
        Self { drift, ..self }
    }

    /// Sets whether models are shown invisible characters, such as tags and marks of direction. By default they are replaced
    /// by U+FFFD, with a warning, and a tool is left out whose schema compares payloads with them.
    #[must_use]
    pub fn with_hidden_text(self, hidden_text: bool) -> Self {
        Self { hidden_text, ..self }
    }

    /// How long to wait before a server is tried again: after the first failure, and at most; each failure doubles it.
    /// 100 milliseconds and 30 seconds unless given.
    #[must_use]
    pub fn with_backoff(self, first: Duration, most: Duration) -> Self {
        Self { backoff: (first, most), ..self }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            max_message_bytes: 16 * 1024 * 1024,
            drift: DriftPolicy::default(),
            hidden_text: false,
            backoff: (Duration::from_millis(100), Duration::from_secs(30)),
        }
    }
}
