//! Converts JSON text to YAML text. Only the escapes in strings differ; numbers and the order of keys stay as written.

use std::fmt::Write as _;

/// The same value as YAML in flow style, on one line.
pub(crate) fn flow(json: &str) -> String {
    let mut yaml = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        outside(&rest[..start], &mut yaml);
        let end = start + string_length(&rest[start..]);
        let text = serde_json::from_str::<String>(&rest[start..end]);
        yaml.push_str(&text.map_or_else(|_| rest[start..end].to_owned(), |text| quoted(&text)));
        rest = &rest[end..];
    }
    outside(rest, &mut yaml);
    yaml
}

/// Copies the text between two strings, without white space but with the spaces that YAML needs.
fn outside(json: &str, yaml: &mut String) {
    for character in json.chars().filter(|character| !character.is_whitespace()) {
        yaml.push(character);
        if matches!(character, ',' | ':') {
            yaml.push(' ');
        }
    }
}

/// The length of the string at the beginning of the text, with its quotes.
fn string_length(json: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

/// A string in double quotes. YAML has no surrogate pairs and does not allow all characters unescaped.
fn quoted(text: &str) -> String {
    let mut yaml = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => yaml.extend(['\\', character]),
            ' '..='~' => yaml.push(character),
            // Writing to a string does not fail.
            _ => _ = write!(yaml, "\\U{:08x}", u32::from(character)),
        }
    }
    yaml.push('"');
    yaml
}
