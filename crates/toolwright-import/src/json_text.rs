//! Reads JSON text as a [`Json`], which keeps the order of keys and the digits of numbers.
//!
//! serde_json reads the strings, but its `Value` cannot replace this reader. It keeps the last of two equal keys, where an
//! import reports the second with its position. It keeps the digits of numbers only with the feature `arbitrary_precision`,
//! which would change `Value` for every crate in the same build.

use std::collections::BTreeSet;
use std::fmt;

use toolwright_codegen::internal::Json;

/// The maximum depth of values.
const MAX_DEPTH: usize = 256;

/// The maximum length of a text in bytes: several times the limit of a schema file.
const MAX_BYTES: usize = 16 << 20;

/// The maximum number of entries of one list or object: the same as in a schema file.
const MAX_ENTRIES: usize = 10_000;

/// The error for a text that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The message.
    pub message: String,
}

/// Reads a whole text.
pub(super) fn read(text: &str) -> Result<Json, JsonError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.len() > MAX_BYTES {
        return Err(reader.located(format!("a text of more than {} MiB", MAX_BYTES >> 20)));
    }
    let read = reader.value().and_then(|value| match reader.next() {
        None => Ok(value),
        Some(c) => Err(format!("expected the end of the text, found `{c}`")),
    });
    read.map_err(|message| reader.located(message))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn value(&mut self) -> Read<Json> {
        match self.next() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"') => self.string().map(Json::String),
            Some(_) => self.word(),
            None => Err("expected a value, found the end of the text".to_owned()),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Json>) -> Read<Json> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("values nested more than {MAX_DEPTH} deep"));
        }
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Read<Json> {
        let mut entries = Vec::new();
        let mut keys = BTreeSet::new();
        self.separated('}', |reader| {
            if reader.next() != Some('"') {
                return Err("expected a key in quotes".to_owned());
            }
            let start = reader.at;
            let key = reader.string()?;
            if !keys.insert(key.clone()) {
                reader.at = start;
                return Err(format!(
                    "the key `{key}` occurs twice in one object; keep one of them"
                ));
            }
            reader.expect(':')?;
            entries.push((key, reader.value()?));
            Ok(())
        })?;
        Ok(Json::Object(entries))
    }

    fn array(&mut self) -> Read<Json> {
        let mut items = Vec::new();
        self.separated(']', |reader| {
            items.push(reader.value()?);
            Ok(())
        })?;
        Ok(Json::Array(items))
    }

    /// Reads parts between commas, up to the closing bracket.
    fn separated(&mut self, end: char, mut part: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.next() == Some(end) {
            self.at += 1;
            return Ok(());
        }
        for _ in 0..MAX_ENTRIES {
            part(self)?;
            match self.next() {
                Some(',') => self.at += 1,
                Some(c) if c == end => {
                    self.at += 1;
                    return Ok(());
                }
                Some(c) => return Err(format!("expected `,` or `{end}`, found `{c}`")),
                None => return Err(format!("expected `,` or `{end}`, found the end of the text")),
            }
        }
        Err(format!("a list or object of more than {MAX_ENTRIES} entries"))
    }

    fn string(&mut self) -> Read<String> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest[1..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.ok_or("a string without an end")?;
        let literal = &rest[..end + 2];
        let text = serde_json::from_str(literal).map_err(|error| reason(&error))?;
        self.at += literal.len();
        Ok(text)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Read<Json> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let value = match word {
            "null" => Json::Null,
            "true" => Json::Boolean(true),
            "false" => Json::Boolean(false),
            _ if is_number(word) => Json::Number(word.replace('E', "e")),
            _ => return Err("expected a value".to_owned()),
        };
        self.at += word.len();
        Ok(value)
    }

    fn expect(&mut self, expected: char) -> Read<()> {
        if self.next() != Some(expected) {
            return Err(format!("expected `{expected}`"));
        }
        self.at += 1;
        Ok(())
    }

    /// The next character that is not white space.
    fn next(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn located(&self, message: String) -> JsonError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        JsonError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }
}

/// Returns whether a word is a number by JSON's grammar, whatever its size (RFC 8259, 6).
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) = mantissa
        .split_once('.')
        .map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|power| digits(power.strip_prefix(['+', '-']).unwrap_or(power)))
}

/// The reason without the position that serde_json adds, which is relative to the string.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split(" at line ").next().unwrap_or_default() {
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "half of a surrogate pair such as `\\ud800`, which is not a character (RFC 8259, 8.2); write \
             the other half beside it, or leave it out"
                .to_owned()
        }
        reason => reason.to_owned(),
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not JSON at {}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for JsonError {}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn order_and_digits_are_kept() {
        let texts = [
            (
                r#"{"b": 1, "a": [1.50, -0, 12345678901234567890123, 1E+5, 1e400]}"#,
                r#"{"b":1,"a":[1.50,-0,12345678901234567890123,1e+5,1e400]}"#,
            ),
            ("\u{feff} \"\\ud83e\\udd80\\u0000\" ", "\"🦀\\u0000\""),
            ("[true, false, null, {}, []]", "[true,false,null,{},[]]"),
        ];
        for (text, expected) in texts {
            assert_eq!(read(text).expect(text).to_string(), expected);
        }
    }

    #[test]
    fn what_is_not_json_is_located() {
        let cases = [
            ("", "1:1"),
            ("{", "1:2"),
            ("[1,]", "1:4"),
            ("[01]", "1:2"),
            ("[1.]", "1:2"),
            ("{\n\"é\" 1}", "2:5"),
            ("{\"a\":1,\"a\":2}", "1:8"),
            ("\"\\ud800\"", "1:1"),
            ("nul", "1:1"),
            ("[1] x", "1:5"),
            ("\"a\nb\"", "1:1"),
            ("\"a", "1:1"),
            ("'a'", "1:1"),
        ];
        for (text, place) in cases {
            let error = read(text).expect_err(text);
            assert_eq!(format!("{}:{}", error.line, error.column), place, "{text}: {error}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
        for half in [r#""\ud800""#, r#""\ud800x""#, r#""\udc00""#] {
            let error = read(half).expect_err(half);
            assert!(error.message.starts_with("half of a surrogate pair"), "{half}: {error}");
        }
    }
}
