//! Builds all identifiers, file names and crate names of generated code, and finds clashes between them.
//!
//! The rules, from a name of the language to a name in Rust:
//!
//! | what | from | to |
//! |---|---|---|
//! | service crate | `todos` | `todos-service` |
//! | toolset crate | `todos` | `todos-tools` |
//! | agent crate | `planner`, `session_planner` | `planner-session-planner-agent` |
//! | HTTP crate | `todos` | `todos-http` |
//! | MCP crate | `calculator`, `calc` | `calculator-calc-mcp` |
//! | folder, file of a tool | `todos`, `aux` | `todos`, `aux_` |
//! | type of a node | its declared name, or the path to it | `UpdateTodosArgs`, `UpdateTodosArgsMode` |
//! | setter | `entityName`, `type` | `with_entity_name`, `with_type` |
//! | field | `entityName`, `type`, `x-y` | `entity_name`, `r#type`, `x_y` |
//! | variant | `in_progress` | `InProgress` |

mod clashes;
mod reach;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;

pub use clashes::{check, is_reserved_tool, is_reserved_type, packages};
pub use types::{Scope, TypeName, TypeNames, is_map, is_unchecked, labels};

/// A Rust identifier, with `r#` before it if it is a keyword. Only this module creates identifiers, so that every one is valid
/// in code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier(String);

impl Identifier {
    /// Wraps an identifier that was built in this module.
    ///
    /// # Panics
    ///
    /// If the text is not an identifier, which is a bug in this module.
    fn new(text: String) -> Self {
        let word = text.strip_prefix("r#").unwrap_or(&text);
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_identifier =
            word.bytes().all(is_part) && word.starts_with(|first: char| !first.is_ascii_digit());
        assert!(is_identifier, "{text:?} is not an identifier");
        Self(text)
    }

    /// Appends a text to the identifier.
    #[must_use]
    pub fn followed_by(&self, more: &str) -> Self {
        Self::new(format!("{}{more}", self.0))
    }

    /// Returns the identifier as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Identifier {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Identifier> for String {
    fn from(identifier: Identifier) -> Self {
        identifier.0
    }
}

impl AsRef<str> for Identifier {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Identifier {
    fn eq(&self, text: &str) -> bool {
        self.0 == text
    }
}

impl PartialEq<&str> for Identifier {
    fn eq(&self, text: &&str) -> bool {
        self.0 == *text
    }
}

/// The longest name of the language, in bytes: MCP and all model providers accept it.
pub const MAX_NAME: usize = 64;

/// Returns whether a text is a name: `[a-z][a-z0-9]*(_[a-z0-9]+)*`, at most [`MAX_NAME`] bytes.
pub fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.len() <= MAX_NAME
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.split('_').all(is_word)
}

/// Returns whether a text is the name of a type: `[A-Z][A-Za-z0-9]*`.
pub fn is_type_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns whether a text is an ASCII identifier of Rust, and not a keyword.
pub fn is_identifier(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_word = text.bytes().all(is_part)
        && text.starts_with(|first: char| !first.is_ascii_digit())
        && !matches!(text, "_" | "Self");
    is_word && escaped(text.to_owned()) == text
}

/// Returns a text in `snake_case`, without escaping keywords: for parts of longer names and for files.
pub fn snake(text: &str) -> String {
    if is_snake(text) { text.to_owned() } else { words(text).join("_") }
}

/// Returns the name of a static, in `SCREAMING_SNAKE_CASE`.
pub fn screaming(text: &str) -> Identifier {
    Identifier::new(snake(text).to_ascii_uppercase())
}

/// Returns the name of a static for a part of a type, with a suffix. It is also the name of a file, so it is shortened if the path to
/// the part is long.
pub fn static_with(path: &str, word: &str) -> Identifier {
    Identifier::new(types::shortened(snake(path)).to_ascii_uppercase() + word)
}

/// Returns the name of the static with a tool's spec. For a tool such as `a` it gets a suffix, because the type of the tool is
/// also `A`.
pub fn spec_static(tool: &str) -> Identifier {
    let name = screaming(tool);
    if name == pascal(tool) { name.followed_by("_SPEC") } else { name }
}

