//! `toolwright import openapi`: a schema file from an OpenAPI document. Reads that one file, writes one file or standard
//! output, and nothing else; nothing is ever fetched.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use toolwright_codegen::disk;
use toolwright_codegen::project::count;
use toolwright_import::Owner;
use toolwright_import::openapi::{ApiImport, ImportedApi, openapi};

use super::Failure;
use super::file;
use super::flags::{self, Choice};
use crate::end::End;
use crate::print;

/// Shown below the flags.
const MORE: &str = "\
Examples:
  toolwright import openapi petstore.yaml --service petstore -o schema/petstore.yaml
  toolwright import openapi github.json --service github --tag issues --prefix github_ -o schema/github.yaml

Names of operations are their operationId, or `get /path` where there is none. What cannot be kept true is left out, and
named in a warning.

Exit codes: 0 done; 1 the document or the selection is wrong; 2 the command line is wrong; 3 the disk failed.";

#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct OpenApi {
    /// The document: OpenAPI 3.0 or 3.1, as JSON or YAML, in one file.
    file: PathBuf,
    /// The service whose methods the operations become.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    service: String,
    /// The toolset of the tools; named like the service unless given.
    #[arg(long, value_name = "NAME", value_parser = flags::name)]
    toolset: Option<String>,
    /// One toolset a tag, named after the toolset and the tag.
    #[arg(long)]
    by_tag: bool,
    /// Take operations with one of these tags alone.
    #[arg(long, value_name = "TAG", num_args = 1..)]
    tag: Vec<String>,
    /// The file to write; standard output unless given.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the file anew where it is there already.
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn run(arguments: &OpenApi) -> End {
    let selection = arguments.choice.fresh();
    if let Err(message) = selection.check() {
        clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).exit()
    }
    let toolset = arguments.toolset.as_ref().unwrap_or(&arguments.service);
    let owner = Owner { service: &arguments.service, toolset };
    let imported = file::beside(arguments.out.as_deref()).and_then(|beside| {
        let import = ApiImport {
            owner,
            by_tag: arguments.by_tag,
            tags: arguments.tag.clone(),
            selection,
            other_files: &beside,
        };
        read(arguments, &import)
    });
    imported.unwrap_or_else(|(end, message)| {
        print::err_line(&format!("import: {message}; nothing was written"));
        end
    })
}

fn read(arguments: &OpenApi, import: &ApiImport<'_>) -> Result<End, Failure> {
    let io = |failure: disk::IoError| (End::Io, failure.to_string());
    let shown = arguments.file.display().to_string();
    let text = disk::read_text(&arguments.file).map_err(io)?;
    let text = text.ok_or_else(|| (End::Rejected, format!("no file {shown}")))?;
    let imported = openapi(&text, &shown, import)
        .map_err(|error| (End::Rejected, format!("{shown}: {error}")))?;
    for warning in &imported.warnings {
        print::err_line(&format!("warning: {warning}"));
    }
    let Some(file) = &arguments.out else {
        print::out(&imported.text);
        print::err(&format!("{}\n", summary(&imported)));
        return Ok(End::Done);
    };
    if disk::read_writable(file).map_err(io)?.is_some() && !arguments.force {
        let message = format!(
            "{} is there; name another file, or write it anew with --force",
            file.display()
        );
        return Err((End::Rejected, message));
    }
    disk::write_text(file, &imported.text).map_err(io)?;
    print::out_line(&format!("{}: {}", summary(&imported), file.display()));
    Ok(End::Done)
}

fn summary(imported: &ImportedApi) -> String {
    let left_out = match imported.left_out {
        0 => String::new(),
        count => format!(", {count} left out"),
    };
    let operations = count(imported.operations, "operation");
    format!("import: {operations}{left_out}, {}", count(imported.warnings.len(), "warning"))
}
