//! `toolwright import mcp`: a schema file from a server's list of tools. Writes one file or standard output, and
//! nothing else.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use toolwright_import::{ImportError, Owner, Request, mcp};

use super::file;
use super::flags::{self, Again, Asking, Choice, List, Origin};
use super::{Failure, list};
use crate::end::End;
use crate::print;

/// What a command is given after, clap shows nowhere by itself.
const USAGE: &str = "\
toolwright import mcp --toolset <NAME> --service <NAME> [OPTIONS] (--tools-json <FILE> | --url <URL> | -- <CMD>...)";

/// Shown below the flags.
const MORE: &str = "\
Examples:
  toolwright import mcp --toolset time --service clock -o schema/time.yaml -- uvx mcp-server-time
  toolwright import mcp --toolset github --service github --url http://127.0.0.1:3000/mcp --bearer-env TOKEN
  toolwright import mcp --toolset notes --service notes --tools-json list.json --only 'get_*' --prefix notes_

When the file is there, it is brought up to date: schemas become what the server says now; names, selection, words that
were edited and everything that was added by hand stay. What changed is shown. The rules stand in docs/importing.md.

Exit codes: 0 done; 1 the list or the file is wrong, or --check found a difference; 2 the command line is wrong;
3 the server, the network or the disk failed.";

#[derive(Args)]
#[command(after_help = MORE, override_usage = USAGE)]
pub(crate) struct Mcp {
    /// The toolset to declare; run-time configuration knows the server by the same name.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    toolset: String,
    /// The service that owns it.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    service: String,
    /// The file to write, or to bring up to date; standard output unless given.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    list: List,
    #[command(flatten)]
    asking: Asking,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    origin: Origin,
    #[command(flatten)]
    again: Again,
}

pub(crate) fn run(arguments: &Mcp) -> End {
    let selection = arguments.choice.selection(&arguments.again);
    if let Err(message) = selection.check() {
        clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).exit()
    }
    let owner = Owner { service: &arguments.service, toolset: &arguments.toolset };
    let from = arguments.origin.provenance();
    let imported = file::beside(arguments.out.as_deref()).and_then(|other_files| {
        import(arguments, Request { owner, selection, from, other_files: &other_files })
    });
    imported.unwrap_or_else(|(end, message)| {
        let mut lines = message.lines();
        print::err_line(&format!(
            "import: {}; nothing was written",
            lines.next().unwrap_or_default()
        ));
        lines.for_each(|line| print::err_line(&format!("  | {line}")));
        end
    })
}

fn import(arguments: &Mcp, mut request: Request<'_>) -> Result<End, Failure> {
    let out = arguments.out.as_deref();
    // A file that cannot be brought up to date is told before a server is started.
    let before =
        out.map(|out| file::before(out, request.owner, arguments.again.force)).transpose()?;
    let listed = list::get(&arguments.list, &arguments.asking)?;
    request.from = request.from.or(listed.from);
    let existing = before.as_ref().and_then(|before| before.existing.as_ref());
    let imported = mcp(&listed.json, &request, existing)
        .map_err(|refusal| refused(&listed.source, &refusal))?;
    for warning in &imported.warnings {
        print::err_line(&format!("warning: {warning}"));
    }
    if let (Some(out), Some(before)) = (out, &before) {
        return file::settle(out, before, &imported, arguments.again.check);
    }
    print::out(&imported.text);
    print::err(&format!("{}\n", file::summary(&imported)));
    Ok(End::Done)
}

fn refused(source: &str, refusal: &ImportError) -> Failure {
    match refusal {
        ImportError::List(error) => (End::Rejected, format!("{source}: {error}")),
        ImportError::Selection(mistakes) | ImportError::Check(mistakes) => {
            match mistakes.as_slice() {
                [mistake] => (End::Rejected, mistake.clone()),
                mistakes => {
                    for mistake in mistakes {
                        print::err_line(&format!("error: {mistake}"));
                    }
                    (End::Rejected, format!("{} mistakes", mistakes.len()))
                }
            }
        }
    }
}
