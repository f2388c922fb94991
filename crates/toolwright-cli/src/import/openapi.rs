//! `toolwright import openapi`: writes a schema file from an OpenAPI document. Never fetches references over the network.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use toolwright_codegen::disk;
use toolwright_codegen::project::count;
use toolwright_import::Owner;
use toolwright_import::openapi::{ApiImport, ImportedApi, openapi};

use super::Failure;
use super::file;
use super::flags::{self, SelectionArgs};
use crate::exit::Exit;
use crate::print;
use crate::usage_error;

/// The text below the options.
const AFTER_HELP: &str = "\
Examples:
  toolwright import openapi petstore.yaml --service petstore -o schema/petstore.yaml
  toolwright import openapi github.json --service github --tag issues --prefix github_ -o schema/github.yaml

The name of an operation is its operationId, or `get /path` if it has none. Operations and parts that cannot be
expressed are left out with a warning.

Exit codes: 0 success; 1 the document or the selection is invalid; 2 the command line is invalid; 3 the disk failed.";

#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct OpenApi {
    /// The document: OpenAPI 3.0 or 3.1, as JSON or YAML, in one file.
    file: PathBuf,
    /// The service to declare, whose methods are the operations.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    service: String,
    /// The toolset to declare [default: the name of the service].
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    toolset: Option<String>,
    /// Declare one toolset per tag, named after the toolset and the tag.
    #[arg(long)]
    by_tag: bool,
    /// Import only operations with one of these tags.
    #[arg(long, value_name = "TAG", num_args = 1..)]
    tag: Vec<String>,
    /// The file to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    selection: SelectionArgs,
}

pub(crate) fn run(arguments: &OpenApi) -> Exit {
    let selection = arguments.selection.for_new_file();
    if let Err(message) = selection.check() {
        usage_error::exit(ErrorKind::ValueValidation, &message)
    }
    let toolset = arguments.toolset.as_ref().unwrap_or(&arguments.service);
    let owner = Owner { service: &arguments.service, toolset };
    let imported = file::other_files(arguments.out.as_deref()).and_then(|other_files| {
        let import = ApiImport {
            owner,
            by_tag: arguments.by_tag,
            tags: arguments.tag.clone(),
            selection,
            other_files: &other_files,
        };
        read(arguments, &import)
    });
    imported.unwrap_or_else(|(exit, message)| {
        print::err_line(&format!("import: {message}; nothing was written"));
        exit
    })
}

fn read(arguments: &OpenApi, import: &ApiImport<'_>) -> Result<Exit, Failure> {
    let io = |failure: disk::IoError| (Exit::Io, failure.to_string());
    let shown = arguments.file.display().to_string();
    let text = disk::read_text(&arguments.file).map_err(io)?;
    let text = text.ok_or_else(|| (Exit::Rejected, format!("no file {shown}")))?;
    let imported = openapi(&text, &shown, import)
        .map_err(|error| (Exit::Rejected, format!("{shown}: {error}")))?;
    for warning in &imported.warnings {
        print::err_line(&format!("warning: {warning}"));
    }
    let Some(file) = &arguments.out else {
        print::out(&imported.text);
        print::err(&format!("{}\n", summary(&imported)));
        return Ok(Exit::Success);
    };
    if disk::read_writable(file).map_err(io)?.is_some() && !arguments.force {
        let message =
            format!("{} exists; name another file, or replace it with --force", file.display());
        return Err((Exit::Rejected, message));
    }
    disk::write_text(file, &imported.text).map_err(io)?;
    print::out_line(&format!("{}: {}", summary(&imported), file.display()));
    Ok(Exit::Success)
}

fn summary(imported: &ImportedApi) -> String {
    let left_out = match imported.left_out {
        0 => String::new(),
        count => format!(", {count} left out"),
    };
    let operations = count(imported.operations, "operation");
    format!("import: {operations}{left_out}, {}", count(imported.warnings.len(), "warning"))
}
