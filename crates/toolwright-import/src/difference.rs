//! Computes the unified diff of two texts of one file, as `diff -u` shows it.

use similar::TextDiff;

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// Returns the unified diff of a file's text; empty if there is no difference.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string()
}
