//! `toolwright import openapi`: a schema file from an OpenAPI document. Reads that one file, writes one file or standard
//! output, and nothing else.

use std::path::PathBuf;

use clap::Args;
use toolwright_codegen::disk;
use toolwright_codegen::import::Owner;
use toolwright_codegen::import::openapi::{ApiImport, ImportedApi, Selection, openapi};
use toolwright_codegen::project::count;

use crate::end::End;
use crate::import::{failed, name};
use crate::print;

/// The operations of an HTTP API, from its OpenAPI document: methods, tools on them, and how they go over HTTP.
#[derive(Args)]
pub(crate) struct OpenApi {
    /// The document: OpenAPI 3.0 or 3.1, as JSON or YAML, in one file.
    file: PathBuf,
    /// The service whose methods the operations become.
    #[arg(long, value_name = "NAME", value_parser = name)]
    service: String,
    /// The toolset of the tools; named like the service unless given.
    #[arg(long, value_name = "NAME", value_parser = name)]
    toolset: Option<String>,
    /// One toolset a tag, named after the toolset and the tag.
    #[arg(long)]
    by_tag: bool,
    /// Take only these operations, by their operationId or by their name here.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these operations out.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    except: Vec<String>,
    /// Take only operations with one of these tags.
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tag: Vec<String>,
    /// Name an operation otherwise: what it is called, and what it is to be called.
    #[arg(long, value_name = "FROM=TO,…", value_delimiter = ',', value_parser = renaming)]
    rename: Vec<(String, String)>,
    /// The file to write; standard output unless given.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: OpenApi) -> End {
    let shown = arguments.file.display().to_string();
    let text = match disk::read_text(&arguments.file) {
        Ok(Some(text)) => text,
        Ok(None) => return failed(End::Rejected, &format!("no file {shown}")),
        Err(failure) => return failed(End::Io, &failure.to_string()),
    };
    let toolset = arguments.toolset.as_ref().unwrap_or(&arguments.service);
    let OpenApi { only, except, tag: tags, rename, .. } = arguments;
    let import = ApiImport {
        owner: Owner { service: &arguments.service, toolset },
        by_tag: arguments.by_tag,
        selection: Selection { only, except, tags, rename },
    };
    match openapi(&text, &shown, &import) {
        Ok(imported) => written(&imported, arguments.out),
        Err(error) => failed(End::Rejected, &format!("{shown}: {error}")),
    }
}

fn written(imported: &ImportedApi, out: Option<PathBuf>) -> End {
    for warning in &imported.warnings {
        print::err(&format!("warning: {warning}\n"));
    }
    let left_out = match imported.left_out {
        0 => String::new(),
        count => format!(", {count} left out"),
    };
    let operations = count(imported.operations, "operation");
    let warnings = count(imported.warnings.len(), "warning");
    let summary = format!("import: {operations}{left_out}, {warnings}");
    let Some(file) = out else {
        print::out(&imported.text);
        print::err(&format!("{summary}\n"));
        return End::Done;
    };
    match disk::write_text(&file, &imported.text) {
        Ok(()) => {
            print::out(&format!("{summary}: {}\n", file.display()));
            End::Done
        }
        Err(failure) => failed(End::Io, &failure.to_string()),
    }
}

fn renaming(text: &str) -> Result<(String, String), String> {
    let (from, to) =
        text.split_once('=').ok_or("expected two names, as in `listPets=list_pets`")?;
    Ok((from.to_owned(), name(to)?))
}
