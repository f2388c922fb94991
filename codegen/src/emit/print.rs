//! Tokens as text: the one place that formats Rust.

use proc_macro2::TokenStream;

use super::BANNER;

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
    pub(super) fn print(&self) -> String {
        let mut text = format!("// {BANNER}.\n//! {}\n", self.about);
        for part in &self.parts {
            text.push('\n');
            text.push_str(&print(part));
        }
        text
    }
}

/// Formats items.
///
/// # Panics
///
/// When the tokens are no Rust items: a mistake of an emitter, which every test of it would show.
fn print(items: &TokenStream) -> String {
    let file = syn::parse2(items.clone()).expect("emitters make Rust items");
    spaced(&prettyplease::unparse(&file))
}

/// Puts a blank line between the functions of an `impl` or a `trait`.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut in_functions = false;
    let mut previous = "";
    for line in text.lines() {
        if !line.starts_with(' ') {
            in_functions = line.starts_with("impl") || line.starts_with("pub trait");
        }
        let begins = line.starts_with("    ///")
            || line.starts_with("    fn ")
            || line.starts_with("    async fn ")
            || line.starts_with("    pub fn ");
        let ends = previous == "    }" || (previous.starts_with("    ") && previous.ends_with(';'));
        if in_functions && begins && ends && !previous.starts_with("     ") {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        previous = line;
    }
    out
}
