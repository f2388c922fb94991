//! A module of a generated crate, which becomes one source file.

use super::BANNER;
use super::printer::Printer;
use super::rust::TokenStream;

/// The name of the only module that is private: users call tools, and the executor converts.
pub(super) const TRANSFORMS: &str = "transforms";

/// One source file.
pub(super) struct Module {
    /// Its name, which is that of the file without `.rs`.
    pub(super) name: &'static str,
    /// Its doc comment, one line.
    pub(super) about: String,
    /// Its parts, in order, which blank lines separate.
    pub(super) parts: Vec<TokenStream>,
}

impl Module {
    /// Returns whether users of the crate see the module.
    pub(super) fn is_public(&self) -> bool {
        self.name != TRANSFORMS
    }

    /// Returns the text of the file.
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
