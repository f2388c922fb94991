//! `cargo xtask bench [NAME] [--json]`: runs benchmarks and prints the results.

use std::io;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use toolwright_bench::report::{Comparison, json_lines, table};
use toolwright_bench::{check, codecs, compile, runtime};

/// Compare toolwright with similar libraries.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench")]
struct Arguments {
    /// One area; without it, all areas run.
    name: Option<Area>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// A benchmark.
#[derive(Clone, Copy, ValueEnum)]
enum Area {
    /// Compiling the dependencies of a build script; takes minutes.
    BuildDependency,
    /// Finding and rendering a thousand mistakes.
    Check,
    /// Decoding and encoding.
    Codecs,
    /// Compiling generated code; takes minutes.
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
