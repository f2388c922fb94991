//! Time as the runtime sees it. Never sleeps.

use std::time::Duration;

use tokio::time::Instant;

/// Measures from its start; a paused tokio clock pauses it too.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
