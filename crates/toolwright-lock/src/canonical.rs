//! The digests of a lock: SHA-256 over canonical texts (RFC 8785).

use toolwright::Value;

/// Returns the digest of a canonical text, as `sha256:` and 64 hexadecimal digits. `domain` keeps digests of different things
/// apart.
pub(crate) fn digest(domain: &str, text: &str) -> String {
    format!("sha256:{}", toolwright::digests::digest(domain, text))
}

/// Returns the canonical text of an object with these keys and canonical texts of values.
pub(crate) fn object<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    let entries = entries.into_iter().map(|(key, value)| format!("{}:{value}", Value::from(key)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::{digest, object};
    use toolwright::Value;

    fn of(text: &str) -> String {
        digest("model", &text.parse::<Value>().unwrap().to_canonical())
    }

    #[test]
    fn digests_depend_on_the_meaning_and_on_every_part_of_it() {
        let text = r#"{"b":[1,"x"],"a":{"c":1.50}}"#;
        assert_eq!(of(text), of(r#" { "a": {"c": 15e-1}, "b": [1.0, "\u0078"] } "#));
        for other in [r#"{"b":["x",1],"a":{"c":1.5}}"#, r#"{"b":[1,"x"],"a":{"d":1.5}}"#, "[]"] {
            assert_ne!(of(text), of(other));
        }
        assert_ne!(of(text), digest("args", &text.parse::<Value>().unwrap().to_canonical()));
        let parts = [("b", r#"[1,"x"]"#.to_owned()), ("a", r#"{"c":1.5}"#.to_owned())];
        assert_eq!(of(text), digest("model", &object(parts)));
        assert_ne!(of("9007199254740993"), of("9007199254740992"));
    }
}
