//! The streams of the cases as bytes: text unchanged, and messages of AWS in their framing.

use std::fs;
use std::path::{Path, PathBuf};

use toolwright_model_stage::event_stream;

use crate::cases::files;

/// Returns the streams of an endpoint.
pub(crate) fn streams(endpoint: &str) -> Vec<PathBuf> {
    let folder = format!("{endpoint}/streams");
    let mut paths = files(&folder, "sse");
    paths.extend(files(&folder, "messages"));
    paths
}

/// Returns the bytes of a stream.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    let text = fs::read(path).unwrap();
    if path.extension().is_some_and(|ending| ending == "sse") {
        return text;
    }
    let text = String::from_utf8(text).unwrap();
    text.lines().flat_map(message).collect()
}

/// Returns a message from `name payload`.
fn message(line: &str) -> Vec<u8> {
    let (name, payload) = line.split_once(' ').unwrap();
    match name.strip_prefix("exception:") {
        Some(name) => event_stream::exception(name, payload),
        None => event_stream::event(name, payload),
    }
}
