//! Serializes values for URLs, headers and forms (RFC 3986, section 2.1; OpenAPI 3.1, "Style Values").

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use toolwright::Value;

use crate::operation::Style;

/// All characters but the unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes all reserved characters of a text.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns a value as text: a string as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the items of a list, the alternating keys and values of an object, or any other value, as texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| [key.to_owned(), text(value)]).collect()
        }
        other => vec![text(other)],
    }
}

/// Returns the texts of a value between which a receiver finds only the given separator.
///
/// # Errors
///
/// Returns the reason if an item of a list, or a key or value of an object, has the separator within it.
pub(crate) fn separable(value: &Value, separator: char) -> Result<Vec<String>, String> {
    let texts = texts(value);
    let is_scalar = !matches!(value, Value::Array(_) | Value::Object(_));
    if is_scalar || !texts.iter().any(|text| text.contains(separator)) {
        return Ok(texts);
    }
    Err(format!("has `{separator}` within an item, where it would begin another item"))
}

/// Returns a value for a path: its texts joined by commas (OpenAPI's style `simple`).
pub(crate) fn path_text(value: &Value) -> String {
    let texts: Vec<String> = texts(value).iter().map(|text| encoded(text)).collect();
    texts.join(",")
}

/// The most bytes of the names that values of a query or a form repeat: those of exploded lists, and in the style `deepObject` all
/// keys above a value.
const MOST_NAME_BYTES: usize = 8 << 20;

/// Encoded `name=value` pairs for a query or a form.
#[derive(Default)]
pub(crate) struct Pairs {
    pairs: Vec<String>,
    /// The bytes of the names that values repeat.
    name_bytes: usize,
}

const TOO_LARGE: &str = "repeats its keys for too many values; make it smaller or its keys shorter";

impl Pairs {
    /// The names of the pairs from an index on, encoded.
    pub(crate) fn names_from(&self, index: usize) -> impl Iterator<Item = &str> {
        self.pairs[index..].iter().filter_map(|pair| Some(pair.split_once('=')?.0))
    }

    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.pairs
    }

    /// Adds the pairs of a value. Null, empty lists and the null properties of an exploded object have none.
    ///
    /// # Errors
    ///
    /// Returns the reason why a receiver could not read the value as it is.
    pub(crate) fn add(
        &mut self,
        name: &str,
        value: &Value,
        style: Style,
        explode: bool,
    ) -> Result<(), String> {
        let pair = |name: &str, text: &str| format!("{}={}", encoded(name), encoded(text));
        match (style, value) {
            (_, Value::Null) => {}
            (Style::DeepObject, value) => return self.add_deep(&mut encoded(name), value),
            (_, Value::Array(items)) if explode => {
                let name = encoded(name);
                for item in items {
                    self.add_pair(&name, item)?;
                }
            }
            (_, Value::Object(entries)) if explode => {
                let present = entries.iter().filter(|(_, value)| !matches!(value, Value::Null));
                self.pairs.extend(present.map(|(key, value)| pair(key, &text(value))));
            }
            (_, Value::Array(_) | Value::Object(_)) => {
                self.pairs.extend(joined(name, value, style)?);
            }
            (_, scalar) => self.pairs.push(pair(name, &text(scalar))),
        }
        Ok(())
    }

    /// Adds pairs such as `a[b][c]=1` to any depth. Items of lists are named by their index.
    fn add_deep(&mut self, name: &mut String, value: &Value) -> Result<(), String> {
        let mut child = |key: &str, value: &Value| {
            let length = name.len();
            name.extend(["%5B", &encoded(key), "%5D"]);
            let added = self.add_deep(name, value);
            name.truncate(length);
            added
        };
        match value {
            Value::Null => Ok(()),
            Value::Object(entries) => entries.iter().try_for_each(|(key, value)| {
                if key.is_empty() {
                    return Err("has an empty key, which would name an item of a list".to_owned());
                }
                if key.contains(['[', ']']) {
                    return Err(
                        "has `[` or `]` within a key, where it would begin another key".to_owned()
                    );
                }
                child(key, value)
            }),
            Value::Array(items) => {
                let mut indexed = items.iter().enumerate();
                indexed.try_for_each(|(index, item)| child(&index.to_string(), item))
            }
            scalar => self.add_pair(name, scalar),
        }
    }

    /// Adds a pair whose encoded name others may have, too.
    fn add_pair(&mut self, name: &str, value: &Value) -> Result<(), String> {
        self.name_bytes += name.len();
        if self.name_bytes > MOST_NAME_BYTES {
            return Err(TOO_LARGE.to_owned());
        }
        self.pairs.push(format!("{name}={}", encoded(&text(value))));
        Ok(())
    }
}

