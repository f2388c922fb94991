//! The options of a client.

use std::time::Duration;

/// The options of a client.
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
    /// The first and the longest wait between attempts to connect.
    pub(super) backoff: (Duration, Duration),
}

/// The handling of calls of a generated toolset when a tool has changed since the import. Everything that the server lists of a tool
/// counts, not only its schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriftPolicy {
    /// Calls of changed or missing tools fail; other calls are not affected. If only texts changed, a warning is logged.
    #[default]
    AcceptText,
    /// As [`DriftPolicy::AcceptText`], but calls of tools whose texts changed fail, too.
    Block,
    /// A warning is logged; calls are not affected.
    Warn,
    /// Tools are not compared.
    Ignore,
}

impl ClientOptions {
    /// Sets the timeout of calls whose tool has none of its own. The default is one minute.
    #[must_use]
    pub fn with_call_timeout(self, call_timeout: Duration) -> Self {
        Self { call_timeout, ..self }
    }

    /// Sets the timeout of connecting, and of listing tools before a call. The default is 30 seconds.
    #[must_use]
    pub fn with_connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Sets how long the client waits for the response to `server/discover` before it assumes that the server is of the
    /// older era. The default is 5 seconds.
    #[must_use]
    pub fn with_probe_timeout(self, probe_timeout: Duration) -> Self {
        Self { probe_timeout, ..self }
    }

    /// Sets the maximum size of a message from the server, in bytes. The default is 16 MiB.
    #[must_use]
    pub fn with_max_message_bytes(self, max_message_bytes: usize) -> Self {
        Self { max_message_bytes, ..self }
    }

    /// Sets how calls of a generated toolset are handled when a tool has changed since the import. The default is
    /// [`DriftPolicy::AcceptText`].
    #[must_use]
    pub fn with_drift(self, drift: DriftPolicy) -> Self {
        Self { drift, ..self }
    }

    /// Sets whether models see invisible characters in the definitions of tools, such as tags and direction marks. By
    /// default they are replaced by U+FFFD with a warning, and tools are left out whose schemas compare payloads with such
    /// characters.
    #[must_use]
    pub fn with_hidden_text(self, hidden_text: bool) -> Self {
        Self { hidden_text, ..self }
    }

    /// Sets the wait between attempts to connect: after the first failure, and at most. Each failure doubles it. The
    /// default is 100 milliseconds and 30 seconds.
    #[must_use]
    pub fn with_backoff(self, first: Duration, max: Duration) -> Self {
        Self { backoff: (first, max), ..self }
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
