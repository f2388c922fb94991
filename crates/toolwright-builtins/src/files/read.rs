//! The tool `read_file`.

use std::io::{Read as _, Seek, SeekFrom};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright::ToolFailure;
use toolwright_runtime::FunctionTool;

use super::{Files, blocking, open, refused, spec};
use crate::{READS, rejected, shown};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    /// The file, such as `src/main.rs`.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The byte to start at: 0, the `next_offset` of an earlier read, or the `offset` of a match.
    #[serde(default)]
    offset: u64,
}

#[derive(Serialize, JsonSchema)]
struct Text {
    text: String,
    /// The size of the whole file in bytes.
    size: u64,
    /// The offset of the rest of the text, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    let about = "Read a text file. Read a long one in parts: call again with `next_offset`.";
    FunctionTool::new(spec("read_file", about, READS), move |args: ReadArgs| {
        let files = files.clone();
        blocking(move |_| read(&files, &args))
    })
}

fn read(files: &Files, ReadArgs { path, offset }: &ReadArgs) -> Result<Text, ToolFailure> {
    let (mut file, size) = open(&files.root, path)?;
    if *offset > size {
        return Err(rejected(format!(
            "`{}` has {size} bytes, expected an offset up to that and not {offset}",
            shown(path)
        )));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(*offset))
        .and_then(|_| file.take(files.read_limit as u64).read_to_end(&mut bytes))
        .map_err(|error| refused(path, &error))?;
    let is_all = offset.saturating_add(bytes.len() as u64) >= size;
    let text = text_of(&bytes, is_all).ok_or_else(|| {
        let path = shown(path);
        rejected(format!("`{path}` is binary or not in UTF-8 from byte {offset} on (it has {size} bytes), expected text"))
    })?;
    let next_offset = (!is_all).then(|| offset + text.len() as u64);
    Ok(Text { text: text.to_owned(), size, next_offset })
}

/// Converts bytes to text. If they are not all of the file, an incomplete line at the end is left out, or if there is no complete
/// line, an incomplete character.
fn text_of(bytes: &[u8], is_all: bool) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character is incomplete. Without any complete character the bytes are not text.
        Err(error) if error.error_len().is_none() && !is_all && error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let text = if is_all { text } else { text.rfind('\n').map_or(text, |end| &text[..=end]) };
    (!text.contains('\0')).then_some(text)
}
