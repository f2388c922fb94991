//! The canonical text of values (RFC 8785), which is the same for equal values.

use super::{Map, Number, Value};
use crate::json::Output;

impl Value {
    /// Returns the canonical text (RFC 8785): no white space, keys sorted by their UTF-16 code units, and numbers as
    /// [`Number::to_canonical`] writes them. Equal values have the same text.
    ///
    /// ```
    /// let value: toolwright::Value = r#"{ "b": [1.0, 15e-1], "a": "\u0078" }"#.parse().unwrap();
    /// assert_eq!(value.to_canonical(), r#"{"a":"x","b":[1,1.5]}"#);
    /// ```
    pub fn to_canonical(&self) -> String {
        let mut text = Output::with_capacity(0);
        append(self, &mut text);
        text.into_string()
    }
}

fn append(value: &Value, out: &mut Output) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_canonical()),
        Value::String(text) => out.quote(text),
        Value::Array(items) => {
            out.push_str("[");
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                append(item, out);
            }
            out.push_str("]");
        }
        Value::Object(entries) => {
            out.push_str("{");
            for (index, (key, value)) in sorted(entries).into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.quote(key);
                out.push_str(":");
                append(value, out);
            }
            out.push_str("}");
        }
    }
}

fn sorted(entries: &Map<Value>) -> Vec<(&str, &Value)> {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    entries
}

impl Number {
    /// Returns the canonical text, which is the same for all notations of a number: `1`, `1.0` and `10e-1` are all `1`. RFC 8785,
    /// 3.2.2.3, rounds numbers to doubles. One that a double does not hold keeps its digits here, with a power of ten,
    /// because two schemas may differ only there.
    pub fn to_canonical(&self) -> String {
        let digits = self.as_str().strip_prefix('-').unwrap_or(self.as_str());
        if digits.len() < 16 && digits != "0" && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.as_str().to_owned();
        }
        let double = self.as_f64();
        if !Self::try_from(double).is_ok_and(|rounded| rounded == *self) {
            return self.decimal().scientific();
        }
        let size = double.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{double:e}");
            return if size > 1.0 { text.replace('e', "e+") } else { text };
        }
        // There is no negative zero.
        if double == 0.0 { "0".to_owned() } else { double.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use crate::Value;

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
            ("1e400", "1e400"),
        ] {
            let value: Value = text.parse().expect("it is JSON");
            assert_eq!(value.to_canonical(), expected, "{text}");
        }
    }

    #[test]
    fn keys_are_sorted_by_utf_16_and_texts_escape_only_what_they_must() {
        let text = "{\"\u{fb33}\":\"\u{7f}</\",\"\u{1f600}\":\"\\u000f\\n\\u002f\",\"a\":[]}";
        let value: Value = text.parse().expect("it is JSON");
        let expected = "{\"a\":[],\"\u{1f600}\":\"\\u000f\\n/\",\"\u{fb33}\":\"\u{7f}</\"}";
        assert_eq!(value.to_canonical(), expected);
    }
}
