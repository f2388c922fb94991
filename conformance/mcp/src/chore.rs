//! `cargo xtask mcp-conformance [--check]`: runs the suite and writes or checks the page.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use toolwright_mcp_conformance::PEERS;
use toolwright_mcp_conformance::suite::{self, DATED};
use toolwright_prerequisites::Npm;

const PAGE: &str = "docs/mcp-conformance.md";
const COMMAND: &str = "cargo xtask mcp-conformance";

pub(crate) fn run(check: bool) -> ExitCode {
    match try_run(check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn try_run(check: bool) -> io::Result<bool> {
    let program = env::current_exe()?;
    // In cargo's folder for temporary files of tests, so that both use one installation.
    let target = program.ancestors().nth(2).map(|folder| folder.join("tmp/mcp-npm"));
    let target =
        target.ok_or_else(|| io::Error::other("this program is not in a target folder"))?;
    let report = suite::all(&program, &Npm::install(Path::new(PEERS), &target)?)?;
    report.surprises().iter().for_each(|surprise| eprintln!("unexpected: {surprise}"));
    Ok(update_page(&report, check)? && report.surprises().is_empty())
}

/// Writes the page if it differs by more than its date. Returns whether it is up to date now.
fn update_page(report: &suite::Report, check: bool) -> io::Result<bool> {
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    let date = written.lines().find_map(|line| line.strip_prefix(DATED)?.split_once(','));
    if date.is_some_and(|(date, _)| report.page(date) == written) {
        println!("mcp-conformance: {PAGE} is up to date");
        return Ok(true);
    }
    if check {
        println!("mcp-conformance: {PAGE} is out of date; run `{COMMAND}`");
        return Ok(false);
    }
    let today = chrono::Utc::now().date_naive().to_string();
    fs::write(PAGE, report.page(&today))?;
    println!("mcp-conformance: wrote {PAGE}");
    Ok(true)
}
