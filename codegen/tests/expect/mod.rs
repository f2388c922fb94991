//! Compares results of tests with expectations in files.

use std::path::Path;
use std::{env, fs};

use similar::TextDiff;

/// Compares a text with a file and adds a difference to `wrong`. If `UPDATE_EXPECT` is set, writes the file instead.
pub(crate) fn expect(path: &Path, found: &str, wrong: &mut Vec<String>) {
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, found).expect("the expectation can be written");
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected != found {
        let diff = TextDiff::from_lines(&expected, found);
        let diff = diff.unified_diff().context_radius(1).header("expected", "found").to_string();
        wrong.push(format!("{}; UPDATE_EXPECT=1 updates the file\n{diff}", path.display()));
    }
}
