//! Whatever is emitted is the Rust that was meant: what `proc_macro2` and `syn` read in a file is what its emitter wrote
//! down. Never about one emitter.

use std::path::PathBuf;

use proc_macro2::{Delimiter, Spacing, TokenStream as Read, TokenTree};

use super::print::Module;
use super::printer::Printer;
use super::random_projects;
use super::rust::{Ident, TokenStream, quote};
use crate::options::Options;
use crate::plan::Plans;

/// How many random projects are made, from the seeds 0, 1, …
const SEEDS: u64 = 30;

/// Generated modules of the worked examples, of the cases, and of random projects.
fn modules() -> Vec<Module> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let options = Options::default();
    let mut modules = Vec::new();
    for folder in ["schema", "tests/codecs", "tests/real"] {
        let lowered = crate::lowered(&[root.join(folder)]);
        modules.extend(modules_of(&Plans::new(&lowered.project, &lowered.types, &options)));
    }
    let mut right = 0;
    for seed in 0..SEEDS {
        let Some(lowered) = crate::lowered_text(random_projects::project(seed)) else { continue };
        right += 1;
        modules.extend(modules_of(&Plans::new(&lowered.project, &lowered.types, &options)));
    }
    assert!(right * 2 > SEEDS, "only {right} of {SEEDS} random projects are right");
    modules
}

fn modules_of(plans: &Plans<'_>) -> Vec<Module> {
    let crates = plans.subjects().iter().filter_map(|&subject| plans.plan(subject));
    crates.flat_map(|krate| super::modules(&krate.contents)).collect()
}

/// The tokens of a text, each as a text, without commas, which a printer may choose at the end of a list.
fn meaning(text: &str) -> Vec<String> {
    let read: Read = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut tokens = Vec::new();
    flatten(read, &mut tokens);
    tokens
}

fn flatten(read: Read, tokens: &mut Vec<String>) {
    for token in read {
        match token {
            TokenTree::Group(group) => flatten_group(group, tokens),
            TokenTree::Punct(punct) if punct.as_char() == ',' => {}
            // Two places of tuples, `.0.1`, read as a number.
            TokenTree::Literal(places) if tokens.last().is_some_and(|last| last == ".") => {
                let places = places.to_string().replace('.', " . ");
                tokens.extend(places.split(' ').map(str::to_owned));
            }
            other => tokens.push(other.to_string()),
        }
    }
}

fn flatten_group(group: proc_macro2::Group, tokens: &mut Vec<String>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    };
    let is_called =
        |last: &String| last.ends_with(|c: char| c.is_alphanumeric() || "_!>)".contains(c));
    let is_tuple = open == "(" && !tokens.last().is_some_and(is_called);
    let mut inside = Vec::new();
    flatten(group.stream(), &mut inside);
    tokens.push(open.to_owned());
    tokens.append(&mut inside);
    if is_tuple && is_of_one(&group) {
        tokens.push(",".to_owned());
    }
    tokens.push(close.to_owned());
}

/// Whether the only comma of a group stands at its end.
fn is_of_one(group: &proc_macro2::Group) -> bool {
    let tokens: Vec<_> = group.stream().into_iter().map(|token| token.to_string()).collect();
    tokens.iter().position(|token| token == ",").is_some_and(|at| at + 1 == tokens.len())
}

#[test]
fn every_file_has_the_tokens_of_its_emitter_and_so_has_prettypleases_print_of_it() {
    for module in modules() {
        let written: Vec<String> = module.parts.iter().map(ToString::to_string).collect();
        let printed = module.print(&mut Printer::default());
        syn::parse_file(&printed).unwrap_or_else(|error| panic!("{error}:\n{printed}"));
        let (_, body) = printed.split_once("\n\n").unwrap_or((&printed, ""));
        same(&meaning(body), &meaning(&written.join("\n")), &printed);
        let tree = syn2::parse_file(body).unwrap_or_else(|error| panic!("{error}:\n{printed}"));
        let pretty = prettyplease::unparse(&tree);
        same(&bare(&pretty), &bare(body), &printed);
    }
}

/// Both must be the same tokens; the first that differs is shown with what stands before it.
fn same(found: &[String], expected: &[String], printed: &str) {
    let longer = found.len().max(expected.len());
    if let Some(at) = (0..longer).find(|&at| found.get(at) != expected.get(at)) {
        let from = at.saturating_sub(10);
        let [found, expected] = [found, expected].map(|all| &all[from..all.len().min(at + 5)]);
        panic!("found {found:?}, expected {expected:?}\n{printed}");
    }
}

/// The tokens of a text without what prettyplease adds and drops: braces around one expression or one import, and the
/// semicolon behind an expression without a value.
fn bare(text: &str) -> Vec<String> {
    meaning(text).into_iter().filter(|token| !["{", "}", ";"].contains(&&**token)).collect()
}

