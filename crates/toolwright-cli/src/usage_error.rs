//! Makes the usage errors of clap, which repeat arguments, safe to print.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use toolwright::http::RedactedUrl;

use crate::print::printable_line;

/// Returns the error without the values of headers and without the secrets of URLs. Other arguments become printable lines.
pub(crate) fn printable(mut error: Error) -> Error {
    let repeated =
        [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand];
    let texts = repeated.into_iter().filter_map(|kind| match error.get(kind)? {
        ContextValue::String(text) => Some((kind, text.clone())),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    let is_about = |option: &str| texts.iter().any(|(_, text)| text.starts_with(option));
    // A header without quotes is several arguments.
    let is_header = |argument: &str| argument == "--header" || argument.starts_with("--header=");
    let has_header = std::env::args_os().any(|argument| is_header(&argument.to_string_lossy()));
    for (kind, text) in &texts {
        let may_be_url = is_about("--url") || text.contains("://") || text.contains('@');
        let is_option = text.starts_with('-');
        let shown = match kind {
            ContextKind::InvalidValue if is_about("--header") => "…".to_owned(),
            ContextKind::InvalidArg if has_header && !is_option => "…".to_owned(),
            _ if may_be_url => RedactedUrl::new(text).to_string(),
            _ => text.clone(),
        };
        error.insert(*kind, ContextValue::String(printable_line(&shown)));
    }
    error
}

/// Ends the process as for a wrong command line.
pub(crate) fn exit(kind: ErrorKind, message: &str) -> ! {
    Error::raw(kind, format!("{}\n", printable_line(message))).exit()
}
