//! `cargo xtask bench [NAME] [--json]`: runs the areas asked for and prints what they found.

use std::io;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use toolwright_bench::report::{Comparison, json_lines, table};
use toolwright_bench::{check, codecs, compile, runtime};

/// Compare with peers side by side.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench")]
struct Arguments {
    /// One area; all of them unless given.
    name: Option<Area>,
    /// Print a JSON object a line.
    #[arg(long)]
    json: bool,
}

/// What can be compared.
#[derive(Clone, Copy, ValueEnum)]
enum Area {
    /// Compiling what a build script needs; takes minutes.
    BuildDependency,
    /// Finding and drawing a thousand mistakes.
    Check,
    /// Decoding and encoding.
    Codecs,
    /// Compiling what is generated; takes minutes.
    Compile,
    /// Calling tools.
    Runtime,
}

fn main() -> ExitCode {
    let Arguments { name, json } = Arguments::parse();
    let areas = name.as_ref().map_or(Area::value_variants(), std::slice::from_ref);
    for area in areas {
        match run(*area) {
            Ok((_, comparisons)) if json => print!("{}", json_lines(&comparisons)),
            Ok((name, comparisons)) => println!("{}", table(name, &comparisons)),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::from(3);
            }
        }
    }
    ExitCode::SUCCESS
}

fn run(area: Area) -> io::Result<(&'static str, Vec<Comparison>)> {
    match area {
        Area::BuildDependency => Ok(("build-dependency", compile::build_dependency::run()?)),
        Area::Check => Ok(("check", check::run()?)),
        Area::Codecs => Ok(("codecs", codecs::run())),
        Area::Compile => Ok(("compile", compile::run()?)),
        Area::Runtime => Ok(("runtime", runtime::run()?)),
    }
}
