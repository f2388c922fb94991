//! Tests that printed files have the tokens of their emitters, with `proc_macro2`, `syn` and `prettyplease` as oracles, and that uses
//! of a pattern share its translation.

mod random_projects;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream as Read, TokenTree};

use super::module::Module;
use super::printer::Printer;
use super::rust::{Ident, TokenStream, quote};
use crate::disk;
use crate::naming::{DERIVED, TypeNames};
use crate::options::Options;
use crate::parallel;
use crate::plan::{Contents, Plans};
use crate::source::{Source, Sources};
use random_projects::RandomProject;

/// The number of random projects, with the seeds 0, 1, …
const SEEDS: u64 = 200;

/// Folders that are one project each: the worked examples, a schema for every keyword, the tools of real servers, a
/// service over HTTP, and the schemas of the requirement tests.
const FOLDERS: [&str; 5] =
    ["schema", "tests/codecs", "tests/real", "tests/http", "tests/requirements"];

/// Files that are one project each; a line with `### ` and a name begins each part.
const FILES: [&str; 2] = ["bindings.yaml", "schemas.yaml"];

/// Calls a function with each module of all these projects and the types of its project.
fn for_each_module(try_module: impl Fn(&Module, &TypeNames) + Sync) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = FOLDERS.map(|folder| {
        let read = disk::read_sources(&root, &[root.join(folder)]).expect("it can be read");
        assert!(read.findings.is_empty(), "{folder}: {:?}", read.findings);
        (folder.to_owned(), read.sources, Options::default())
    });
    let files = FILES.map(|file| {
        let path = root.join("codegen/tests/cases/ok").join(file);
        let text = disk::read_text(&path).ok().flatten().expect("it can be read");
        // A file of one part has no line with a name.
        let parts = text.split("### ").filter(|part| !part.is_empty()).map(|part| {
            let is_named = text.starts_with("### ");
            let (path, text) = part.split_once('\n').filter(|_| is_named).unwrap_or((file, part));
            Source { path: path.to_owned(), text: text.to_owned() }
        });
        (file.to_owned(), Sources::new(parts.collect()), Options::default())
    });
    let random = (0..SEEDS).map(|seed| {
        let RandomProject { sources, options } = random_projects::project(seed);
        (format!("seed {seed}"), sources, options)
    });
    let projects: Vec<_> = folders.into_iter().chain(files).chain(random).collect();
    parallel::map(&projects, |(name, sources, options)| {
        let lowered = crate::lowered(Vec::new(), sources, options)
            .unwrap_or_else(|findings| panic!("{name}: {findings:?}"));
        let plans = Plans::new(&lowered.project, &lowered.types, options);
        for krate in plans.subjects().iter().filter_map(|&subject| plans.plan(subject)) {
            for module in super::modules(&krate.contents) {
                try_module(&module, &lowered.types);
            }
        }
    });
}

/// The parts of two texts that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// All tokens except the commas that the printer may add or remove: after the last item of a list, unless it makes a
    /// tuple of one, and after the block of an arm.
    Tokens,
    /// The same, except the tokens that prettyplease may add or remove: the comma after the last generic argument, braces
    /// around an arm or a closure that is one expression and around one import, the semicolon after a jump at the end of a
    /// block.
    Meaning,
}

/// Parses a text as tokens.
fn read(text: &str) -> Vec<TokenTree> {
    let read: Read = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    read.into_iter().collect()
}

/// Returns the texts of the tokens.
fn tokens(trees: &[TokenTree], compared: Compared) -> Vec<String> {
    let mut tokens = Vec::new();
    flatten(trees, compared, &mut tokens);
    tokens
}

fn flatten(trees: &[TokenTree], compared: Compared, tokens: &mut Vec<String>) {
    for (at, tree) in trees.iter().enumerate() {
        let before = &trees[..at];
        match tree {
            TokenTree::Group(group) => {
                let is_last = at + 1 == trees.len();
                flatten_group(group, before, is_last, compared, tokens);
            }
            comma if is_sign(comma, ',') && is_behind_block(before) => {}
            comma
                if is_sign(comma, ',')
                    && compared == Compared::Meaning
                    && trees.get(at + 1).is_some_and(|next| is_sign(next, '>')) => {}
            // The two tuple fields in `.0.1` are parsed as one number.
            TokenTree::Literal(places) if tokens.last().is_some_and(|last| last == ".") => {
                let places = places.to_string().replace('.', " . ");
                tokens.extend(places.split(' ').map(str::to_owned));
            }
            other => tokens.push(other.to_string()),
        }
    }
}

