//! Connects to a server on demand, and again with backoff when the connection was lost. Requests of a lost connection are
//! not repeated.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::address::ServerAddress;
use super::connection::Connection;
use super::error::ClientError;
use super::options::ClientOptions;

/// Holds at most one connection to a server.
pub(super) struct Connector {
    address: ServerAddress,
    options: ClientOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// The number of consecutive attempts that failed or whose connection was lost soon.
    failures: u32,
    /// The cause of the last failure.
    reason: String,
    /// The earliest time of the next attempt.
    retry_at: Option<Instant>,
}

struct Current {
    connection: Arc<Connection>,
    since: Instant,
}

impl Connector {
    pub(super) fn new(address: ServerAddress, options: ClientOptions) -> Self {
        Self { address, options, state: Mutex::default() }
    }

    pub(super) fn options(&self) -> &ClientOptions {
        &self.options
    }

    pub(super) fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// Returns the connection, and connects if there is none.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ClientError> {
        if let Some(current) = self.state.lock().await.current() {
            return Ok(current);
        }
        // The caller may time out earlier. The attempt then goes on for the next caller.
        let connector = self.clone();
        let connected = tokio::spawn(async move { connector.connect().await }).await;
        connected.unwrap_or_else(|error| {
            let (server, reason) = (self.address.to_string(), error.to_string());
            Err(ClientError::Connect { server, reason })
        })
    }

    /// Returns whether there is an open connection. Returns false while another task is connecting.
    pub(super) fn is_connected(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.current().is_some())
    }

    async fn connect(&self) -> Result<Arc<Connection>, ClientError> {
        let mut state = self.state.lock().await;
        if let Some(current) = state.current() {
            return Ok(current);
        }
        if state.current.is_some() {
            state.on_lost(&self.options);
        }
        if let Some(retry_in) = state.retry_in() {
            let (server, reason) = (self.address.to_string(), state.reason.clone());
            return Err(ClientError::Backoff { server, retry_in, reason });
        }
        match Connection::connect(&self.address, &self.options).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.current =
                    Some(Current { connection: connection.clone(), since: Instant::now() });
                Ok(connection)
            }
            Err(error) => {
                state.on_failure(error.to_string(), &self.options);
                Err(error)
            }
        }
    }

    /// Closes the connection, if there is one, and waits until a server that was started for it has ended.
    pub(super) async fn close(&self) {
        let current = self.state.lock().await.current.take();
        if let Some(current) = current {
            current.connection.close().await;
        }
    }
}

impl State {
    /// Returns the connection, if there is one and it is open.
    fn current(&self) -> Option<Arc<Connection>> {
        let current = self.current.as_ref().map(|current| &current.connection);
        current.filter(|connection| !connection.is_closed()).cloned()
    }

    /// Handles a lost connection. The client may reconnect at once, unless the connection was lost soon after an earlier
    /// failure.
    fn on_lost(&mut self, options: &ClientOptions) {
        let lasted = self.current.take().map_or(Duration::ZERO, |current| current.since.elapsed());
        if self.failures == 0 || lasted > options.backoff.1 {
            self.failures = 1;
        } else {
            self.on_failure("the connection was lost".to_owned(), options);
        }
    }

    fn on_failure(&mut self, reason: String, options: &ClientOptions) {
        let (first, max) = options.backoff;
        let wait = first.saturating_mul(2_u32.saturating_pow(self.failures)).min(max);
        self.failures = self.failures.saturating_add(1);
        self.reason = reason;
        self.retry_at = Some(Instant::now() + wait);
    }

    /// Returns how long the next attempt has to wait, or `None` if it need not.
    fn retry_in(&self) -> Option<Duration> {
        self.retry_at?.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
    }
}
