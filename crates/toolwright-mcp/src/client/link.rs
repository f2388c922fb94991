//! The one conversation with a server that there is at a time: begun when it is needed, begun again when it was lost,
//! and not too often. Never repeats what was asked in an earlier one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::address::ServerAddress;
use super::connection::Connection;
use super::error::ClientError;
use super::options::ClientOptions;

/// How to get at a conversation.
pub(super) struct Link {
    address: ServerAddress,
    options: ClientOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// How many conversations in a row could not begin, or were lost soon.
    failures: u32,
    /// Why the last one failed.
    why: String,
    /// When the next may begin.
    again: Option<Instant>,
}

struct Current {
    connection: Arc<Connection>,
    since: Instant,
}

impl Link {
    pub(super) fn new(address: ServerAddress, options: ClientOptions) -> Self {
        Self { address, options, state: Mutex::default() }
    }

    pub(super) fn options(&self) -> &ClientOptions {
        &self.options
    }

    pub(super) fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// The conversation, begun if there is none.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ClientError> {
        if let Some(current) = self.state.lock().await.current() {
            return Ok(current);
        }
        // Whoever asks may have less time than the beginning takes; it goes on for who asks next.
        let link = self.clone();
        let begun = tokio::spawn(async move { link.begin().await }).await;
        begun.unwrap_or_else(|error| {
            Err(ClientError::Connect { server: self.address.to_string(), why: error.to_string() })
        })
    }

    /// Whether there is a conversation, as far as that can be told without waiting.
    pub(super) fn is_up(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.current().is_some())
    }

    async fn begin(&self) -> Result<Arc<Connection>, ClientError> {
        let mut state = self.state.lock().await;
        if let Some(current) = state.current() {
            return Ok(current);
        }
        if state.current.is_some() {
            state.lost(&self.options);
        }
        if let Some(again) = state.wait() {
            let (server, why) = (self.address.to_string(), state.why.clone());
            return Err(ClientError::Waiting { server, again, why });
        }
        match Connection::begin(&self.address, &self.options).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.current =
                    Some(Current { connection: connection.clone(), since: Instant::now() });
                Ok(connection)
            }
            Err(error) => {
                state.failed(error.to_string(), &self.options);
                Err(error)
            }
        }
    }

    /// Ends the conversation, if there is one, and waits until the server that was started for it is gone.
    pub(super) async fn close(&self) {
        let current = self.state.lock().await.current.take();
        if let Some(current) = current {
            current.connection.end().await;
        }
    }
}

impl State {
    /// The conversation, if there is one and it is not over.
    fn current(&self) -> Option<Arc<Connection>> {
        let current = self.current.as_ref().map(|current| &current.connection);
        current.filter(|connection| !connection.is_over()).cloned()
    }

    /// The conversation is over, and nobody here ended it. Another may begin at once, unless this one was lost soon after
    /// an earlier one: a server that dies again and again has to wait.
    fn lost(&mut self, options: &ClientOptions) {
        let lasted = self.current.take().map_or(Duration::ZERO, |current| current.since.elapsed());
        if self.failures == 0 || lasted > options.backoff.1 {
            self.failures = 1;
        } else {
            self.failed("the connection was lost".to_owned(), options);
        }
    }

    fn failed(&mut self, why: String, options: &ClientOptions) {
        let (first, most) = options.backoff;
        let wait = first.saturating_mul(2_u32.saturating_pow(self.failures)).min(most);
        self.failures = self.failures.saturating_add(1);
        self.why = why;
        self.again = Some(Instant::now() + wait);
    }

    /// How long the next one has to wait.
    fn wait(&self) -> Option<Duration> {
        self.again?.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
    }
}
