//! `cargo xtask bench generation [--json] [--write]`: runs the benchmark and prints what it found.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use clap::Parser;
use toolwright_generation_bench::bench;
use toolwright_generation_bench::generators::Run;
use toolwright_generation_bench::page::{self, Conditions};

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
}

fn main() -> ExitCode {
    let Arguments { json, write, child } = Arguments::parse();
    let done = match child {
        Some(Child::Child { input, out, run }) => run.generate(&input, &out),
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

/// Where npm packages are kept between runs: beside this program, in the target folder.
fn packages() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.with_file_name("generation-peers"))
}
