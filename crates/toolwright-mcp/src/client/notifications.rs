//! Handles notifications from a server (changed tools, progress) and its requests for roots.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, Implementation, ListRootsResult,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, Root, RootsCapabilities,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, ServiceError};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright::progress::{Progress, Watcher};
use toolwright::untrusted::excerpt;

use super::error::MAX_SERVER_TEXT;
use super::pause::pause;

/// The handler of a connection's notifications.
pub(super) struct NotificationHandler {
    roots: Vec<String>,
    /// True if the tool list has changed since it was last requested.
    tools_changed: Arc<AtomicBool>,
    /// The watchers of calls in flight, by progress token.
    watchers: Mutex<Watchers>,
    /// Ends the subscription when the handler is dropped, with the connection.
    subscription: OnceLock<DropGuard>,
}

/// The pauses before a subscription that ended is made again, in milliseconds: each is twice as long as the one before, up to the last.
const FIRST_PAUSE: u64 = 1_000;
const LAST_PAUSE: u64 = 60_000;

type Watchers = HashMap<ProgressToken, Arc<dyn Watcher>>;

impl NotificationHandler {
    pub(super) fn new(roots: &[String]) -> Self {
        Self {
            roots: roots.to_vec(),
            tools_changed: Arc::default(),
            watchers: Mutex::default(),
            subscription: OnceLock::new(),
        }
    }

    /// Takes the flag that the tool list has changed.
    pub(super) fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::AcqRel)
    }

    /// Subscribes to changes of the tool list, which the newer era requires, and again whenever the subscription ends, until the
    /// connection does.
    pub(super) fn subscribe(&self, peer: Peer<RoleClient>) {
        let (changed, gone) = (self.tools_changed.clone(), CancellationToken::new());
        if self.subscription.set(gone.clone().drop_guard()).is_err() {
            return;
        }
        tokio::spawn(gone.run_until_cancelled_owned(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let mut next_pause = FIRST_PAUSE;
            while !peer.is_transport_closed() {
                match peer.listen(filter.clone()).await {
                    Ok(mut notifications) => {
                        // The list may have changed while there was no subscription.
                        changed.store(true, Ordering::Release);
                        while let Ok(Some(_)) = notifications.next().await {
                            changed.store(true, Ordering::Release);
                        }
                    }
                    Err(error) => {
                        tracing::debug!("cannot subscribe to changes of the tool list: {error}");
                        let is_unknown =
                            |error: &ErrorData| error.code == ErrorCode::METHOD_NOT_FOUND;
                        if matches!(&error, ServiceError::McpError(error) if is_unknown(error)) {
                            return;
                        }
                    }
                }
                tokio::time::sleep(Duration::from_millis(pause(next_pause))).await;
                next_pause = LAST_PAUSE.min(2 * next_pause);
            }
        }));
    }

    /// Reports the progress of a call to a watcher.
    pub(super) fn watch_progress(&self, token: ProgressToken, watcher: Arc<dyn Watcher>) {
        self.lock().insert(token, watcher);
    }

    /// Stops reporting the progress of a call.
    pub(super) fn unwatch_progress(&self, token: &ProgressToken) {
        self.lock().remove(token);
    }

    fn lock(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !self.roots.is_empty() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        let about = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, about)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(self.roots.iter().map(Root::new).collect()))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Release);
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let watcher = self.lock().get(&progress.progress_token).cloned();
        if let Some(watcher) = watcher {
            let message = progress.message.map(|message| excerpt(&message, MAX_SERVER_TEXT));
            let (done, total) = (progress.progress, progress.total);
            watcher.on_progress(Progress { done, total, message });
        }
    }
}
