//! Gets a server's list of tools as text, from a file or from the server. Never looks into it.

use std::path::Path;

use toolwright_codegen::disk;
use toolwright_import::Provenance;

use super::flags::{Asking, List};
use super::{Failure, Listed};
use crate::end::End;

/// Gets the list.
///
/// # Errors
///
/// When the file is not there or the server does not answer.
pub(crate) fn get(list: &List, asking: &Asking) -> Result<Listed, Failure> {
    match &list.tools_json {
        Some(file) => saved(file),
        None => ask(list, asking),
    }
}

fn saved(file: &Path) -> Result<Listed, Failure> {
    match disk::read_text(file) {
        Ok(Some(json)) => {
            let source = file.display().to_string();
            Ok(Listed { json, from: Provenance::default(), source })
        }
        Ok(None) => Err((End::Rejected, format!("no file {}", file.display()))),
        Err(failure) => Err((End::Io, failure.to_string())),
    }
}

#[cfg(feature = "mcp")]
fn ask(list: &List, asking: &Asking) -> Result<Listed, Failure> {
    super::live::ask(list, asking)
}

#[cfg(not(feature = "mcp"))]
fn ask(_: &List, _: &Asking) -> Result<Listed, Failure> {
    Err((
        End::Io,
        "this program was built without the feature `mcp`, so it cannot ask a server; install it with `cargo install \
         toolwright-cli --features mcp` (`tls` for https addresses), or save the server's answer to `tools/list` and \
         name the file with --tools-json"
            .to_owned(),
    ))
}