/// Joins the items of a list or an object. Commas within them are encoded, and other separators must be absent.
fn joined(name: &str, value: &Value, style: Style) -> Result<Option<String>, String> {
    let (texts, separator) = match style {
        Style::SpaceDelimited => (separable(value, ' ')?, "%20"),
        Style::PipeDelimited => (separable(value, '|')?, "%7C"),
        Style::Form | Style::DeepObject => (texts(value), ","),
    };
    let texts: Vec<String> = texts.iter().map(|text| encoded(text)).collect();
    Ok((!texts.is_empty()).then(|| format!("{}={}", encoded(name), texts.join(separator))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_serializes_lists_and_objects_as_openapi_defines() {
        let list = r#"["a,b","c/d",1.50]"#;
        let object = r#"{"x":1,"y":"&"}"#;
        let nested = r#"{"x":{"y":[true,null,"z"]}}"#;
        let table = [
            (Style::Form, true, list, "p=a%2Cb&p=c%2Fd&p=1.50"),
            (Style::Form, false, list, "p=a%2Cb,c%2Fd,1.50"),
            (Style::SpaceDelimited, false, list, "p=a%2Cb%20c%2Fd%201.50"),
            (Style::PipeDelimited, false, list, "p=a%2Cb%7Cc%2Fd%7C1.50"),
            (Style::PipeDelimited, true, list, "p=a%2Cb&p=c%2Fd&p=1.50"),
            (Style::Form, true, object, "x=1&y=%26"),
            (Style::Form, false, object, "p=x,1,y,%26"),
            (Style::DeepObject, true, object, "p%5Bx%5D=1&p%5By%5D=%26"),
            (
                Style::DeepObject,
                true,
                nested,
                "p%5Bx%5D%5By%5D%5B0%5D=true&p%5Bx%5D%5By%5D%5B2%5D=z",
            ),
            (Style::Form, true, r#"{"x":null,"y":1}"#, "y=1"),
            (Style::Form, false, "[]", ""),
            (Style::Form, true, "null", ""),
            (Style::Form, true, "12345678901234567890123", "p=12345678901234567890123"),
            (Style::Form, true, r#""é=🦀""#, "p=%C3%A9%3D%F0%9F%A6%80"),
        ];
        for (style, explode, json, expected) in table {
            let value: Value = json.parse().expect(json);
            let mut pairs = Pairs::default();
            pairs.add("p", &value, style, explode).expect(json);
            assert_eq!(pairs.into_vec().join("&"), expected, "{style:?} {json}");
        }
    }

    #[test]
    fn a_separator_within_an_item_or_a_key_is_refused() {
        let table = [
            (Style::SpaceDelimited, r#"["a b","c"]"#),
            (Style::PipeDelimited, r#"["a","b|c"]"#),
            (Style::PipeDelimited, r#"{"a|b":1}"#),
            (Style::DeepObject, r#"{"a][b":1}"#),
            (Style::DeepObject, r#"{"a":{"b[":1}}"#),
        ];
        for (style, json) in table {
            let value = json.parse().expect(json);
            let reason = Pairs::default().add("p", &value, style, false).expect_err(json);
            assert!(reason.contains("` within a"), "{reason}");
        }
    }

    #[test]
    fn an_empty_key_below_a_name_is_refused() {
        for json in [r#"{"":1}"#, r#"{"a":[{"":1}]}"#] {
            let value = json.parse().expect(json);
            let reason = Pairs::default().add("p", &value, Style::DeepObject, true);
            assert!(reason.expect_err(json).contains("an empty key"), "{json}");
        }
    }

    #[test]
    fn a_long_name_of_many_values_is_too_large() {
        let long = "k".repeat(1000);
        let list = |count: usize| format!("[{}1]", "1,".repeat(count));
        let below_a_key = |count: usize| {
            let json = format!(r#"{{"{long}":{}}}"#, list(count));
            Pairs::default().add("p", &json.parse().expect("JSON"), Style::DeepObject, true)
        };
        let of_a_list = |count: usize| {
            Pairs::default().add(&long, &list(count).parse().expect("JSON"), Style::Form, true)
        };
        for values in [&below_a_key as &dyn Fn(usize) -> _, &of_a_list] {
            values(7_000).expect("it has seven million bytes");
            values(8_400).expect_err("it has more than eight MiB");
        }
    }
}
