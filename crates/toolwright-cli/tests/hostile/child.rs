//! The command as a child with limits of its own, so that a bomb or a hang fails one case and not the machine. Never
//! judges what came of it.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use wait4::Wait4 as _;

/// What a child may use.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) cpu_seconds: u64,
    /// Of address space, which is never less than memory in use.
    pub(crate) megabytes: u64,
}

/// What came of a child.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it said on both outputs.
    pub(crate) said: String,
    pub(crate) cpu: Duration,
    /// The most memory it had at a time, where the system says (`/proc`).
    pub(crate) peak_megabytes: u64,
}

/// Runs `toolwright` in a folder. What it says goes to a file beside: a pipe nobody reads would stop it.
pub(crate) fn toolwright(folder: &Path, arguments: &[&str], limits: Limits) -> Ended {
    let heard = folder.join(".heard");
    let out = File::create(&heard).unwrap();
    // The shell sets the limits and becomes the command: what it needs itself is not counted.
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
    let said = String::from_utf8_lossy(&fs::read(&heard).unwrap()).into_owned();
    fs::remove_file(&heard).unwrap();
    Ended {
        status: used.status,
        said,
        cpu: used.rusage.utime + used.rusage.stime,
        peak_megabytes: peak >> 10,
    }
}

/// The most memory a process has had, in kilobytes, as last seen. What `wait4` says would begin with the memory of the
/// process that started it: this one, which has made the input.
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
    /// How it ended, in a word.
    pub(crate) fn how(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        }
    }
}
