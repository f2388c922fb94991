//! The development tasks of this repository. Users install the command `toolwright` instead.

mod ci;
mod command;
mod first_hour;
mod generate;
mod long;
mod msrv;
mod recordings;
mod registry;
mod sbom;
mod semver;
mod skipped;
mod start;
mod tool;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Tortured {
    Engines,
}

#[derive(Subcommand)]
enum Task {
    /// Generate gen/ from schema/.
    Gen {
        /// Write nothing; list the differences and fail if there are any.
        #[arg(long)]
        check: bool,
    },
    /// Run the agent session_planner with a store in memory; print its events. `--model stage` plays a recorded model; with
    /// `--model PROVIDER --name MODEL` and perhaps `--base-url URL` a real one plans.
    Demo {
        /// Passed on to the demo.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Serve an example over MCP, on stdio or HTTP.
    Serve {
        /// An MCP server of the schema.
        server: Server,
        /// Serve HTTP on this address at /mcp, instead of stdio.
        #[arg(long)]
        http: Option<String>,
    },
    /// Run the benchmarks, which compare with other libraries.
    Bench {
        /// One area; all areas by default.
        name: Option<String>,
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
        /// Also write the results to docs/, for an area with a section there (`generation`).
        #[arg(long, requires = "name")]
        write: bool,
    },
    /// Test generated codecs with the JSON Schema suite and real tools; write docs/conformance.md.
    Conformance {
        /// Write nothing; fail if the page is out of date or a codec disagrees.
        #[arg(long)]
        check: bool,
    },
    /// Test MCP servers and clients with the official suite; write docs/mcp-conformance.md.
    McpConformance {
        /// Write nothing; fail if the page is out of date or a result is unexpected.
        #[arg(long)]
        check: bool,
    },
    /// Install a NATS server and a Restate server in target/engines, and run both until ctrl-c.
    Engines {
        /// Only install them.
        #[arg(long)]
        install: bool,
    },
    /// Test generated codecs, imported tools and the run-time validator with random schemas against an independent oracle.
    Judge {
        /// Passed on to the judge: --schemas N, --seed S, --payloads N, --write.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Try every tool of the real servers in every provider dialect; write docs/dialects.md.
    Dialects {
        /// Compare with the transforms of other clients instead; write docs/dialects-peers.md. Needs PyPI.
        #[arg(long)]
        peers: bool,
    },
    /// Ask other tools about the same changes of a tool; write the table in docs/contract.md. Needs npm and PyPI.
    ContractPeers,
    /// Count how typify handles the schemas of our conformance tests; write docs/decisions/0001.
    Typify,
    /// Read the recorded answers of providers in the package of genai, which cargo downloads.
    Recordings,
    /// Make calls that succeed, fail, panic and hang for a long time, and count the results.
    Soak {
        /// Passed on: --calls N, --tasks N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Put MCP servers under load while some clients misbehave, and measure the effect on the other clients.
    Load {
        /// Passed on: --seconds N, --rate N, --connections N,N, --alone.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Check the time and memory limits of a release build on hostile input, and all hostile texts; write docs/hostile-input.md.
    Hostile,
    /// Import all lists of tools of a folder into one project, generate it and compile it. Takes minutes for 2,000 tools.
    Corpus {
        /// The folder of answers to `tools/list`.
        #[arg(default_value = "../shared/corpus/mcp-tools")]
        lists: std::path::PathBuf,
    },
    /// Kill the generator at 300 random moments, and check the files that it left. `engines`: kill and pause servers and workers
    /// under load, and count what was lost.
    Torture {
        /// What is killed; the generator by default.
        what: Option<Tortured>,
        /// Passed on.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Run the compiler and generated codecs on random input.
    Fuzz {
        /// The time for each target in seconds.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Run mutation tests of the runtime; needs cargo-mutants and hours.
    Mutants {
        /// Only files that match one of these patterns; run/, approval/ and tools/ by default.
        files: Vec<String>,
    },
    /// Write a bill of materials (CycloneDX) for each published crate into target/sbom.
    Sbom,
    /// Compile the contract and generated crates with their minimum supported Rust version, if rustup has it.
    Msrv {
        /// The path of a compiler of that version, if it is not rustup's.
        #[arg(long, value_name = "FILE")]
        rustc: Option<std::path::PathBuf>,
    },
    /// Compare predicted changes of the Rust API with cargo-semver-checks, which cargo installs.
    Semver,
    /// Package the published crates into a local registry in target/registry, with all their dependencies.
    Registry,
    /// Install the command from that registry and do what a new user does, outside this repository.
    FirstHour,
    /// Run everything that a change must pass, and list what was skipped and why.
    Ci {
        /// Fail if anything was skipped.
        #[arg(long)]
        strict: bool,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Server {
    /// The calculator.
    Calc,
}

/// The outcome of a task, with the exit codes of `toolwright`.
#[derive(Clone, Copy)]
enum End {
    Done,
    Failed,
    Io,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(error) = std::env::set_current_dir(repository()) {
        eprintln!("error: cannot enter {}: {error}", repository().display());
        return ExitCode::from(End::Io);
    }
    ExitCode::from(run(arguments.task))
}

fn run(task: Task) -> End {
    match task {
        Task::Gen { check } => generate::run(check),
        Task::Demo { rest } => start::demo(&rest),
        Task::Serve { server: Server::Calc, http } => start::serve_calc(http.as_deref()),
        Task::Bench { name, json, write } => start::bench(name.as_deref(), json, write),
        Task::Conformance { check } => start::conformance(check),
        Task::McpConformance { check } => start::mcp_conformance(check),
        Task::Engines { install } => start::engines(install).run(),
        Task::Judge { rest } => start::judge(&rest),
        Task::Dialects { peers } => long::dialects(peers),
        Task::ContractPeers => long::contract_peers(),
        Task::Typify => start::typify(),
        Task::Soak { rest } => start::soak(&rest),
        Task::Load { rest } => start::load(&rest),
        Task::Hostile => long::hostile(),
        Task::Corpus { lists } => long::corpus(&lists),
        Task::Recordings => recordings::run(),
        Task::Torture { what: None, .. } => long::torture(),
        Task::Torture { what: Some(Tortured::Engines), rest } => start::torture_engines(&rest),
        Task::Fuzz { seconds } => long::fuzz(seconds),
        Task::Mutants { files } => long::mutants(&files),
        Task::Sbom => sbom::run(),
        Task::Msrv { rustc } => msrv::run(rustc),
        Task::Semver => semver::run(),
        Task::Registry => registry::run(),
        Task::FirstHour => first_hour::run(),
        Task::Ci { strict } => ci::run(strict),
    }
}

/// The folder of the workspace, which is the parent of this package's folder.
fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        Self::from(match end {
            End::Done => 0,
            End::Failed => 1,
            End::Io => 3,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
