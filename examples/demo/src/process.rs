//! Workers: this program, in processes of their own.

use std::io;
use std::process::{Child, Command, Stdio};

/// A worker, which is killed when this is dropped.
pub(crate) struct Worker(Child);

impl Worker {
    pub(crate) fn start(role: &str, environment: &[(&'static str, String)]) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--worker", role]).envs(environment.iter().cloned());
        Ok(Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?))
    }

    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.0.kill()?;
        self.0.wait().map(drop)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.kill();
    }
}
