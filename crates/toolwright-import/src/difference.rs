//! Computes the unified diff of two texts of one file, as `diff -u` shows it.

use similar::TextDiff;

/// How many equal lines are shown around a change.
const CONTEXT: usize = 3;

/// The unified diff of a file's text; empty where there is no difference.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string()
}
