//! Modules as files.

use super::BANNER;
use super::printer::Printer;
use super::rust::TokenStream;

/// One source file.
pub(super) struct Module {
    /// Its name, without an ending.
    pub(super) name: &'static str,
    /// What it holds, in a line.
    pub(super) about: String,
    /// Its parts, in order; a blank line stands between any two.
    pub(super) parts: Vec<TokenStream>,
}

impl Module {
    /// The file's text.
    pub(super) fn print(&self, printer: &mut Printer) -> String {
        printer.file(|printer, text| {
            for line in ["// ", BANNER, ".\n//! ", &self.about, "\n"] {
                text.push_str(line);
            }
            for part in &self.parts {
                text.push('\n');
                printer.print(part, text);
            }
        })
    }
}
