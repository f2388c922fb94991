//! `toolwright import`: a schema file from a list of tools. Writes one file or standard output, and
//! nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, Subcommand};
use toolwright_codegen::disk;
use toolwright_codegen::import::{Imported, Owner, tools_list};
use toolwright_codegen::naming;
use toolwright_codegen::project::count;

use crate::end::End;
use crate::import_openapi::OpenApi;
use crate::print;

/// What is imported.
#[derive(Subcommand)]
pub(crate) enum Source {
    /// The tools of an MCP server, as it lists them.
    Mcp(Mcp),
    /// The operations of an HTTP API, from its OpenAPI document.
    Openapi(OpenApi),
}

#[derive(Args)]
pub(crate) struct Mcp {
    /// The toolset to declare; run-time configuration knows the server by the same name.
    #[arg(long, value_name = "NAME", value_parser = name)]
    toolset: String,
    /// The service that owns it.
    #[arg(long, value_name = "NAME", value_parser = name)]
    service: String,
    /// The file to write; standard output unless given.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    list: List,
}

/// Where the list is from.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct List {
    /// A file with the server's answer to `tools/list`.
    #[arg(long, value_name = "FILE")]
    tools_json: Option<PathBuf>,
    /// The address of a server.
    #[arg(long)]
    url: Option<String>,
    /// The command that starts a server on its standard streams.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Mcp) -> End {
    let Some(file) = &arguments.list.tools_json else { unsupported() };
    let owner = Owner { service: &arguments.service, toolset: &arguments.toolset };
    let text = match disk::read_text(file) {
        Ok(Some(text)) => text,
        Ok(None) => return failed(End::Rejected, &format!("no file {}", file.display())),
        Err(failure) => return failed(End::Io, &failure.to_string()),
    };
    match tools_list(&text, owner) {
        Ok(imported) => written(&imported, arguments.out.as_deref()),
        Err(error) => failed(End::Rejected, &format!("{}: {error}", file.display())),
    }
}

fn written(imported: &Imported, out: Option<&Path>) -> End {
    let summary = format!(
        "import: {}, {}",
        count(imported.tools, "tool"),
        count(imported.warnings.len(), "warning")
    );
    for warning in &imported.warnings {
        print::err(&format!("warning: {warning}\n"));
    }
    let Some(file) = out else {
        print::out(&imported.text);
        print::err(&format!("{summary}\n"));
        return End::Done;
    };
    match disk::write_text(file, &imported.text) {
        Ok(()) => {
            print::out(&format!("{summary}: {}\n", file.display()));
            End::Done
        }
        Err(failure) => failed(End::Io, &failure.to_string()),
    }
}

pub(crate) fn failed(end: End, message: &str) -> End {
    print::err(&format!("import: {message}; nothing was written\n"));
    end
}

fn unsupported() -> ! {
    let message = "asking a server for its tools is not supported yet; save its answer to \
                   `tools/list` and name the file with --tools-json\n";
    clap::Error::raw(ErrorKind::InvalidValue, message).exit()
}

pub(crate) fn name(text: &str) -> Result<String, String> {
    if naming::is_name(text) {
        return Ok(text.to_owned());
    }
    Err("expected a name such as `git_hub`: small letters, digits, and single `_` between them"
        .to_owned())
}
