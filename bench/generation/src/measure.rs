//! Runs a command in a separate process and measures it.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

use wait4::Wait4 as _;

/// The time, memory and output of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// User and system processor time in seconds.
    pub cpu: f64,
    /// Wall time in seconds, which on a shared machine depends on other processes.
    pub wall: f64,
    /// Peak memory in megabytes.
    pub peak: f64,
    /// Size of the output folder after the run in kilobytes.
    pub output: f64,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failed {
    /// The exit status and the last line of the output.
    pub reason: String,
}

/// Runs a command that writes into `out`, and kills it after `limit` seconds of processor time.
///
/// # Errors
///
/// Returns an error if the shell cannot be started, or if a file cannot be read or written.
pub fn run(words: &[OsString], out: &Path, limit: u32) -> io::Result<Result<Cost, Failed>> {
    let mut printed = tempfile::tempfile()?;
    let start = Instant::now();
    // The shell sets the limit and then executes the command. The kernel counts the memory of the parent at the start as the
    // child's, so the parent should be a small shell.
    let ended = Command::new("sh")
        .args(["-c", "ulimit -t \"$0\" && exec \"$@\""])
        .arg(limit.to_string())
        .args(words)
        .env("BAML_LOG", "error")
        .stdin(Stdio::null())
        .stdout(printed.try_clone()?)
        .stderr(printed.try_clone()?)
        .spawn()?
        .wait4()?;
    let wall = start.elapsed().as_secs_f64();
    if !ended.status.success() {
        return Ok(Err(Failed::after(ended.status, &read(&mut printed)?)));
    }
    let cpu = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
    let cost = Cost {
        cpu,
        wall,
        peak: in_units(ended.rusage.maxrss, 1e6),
        output: in_units(size(out)?, 1e3),
    };
    Ok(Ok(cost))
}

impl Failed {
    fn after(status: std::process::ExitStatus, printed: &str) -> Self {
        let last = printed.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        Self { reason: format!("{status} {}", last.trim()).trim_end().to_owned() }
    }
}

fn read(file: &mut fs::File) -> io::Result<String> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[expect(clippy::cast_precision_loss, reason = "no size reaches 2^53 bytes")]
fn in_units(bytes: u64, unit: f64) -> f64 {
    bytes as f64 / unit
}

/// Returns the size of all files of a folder in bytes.
fn size(folder: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        total += if is_folder { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, out: &Path) -> Result<Cost, Failed> {
        run(&["sh".into(), "-c".into(), script.into()], out, 1).unwrap()
    }

    #[test]
    fn a_run_has_its_time_memory_and_output_measured() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        let script = format!("printf 12345 > {}/inner/file", folder.path().display());
        let cost = shell(&script, folder.path()).unwrap();
        assert!((cost.output - 0.005).abs() < 1e-9, "{cost:?}");
        assert!(cost.cpu < 1.0 && cost.wall > 0.0 && cost.peak > 0.1, "{cost:?}");
    }

    #[test]
    fn a_failed_or_killed_run_has_its_status_and_last_line_as_reason() {
        let folder = tempfile::tempdir().unwrap();
        let failed = shell("echo first; echo no such type >&2; exit 3", folder.path()).unwrap_err();
        assert_eq!(failed.reason, "exit status: 3 no such type");
        let endless = shell("while :; do :; done", folder.path()).unwrap_err();
        assert!(endless.reason.starts_with("signal: "), "{endless:?}");
    }
}
