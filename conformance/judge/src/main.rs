//! `cargo xtask judge`: runs the judge, prints its findings, writes them as cases to the target folder and, with `--write`,
//! updates the section of docs/conformance.md.

#[path = "../../json-schema/src/date.rs"]
mod date;

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use clap::Parser;
use toolwright_judge::{Options, replaced, run};

const PAGE: &str = "docs/conformance.md";
const FOLDER: &str = "target/judge";

/// Tests generated codecs with random schemas.
#[derive(Parser)]
#[command(bin_name = "cargo xtask judge")]
struct Arguments {
    /// The number of schemas.
    #[arg(long, default_value_t = 2_500)]
    schemas: usize,
    /// The maximum number of payloads for each schema.
    #[arg(long, default_value_t = 100)]
    payloads: usize,
    /// The seed of the random numbers; the same seed makes the same schemas and payloads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The maximum number of findings of each kind that are shrunk and printed.
    #[arg(long, default_value_t = 5)]
    cases: usize,
    /// Write the figures into docs/conformance.md.
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    let Arguments { schemas, payloads, seed, cases, write } = Arguments::parse();
    match judge(Options { schemas, payloads, seed, adversaries: true, cases }, write) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Runs the judge. Returns whether it found nothing wrong.
fn judge(options: Options, write: bool) -> io::Result<bool> {
    let summary = run(options, Path::new(FOLDER), |summary| {
        let findings = summary.findings.len();
        eprintln!(
            "judge: {} schemas, {} payloads, {findings} findings",
            summary.schemas, summary.payloads
        );
    })?;
    print!("{}", summary.counts(options));
    let cases = Path::new(FOLDER).join("cases");
    if cases.exists() {
        fs::remove_dir_all(&cases)?;
    }
    fs::create_dir_all(&cases)?;
    for (index, finding) in summary.adversaries.iter().chain(&summary.cases).enumerate() {
        let case = finding.case();
        println!("{case}");
        fs::write(cases.join(format!("{:03}.json", index + 1)), case + "\n")?;
    }
    if write {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let section = summary.section(options, &date::of_day(now.as_secs() / 86_400));
        fs::write(PAGE, replaced(&fs::read_to_string(PAGE)?, &section))?;
        println!("judge: wrote {PAGE}");
    }
    Ok(summary.is_clean())
}
