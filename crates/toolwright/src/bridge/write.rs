//! Serializes a [`Value`]: each kind of JSON value becomes the same kind of the serde data model.

use serde_core::ser::{Error as _, SerializeMap, SerializeSeq};
use serde_core::{Serialize, Serializer};

use crate::json::shortened;
use crate::value::{Number, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Number(number) => serialize_number(number, serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

/// Serializes a number as the narrowest type that holds it. Fractions, numbers with an exponent and numbers beyond 128 bits become the
/// nearest `f64`, since serde has no type that is more exact. A number beyond `f64` is an error.
fn serialize_number<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    let text = number.as_str();
    if let Ok(value) = text.parse::<i64>() {
        serializer.serialize_i64(value)
    } else if let Ok(value) = text.parse::<u64>() {
        serializer.serialize_u64(value)
    } else if let Ok(value) = text.parse::<i128>() {
        serializer.serialize_i128(value)
    } else if let Ok(value) = text.parse::<u128>() {
        serializer.serialize_u128(value)
    } else {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => serializer.serialize_f64(value),
            _ => Err(S::Error::custom(format_args!(
                "found the number {}, expected one that is not beyond doubles; write it with `to_json`",
                shortened(text)
            ))),
        }
    }
}
