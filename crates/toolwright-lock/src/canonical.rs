//! The digests of a lock: SHA-256 over the canonical text of a value (RFC 8785).

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use toolwright::Value;
use toolwright::value::Number;

/// Returns the digest of a canonical text, as `sha256:` and 64 hexadecimal digits. `domain` keeps digests of different things
/// apart, even if their texts are equal.
pub(crate) fn digest(domain: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("toolwright/1/{domain}\0"));
    hash.update(text);
    let mut text = "sha256:".to_owned();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the canonical text of a value.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    append(value, &mut text);
    text
}

/// Returns the canonical text of an object with these keys and canonical texts of values.
pub(crate) fn object<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    let entries = entries.into_iter().map(|(key, value)| format!("{}:{value}", Value::from(key)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// Writes a value without spaces, with sorted keys (RFC 8785).
fn append(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => out.push_str(&canonical_number(number)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                append(item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&Value::from(key).to_string());
                out.push(':');
                append(value, out);
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
}

/// Returns a number as RFC 8785, 3.2.2.3, writes it. It rounds numbers to doubles. One that a double does not hold keeps all its
/// digits, because two schemas may differ only there.
fn canonical_number(number: &Number) -> String {
    let double = number.as_f64();
    if !Number::try_from(double).is_ok_and(|rounded| rounded == *number) {
        return number.to_canonical();
    }
    let size = double.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{double:e}");
        return if size > 1.0 { text.replace('e', "e+") } else { text };
    }
    // There is no negative zero.
    if double == 0.0 { "0".to_owned() } else { double.to_string() }
}

#[cfg(test)]
mod tests {
    use super::{canonical, digest, object};
    use toolwright::Value;

    fn of(text: &str) -> String {
        digest("model", &canonical(&text.parse::<Value>().unwrap()))
    }

    #[test]
    fn numbers_are_written_as_rfc_8785_says_unless_a_double_does_not_hold_them() {
        for (text, expected) in [
            ("1.0", "1"),
            ("-0.0", "0"),
            ("15e-1", "1.5"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("-123e-9", "-1.23e-7"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-25e40", "-2.5e+41"),
            ("0.1", "0.1"),
            ("9007199254740993", "9007199254740993e0"),
        ] {
            assert_eq!(canonical(&text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn digests_depend_on_the_meaning_and_on_every_part_of_it() {
        let text = r#"{"b":[1,"x"],"a":{"c":1.50}}"#;
        assert_eq!(of(text), of(r#" { "a": {"c": 15e-1}, "b": [1.0, "\u0078"] } "#));
        for other in [r#"{"b":["x",1],"a":{"c":1.5}}"#, r#"{"b":[1,"x"],"a":{"d":1.5}}"#, "[]"] {
            assert_ne!(of(text), of(other));
        }
        assert_ne!(of(text), digest("args", &canonical(&text.parse::<Value>().unwrap())));
        let parts = [("b", r#"[1,"x"]"#.to_owned()), ("a", r#"{"c":1.5}"#.to_owned())];
        assert_eq!(of(text), digest("model", &object(parts)));
        assert_ne!(of("9007199254740993"), of("9007199254740992"));
    }
}
