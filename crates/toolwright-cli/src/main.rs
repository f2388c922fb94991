//! The `toolwright` command: parses arguments, calls the libraries and prints their reports.

mod chat;
mod check;
mod contract;
mod dialects;
mod exit;
mod explain;
mod generate;
mod import;
mod init;
mod print;
mod progress;
mod revision;
mod usage_error;
mod watch;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use exit::Exit;
use generate::Folders;

/// Generates Rust crates from toolset schemas.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Report changes since the lock for which the version of their toolset was not raised enough.
    ///
    /// Exits with 1 if there are any. The `version` of a toolset follows semver. A toolset without a version may only have
    /// minor changes.
    Breaking {
        /// The old version: a lock, a schema file or folder, or `git:REV` [default: toolwright.lock].
        #[arg(long, value_name = "VERSION")]
        against: Option<String>,
        /// Whom the changes may not break [default: caller,model,reader, or `[breaking] for` in toolwright.toml].
        #[arg(long = "for", value_enum, value_delimiter = ',')]
        viewpoints: Vec<contract::For>,
        /// The format of the report.
        #[arg(long, value_enum, default_value = "human")]
        format: contract::ReportFormat,
    },
    /// Chat with an agent of the project in the terminal: the same as `cargo run -- chat AGENT`.
    ///
    /// `toolwright init --agent` writes such a program. Others need a few lines: see the crate toolwright-chat.
    Chat {
        /// The name of the agent.
        agent: String,
        /// The package with the program, if the workspace has several.
        #[arg(long, short)]
        package: Option<String>,
    },
    /// Check schemas and report all mistakes.
    Check {
        /// Files or folders [default: the project's schema folder].
        paths: Vec<PathBuf>,
        /// The format of the report: `human` goes to stderr, the others to stdout.
        #[arg(long, value_enum, default_value = "human")]
        format: ReportFormat,
        /// Exit with 1 on these findings too, not only on errors.
        #[arg(long, value_enum, value_name = "FINDINGS")]
        deny: Option<Deny>,
    },
    /// Show what changed between two versions of the tools, and whom it breaks.
    ///
    /// A version is a lock, a schema file or folder, or `git:REV`: the lock of that revision, or else its schema.
    Diff {
        /// The old version [default: toolwright.lock].
        old: Option<String>,
        /// The new version [default: the project's schema].
        new: Option<String>,
        /// The format of the report.
        #[arg(long, value_enum, default_value = "human")]
        format: contract::ReportFormat,
        /// Also count code with the new types that reads results stored by the old tool.
        #[arg(long)]
        stored_results: bool,
    },
    /// Show which parts of the tools' schemas each provider accepts, and what is lost.
    #[command(subcommand)]
    Dialects(dialects::Command),
    /// Explain a kind of mistake or of change; without a code, list all kinds. `language` and `configuration` print the references of schema
    /// files and of `toolwright.toml`.
    Explain {
        /// The code in a report, such as duplicate-tool or ARG_REMOVED, or `language` or `configuration`.
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
        /// Write nothing; list the differences and exit with 1 if there are any.
        #[arg(long)]
        check: bool,
        /// Generate again whenever the schema changes, until interrupted.
        #[arg(long, conflicts_with = "check")]
        watch: bool,
    },
    /// Write a schema file from the tools of an MCP server or from an OpenAPI document.
    #[command(subcommand)]
    Import(import::Source),
    /// Create a new project with an example that runs and has tests.
    Init {
        /// A new or empty folder.
        dir: PathBuf,
        #[command(flatten)]
        parts: init::Parts,
        #[command(flatten)]
        location: init::LocationArgs,
    },
    /// Write toolwright.lock: the tools as they are published, to review and to compare with later ones.
    #[command(args_conflicts_with_subcommands = true)]
    Lock {
        /// Write nothing; show the changes and exit with 1 if there are any.
        #[arg(long)]
        check: bool,
        #[command(subcommand)]
        command: Option<contract::LockCommand>,
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

/// Findings that do not prevent generation.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

fn main() -> Exit {
    let code = match Arguments::try_parse() {
        Ok(arguments) => run(arguments.command),
        Err(error) if error.use_stderr() => usage_error::printable(error).exit(),
        // Help, or the version.
        Err(text) => {
            print::note_error(text.print());
            Exit::Success
        }
    };
    print::exit(code)
}

fn run(command: Command) -> Exit {
    match command {
        Command::Breaking { against, viewpoints, format } => {
            contract::breaking(against.as_deref(), &viewpoints, format)
        }
        Command::Chat { agent, package } => chat::run(&agent, package.as_deref()),
        Command::Check { paths, format, deny } => check::run(paths, format, deny),
        Command::Diff { old, new, format, stored_results } => {
            contract::changes(old.as_deref(), new.as_deref(), format, stored_results)
        }
        Command::Dialects(command) => dialects::run(command),
        Command::Explain { code } => explain::run(code.as_deref()),
        Command::Gen { schema, out, watch: true, .. } => watch::run(&Folders { schema, out }),
        Command::Gen { schema, out, check, .. } => generate::run(&Folders { schema, out }, check),
        Command::Import(import::Source::Mcp(arguments)) => import::mcp::run(&arguments),
        Command::Import(import::Source::Openapi(arguments)) => import::openapi::run(&arguments),
        Command::Init { dir, parts, location } => init::run(&dir, parts, location),
        Command::Lock { command: Some(command), .. } => contract::lock_remote(&command),
        Command::Lock { check, command: None } => contract::lock(check),
        Command::Schema => {
            print::out(&toolwright_codegen::language_schema());
            Exit::Success
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
