//! Writes to the terminal. A reader that has gone away, such as `head`, is no failure.

use std::io::{self, IsTerminal as _, Write as _};

use toolwright::untrusted::excerpt;
use toolwright_codegen::render::{Format, printable};

/// To standard output.
pub(crate) fn out(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// To standard error.
pub(crate) fn err(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// To standard output: one line, whatever others had a say in it.
pub(crate) fn out_line(text: &str) {
    out(&format!("{}\n", shown(text)));
}

/// To standard error: one line, whatever others had a say in it.
pub(crate) fn err_line(text: &str) {
    err(&format!("{}\n", shown(text)));
}

/// Texts of others, line by line.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

/// The longest printed line in bytes.
const LONGEST_LINE: usize = 2000;

/// One line, without what would steer a terminal or hide words.
fn shown(text: &str) -> String {
    excerpt(&printable(text), LONGEST_LINE)
}

/// For a person: coloured on a terminal, unless `NO_COLOR` (no-color.org) is set.
pub(crate) fn human() -> Format {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Format::Human { color: wanted && io::stderr().is_terminal() }
}
