//! `cargo xtask bench generation [--json] [--write]` runs the benchmark and prints what it found; `cargo xtask typify` judges
//! what one of the generators emits.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
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
    /// Print a JSON object a line.
    #[arg(long)]
    json: bool,
    /// Write the tables and the plot into docs/.
    #[arg(long)]
    write: bool,
    /// How this program starts itself, so that each generator has a process of its own.
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
    /// Print what typify makes of the schema on standard input.
    #[command(hide = true)]
    Emit,
    /// Count what typify makes of the kept schemas and of the official suite; write it into docs/decisions/0001.
    Typify,
}

fn main() -> ExitCode {
    let Arguments { json, write, child } = Arguments::parse();
    let done = match child {
        Some(Child::Child { input, out, run }) => run.generate(&input, &out),
        Some(Child::Emit) => emit(),
        Some(Child::Typify) => judge_typify(),
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
    let found = bench::run(&packages()?)?;
    if json {
        print!("{}", found.json_lines());
    } else {
        println!("## generation\n\n{}", found.tables());
    }
    if write {
        page::write(&found, &Conditions::now()?, here.ancestors().nth(2).unwrap_or(here))?;
    }
    Ok(())
}

fn emit() -> io::Result<()> {
    let schema = io::read_to_string(io::stdin())?;
    print!("{}", verdicts::emitted(&schema).map_err(io::Error::other)?);
    Ok(())
}

/// Schemas of the repository, and those of the official suite where it is beside the checkout.
fn judge_typify() -> io::Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = repository.join("conformance/json-schema/cases/suite");
    let suite = corpora().join("json-schema-test-suite/tests/draft2020-12");
    let program = env::current_exe()?;
    let scratch = program.with_file_name("typify-verdicts");
    let lock = repository.join("Cargo.lock");
    let mut rows = Vec::new();
    for (what, folder) in [("kept in this repository", kept), ("the official suite", suite)] {
        if folder.is_dir() {
            rows.push(verdicts::run(&program, &folder, &scratch, &lock)?.row(what));
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

/// Where npm packages are kept between runs: beside this program, in the target folder.
fn packages() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.with_file_name("generation-peers"))
}
