//! JSON text as YAML text. The two differ in how strings escape; numbers and order stay as they were written.

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

/// What stands between strings: without line breaks, and with the spaces YAML may want.
fn outside(json: &str, yaml: &mut String) {
    for character in json.chars().filter(|character| !character.is_whitespace()) {
        yaml.push(character);
        if matches!(character, ',' | ':') {
            yaml.push(' ');
        }
    }
}

/// How long the string is that the text begins with, quotes included.
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

/// YAML's double quotes know no surrogate pairs, and not every character may stand in them as it is.
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