fn flatten_group(
    group: &Group,
    before: &[TokenTree],
    is_last: bool,
    compared: Compared,
    tokens: &mut Vec<String>,
) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    };
    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
    let count = |sign| inside.iter().filter(|tree| is_sign(tree, sign)).count();
    let is_tuple_of_one = open == "(" && count(',') == 1 && !is_called(before);
    let inside = match inside.as_slice() {
        [items @ .., comma] if is_sign(comma, ',') && !is_tuple_of_one => items,
        [statements @ .., end]
            if is_sign(end, ';') && ends_in_jump(statements) && compared == Compared::Meaning =>
        {
            statements
        }
        all => all,
    };
    let is_arm = ends_with(before, "=>");
    let has = |sign| inside.iter().any(|tree| is_sign(tree, sign));
    let is_bare = compared == Compared::Meaning
        && open == "{"
        && ((ends_with(before, "::") && !has(','))
            || ((is_arm || ends_with(before, "|")) && !inside.is_empty() && !has(';')));
    if is_bare {
        flatten(inside, compared, tokens);
        // An arm without braces ends in a comma.
        tokens.extend((is_arm && !is_last).then(|| ",".to_owned()));
    } else {
        tokens.push(open.to_owned());
        flatten(inside, compared, tokens);
        tokens.push(close.to_owned());
    }
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn ends_with(trees: &[TokenTree], signs: &str) -> bool {
    let mut trees = trees.iter().rev();
    signs.chars().rev().all(|sign| trees.next().is_some_and(|tree| is_sign(tree, sign)))
}

/// Returns whether the last tree is the block of an arm.
fn is_behind_block(before: &[TokenTree]) -> bool {
    match before {
        [head @ .., TokenTree::Group(block)] => {
            block.delimiter() == Delimiter::Brace && ends_with(head, "=>")
        }
        _ => false,
    }
}

/// Returns whether parentheses after these trees belong to a call or a function, where a trailing comma has no meaning.
fn is_called(before: &[TokenTree]) -> bool {
    match before.last() {
        Some(TokenTree::Ident(name)) => {
            !["return", "in", "match", "if", "mut"].contains(&&*name.to_string())
        }
        Some(TokenTree::Group(_)) => true,
        Some(sign) => {
            is_sign(sign, '!')
                || (is_sign(sign, '>') && !ends_with(before, "->") && !ends_with(before, "=>"))
        }
        None => false,
    }
}

/// Returns whether the last statement is a jump.
fn ends_in_jump(statements: &[TokenTree]) -> bool {
    let last = statements.rsplit(|tree| is_sign(tree, ';')).next().and_then(<[_]>::first);
    let jumps = ["return", "break", "continue"];
    matches!(last, Some(TokenTree::Ident(word)) if jumps.contains(&&*word.to_string()))
}

#[test]
fn every_file_has_the_tokens_of_its_emitter_also_when_prettyplease_formats_it() {
    for_each_module(|module, _| {
        let written: Vec<String> = module.parts.iter().map(ToString::to_string).collect();
        let printed = module.print(&mut Printer::default());
        let (_, body) = printed.split_once("\n\n").unwrap_or((&printed, ""));
        let found = read(body);
        let compared = Compared::Tokens;
        same(&tokens(&found, compared), &tokens(&read(&written.join("\n")), compared), &printed);
        let tree = syn2::parse2(found.iter().cloned().collect());
        let tree = tree.unwrap_or_else(|error| panic!("{error}:\n{printed}"));
        let pretty = read(&prettyplease::unparse(&tree));
        let compared = Compared::Meaning;
        same(&tokens(&pretty, compared), &tokens(&found, compared), &printed);
    });
}

#[test]
fn a_module_defines_or_imports_each_of_its_types_once() {
    for_each_module(|module, types| {
        let printed = module.print(&mut Printer::default());
        let file = syn2::parse_file(&printed).unwrap_or_else(|error| panic!("{error}:\n{printed}"));
        let mut known = BTreeSet::new();
        for item in &file.items {
            for name in names_of(item) {
                assert!(known.insert(name.clone()), "{name} is there twice:\n{printed}");
            }
        }
        if !["types", "codecs"].contains(&module.name) {
            return;
        }
        // A type may have the name of a trait that others derive.
        let types = types.all().map(|named| &*named.name);
        let types: BTreeSet<&str> = types.filter(|name| !DERIVED.contains(name)).collect();
        for item in file.items.iter().filter(|item| !matches!(item, syn2::Item::Enum(_))) {
            for name in used_names(quote::ToTokens::to_token_stream(item)) {
                let is_known = known.contains(&name) || !types.contains(&*name);
                assert!(is_known, "{name} is unknown:\n{printed}");
            }
        }
    });
}

