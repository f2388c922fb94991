//! `cargo xtask bench generation [--json] [--write]` runs the benchmark and prints the results. `cargo xtask typify` counts
//! which schemas typify supports.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use clap::Parser;
use toolwright_generation_bench::bench;
use toolwright_generation_bench::generators::Run;
use toolwright_generation_bench::page::{self, Conditions};
use toolwright_generation_bench::verdicts;
use toolwright_prerequisites::{Prerequisite, corpora};

/// Compare generating with other generators, on the same tools.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench generation", args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Write the tables and the plot into docs/.
    #[arg(long)]
    write: bool,
    /// Used by this program to run a generator in a separate process.
    #[command(subcommand)]
    child: Option<Child>,
}

#[derive(clap::Subcommand)]
enum Child {
    /// Generate once.
    #[command(hide = true)]
    Child {
        input: PathBuf,
        out: PathBuf,
        #[command(subcommand)]
        run: Run,
    },
    /// Print the code that typify generates from the schema on standard input.
    #[command(hide = true)]
    Emit,
    /// Count which schemas of the repository and of the official suite typify supports; write the table into
    /// docs/decisions/0001.
    Typify,
}

fn main() -> ExitCode {
    let Arguments { json, write, child } = Arguments::parse();
    let done = match child {
        Some(Child::Child { input, out, run }) => run.generate(&input, &out),
        Some(Child::Emit) => emit(),
        Some(Child::Typify) => count_typify(),
        None => compare(json, write),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn compare(json: bool, write: bool) -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = bench::run(&packages()?, &command()?)?;
    if json {
        print!("{}", results.json_lines());
    } else {
        println!("## generation\n\n{}", results.tables());
    }
    if write {
        page::write(&results, &Conditions::now()?, here.ancestors().nth(2).unwrap_or(here))?;
    }
    Ok(())
}

fn emit() -> io::Result<()> {
    let schema = io::read_to_string(io::stdin())?;
    print!("{}", verdicts::emitted(&schema).map_err(io::Error::other)?);
    Ok(())
}

/// Counts the results of typify for the schemas of the repository, and for the official suite if it is beside the checkout.
fn count_typify() -> io::Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = repository.join("conformance/json-schema/cases/suite");
    let suite = corpora().join("json-schema-test-suite/tests/draft2020-12");
    let program = env::current_exe()?;
    let scratch = program.with_file_name("typify-verdicts");
    let lock = repository.join("Cargo.lock");
    let mut rows = Vec::new();
    for (name, folder) in [("kept in this repository", kept), ("the official suite", suite)] {
        if folder.is_dir() {
            rows.push(verdicts::run(&program, &folder, &scratch, &lock)?.row(name));
            println!("{}", rows[rows.len() - 1]);
        }
    }
    if !Prerequisite::Corpora.is_there() {
        return Err(io::Error::other(format!(
            "{}, so the page stays as it is",
            Prerequisite::Corpora.reason()
        )));
    }
    let page = repository.join("docs/decisions/0001-own-type-emitter.md");
    let text = verdicts::page(&fs::read_to_string(&page)?, &Conditions::now()?.day, &rows)?;
    fs::write(page, text)
}

/// Builds the command, and returns its path, which is beside this program.
fn command() -> io::Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--quiet", "--release", "--package", "toolwright-cli"];
    let status = Command::new(cargo).args(words).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("building the command ended with {status}")));
    }
    Ok(env::current_exe()?.with_file_name("toolwright"))
}

/// Returns the folder of npm packages, which is beside this program in the target folder and kept between runs.
fn packages() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.with_file_name("generation-peers"))
}
