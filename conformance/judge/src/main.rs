//! `cargo xtask judge`: runs the judge, prints what it found, keeps the cases under the target folder, and writes the
//! section of docs/conformance.md.

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

/// Judge generated codecs by random schemas.
#[derive(Parser)]
#[command(bin_name = "cargo xtask judge")]
struct Arguments {
    /// How many schemas.
    #[arg(long, default_value_t = 2_500)]
    schemas: usize,
    /// How many payloads for each schema, at most.
    #[arg(long, default_value_t = 100)]
    payloads: usize,
    /// Where the random numbers begin; the same seed makes the same schemas and payloads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many findings of each kind are made small and printed.
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

/// Whether nothing is wrong.
fn judge(options: Options, write: bool) -> io::Result<bool> {
    let outline = run(options, Path::new(FOLDER), |outline| {
        let findings = outline.findings.len();
        eprintln!(
            "judge: {} schemas, {} payloads, {findings} findings",
            outline.schemas, outline.payloads
        );
    })?;
    print!("{}", outline.counts(options));
    let cases = Path::new(FOLDER).join("cases");
    if cases.exists() {
        fs::remove_dir_all(&cases)?;
    }
    fs::create_dir_all(&cases)?;
    for (index, finding) in outline.adversaries.iter().chain(&outline.cases).enumerate() {
        let case = finding.case();
        println!("{case}");
        fs::write(cases.join(format!("{:03}.json", index + 1)), case + "\n")?;
    }
    if write {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let section = outline.section(options, &date::of_day(now.as_secs() / 86_400));
        fs::write(PAGE, replaced(&fs::read_to_string(PAGE)?, &section))?;
        println!("judge: wrote {PAGE}");
    }
    Ok(outline.is_clean())
}
