//! Measures the memory of another process.

use std::{fs, io};

/// Returns the resident set of a process in bytes (`VmRSS` of proc(5)).
pub(crate) fn resident(process: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let kilobytes =
        kilobytes.ok_or_else(|| io::Error::other(format!("found no `VmRSS` in `{status}`")))?;
    Ok(kilobytes * 1024)
}
