//! Reports of a call's progress on their way to its client. Never holds up the call: of reports that come faster than
//! they can be sent, some are left out.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use toolwright::progress::{self, Progress, Watcher};

/// How many reports may wait to be sent.
const WAITING: usize = 16;

/// Takes reports of one call.
struct Reports {
    sender: mpsc::Sender<Progress>,
    last: Mutex<f64>,
}

impl Watcher for Reports {
    /// Progress only ever grows (2025-11-25, utilities, progress), so that a report of less is left out.
    fn progressed(&self, progress: Progress) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.done > *last {
            *last = progress.done;
            let _ = self.sender.try_send(progress);
        }
    }
}

/// Does a call's work and sends what it reports to the client that asked to be told. All is sent before this ends.
pub(crate) async fn told<T>(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    work: impl Future<Output = T>,
) -> T {
    let (sender, mut reports) = mpsc::channel(WAITING);
    let watcher = Reports { sender, last: Mutex::new(f64::NEG_INFINITY) };
    let work = progress::watch(Arc::new(watcher), work);
    let mut work = std::pin::pin!(work);
    let done = loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => tell(peer, &token, report).await,
            done = &mut work => break done,
        }
    };
    while let Ok(report) = reports.try_recv() {
        tell(peer, &token, report).await;
    }
    done
}

async fn tell(peer: &Peer<RoleServer>, token: &ProgressToken, report: Progress) {
    let mut told = ProgressNotificationParam::new(token.clone(), report.done);
    (told.total, told.message) = (report.total, report.message);
    if let Err(error) = peer.notify_progress(told).await {
        tracing::debug!(%error, "progress could not be told");
    }
}
