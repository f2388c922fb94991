//! `toolwright import mcp`: writes a schema file from the tool list of an MCP server.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use toolwright_import::{ImportError, Owner, Request, check_owner, mcp};

use super::file;
use super::flags::{self, ConnectionArgs, ListArgs, ProvenanceArgs, SelectionArgs, UpdateArgs};
use super::{Failure, list};
use crate::exit::Exit;
use crate::print;
use crate::usage_error;

/// The usage line. clap's own does not show `--` before the command.
const USAGE: &str = "\
toolwright import mcp --toolset <NAME> --service <NAME> [OPTIONS] (--tools-json <FILE> | --url <URL> | -- <CMD>...)";

/// The text below the options.
const AFTER_HELP: &str = "\
Examples:
  toolwright import mcp --toolset time --service clock -o schema/time.yaml -- uvx mcp-server-time
  toolwright import mcp --toolset github --service github --url http://127.0.0.1:3000/mcp --bearer-env TOKEN
  toolwright import mcp --toolset notes --service notes --tools-json list.json --only 'get_*' --prefix notes_

An existing file is updated: schemas become those of the server; names, the selection, edited texts and everything
added by hand are kept. The changes are shown. The rules are in docs/importing.md.

Exit codes: 0 success; 1 the list or the file is invalid, or --check found a difference; 2 the command line is invalid;
3 the server, the network or the disk failed.";

#[derive(Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct Mcp {
    /// The toolset to declare. The code of the host uses the same name for the server.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    toolset: String,
    /// The service that owns the toolset.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    service: String,
    /// The file to write or update [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    provenance: ProvenanceArgs,
    #[command(flatten)]
    update: UpdateArgs,
}

pub(crate) fn run(arguments: &Mcp) -> Exit {
    let selection = arguments.selection.for_update(&arguments.update);
    if let Err(message) = selection.check() {
        usage_error::exit(ErrorKind::ValueValidation, &message)
    }
    let owner = Owner { service: &arguments.service, toolset: &arguments.toolset };
    let from = arguments.provenance.provenance();
    let imported = file::other_files(arguments.out.as_deref()).and_then(|other_files| {
        import(arguments, Request { owner, selection, from, other_files: &other_files })
    });
    imported.unwrap_or_else(|(exit, message)| {
        let mut lines = message.lines();
        print::err_line(&format!(
            "import: {}; nothing was written",
            lines.next().unwrap_or_default()
        ));
        lines.for_each(|line| print::err_line(&format!("  | {line}")));
        exit
    })
}

fn import(arguments: &Mcp, mut request: Request<'_>) -> Result<Exit, Failure> {
    let out = arguments.out.as_deref();
    // Check the file before a server is started.
    let before =
        out.map(|out| file::read(out, request.owner, arguments.update.force)).transpose()?;
    if before.as_ref().is_none_or(|before| before.existing.is_none()) {
        let source = out.map(|out| out.display().to_string()).unwrap_or_default();
        check_owner(request.owner, request.other_files)
            .map_err(|error| failure(&source, &error))?;
    }
    let list = list::load(&arguments.list, &arguments.connection)?;
    request.from = request.from.or(list.from);
    let existing = before.as_ref().and_then(|before| before.existing.as_ref());
    let imported =
        mcp(&list.json, &request, existing).map_err(|error| failure(&list.source, &error))?;
    for warning in &imported.warnings {
        print::err_line(&format!("warning: {warning}"));
    }
    if let (Some(out), Some(before)) = (out, &before) {
        return file::write(out, before, &imported, arguments.update.check);
    }
    print::out(&imported.text);
    print::err(&format!("{}\n", file::summary(&imported)));
    Ok(Exit::Success)
}

fn failure(source: &str, error: &ImportError) -> Failure {
    match error {
        ImportError::List(error) => (Exit::Rejected, format!("{source}: {error}")),
        ImportError::Selection(mistakes) | ImportError::Check(mistakes) => {
            match mistakes.as_slice() {
                [mistake] => (Exit::Rejected, mistake.clone()),
                mistakes => {
                    for mistake in mistakes {
                        print::err_line(&format!("error: {mistake}"));
                    }
                    (Exit::Rejected, format!("{} mistakes", mistakes.len()))
                }
            }
        }
    }
}