/// Returns the name of a type or a variant, in `PascalCase`.
pub fn pascal(text: &str) -> Identifier {
    pascal_with(text, "")
}

/// Returns the name of a type with a suffix: `TodosService`.
pub fn pascal_with(text: &str, word: &str) -> Identifier {
    let name = pascal_part(text) + word;
    Identifier::new(if name == "Self" { name + "_" } else { name })
}

/// The traits that a generated type derives if everything in it has them.
pub const DERIVED: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Returns a link to a type in rustdoc, also if there is a derive macro of that name.
pub fn type_link(name: &str) -> String {
    if DERIVED.contains(&name) { format!("[`type@{name}`]") } else { format!("[`{name}`]") }
}

/// Returns a text in `PascalCase`, without escaping keywords: for parts of longer names.
pub fn pascal_part(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    if is_snake(text) {
        for word in text.split('_') {
            push_capitalized(word, &mut name);
        }
    } else {
        for word in words(text) {
            push_capitalized(&word, &mut name);
        }
    }
    name
}

/// Returns the name of a field, function or parameter, in snake case and escaped if it is a keyword.
pub fn identifier(text: &str) -> Identifier {
    Identifier::new(escaped(snake(text)))
}

/// Returns the name of the method that sets a field. Fields with different names have different setters, and no other method
/// begins with `with_`.
pub fn setter(field: &Identifier) -> Identifier {
    let word = field.strip_prefix("r#").unwrap_or(field);
    Identifier::new(format!("with_{}", word.trim_end_matches('_')))
}

/// Returns the name of a field, function or parameter with a suffix: `todos_service`.
pub fn identifier_with(text: &str, word: &str) -> Identifier {
    Identifier::new(format!("{}_{word}", snake(text)))
}

/// Returns the names of variants for different values; all names differ. If values have the same name in Pascal case, their
/// symbols are spelled out, and a number is added if that is not enough.
pub fn variants<'a>(values: impl Iterator<Item = &'a str>) -> Vec<Identifier> {
    /// The constant with all values of an enum.
    const ALL: &str = "ALL";
    let values: Vec<&str> = values.collect();
    let plain: Vec<Identifier> = values.iter().map(|value| pascal(value)).collect();
    let mut counts = BTreeMap::from([(ALL, 1)]);
    for name in &plain {
        *counts.entry(name).or_default() += 1;
    }
    // The next number for each name that needs one.
    let mut numbers: BTreeMap<Identifier, usize> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for (value, name) in values.iter().zip(&plain) {
        let wanted =
            if counts[name.as_str()] > 1 { pascal(&spelled_out(value)) } else { name.clone() };
        let mut free = wanted.clone();
        // A name with a number may be the plain name of a later value.
        while taken.contains(&free) || (free != wanted && counts.contains_key(free.as_str())) {
            let number = numbers.entry(wanted.clone()).or_insert(2);
            free = Identifier::new(format!("{}{number}", wanted.trim_end_matches('_')));
            *number += 1;
        }
        taken.insert(free.clone());
        names.push(free);
    }
    names
}

/// Replaces each symbol in a text by a word.
fn spelled_out(text: &str) -> String {
    text.chars()
        .map(|c| if is_word_char(c) { c.to_string() } else { format!(" {} ", spelled(c)) })
        .collect()
}

/// Returns the name of the field for additional properties: `additional`, or a longer name if a property has that name.
pub fn additional_field<'a>(keys: impl Iterator<Item = &'a str>) -> Identifier {
    let taken: Vec<Identifier> = keys.map(identifier).collect();
    let mut name = identifier("additional");
    while taken.contains(&name) {
        name = name.followed_by("_properties");
    }
    name
}

/// Returns the package of a service's types and trait.
pub fn service_package(service: &str) -> String {
    format!("{}-service", hyphened(service))
}

/// Returns the package of a toolset.
pub fn toolset_package(toolset: &str) -> String {
    format!("{}-tools", hyphened(toolset))
}

