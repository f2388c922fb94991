//! Prints to standard output and standard error. An error of writing to standard output decides the exit code, unless the
//! reader has closed the pipe, as `head` does.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;

use toolwright::untrusted::{excerpt, visible_json};
use toolwright_codegen::render::{Format, printable, without_commands};

use crate::exit::Exit;

/// The first error of writing to standard output.
static OUT_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output. A text of others that is a command for a program that runs a pipeline is escaped.
pub(crate) fn out(text: &str) {
    let text = without_commands(text);
    let mut stdout = io::stdout().lock();
    note_error(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Prints a JSON text and a line end to standard output. Escapes hidden characters.
pub(crate) fn out_json(text: &str) {
    out(&format!("{}\n", visible_json(text)));
}

/// Notes an error of writing to standard output, for [`exit`].
pub(crate) fn note_error(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = OUT_ERROR.set(error);
    }
}

/// Returns the exit code of a command, which is [`Exit::Io`] if its output could not be written.
pub(crate) fn exit(code: Exit) -> Exit {
    let Some(error) = OUT_ERROR.get() else { return code };
    err(&format!("error: cannot write to standard output: {error}\n"));
    Exit::Io
}

/// Prints to standard error, as [`out`] does.
pub(crate) fn err(text: &str) {
    let _ = io::stderr().write_all(without_commands(text).as_bytes());
}

/// Prints one line to standard output. Escapes untrusted text in it.
pub(crate) fn out_line(text: &str) {
    out(&format!("{}\n", printable_line(text)));
}

/// The most characters to which the cells of a column are filled up.
const MAX_WIDTH: usize = 200;

/// Prints rows of columns to standard output.
pub(crate) fn table<const COLUMNS: usize>(head: [&str; COLUMNS], rows: &[[String; COLUMNS]]) {
    let head = head.map(str::to_owned);
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = [&head].into_iter().chain(rows).map(|row| row[column].chars().count());
        cells.max().unwrap_or_default().min(MAX_WIDTH)
    });
    for row in [&head].into_iter().chain(rows) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        out_line(cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// Prints one line to standard error. Escapes untrusted text in it.
pub(crate) fn err_line(text: &str) {
    err(&format!("{}\n", printable_line(text)));
}

/// Makes each line of an untrusted text printable.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable_line).collect::<Vec<_>>().join("\n")
}

/// The maximum length of a printed line in bytes.
const MAX_LINE: usize = 2000;

/// Returns a text as one line, without characters that control a terminal or hide words.
pub(crate) fn printable_line(text: &str) -> String {
    excerpt(&printable(text), MAX_LINE)
}

/// The format for people: colored on a terminal unless `NO_COLOR` (no-color.org) is set.
pub(crate) fn human() -> Format {
    let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Format::Human { color: allowed && io::stderr().is_terminal() }
}
