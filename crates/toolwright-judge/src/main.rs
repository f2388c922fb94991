//! `cargo xtask judge`: runs the judge and prints what it found.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use toolwright_judge::{Options, run};

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
}

fn main() -> ExitCode {
    let Arguments { schemas, payloads, seed } = Arguments::parse();
    let options = Options { schemas, payloads, seed };
    match run(options, Path::new("target/judge"), |outline| {
        eprintln!(
            "judge: {} schemas, {} payloads, {} findings",
            outline.schemas,
            outline.payloads,
            outline.findings.len()
        );
    }) {
        Ok(outline) => {
            println!(
                "{:?} {:?} {:?}",
                outline.verdicts,
                outline.refused,
                (outline.valid, outline.undecided, outline.rounded)
            );
            for f in outline.findings.iter().chain(&outline.cases) {
                println!(
                    "{:?} {:?} {} {} {:?} {}",
                    f.side,
                    f.fault,
                    f.schema,
                    f.payload.as_deref().unwrap_or("-"),
                    f.expected,
                    f.said
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}
