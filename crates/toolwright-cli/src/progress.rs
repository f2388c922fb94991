//! A line on the terminal while something takes long, and nothing where nobody sees it. Never says what is done: what
//! does the work knows nothing of it.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::print;

/// Work that is done sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(400);

/// Does some work, with a line that tells how long it has been going on.
pub(crate) fn shown<T>(work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || tell(&waiting));
        let result = work();
        drop(done);
        result
    })
}

/// Tells until the other end of the channel is dropped.
fn tell(waiting: &mpsc::Receiver<()>) {
    let began = Instant::now();
    let mut was_told = false;
    while waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        print::err(&format!("\r\u{1b}[Kgen: working for {:.1} s", began.elapsed().as_secs_f32()));
        was_told = true;
    }
    if was_told {
        print::err("\r\u{1b}[K");
    }
}
