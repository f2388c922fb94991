//! The root of a crate, which declares its modules and its entry points, and the index of modules for build scripts.

use super::BANNER;
use super::consumers;
use super::module::Module;
use super::printer::Printer;
use super::rust::{Ident, TokenStream, quote};
use super::tokens::ident;
use super::toolset;
use crate::naming::library;
use crate::plan::{Contents, Crate};

/// Returns the text of `src/lib.rs`.
pub(super) fn root(krate: &Crate<'_>, modules: &[Module], printer: &mut Printer) -> String {
    let about = &krate.about;
    let mut text = format!("// {BANNER}.\n//! {about}.\n");
    if !krate.docs.is_empty() {
        text.push_str("//!\n");
    }
    for line in &krate.docs {
        text.push_str(if line.is_empty() { "//!" } else { "//! " });
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("\n#![forbid(unsafe_code)]\n");
    if !modules.is_empty() {
        text.push('\n');
    }
    for module in modules {
        // The attribute and the module are on one line, which rustfmt leaves as it is.
        text.push_str("#[rustfmt::skip] ");
        let visible = module.is_public().then(|| quote!(pub));
        let name = ident(module.name);
        printer.print(&quote!(#visible mod #name;), &mut text);
    }
    for item in items(&krate.contents) {
        text.push('\n');
        printer.print(&item, &mut text);
    }
    text
}

/// Returns the entry points of a crate.
fn items(contents: &Contents<'_>) -> Vec<TokenStream> {
    match contents {
        Contents::Toolset(toolset) => vec![toolset::register(toolset)],
        Contents::Agent(agent) => vec![consumers::register(agent)],
        Contents::Server(server) => consumers::server(server).into(),
        Contents::Service(_) | Contents::Http(_) => Vec::new(),
    }
}

/// Returns the text of `mod.rs`, which declares every crate as a module. `crates` has the folder and the package of each.
pub(super) fn index<'a>(crates: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!("// {BANNER}.\n\n");
    let mut printer = Printer::default();
    for (folder, package) in crates {
        let (path, name) = (format!("{folder}/src/lib.rs"), library(package));
        let name = Ident::new(&name);
        printer.print(&quote!(#[path = #path] pub mod #name;), &mut text);
    }
    text
}