/// Returns the names that begin a path, without those before `=` or `:`, which are variants in the calls of macros.
fn used_names(stream: Read) -> Vec<String> {
    let (mut used, mut is_joint, mut is_inside) = (Vec::new(), false, false);
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_named = |next: &TokenTree| matches!(next, TokenTree::Punct(sign) if matches!(sign.as_char(), '=' | ':') && sign.spacing() == Spacing::Alone);
        match &tree {
            TokenTree::Group(group) => used.extend(used_names(group.stream())),
            TokenTree::Ident(name) if !is_inside && !trees.peek().is_some_and(is_named) => {
                used.push(name.to_string());
            }
            _ => {}
        }
        let was_joint = std::mem::replace(&mut is_joint, false);
        if let TokenTree::Punct(sign) = &tree {
            is_joint = sign.as_char() == ':' && sign.spacing() == Spacing::Joint;
        }
        is_inside = was_joint && is_sign(&tree, ':');
    }
    used
}

/// Returns the types and statics that an item defines or imports.
fn names_of(item: &syn2::Item) -> Vec<String> {
    match item {
        syn2::Item::Struct(item) => vec![item.ident.to_string()],
        syn2::Item::Enum(item) => vec![item.ident.to_string()],
        syn2::Item::Type(item) => vec![item.ident.to_string()],
        syn2::Item::Static(item) => vec![item.ident.to_string()],
        syn2::Item::Use(item) => imported(&item.tree),
        _ => Vec::new(),
    }
}

fn imported(tree: &syn2::UseTree) -> Vec<String> {
    match tree {
        syn2::UseTree::Path(path) => imported(&path.tree),
        syn2::UseTree::Name(name) => vec![name.ident.to_string()],
        syn2::UseTree::Rename(rename) => vec![rename.rename.to_string()],
        syn2::UseTree::Group(group) => group.items.iter().flat_map(imported).collect(),
        syn2::UseTree::Glob(_) => Vec::new(),
    }
}

/// Panics if the tokens differ, and shows the tokens around the first difference.
fn same(found: &[String], expected: &[String], printed: &str) {
    let longer = found.len().max(expected.len());
    if let Some(at) = (0..longer).find(|&at| found.get(at) != expected.get(at)) {
        let near = |all: &[String]| all[at.saturating_sub(10)..all.len().min(at + 5)].join(" ");
        panic!("found {}\nexpected {}\n{printed}", near(found), near(expected));
    }
}

/// A line is longer than 100 columns only if a part of it without a possible break is too long even on an indented line of
/// its own.
#[test]
fn a_line_that_can_be_broken_has_at_most_100_columns() {
    for_each_module(|module, _| {
        let printed = module.print(&mut Printer::default());
        let is_long =
            |line: &&str| line.chars().count() > 100 && !line.trim_start().starts_with("//");
        for line in printed.lines().filter(is_long) {
            let code = line.trim_start();
            let indent = line.len() - code.len() + 4;
            let longest = unbroken(code).map(|part| part.chars().count()).max();
            assert!(indent + longest.unwrap_or_default() + ",".len() > 100, "{line}\n{printed}");
        }
    });
}

/// Splits a line where the house style may break it.
fn unbroken(line: &str) -> impl Iterator<Item = &str> {
    let (mut from, mut is_text, mut is_raw, mut parts) = (0, false, false, Vec::new());
    for (at, c) in line.char_indices() {
        let (before, after) = (&line[..at], &line[at..]);
        // Nothing is broken between `(` and `)`.
        let is_empty = before.ends_with('(') && c == ')';
        let is_after = (before.ends_with(['(', '[', '{', '<']) && !is_empty)
            || before.ends_with([',', '=', '>', ':']) && c == ' ';
        let is_before = (after.starts_with([')', ']', '}', '>']) && !is_empty)
            || after.starts_with(" for ")
            || after.starts_with(" | ")
            || (c == '.' && after[1..].starts_with(|c: char| c.is_ascii_lowercase()));
        if !is_text && (is_after || is_before) {
            parts.push(line[from..at].trim());
            from = at;
        }
        let escapes = before.len() - before.trim_end_matches('\\').len();
        let is_edge = if is_raw { after.starts_with("\"#") } else { c == '"' && escapes % 2 == 0 };
        if is_edge {
            is_text = !is_text;
            is_raw = is_text && before.ends_with("r#");
        }
    }
    parts.push(line[from..].trim());
    parts.into_iter()
}

#[test]
fn printing_a_printed_file_again_does_not_change_it() {
    for_each_module(|module, _| {
        for part in &module.parts {
            let printed = print(part);
            let again = print(&stream(printed.parse().expect("it is Rust")));
            assert_eq!(again, printed);
        }
    });
}

fn print(stream: &TokenStream) -> String {
    let mut text = String::new();
    Printer::default().print(stream, &mut text);
    text
}

