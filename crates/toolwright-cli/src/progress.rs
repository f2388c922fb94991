//! Shows on a terminal how long a slow operation has been running.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::print;

/// The time after which the line is shown, and then updated.
const INTERVAL: Duration = Duration::from_millis(400);

/// Does some work, and shows the elapsed time on a line if standard error is a terminal.
pub(crate) fn with_timer<T>(work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || show(&waiting));
        let result = work();
        drop(done);
        result
    })
}

/// Shows the elapsed time until the other end of the channel is dropped.
fn show(waiting: &mpsc::Receiver<()>) {
    let start = Instant::now();
    let mut is_shown = false;
    while waiting.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        print::err(&format!("\r\u{1b}[Kgen: working for {:.1} s", start.elapsed().as_secs_f32()));
        is_shown = true;
    }
    if is_shown {
        print::err("\r\u{1b}[K");
    }
}
