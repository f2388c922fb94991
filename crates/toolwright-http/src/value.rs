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

/// Returns a value for a path: its texts joined by commas (OpenAPI's style `simple`).
pub(crate) fn path_text(value: &Value) -> String {
    let texts: Vec<String> = texts(value).iter().map(|text| encoded(text)).collect();
    texts.join(",")
}

/// Returns a value as encoded `name=value` pairs for a query or a form. Null and empty lists have none.
pub(crate) fn pairs(name: &str, value: &Value, style: Style, explode: bool) -> Vec<String> {
    let pair = |name: &str, text: &str| format!("{}={}", encoded(name), encoded(text));
    match (style, value) {
        (_, Value::Null) => Vec::new(),
        (Style::DeepObject, value) => deep(&encoded(name), value),
        (_, Value::Array(items)) if explode => {
            items.iter().map(|item| pair(name, &text(item))).collect()
        }
        (_, Value::Object(entries)) if explode => {
            entries.iter().map(|(key, value)| pair(key, &text(value))).collect()
        }
        (_, Value::Array(_) | Value::Object(_)) => joined(name, &texts(value), style),
        (_, scalar) => vec![pair(name, &text(scalar))],
    }
}

fn joined(name: &str, texts: &[String], style: Style) -> Vec<String> {
    let separator = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::Form | Style::DeepObject => ",",
    };
    let texts: Vec<String> = texts.iter().map(|text| encoded(text)).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    vec![format!("{}={}", encoded(name), texts.join(separator))]
}

/// Returns pairs such as `a[b][c]=1` to any depth. Items of lists are named by their index.
fn deep(name: &str, value: &Value) -> Vec<String> {
    let child = |key: &str| format!("{name}%5B{}%5D", encoded(key));
    match value {
        Value::Null => Vec::new(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| deep(&child(key), value)).collect()
        }
        Value::Array(items) => {
            let indexed = items.iter().enumerate();
            indexed.flat_map(|(index, item)| deep(&child(&index.to_string()), item)).collect()
        }
        scalar => vec![format!("{name}={}", encoded(&text(scalar)))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_serializes_lists_and_objects_as_openapi_defines() {
        let list = r#"["a b","c/d",1.50]"#;
        let object = r#"{"x":1,"y":"&"}"#;
        let nested = r#"{"x":{"y":[true,null,"z"]}}"#;
        let table = [
            (Style::Form, true, list, "p=a%20b&p=c%2Fd&p=1.50"),
            (Style::Form, false, list, "p=a%20b,c%2Fd,1.50"),
            (Style::SpaceDelimited, false, list, "p=a%20b%20c%2Fd%201.50"),
            (Style::PipeDelimited, false, list, "p=a%20b%7Cc%2Fd%7C1.50"),
            (Style::PipeDelimited, true, list, "p=a%20b&p=c%2Fd&p=1.50"),
            (Style::Form, true, object, "x=1&y=%26"),
            (Style::Form, false, object, "p=x,1,y,%26"),
            (Style::DeepObject, true, object, "p%5Bx%5D=1&p%5By%5D=%26"),
            (
                Style::DeepObject,
                true,
                nested,
                "p%5Bx%5D%5By%5D%5B0%5D=true&p%5Bx%5D%5By%5D%5B2%5D=z",
            ),
            (Style::Form, false, "[]", ""),
            (Style::Form, true, "null", ""),
            (Style::Form, true, "12345678901234567890123", "p=12345678901234567890123"),
            (Style::Form, true, r#""é=🦀""#, "p=%C3%A9%3D%F0%9F%A6%80"),
        ];
        for (style, explode, json, expected) in table {
            let value: Value = json.parse().expect(json);
            assert_eq!(pairs("p", &value, style, explode).join("&"), expected, "{style:?} {json}");
        }
    }
}
