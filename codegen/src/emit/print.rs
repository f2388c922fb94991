//! Modules as files.

use super::BANNER;
use super::layout::Printer;
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
        let mut text = format!("// {BANNER}.\n//! {}\n", self.about);
        // Lines are indented, and hardly ever twice as long for it.
        text.reserve(self.parts.iter().map(TokenStream::len).sum::<usize>() * 2);
        for part in &self.parts {
            text.push('\n');
            printer.print(part, &mut text);
        }
        // Thousands of files are kept until they are written.
        text.shrink_to_fit();
        text
    }
}
