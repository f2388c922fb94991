//! Writes one text to a path that a person named. Never below a folder of generated crates.

use std::fs;
use std::path::Path;

use super::failure::IoFailure;

/// Writes a text, in place of whatever the file held.
///
/// # Errors
///
/// When the system refuses.
pub fn write_text(path: &Path, text: &str) -> Result<(), IoFailure> {
    fs::write(path, text).map_err(IoFailure::on("write", path))
}
