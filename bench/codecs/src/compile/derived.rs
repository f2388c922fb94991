//! The peer in the area `compile`: the same types with serde's derive, and a program that uses them. The types derive the
//! standard traits of generated types, so that the rows compare codecs.

use std::fmt::Write as _;

use super::shapes::{Body, Field, Kind, Type, types};
use super::workspace::{Candidate, File, release_profile};

/// A crate of derived types and a binary that decodes and encodes every root.
pub(super) fn candidate() -> Candidate {
    let file = |path: &str, text| File { path: path.to_owned(), text };
    let files = vec![
        file("Cargo.toml", workspace()),
        file("types/Cargo.toml", library()),
        file("types/src/lib.rs", source()),
        file("src/main.rs", main()),
    ];
    Candidate { name: "derived", library: "derived-types", files }
}

fn workspace() -> String {
    format!(
        "[workspace]\nmembers = [\"types\"]\n\n\
         [package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nderived-types = {{ path = \"types\" }}\nserde = \"1\"\nserde_json = \"1\"\n\n{}",
        release_profile()
    )
}

fn library() -> String {
    "[package]\nname = \"derived-types\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
     [dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n"
        .to_owned()
}

fn source() -> String {
    let mut text =
        "//! The same types with serde's derive.\n\nuse serde::{Deserialize, Serialize};\n"
            .to_owned();
    let types = types();
    for ty in &types {
        write_type(&mut text, ty, &types);
    }
    text
}

fn write_type(text: &mut String, Type { name, body }: &Type, types: &[Type]) {
    let _ = match body {
        Body::Enum(values) => write!(
            text,
            "\n/// One of {count}.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]\n\
             pub enum {name} {{\n{variants}}}\n",
            count = values.len(),
            variants = values.iter().map(|value| variant(value)).collect::<String>(),
        ),
        Body::Struct(fields) => write!(
            text,
            "\n/// A structure.\n#[derive(Clone, Debug, PartialEq, {more}Deserialize, Serialize)]\n\
             pub struct {name} {{\n{fields}}}\n",
            more = more_derives(fields, types),
            fields = fields.iter().map(member).collect::<String>(),
        ),
    };
}

/// The traits that generated types derive if all fields have them.
fn more_derives(fields: &[Field], types: &[Type]) -> String {
    let mut more = String::new();
    if fields.iter().all(|field| is_eq(&field.kind, types)) {
        more += "Eq, PartialOrd, Ord, Hash, ";
    }
    // The required fields are limited: zero and the empty string need not be valid.
    if !fields.iter().any(|field| field.required) {
        more += "Default, ";
    }
    more
}

/// Returns whether a type contains no double.
fn is_eq(kind: &Kind, types: &[Type]) -> bool {
    match kind {
        Kind::Number => false,
        Kind::Text | Kind::NullableText | Kind::Integer | Kind::Flag | Kind::Texts => true,
        Kind::Named(name) | Kind::List(name) => {
            types.iter().filter(|ty| ty.name == *name).all(|ty| match &ty.body {
                Body::Enum(_) => true,
                Body::Struct(fields) => fields.iter().all(|field| is_eq(&field.kind, types)),
            })
        }
    }
}

fn variant(value: &str) -> String {
    let name: String = value.split('_').map(capitalized).collect();
    format!("    /// `{value}`\n    #[serde(rename = \"{value}\")]\n    {name},\n")
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn member(field: &Field) -> String {
    let Field { name, kind, required } = field;
    let ty = rust_type(kind);
    if *required {
        return format!("    /// `{name}`\n    pub {name}: {ty},\n");
    }
    format!(
        "    /// `{name}`\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub {name}: Option<{ty}>,\n"
    )
}

fn rust_type(kind: &Kind) -> String {
    match kind {
        // Serde cannot tell null from an absent field, so null counts as absent here.
        Kind::Text | Kind::NullableText => "String".to_owned(),
        Kind::Integer => "i64".to_owned(),
        Kind::Number => "f64".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Texts => "Vec<String>".to_owned(),
        Kind::Named(name) => name.clone(),
        Kind::List(name) => format!("Vec<{name}>"),
    }
}

fn main() -> String {
    let mut text = "use derived_types::*;\n\n\
        fn round<T: serde::de::DeserializeOwned + serde::Serialize>(json: &[u8]) -> usize {\n    \
        serde_json::from_slice::<T>(json).ok().and_then(|value| serde_json::to_string(&value).ok()).map_or(0, |text| text.len())\n}\n\n"
        .to_owned();
    text += &super::workspace::calls_of_every_root();
    text
}