/// Converts parsed tokens to a stream.
fn stream(read: Read) -> TokenStream {
    let mut stream = TokenStream::new();
    let mut sign = String::new();
    let mut tokens = read.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_doc(tokens.peek()) => {
                let Some(TokenTree::Group(doc)) = tokens.next() else {
                    unreachable!("the next token is a doc attribute")
                };
                push_doc(&doc, &mut stream);
            }
            TokenTree::Punct(punct) => {
                sign.push(punct.as_char());
                // Each `>` is a token of its own, also in `>>`.
                if punct.spacing() == Spacing::Alone
                    || matches!(punct.as_char(), '>' | '?' | ',')
                    || is_whole(&sign, tokens.peek())
                {
                    stream.push_text(&std::mem::take(&mut sign));
                }
            }
            TokenTree::Group(group) => push_group(&group, &mut stream),
            TokenTree::Ident(ident) if sign == "'" => {
                stream.push_text(&format!("'{ident}"));
                sign.clear();
            }
            other => stream.push_text(&other.to_string()),
        }
    }
    stream
}

/// Returns whether a sign does not continue with the next token: `&'a` is two tokens, `=>` is one.
fn is_whole(sign: &str, next: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Punct(next)) = next else { return sign != "'" };
    let longer = format!("{sign}{}", next.as_char());
    sign != "'" && !["::", "=>", "->", "..", "||"].contains(&longer.as_str())
}

fn is_doc(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Group(group)) if group.stream().to_string().starts_with("doc ="))
}

fn push_doc(doc: &Group, stream: &mut TokenStream) {
    let literal = doc.stream().into_iter().last().expect("a doc has a text").to_string();
    let text = syn::parse_str::<syn::LitStr>(&literal).expect("the text of a doc").value();
    stream.push_doc(text.strip_prefix(' ').unwrap_or(&text));
}

fn push_group(group: &Group, out: &mut TokenStream) {
    let inside = stream(group.stream());
    out.push(&match group.delimiter() {
        Delimiter::Parenthesis => quote!((#inside)),
        Delimiter::Brace => quote!({ #inside }),
        Delimiter::Bracket => quote!([#inside]),
        Delimiter::None => inside,
    });
}

#[test]
fn a_string_becomes_one_literal_with_the_same_value() {
    let hidden = ["\u{1}|\n\r\t", "\u{0}7", "\u{202e}", "a\u{3164}b", "\u{115f}", "\\\u{2800}"];
    let shown = ["", "plain", "\"", "\\", "é 日本 🦀", "👩\u{200d}💻", "'", "{#x}"];
    for word in hidden.into_iter().chain(shown) {
        let tokens = quote!(#word);
        let literal = tokens.to_string();
        assert_eq!(toolwright::untrusted::hidden(&literal).next(), None, "{literal}");
        assert_eq!(tokens.texts().count(), 1, "{literal}");
        assert_eq!(syn::parse_str::<syn::LitStr>(&literal).expect("a literal").value(), word);
    }
}

#[test]
fn a_doc_line_contains_no_line_break() {
    let mut docs = TokenStream::new();
    docs.push_doc("one\nfn evil() {}\r\u{1}fn evil() {}");
    assert_eq!(docs.to_string(), "/// one fn evil() {}  fn evil() {}\n");
}

#[test]
#[should_panic(expected = "is not an identifier")]
fn an_invalid_identifier_panics() {
    Ident::new("a b");
}

#[test]
fn a_repetition_accepts_lists_iterators_and_constant_values() {
    let (names, list, same) = (["a", "b"], vec![true, false], quote!(same));
    let iterator = names.iter().map(|name| Ident::new(name));
    let tokens = quote!(#(#iterator = #list + #same),* #(, #names)* #(#same #names)|*);
    let expected = r#"a = true + same , b = false + same , "a" , "b" same "a" | same "b""#;
    assert_eq!(tokens.to_string(), expected);
}

#[test]
fn all_uses_of_a_pattern_share_its_translation() {
    let pattern = "pattern: '^[\\w ]+\\W$'";
    let text = format!(
        "toolwright: 1\nservice: notes\ntypes:\n  Text: {{ type: string, {pattern} }}\n  Texts:\n    type: object\n    \
         propertyNames: {{ {pattern} }}\n    additionalProperties: {{ type: string, {pattern} }}\n"
    );
    let sources = Sources::new(vec![Source { path: "notes.yaml".to_owned(), text }]);
    let options = Options::default();
    let lowered = crate::lowered(Vec::new(), &sources, &options).unwrap();
    let plans = Plans::new(&lowered.project, &lowered.types, &options);
    let krate = plans.plan(plans.subjects()[0]).unwrap();
    let Contents::Service(service) = krate.contents else { panic!("not a service") };
    let [first, second, third] = &*service.types.patterns else {
        panic!("{:?}", service.types.patterns)
    };
    assert!(Arc::ptr_eq(&first.translated, &second.translated));
    assert!(Arc::ptr_eq(&first.translated, &third.translated));
}
