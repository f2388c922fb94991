//! Measures the processor time of another process.

use std::fs;
use std::io;
use std::time::Duration;

/// Returns the processor time of all current threads of a process, to the nanosecond (`schedstat` of proc(5)). The threads of
/// the servers do not end.
pub(crate) fn used_by(process: u32) -> io::Result<Duration> {
    let mut total = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let text = fs::read_to_string(thread?.path().join("schedstat"))?;
        let run = text.split_whitespace().next().and_then(|run| run.parse::<u64>().ok());
        total += run.ok_or_else(|| io::Error::other(format!("found `{text}` in schedstat")))?;
    }
    Ok(Duration::from_nanos(total))
}
