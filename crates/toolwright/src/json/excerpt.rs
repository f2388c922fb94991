//! Short excerpts of payloads for messages.
//!
//! They are never longer than a line, since messages go to models and logs.

use super::Output;

/// The maximum length of an excerpt, in characters.
const MAX_LENGTH: usize = 60;

/// Returns a text of at most 60 characters: a longer one is cut and ends in `…`; control characters become spaces.
pub(crate) fn shortened(text: &str) -> String {
    let mut short = String::with_capacity(text.len().min(MAX_LENGTH + 1));
    push_shortened(&mut short, text);
    short
}

fn push_shortened(short: &mut String, text: &str) {
    if text.len() <= MAX_LENGTH && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return short.push_str(text);
    }
    let mut printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    short.extend(printable.by_ref().take(MAX_LENGTH));
    if printable.next().is_some() {
        short.pop();
        short.push('…');
    }
}

/// Returns the text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = Output::with_capacity(text.len() + 2);
    quoted.quote(text);
    quoted.into_string()
}

/// Returns the kind and the beginning of a JSON value: `the string "two"`.
pub(crate) fn describe(json: &str) -> String {
    let kind = match json.as_bytes().first() {
        Some(b'{') => "the object",
        Some(b'[') => "the array",
        Some(b'"') => "the string",
        Some(b't' | b'f') => "the boolean",
        Some(b'n') => return "null".to_owned(),
        _ => "the number",
    };
    let mut description = String::with_capacity(kind.len() + 1 + json.len().min(MAX_LENGTH + 1));
    description.push_str(kind);
    description.push(' ');
    push_shortened(&mut description, json);
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let short = shortened(&"é".repeat(100));
        assert_eq!(short, format!("{}…", "é".repeat(59)));
        assert_eq!(shortened(&"é".repeat(60)), "é".repeat(60));
    }

    #[test]
    fn a_value_is_described_by_kind_and_beginning() {
        let cases = [
            ("null", "null"),
            ("1.5", "the number 1.5"),
            ("true", "the boolean true"),
            (r#""two""#, r#"the string "two""#),
            ("[1,\n2]", "the array [1, 2]"),
            ("{}", "the object {}"),
        ];
        for (json, expected) in cases {
            assert_eq!(describe(json), expected);
        }
    }
}
