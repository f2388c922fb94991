//! The streams of the cases as bytes: text unchanged, and messages of AWS in their framing.

use std::fs;
use std::path::{Path, PathBuf};

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
    let mut headers = Vec::new();
    let mut header = |name: &str, value: &str| {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.bytes());
    };
    if let Some(name) = name.strip_prefix("exception:") {
        header(":exception-type", name);
        header(":message-type", "exception");
    } else {
        header(":event-type", name);
        header(":content-type", "application/json");
        header(":message-type", "event");
    }
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let mut message = Vec::new();
    message.extend(length(16 + headers.len() + payload.len()));
    message.extend(length(headers.len()));
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}
