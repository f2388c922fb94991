//! `toolwright chat`: runs the program of the project with the arguments `chat AGENT`. Only that program has the tools of its
//! agents.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::print;

pub(crate) fn run(agent: &str, package: Option<&str>) -> Exit {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet"]);
    // Programs find their `agents` folder from that of their project.
    if let Some(project) = project() {
        command.current_dir(project);
    }
    if let Some(package) = package {
        command.args(["--package", package]);
    }
    command.args(["--", "chat", agent]);
    run_in_place(command)
}

/// Returns the nearest folder with a manifest, from the current one upward.
fn project() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    let mut folders = folder.ancestors();
    folders.find(|folder| folder.join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// Replaces this process, so that Ctrl-C reaches only the program.
#[cfg(unix)]
fn run_in_place(mut command: Command) -> Exit {
    use std::os::unix::process::CommandExt as _;

    not_started(&command.exec())
}

#[cfg(not(unix))]
fn run_in_place(mut command: Command) -> Exit {
    match command.status() {
        Ok(status) if status.success() => Exit::Success,
        Ok(_) => Exit::Rejected,
        Err(error) => not_started(&error),
    }
}

fn not_started(error: &std::io::Error) -> Exit {
    print::err(&format!("error: cargo cannot be started: {error}; install Rust\n"));
    Exit::Io
}
