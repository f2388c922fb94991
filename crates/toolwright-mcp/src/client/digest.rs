//! Digests of remote tools: the SHA-256 of their canonical JSON, in hexadecimal. Equal schemas have equal digests, however
//! they are written. `toolwright-import` computes the same digests; `tests/digests/cases.json` tests both.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use toolwright::Value;

/// Returns the digest of a tool's schemas.
pub(super) fn of(input: Option<&Value>, output: Option<&Value>) -> String {
    of_parts([("inputSchema", input), ("outputSchema", output)])
}

/// Returns the digest of an object with these members, sorted by key. Members without a value are left out.
pub(super) fn of_parts<const N: usize>(parts: [(&str, Option<&Value>); N]) -> String {
    let mut text = String::from("{");
    for (key, value) in parts {
        if let Some(value) = value {
            if text.len() > 1 {
                text.push(',');
            }
            write_string(key, &mut text);
            text.push(':');
            canonical(value, &mut text);
        }
    }
    text.push('}');
    sha256(&text)
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Writes canonical JSON: keys sorted by their bytes, no spaces, numbers in one form for each exact value.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_canonical()),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
            out.push('{');
            for (position, (key, value)) in entries.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                canonical(value, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use toolwright::Value;

    #[test]
    fn digests_equal_those_of_the_importer() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/digests/cases.json");
        let text = std::fs::read_to_string(path).expect("there are cases");
        let cases: Value = text.parse().expect("they are JSON");
        let cases = cases.as_array().expect("they are a list");
        assert!(!cases.is_empty());
        for case in cases {
            let schema = |key| case.get("tool").and_then(|tool| tool.get(key));
            let digest = super::of(schema("inputSchema"), schema("outputSchema"));
            assert_eq!(Some(&*digest), case.get("digest").and_then(Value::as_str), "{case}");
        }
    }
}