/// Returns the package of an agent.
pub fn agent_package(service: &str, agent: &str) -> String {
    format!("{}-{}-agent", hyphened(service), hyphened(agent))
}

/// Returns the package of a service's HTTP client.
pub fn http_package(service: &str) -> String {
    format!("{}-http", hyphened(service))
}

/// Returns the package of an MCP server. If the server has the name of its service, the name appears only once.
pub fn mcp_package(service: &str, server: &str) -> String {
    if service == server {
        return format!("{}-mcp", hyphened(service));
    }
    format!("{}-{}-mcp", hyphened(service), hyphened(server))
}

/// Returns a name for a folder, or for a file without its extension. Names that Windows reserves for devices get a `_`, with
/// which no other name ends.
pub fn file_name(name: &str) -> String {
    let is_device = matches!(
        name.as_bytes(),
        b"aux"
            | b"con"
            | b"nul"
            | b"prn"
            | [b'c', b'o', b'm', b'0'..=b'9']
            | [b'l', b'p', b't', b'0'..=b'9']
    );
    if is_device { format!("{name}_") } else { name.to_owned() }
}

/// Returns the name of a package in Rust code.
pub fn library(package: &str) -> String {
    package.replace('-', "_")
}

fn hyphened(name: &str) -> String {
    name.replace('_', "-")
}

/// Returns whether a text is already in snake case, as most names are.
fn is_snake(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && !text.ends_with('_')
        && text.bytes().all(is_part)
        && !text.contains("__")
}

/// Splits a text into words, at case changes and at symbols. If there are only symbols, they are spelled out. Before a leading
/// digit, the word for the sign or `n` is added.
fn words(text: &str) -> Vec<String> {
    let mut words = split(text);
    if words.is_empty() {
        words = text.chars().map(spelled).collect();
    }
    if words.is_empty() {
        words.push("empty".to_owned());
    }
    if words[0].starts_with(|first: char| first.is_ascii_digit()) {
        let sign = text.chars().next().filter(|first| matches!(first, '+' | '-'));
        words.insert(0, sign.map_or_else(|| "n".to_owned(), spelled));
    }
    words
}

fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let begins = c.is_ascii_uppercase()
            && index > 0
            && (!chars[index - 1].is_ascii_uppercase()
                || chars.get(index + 1).is_some_and(char::is_ascii_lowercase));
        if begins || !is_word_char(c) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        match c {
            c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
            c if is_word_char(c) => word.push_str(&spelled(c)),
            _ => {}
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Letters beyond ASCII are part of a word, spelled by their code point, so that different identifiers do not look alike.
fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric())
}

fn spelled(c: char) -> String {
    let word = match c {
        '+' => "plus",
        '-' => "minus",
        '*' => "star",
        '/' => "slash",
        '<' => "less",
        '>' => "greater",
        '=' => "equal",
        '!' => "bang",
        '?' => "question",
        '$' => "dollar",
        '@' => "at",
        '#' => "hash",
        '%' => "percent",
        '&' => "and",
        '|' => "or",
        '^' => "caret",
        '~' => "tilde",
        '.' => "dot",
        ',' => "comma",
        ':' => "colon",
        ';' => "semicolon",
        '_' => "underscore",
        ' ' => "space",
        c => return format!("u{:x}", c as u32),
    };
    word.to_owned()
}

fn push_capitalized(word: &str, name: &mut String) {
    let mut chars = word.chars();
    name.extend(chars.next().map(|first| first.to_ascii_uppercase()));
    name.push_str(chars.as_str());
}

