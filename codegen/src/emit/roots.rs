//! Where modules are declared: in the root of a crate, and in the index of `OUT_DIR`. Never what is in them.

use super::BANNER;
use super::print::Module;
use super::printer::Printer;
use super::rust::{Ident, TokenStream, quote};
use super::tokens::ident;
use crate::naming::library;
use crate::plan::{Contents, Crate};

/// `src/lib.rs`.
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
    let types = match &krate.contents {
        Contents::Service(service) => Some(&service.types),
        Contents::Toolset(toolset) => Some(&toolset.types),
        Contents::Agent(_) | Contents::Server(_) | Contents::Http(_) => None,
    };
    if types.is_some_and(|types| !types.is_documented()) {
        text.push_str("// What no schema describes has no docs.\n#![allow(missing_docs)]\n");
    }
    text.push('\n');
    let declarations = modules.iter().map(|module| {
        let name = ident(module.name);
        quote!(#[rustfmt::skip] pub mod #name;)
    });
    print(declarations, printer, &mut text);
    if modules.iter().any(|module| module.name == "registration") {
        text.push('\n');
        printer.print(
            &quote!(
                pub use registration::register;
            ),
            &mut text,
        );
    }
    text
}

/// `mod.rs`, which makes every crate a module beside the others; of each, its folder and its package.
pub(super) fn index<'a>(crates: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!("// {BANNER}.\n\n");
    let declarations = crates.map(|(folder, package)| {
        let (path, name) = (format!("{folder}/src/lib.rs"), library(package));
        let name = Ident::new(&name);
        quote!(#[path = #path] pub mod #name;)
    });
    print(declarations, &mut Printer::default(), &mut text);
    text
}

/// Declarations stand close together.
fn print(
    declarations: impl Iterator<Item = TokenStream>,
    printer: &mut Printer,
    text: &mut String,
) {
    for declaration in declarations {
        printer.print(&declaration, text);
    }
}
