//! The options of workers and of their clients.

use std::time::Duration;

use toolwright_runtime::remote::RemoteOptions;

/// The default time limit of a call whose tool has none.
const CALL_TIMEOUT: Duration = Duration::from_mins(1);
/// The default time that running calls have to end when a worker shuts down.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The options of both sides: see [`serve`](crate::serve) and [`NatsToolset::connect`](crate::NatsToolset::connect).
#[derive(Clone, Debug)]
pub struct NatsOptions {
    pub(crate) remote: RemoteOptions,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) call_timeout: Duration,
    pub(crate) drain_timeout: Duration,
}

impl Default for NatsOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl NatsOptions {
    /// Creates options with the defaults of each.
    pub fn new() -> Self {
        Self {
            remote: RemoteOptions::new(),
            version: "0.0.0".to_owned(),
            description: String::new(),
            call_timeout: CALL_TIMEOUT,
            drain_timeout: DRAIN_TIMEOUT,
        }
    }

    /// Sets the options of the protocol: the approval key, the scopes that a worker accepts, how many calls it runs at once,
    /// and the time limit for replies to requests other than calls. Filters of peers have no effect, as NATS does not say who
    /// sent a message: its server decides who may use the subjects.
    #[must_use]
    pub fn with_remote(mut self, options: RemoteOptions) -> Self {
        self.remote = options;
        self
    }

    /// Sets the version that a worker states in discovery (Semantic Versioning). The default is `0.0.0`.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the description that a worker states in discovery.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the time limit of a client for calls of tools that have no time limit. The default is a minute.
    #[must_use]
    pub fn with_call_timeout(mut self, time: Duration) -> Self {
        self.call_timeout = time;
        self
    }

    /// Sets the time that calls have to end when a worker [shuts down](crate::Worker::shutdown). The default is 30 seconds.
    #[must_use]
    pub fn with_drain_timeout(mut self, time: Duration) -> Self {
        self.drain_timeout = time;
        self
    }
}
