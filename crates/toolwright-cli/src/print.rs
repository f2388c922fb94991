//! Writes to the terminal. A reader that has gone away, such as `head`, is no failure.

use std::io::{self, IsTerminal as _, Write as _};

use toolwright_codegen::render::Format;

/// To standard output.
pub(crate) fn out(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// To standard error.
pub(crate) fn err(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A text that others had a say in, without what would steer a terminal.
pub(crate) fn shown(text: &str) -> String {
    let is_shown = |c: &char| *c == '\n' || !(c.is_control() || is_turning(*c));
    text.chars().filter(is_shown).collect()
}

/// Whether a character changes the direction in which those around it are shown (Unicode UAX #9).
fn is_turning(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// For a person: coloured on a terminal, unless `NO_COLOR` (no-color.org) is set.
pub(crate) fn human() -> Format {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Format::Human { color: wanted && io::stderr().is_terminal() }
}
