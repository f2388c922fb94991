//! Handles notifications from a server (changed tools, progress) and its requests for roots.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

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
use super::pause::Pauses;

/// Tells whether the tool list may have changed since it was last requested.
#[derive(Debug, Default)]
pub(super) struct ListChanges {
    has_changed: AtomicBool,
    /// True while there is no stream or subscription on which the server could announce a change.
    has_no_stream: AtomicBool,
}

/// The handler of a connection's notifications.
pub(super) struct NotificationHandler {
    roots: Vec<String>,
    changes: Arc<ListChanges>,
    /// The watchers of calls in flight, by progress token.
    watchers: Mutex<Watchers>,
    /// Ends the subscription when the handler is dropped, with the connection.
    subscription: OnceLock<DropGuard>,
}

type Watchers = HashMap<ProgressToken, Arc<dyn Watcher>>;

impl ListChanges {
    /// Takes the flag that the list has changed. Without a stream, the flag may be out of date.
    pub(super) fn take(&self) -> bool {
        self.has_changed.swap(false, Ordering::AcqRel)
    }

    pub(super) fn announce(&self) {
        self.has_changed.store(true, Ordering::Release);
    }

    /// Returns whether the server cannot announce changes now. To be asked before [`ListChanges::take`].
    pub(super) fn may_be_missed(&self) -> bool {
        self.has_no_stream.load(Ordering::Acquire)
    }

    /// Marks the stream or subscription as ended.
    pub(super) fn stream_closed(&self) {
        self.has_no_stream.store(true, Ordering::Release);
    }

    /// Marks the stream or subscription as open. The list may have changed while there was none.
    pub(super) fn stream_opened(&self) {
        if self.may_be_missed() {
            self.announce();
        }
        self.has_no_stream.store(false, Ordering::Release);
    }
}

impl NotificationHandler {
    pub(super) fn new(roots: &[String]) -> Self {
        Self {
            roots: roots.to_vec(),
            changes: Arc::default(),
            watchers: Mutex::default(),
            subscription: OnceLock::new(),
        }
    }

    pub(super) fn changes(&self) -> &Arc<ListChanges> {
        &self.changes
    }

    /// Subscribes to changes of the tool list, which the newer era requires, and again whenever the subscription ends, until the
    /// connection does.
    pub(super) fn subscribe(&self, peer: Peer<RoleClient>) {
        let (changes, gone) = (self.changes.clone(), CancellationToken::new());
        if self.subscription.set(gone.clone().drop_guard()).is_err() {
            return;
        }
        tokio::spawn(gone.run_until_cancelled_owned(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let mut pauses = Pauses::default();
            while !peer.is_transport_closed() {
                changes.stream_closed();
                let since = Instant::now();
                match peer.listen(filter.clone()).await {
                    Ok(mut notifications) => {
                        changes.stream_opened();
                        while let Ok(Some(_)) = notifications.next().await {
                            changes.announce();
                        }
                        changes.stream_closed();
                    }
                    Err(error) => {
                        tracing::debug!("cannot subscribe to changes of the tool list: {error}");
                        let is_unknown =
                            |error: &ErrorData| error.code == ErrorCode::METHOD_NOT_FOUND;
                        if matches!(&error, ServiceError::McpError(error) if is_unknown(error)) {
                            // It announces nothing, like a server that does not say that it does.
                            return changes.stream_opened();
                        }
                    }
                }
                tokio::time::sleep(pauses.next(since.elapsed())).await;
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
        self.changes.announce();
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
