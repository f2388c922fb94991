//! Sends the progress reports of a call to its client. The call goes on meanwhile, up to its time limit: reports that come
//! faster than they can be sent are dropped.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use toolwright::progress::{self, Progress, Watcher};

/// The number of reports that may wait to be sent.
const MAX_WAITING: usize = 16;

/// Queues the reports of one call until it ends.
struct Reports {
    sender: mpsc::WeakSender<Progress>,
    last: Mutex<f64>,
}

impl Watcher for Reports {
    /// Drops a report that does not exceed the last one, because progress must increase (2025-11-25, utilities,
    /// progress).
    fn on_progress(&self, progress: Progress) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.done > *last
            && let Some(sender) = self.sender.upgrade()
        {
            *last = progress.done;
            let _ = sender.try_send(progress);
        }
    }
}

/// Awaits a call and sends its progress reports to the client. Returns after the last report is sent.
pub(crate) async fn forward_progress<T>(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    work: impl Future<Output = T>,
) -> T {
    let (sender, mut reports) = mpsc::channel(MAX_WAITING);
    let watcher = Reports { sender: sender.downgrade(), last: Mutex::new(f64::NEG_INFINITY) };
    let working = async {
        let done = progress::watch(Arc::new(watcher), work).await;
        // Ends `sending` after the reports that wait.
        drop(sender);
        done
    };
    let sending = async {
        while let Some(report) = reports.recv().await {
            send(peer, &token, report).await;
        }
    };
    tokio::join!(working, sending).0
}

async fn send(peer: &Peer<RoleServer>, token: &ProgressToken, report: Progress) {
    let mut params = ProgressNotificationParam::new(token.clone(), report.done);
    (params.total, params.message) = (report.total, report.message);
    if let Err(error) = peer.notify_progress(params).await {
        tracing::debug!(%error, "progress could not be sent");
    }
}
