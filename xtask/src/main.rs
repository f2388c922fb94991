//! This repository's chores. Never part of what users install: `toolwright` is.

mod ci;
mod command;
mod first_hour;
mod generate;
mod long;
mod msrv;
mod registry;
mod sbom;
mod skipped;
mod start;
mod tool;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Turn schema/ into gen/.
    Gen {
        /// Write nothing; list what differs and fail if anything does.
        #[arg(long)]
        check: bool,
    },
    /// Run session_planner on an embedded planner and store; print its events.
    Demo {
        /// Passed on to the demo.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Serve a worked example over MCP, on stdio or HTTP.
    Serve {
        /// Which MCP server of the schema.
        server: Server,
        /// Listen on this address instead of stdio, at /mcp.
        #[arg(long)]
        http: Option<String>,
    },
    /// Compare with peers side by side.
    Bench {
        /// One area; all of them unless given.
        name: Option<String>,
        /// Print a JSON object a line.
        #[arg(long)]
        json: bool,
        /// Write what was found into docs/ too, where an area has a section of its own there (`generation`).
        #[arg(long, requires = "name")]
        write: bool,
    },
    /// Judge generated codecs by the JSON Schema suite and by real tools; write docs/conformance.md.
    Conformance {
        /// Write nothing; fail if the page is out of date or a codec disagrees.
        #[arg(long)]
        check: bool,
    },
    /// Hold MCP servers and clients against the official suite; write docs/mcp-conformance.md.
    McpConformance {
        /// Write nothing; fail if the page is out of date or a scenario surprises.
        #[arg(long)]
        check: bool,
    },
    /// Judge generated codecs, imported tools and the run-time validator by random schemas, beside an independent oracle.
    Judge {
        /// Passed on to the judge: --schemas N, --seed S, --payloads N, --write.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Count what typify makes of the schemas that our codecs are judged by; write it into docs/decisions/0001.
    Typify,
    /// Load the runtime with calls that succeed, fail, panic and hang, and count what comes back.
    Soak {
        /// Passed on to the load: --calls N, --tasks N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Put MCP servers under load beside clients that misbehave, and look at what the others notice.
    Load {
        /// Passed on: --seconds N, --rate N, --connections N,N, --alone.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Hold a release build to its limits on hostile input; write the figures into docs/hostile-input.md.
    Hostile,
    /// Import all lists of tools of a folder into one project, generate it and compile it: 2,000 tools take minutes.
    Corpus {
        /// The folder of answers to `tools/list`.
        #[arg(default_value = "../shared/corpus/mcp-tools")]
        lists: std::path::PathBuf,
    },
    /// Kill the generator at random moments, 300 times, and look at what it left.
    Torture,
    /// Feed the compiler and generated codecs random input.
    Fuzz {
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Change the runtime in hundreds of ways, each of which a test must notice; needs cargo-mutants. Takes hours.
    Mutants {
        /// Only files that match one of these; run/, approval/ and tools/ unless given.
        files: Vec<String>,
    },
    /// Write a bill of materials (CycloneDX) for each published crate into target/sbom.
    Sbom,
    /// Compile what promises an older Rust with that Rust, if rustup has it.
    Msrv {
        /// A compiler of that version that rustup does not know.
        #[arg(long, value_name = "FILE")]
        rustc: Option<std::path::PathBuf>,
    },
    /// Package the published crates and lay them out in target/registry, with all that they depend on, for cargo without a network.
    Registry,
    /// Install the command from that registry and do what a new user does, in a folder that knows nothing of this one.
    FirstHour,
    /// Everything that must hold before a change is merged. Ends with a list of what was skipped and why.
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

/// How a chore ends, in the exit codes `toolwright` uses.
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
    ExitCode::from(run(arguments.chore))
}

fn run(chore: Chore) -> End {
    match chore {
        Chore::Gen { check } => generate::run(check),
        Chore::Demo { rest } => start::demo(&rest),
        Chore::Serve { server: Server::Calc, http } => start::serve_calc(http.as_deref()),
        Chore::Bench { name, json, write } => start::bench(name.as_deref(), json, write),
        Chore::Conformance { check } => start::conformance(check),
        Chore::McpConformance { check } => start::mcp_conformance(check),
        Chore::Judge { rest } => start::judge(&rest),
        Chore::Typify => start::typify(),
        Chore::Soak { rest } => start::soak(&rest),
        Chore::Load { rest } => start::load(&rest),
        Chore::Hostile => long::hostile(),
        Chore::Corpus { lists } => long::corpus(&lists),
        Chore::Torture => long::torture(),
        Chore::Fuzz { seconds } => long::fuzz(seconds),
        Chore::Mutants { files } => long::mutants(&files),
        Chore::Sbom => sbom::run(),
        Chore::Msrv { rustc } => msrv::run(rustc),
        Chore::Registry => registry::run(),
        Chore::FirstHour => first_hour::run(),
        Chore::Ci { strict } => ci::run(strict),
    }
}

/// The folder of the workspace: above this crate's own.
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
