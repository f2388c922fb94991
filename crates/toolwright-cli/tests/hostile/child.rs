//! Runs the command with limits of time and memory, so that a case that exceeds them fails alone.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use wait4::Wait4 as _;

/// The limits of a child process.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) cpu_seconds: u64,
    /// The limit of the address space, which includes all memory in use.
    pub(crate) megabytes: u64,
}

/// The result of a child process.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Standard output and standard error.
    pub(crate) printed: String,
    pub(crate) cpu: Duration,
    /// The peak memory, if the system has `/proc`.
    pub(crate) peak_megabytes: u64,
}

/// Runs `toolwright` in a folder. Its output goes to a file, because an unread pipe would block it.
pub(crate) fn toolwright(folder: &Path, arguments: &[&str], limits: Limits) -> Ended {
    let heard = folder.join(".heard");
    let out = File::create(&heard).unwrap();
    // The shell sets the limits and becomes the command, so its own memory and time do not count.
    let script = format!(
        "ulimit -v {} && ulimit -t {} && ulimit -c 0 && exec \"$0\" \"$@\"",
        limits.megabytes << 10,
        limits.cpu_seconds
    );
    let child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_toolwright")])
        .args(arguments)
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder)
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    let (pid, is_over) = (child.id(), AtomicBool::new(false));
    let (used, peak) = thread::scope(|scope| {
        let peak = scope.spawn(|| watch(pid, &is_over));
        let used = child.wait4().unwrap();
        is_over.store(true, Ordering::Relaxed);
        (used, peak.join().unwrap())
    });
    let printed = String::from_utf8_lossy(&fs::read(&heard).unwrap()).into_owned();
    fs::remove_file(&heard).unwrap();
    Ended {
        status: used.status,
        printed,
        cpu: used.rusage.utime + used.rusage.stime,
        peak_megabytes: peak >> 10,
    }
}

/// Returns the last seen peak memory of a process in kilobytes. The peak of `wait4` would include the memory of this
/// process at the fork.
fn watch(pid: u32, is_over: &AtomicBool) -> u64 {
    let mut last = 0;
    while !is_over.load(Ordering::Relaxed) {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let seen = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        last = seen.unwrap_or(last);
        thread::sleep(Duration::from_micros(300));
    }
    last
}

impl Ended {
    /// Describes how the process ended.
    pub(crate) fn how(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        }
    }
}
