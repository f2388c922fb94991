//! The names of services and handlers. Restate allows ASCII letters, digits and `_` in the names of handlers, and they begin
//! with a letter, whereas tools, toolsets and agents may have other names.

use std::fmt::Write;

/// The prefix of the service of a toolset.
const TOOLS: &str = "tools.";
/// The prefix of the workflow of an agent's runs.
const AGENT: &str = "agent.";
/// Stands before an encoded name that does not begin with a letter. No name has a NUL, so that no other encoded name begins so.
const NO_LETTER: &str = "x__00";

/// Returns the service of a toolset.
pub fn tools_service(toolset: &str) -> String {
    format!("{TOOLS}{}", encode(toolset))
}

/// Returns the workflow of an agent's runs.
pub fn agent_workflow(agent: &str) -> String {
    format!("{AGENT}{}", encode(agent))
}

/// Encodes a name as the name of a handler. Letters, digits and single `_` between them stay; each other byte becomes `__` and
/// two hexadecimal digits. Different names have different encodings.
pub fn encode(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut encoded = String::with_capacity(name.len());
    if !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        encoded.push_str(NO_LETTER);
    }
    for (at, &byte) in bytes.iter().enumerate() {
        let is_between = at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if byte.is_ascii_alphanumeric() || (byte == b'_' && is_between) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "__{byte:02x}");
        }
    }
    encoded
}

/// Returns the name with an encoding; `None` if no name has it.
pub fn decode(encoded: &str) -> Option<String> {
    let mut rest = encoded.strip_prefix(NO_LETTER).unwrap_or(encoded).as_bytes();
    let mut name = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        if let Some(digits) = rest.strip_prefix(b"__") {
            let digits = digits.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            name.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[4..];
        } else {
            name.push(byte);
            rest = after;
        }
    }
    let name = String::from_utf8(name).ok()?;
    (encode(&name) == encoded).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{decode, encode};

    #[test]
    fn ordinary_names_stay_and_others_are_escaped() {
        for (name, expected) in [
            ("search_notes", "search_notes"),
            ("search-notes", "search__2dnotes"),
            ("a.b", "a__2eb"),
            ("a__b", "a__5f_b"),
            ("a_", "a__5f"),
            ("2d", "x__002d"),
            ("é", "x__00__c3__a9"),
            ("", "x__00"),
        ] {
            assert_eq!(
                (encode(name).as_str(), decode(expected)),
                (expected, Some(name.to_owned()))
            );
        }
    }

    proptest! {
        #[test]
        fn every_name_is_decoded_from_an_encoding_that_restate_allows(
            name in "[a-z0-9_.\\-]{0,12}|[^\\x00]{0,6}",
        ) {
            let encoded = encode(&name);
            prop_assert!(encoded.starts_with(|first: char| first.is_ascii_alphabetic()));
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
            prop_assert_eq!(decode(&encoded), Some(name));
        }

        #[test]
        fn what_is_decoded_has_that_encoding(encoded in "[a-z0-9_]{0,12}") {
            if let Some(name) = decode(&encoded) {
                prop_assert_eq!(encode(&name), encoded);
            }
        }
    }
}
