//! Reads JSON texts of others as values of serde_json.

use serde_json::Value;

/// Reads a JSON text. Unlike `serde_json::from_str`, it takes no object for a number or a raw value, which serde_json represents by
/// objects with certain keys.
#[cfg(any(feature = "router", feature = "server"))]
pub(crate) fn value(text: &str) -> serde_json::Result<Value> {
    let value = text.parse::<toolwright::Value>().map_err(serde::de::Error::custom)?;
    converted(&value)
}

/// Returns whether two JSON texts are different, but the same if their numbers are rounded to doubles.
#[cfg(feature = "client")]
pub(crate) fn differ_by_rounding(one: &str, other: &str) -> bool {
    let exact = |text: &str| text.parse::<toolwright::Value>().ok();
    let (Some(one), Some(other)) = (exact(one), exact(other)) else { return false };
    one != other && matches!((converted(&one), converted(&other)), (Ok(a), Ok(b)) if a == b)
}

fn converted(value: &toolwright::Value) -> serde_json::Result<Value> {
    Ok(match value {
        toolwright::Value::Null => Value::Null,
        toolwright::Value::Boolean(value) => Value::Bool(*value),
        toolwright::Value::Number(number) => Value::Number(serde_json::from_str(number.as_str())?),
        toolwright::Value::String(text) => Value::String(text.clone()),
        toolwright::Value::Array(items) => {
            Value::Array(items.iter().map(converted).collect::<Result<_, _>>()?)
        }
        toolwright::Value::Object(entries) => {
            let entry = |(key, value): (&str, _)| Ok((key.to_owned(), converted(value)?));
            Value::Object(entries.iter().map(entry).collect::<serde_json::Result<_>>()?)
        }
    })
}

#[cfg(all(test, feature = "server"))]
mod tests {
    #[test]
    fn an_object_stays_an_object_whatever_its_keys_are() {
        for text in [
            r#"{"$serde_json::private::RawValue":"{\"x\":1}"}"#,
            r#"{"$serde_json::private::RawValue":7,"x":1}"#,
            r#"{"$serde_json::private::Number":"5"}"#,
            r#"[null,true,-0.5,18446744073709551615,"\u0001é",{"b":{},"a":[]}]"#,
        ] {
            assert_eq!(super::value(text).unwrap().to_string(), text);
        }
        assert!(super::value(r#"{"a":1,"a":2}"#).is_err());
        assert!(super::value("1e999").is_err());
    }
}
