//! Listens to what a server says unasked: that its tools changed, how far a call is, which folders it may work in. Never
//! asks anything.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, Root, RootsCapabilities, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use toolwright::progress::{Progress, Watcher};
use toolwright::untrusted::excerpt;

use super::error::LONGEST;

/// What a conversation has to be heard by.
pub(super) struct Ear {
    roots: Vec<String>,
    /// Whether the list of tools has changed since it was asked for.
    changed: Arc<AtomicBool>,
    /// Who watches the calls that are under way, by the tokens of their progress.
    watchers: Mutex<Watchers>,
}

type Watchers = HashMap<ProgressToken, Arc<dyn Watcher>>;

impl Ear {
    pub(super) fn new(roots: &[String]) -> Self {
        Self { roots: roots.to_vec(), changed: Arc::default(), watchers: Mutex::default() }
    }

    /// Whether the list of tools has changed since this was asked last.
    pub(super) fn tools_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// Asks a server of the newer era to tell of changes; one of the older tells without being asked. Ends with the
    /// conversation.
    pub(super) fn subscribe(&self, peer: Peer<RoleClient>) {
        let changed = self.changed.clone();
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            match peer.listen(filter).await {
                Ok(mut told) => {
                    while let Ok(Some(_)) = told.next().await {
                        changed.store(true, Ordering::Release);
                    }
                }
                Err(error) => tracing::debug!("a server does not tell of changes: {error}"),
            }
        });
    }

    /// Listens to the progress of a call for whoever watches it.
    pub(super) fn attend(&self, token: ProgressToken, watcher: Arc<dyn Watcher>) {
        self.lock().insert(token, watcher);
    }

    /// Listens to the progress of a call no longer.
    pub(super) fn ignore(&self, token: &ProgressToken) {
        self.lock().remove(token);
    }

    fn lock(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Ear {
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
        self.changed.store(true, Ordering::Release);
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let watcher = self.lock().get(&told.progress_token).cloned();
        if let Some(watcher) = watcher {
            let message = told.message.map(|message| excerpt(&message, LONGEST));
            watcher.progressed(Progress { done: told.progress, total: told.total, message });
        }
    }
}
