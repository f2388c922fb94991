//! The `toolwright` command. Reads arguments and prints; everything it does is done by `toolwright-codegen`.

mod check;
mod end;
mod explain;
mod generate;
mod import;
mod init;
mod print;
mod progress;
mod watch;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use end::End;
use generate::Places;

/// Turns toolset schemas into Rust crates.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check schemas and report everything that is wrong with them.
    Check {
        /// Files or folders; the project's schema folder unless given.
        paths: Vec<PathBuf>,
        /// Who reads the report: human on stderr, the others on stdout.
        #[arg(long, value_enum, default_value = "human")]
        format: ReportFormat,
        /// Exit with 1 on these findings too, not on errors alone.
        #[arg(long, value_enum, value_name = "WHAT")]
        deny: Option<Deny>,
    },
    /// Explain a kind of mistake by its code, such as duplicate-tool; list all kinds without one.
    Explain {
        /// The code, as it stands in brackets in a report.
        code: Option<String>,
    },
    /// Generate the project's crates.
    Gen {
        /// The folder of schema files.
        #[arg(long, value_name = "DIR")]
        schema: Option<PathBuf>,
        /// The folder of generated crates.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Write nothing; list what differs and exit with 1 if anything does.
        #[arg(long)]
        check: bool,
        /// Go on generating whenever the schema changes, until interrupted.
        #[arg(long, conflicts_with = "check")]
        watch: bool,
    },
    /// Write a schema file from what something else knows about its tools.
    #[command(subcommand)]
    Import(import::Source),
    /// Start a new project that generates and tests at once.
    Init {
        /// A new or empty folder.
        dir: PathBuf,
        #[command(flatten)]
        parts: init::Parts,
        #[command(flatten)]
        location: init::LocationArgs,
    },
    /// Print the JSON Schema of the schema language, for editors.
    Schema,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Human,
    Json,
    Sarif,
    Github,
}

/// Findings that do not keep anything from being generated.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

fn main() -> End {
    match Arguments::parse().command {
        Command::Check { paths, format, deny } => check::run(paths, format, deny),
        Command::Explain { code } => explain::run(code.as_deref()),
        Command::Gen { schema, out, watch: true, .. } => watch::run(&Places { schema, out }),
        Command::Gen { schema, out, check, .. } => generate::run(&Places { schema, out }, check),
        Command::Import(import::Source::Mcp(arguments)) => import::run(&arguments),
        Command::Import(import::Source::Openapi(arguments)) => import::openapi::run(&arguments),
        Command::Init { dir, parts, location } => init::run(&dir, parts, location),
        Command::Schema => {
            print::out(&toolwright_codegen::language_schema());
            End::Done
        }
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
