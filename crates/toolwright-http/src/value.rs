//! Values as text in addresses, headers and forms (RFC 3986, 2.1; OpenAPI 3.1, "Style Values"). Never where they go.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use toolwright::Value;

use crate::operation::Style;

/// All but what RFC 3986, 2.3 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text in which nothing has a meaning to an address any more.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A value as text: strings and numbers as they are, lists and objects as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The texts of a value: its items, or its keys and values by turns, or itself.
pub(crate) fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| [key.to_owned(), plain(value)]).collect()
        }
        other => vec![plain(other)],
    }
}

/// A value in a path: its texts between commas (OpenAPI's style `simple`).
pub(crate) fn in_path(value: &Value) -> String {
    let texts: Vec<String> = flat(value).iter().map(|text| encoded(text)).collect();
    texts.join(",")
}

/// The encoded pairs that a value becomes in a query or a form; what is null or empty is left out.
pub(crate) fn pairs(name: &str, value: &Value, style: Style, explode: bool) -> Vec<String> {
    let pair = |name: &str, text: &str| format!("{}={}", encoded(name), encoded(text));
    match (style, value) {
        (_, Value::Null) => Vec::new(),
        (Style::DeepObject, value) => deep(&encoded(name), value),
        (_, Value::Array(items)) if explode => {
            items.iter().map(|item| pair(name, &plain(item))).collect()
        }
        (_, Value::Object(entries)) if explode => {
            entries.iter().map(|(key, value)| pair(key, &plain(value))).collect()
        }
        (_, Value::Array(_) | Value::Object(_)) => joined(name, &flat(value), style),
        (_, scalar) => vec![pair(name, &plain(scalar))],
    }
}

fn joined(name: &str, texts: &[String], style: Style) -> Vec<String> {
    let between = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::Form | Style::DeepObject => ",",
    };
    let texts: Vec<String> = texts.iter().map(|text| encoded(text)).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    vec![format!("{}={}", encoded(name), texts.join(between))]
}

/// `a[b][c]=1`, to any depth; items of lists by their number.
fn deep(name: &str, value: &Value) -> Vec<String> {
    let below = |key: &str| format!("{name}%5B{}%5D", encoded(key));
    match value {
        Value::Null => Vec::new(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| deep(&below(key), value)).collect()
        }
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.flat_map(|(index, item)| deep(&below(&index.to_string()), item)).collect()
        }
        scalar => vec![format!("{name}={}", encoded(&plain(scalar)))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_writes_lists_and_objects_as_openapi_has_them() {
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