/// A line is as long as the longest name or text in it makes it, and no longer.
#[test]
fn no_line_is_longer_than_it_must_be() {
    for module in modules() {
        let printed = module.print(&mut Printer::default());
        for line in printed.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_part = |c: char| !c.is_alphanumeric() && c != '_';
            let longest =
                longest_text(line).max(line.split(is_part).map(str::len).max().unwrap_or_default());
            let width = line.chars().count();
            assert!(width <= 100 || longest > 48, "{width}: {line}\n{printed}");
        }
    }
}

fn longest_text(line: &str) -> usize {
    let (first, last) = (line.find('"'), line.rfind('"'));
    first.zip(last).map_or(0, |(first, last)| last - first)
}

#[test]
fn what_is_printed_prints_as_it_is() {
    for part in modules().iter().flat_map(|module| &module.parts) {
        let printed = print(part);
        let again = print(&stream(printed.parse().expect("it is Rust")));
        assert_eq!(again, printed);
    }
}

fn print(stream: &TokenStream) -> String {
    let mut text = String::new();
    Printer::default().print(stream, &mut text);
    text
}

/// What was read, as a stream of ours.
fn stream(read: Read) -> TokenStream {
    let mut stream = TokenStream::new();
    let mut sign = String::new();
    let mut tokens = read.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_doc(tokens.peek()) => {
                let Some(TokenTree::Group(doc)) = tokens.next() else {
                    unreachable!("it was seen")
                };
                push_doc(&doc, &mut stream);
            }
            TokenTree::Punct(punct) => {
                sign.push(punct.as_char());
                // A generic's end is one sign, however many end with it.
                if punct.spacing() == Spacing::Alone
                    || matches!(punct.as_char(), '>' | '?' | ',')
                    || is_whole(&sign, tokens.peek())
                {
                    stream.push_read(&std::mem::take(&mut sign));
                }
            }
            TokenTree::Group(group) => push_group(&group, &mut stream),
            TokenTree::Ident(ident) if sign == "'" => {
                stream.push_read(&format!("'{ident}"));
                sign.clear();
            }
            other => stream.push_read(&other.to_string()),
        }
    }
    stream
}

/// Whether a sign does not go on with the next: `&'a` is two, `=>` one.
fn is_whole(sign: &str, next: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Punct(next)) = next else { return sign != "'" };
    let longer = format!("{sign}{}", next.as_char());
    sign != "'" && !["::", "=>", "->", "..", "||"].contains(&longer.as_str())
}

fn is_doc(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Group(group)) if group.stream().to_string().starts_with("doc ="))
}

fn push_doc(doc: &proc_macro2::Group, stream: &mut TokenStream) {
    let literal = doc.stream().into_iter().last().expect("a doc has a text").to_string();
    let text = syn::parse_str::<syn::LitStr>(&literal).expect("the text of a doc").value();
    stream.push_doc(text.strip_prefix(' ').unwrap_or(&text));
}

fn push_group(group: &proc_macro2::Group, out: &mut TokenStream) {
    let inside = stream(group.stream());
    out.push(&match group.delimiter() {
        Delimiter::Parenthesis => quote!((#inside)),
        Delimiter::Brace => quote!({ #inside }),
        Delimiter::Bracket => quote!([#inside]),
        Delimiter::None => inside,
    });
}

#[test]
fn words_are_quoted_and_stay_words() {
    for word in
        ["", "plain", "\"", "\\", "\u{1}|\n\r\t", "\u{0}7", "\u{202e}", "é 日本 🦀", "'", "{#x}"]
    {
        let tokens = quote!(#word);
        let literal = tokens.to_string();
        assert_eq!(tokens.texts().count(), 1, "{literal}");
        assert_eq!(syn::parse_str::<syn::LitStr>(&literal).expect("a literal").value(), word);
    }
}

#[test]
fn docs_stay_on_their_line() {
    let mut docs = TokenStream::new();
    docs.push_doc("one\nfn evil() {}\r\u{1}fn evil() {}");
    assert_eq!(docs.to_string(), "/// one fn evil() {}  fn evil() {}\n");
}

#[test]
#[should_panic(expected = "is no identifier")]
fn an_identifier_is_nothing_else() {
    Ident::new("a b");
}

#[test]
fn a_repetition_takes_lists_iterators_and_what_is_the_same_each_time() {
    let (names, list, same) = (["a", "b"], vec![true, false], quote!(same));
    let iterator = names.iter().map(|name| Ident::new(name));
    let tokens = quote!(#(#iterator = #list + #same),* #(, #names)* #(#same #names)|*);
    let expected = r#"a = true + same , b = false + same , "a" , "b" same "a" | same "b""#;
    assert_eq!(tokens.to_string(), expected);
}
