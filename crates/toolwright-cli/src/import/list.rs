//! Loads a tool list from a file or from a server.

use std::path::Path;

use toolwright_codegen::disk;
use toolwright_import::Provenance;

use super::flags::{ConnectionArgs, ListArgs};
use super::{Failure, ToolList};
use crate::exit::Exit;

/// Loads a tool list.
///
/// # Errors
///
/// Fails if the file does not exist or the server does not answer.
pub(crate) fn load(list: &ListArgs, connection: &ConnectionArgs) -> Result<ToolList, Failure> {
    match &list.tools_json {
        Some(file) => load_file(file),
        None => request(list, connection),
    }
}

fn load_file(file: &Path) -> Result<ToolList, Failure> {
    match disk::read_text(file) {
        Ok(Some(json)) => {
            let source = file.display().to_string();
            Ok(ToolList { json, from: Provenance::default(), source })
        }
        Ok(None) => Err((Exit::Rejected, format!("no file {}", file.display()))),
        Err(failure) => Err((Exit::Io, failure.to_string())),
    }
}

#[cfg(feature = "mcp")]
fn request(list: &ListArgs, connection: &ConnectionArgs) -> Result<ToolList, Failure> {
    super::live::request(list, connection)
}

#[cfg(not(feature = "mcp"))]
fn request(_: &ListArgs, _: &ConnectionArgs) -> Result<ToolList, Failure> {
    Err((
        Exit::Io,
        "this program was built without the feature `mcp`, so it cannot connect to a server; install it with `cargo install \
         toolwright-cli --features mcp` (`tls` for https URLs), or save the server's response to `tools/list` and \
         name the file with --tools-json"
            .to_owned(),
    ))
}