/// Escapes a name if it is a keyword of Rust 2024, strict or reserved (The Rust Reference, "Keywords").
#[rustfmt::skip]
fn escaped(name: String) -> String {
    match name.as_str() {
        // These cannot be raw identifiers.
        "self" | "super" | "crate" => name + "_",
        "abstract" | "as" | "async" | "await" | "become" | "box" | "break" | "const" | "continue" | "do" | "dyn"
        | "else" | "enum" | "extern" | "false" | "final" | "fn" | "for" | "gen" | "if" | "impl" | "in" | "let"
        | "loop" | "macro" | "match" | "mod" | "move" | "mut" | "override" | "priv" | "pub" | "ref" | "return"
        | "static" | "struct" | "trait" | "true" | "try" | "type" | "typeof" | "unsafe" | "unsized" | "use"
        | "virtual" | "where" | "while" | "yield" => format!("r#{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_language_grammar() {
        for name in ["a", "todos", "get_todos", "a1_2b"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "A", "1a", "_a", "a_", "a__b", "a-b", "a b", "é", &"a".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn texts_become_identifiers() {
        let table = [
            ("entityName", "entity_name", "EntityName", "ENTITY_NAME"),
            ("HTTPServer", "http_server", "HttpServer", "HTTP_SERVER"),
            ("type", "r#type", "Type", "TYPE"),
            ("self", "self_", "Self_", "SELF"),
            ("x-y z", "x_y_z", "XYZ", "X_Y_Z"),
            ("@id", "id", "Id", "ID"),
            ("1st", "n_1st", "N1st", "N_1ST"),
            ("-5", "minus_5", "Minus5", "MINUS_5"),
            ("", "empty", "Empty", "EMPTY"),
            ("<=", "less_equal", "LessEqual", "LESS_EQUAL"),
            ("clé", "clue9", "Clue9", "CLUE9"),
            ("in_progress", "in_progress", "InProgress", "IN_PROGRESS"),
        ];
        for (text, field, variant, constant) in table {
            assert_eq!(identifier(text), field, "{text}");
            assert_eq!(pascal(text), variant, "{text}");
            assert_eq!(screaming(text), constant, "{text}");
        }
        assert_eq!(identifier_with("type", "payload"), "type_payload");
        assert_eq!(pascal_with("self", "Service"), "SelfService");
    }

    #[test]
    fn no_variant_has_the_name_of_the_constant_with_all_values() {
        let table = [
            (&["A.L.L", "B"][..], &["ADotLDotL", "B"][..]),
            (&["a_l_l"], &["AUnderscoreLUnderscoreL"]),
            (&["a-l-l", "A L L"], &["AMinusLMinusL", "ASpaceLSpaceL"]),
            (&["all", "ALL"], &["All", "All2"]),
        ];
        for (values, expected) in table {
            let names = variants(values.iter().copied());
            assert_eq!(names.iter().map(Identifier::as_str).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn the_name_of_a_static_is_short_enough_for_a_file() {
        let long =
            ["a".repeat(300), "SetOfMyId".repeat(20), format!("{}B", "SetOfMyId".repeat(20))];
        let names = long.map(|path| static_with(&path, "_RULES"));
        for name in &names {
            assert!(name.len() <= 210 && name.ends_with("_RULES"), "{name}");
            assert_eq!(name.to_uppercase(), name.as_str());
        }
        assert_ne!(names[1], names[2]);
    }

    #[test]
    fn fields_have_different_setters() {
        let fields = ["entityName", "type", "self", "with_type", "crate", "x-y", "new"];
        let setters = fields.map(|field| setter(&identifier(field)).to_string());
        let expected = ["entity_name", "type", "self", "with_type", "crate", "x_y", "new"];
        assert_eq!(setters, expected.map(|word| format!("with_{word}")));
        let rest = additional_field(["additional"].into_iter());
        assert_ne!(setter(&rest), setter(&identifier("additional")));
    }

    #[test]
    fn every_odd_text_becomes_an_identifier_rust_accepts() {
        for text in
            ["", "\u{202e}", "🦀", "__proto__", "a\0b", "gen", "crate", "日本", "'\"\\", "\n"]
        {
            let identifier = identifier(text);
            assert!(syn::parse_str::<syn::Ident>(&identifier).is_ok(), "{text:?}: {identifier}");
            assert!(
                syn::parse_str::<syn::Ident>(&format!("X{}", pascal(text))).is_ok(),
                "{text:?}"
            );
        }
    }
}
