//! Converts the input of any self-describing deserializer to JSON text. Keys keep their order; repeated keys are kept,
//! so that the codec refuses them.
//!
//! Values that JSON cannot hold (bytes, NaN, keys that are not strings) are errors of the deserializer.

use std::fmt;

use serde_core::Deserializer;
use serde_core::de::{
    DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::json::{MAX_DEPTH, quoted};
use crate::value::Number;

/// When any crate of a build turns on its feature `arbitrary_precision`, serde_json represents a number as a map from
/// this one key to the number's text. An object with that one entry looks the same, so it is read as a number, too.
const NUMBER: &str = "$serde_json::private::Number";

/// Returns the deserializer's value as JSON text.
pub(super) fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let mut text = String::new();
    Transcoder { text: &mut text, depth: 0 }.deserialize(deserializer)?;
    Ok(text)
}

/// Appends one value to a JSON text.
struct Transcoder<'t> {
    text: &'t mut String,
    depth: usize,
}

impl Transcoder<'_> {
    fn inner(&mut self) -> Transcoder<'_> {
        Transcoder { text: self.text, depth: self.depth + 1 }
    }

    /// Allows one level more than a codec reads, so that the codec reports the issue with its own message, and one more for the text
    /// of a number.
    fn check_depth<E: Error>(&self) -> Result<(), E> {
        if self.depth > MAX_DEPTH + 1 { Err(E::custom("nested too deep for JSON")) } else { Ok(()) }
    }

    fn put(self, text: impl fmt::Display) {
        self.text.push_str(&text.to_string());
    }

    fn put_string(&mut self, text: &str) {
        self.text.push_str(&quoted(text));
    }
}

impl<'de> DeserializeSeed<'de> for Transcoder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.check_depth()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Transcoder<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value that JSON can hold")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.put(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(value);
        Ok(())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<(), E> {
        self.put(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.put(value);
        Ok(())
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<(), E> {
        self.put(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let number = Number::try_from(value).map_err(E::custom)?;
        self.put(number);
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.put_string(text);
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.put("null");
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put("null");
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.inner().deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        mut self,
        deserializer: D,
    ) -> Result<(), D::Error> {
        self.inner().deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let mut separator = '[';
        loop {
            let end = self.text.len();
            self.text.push(separator);
            if items.next_element_seed(self.inner())?.is_none() {
                self.text.truncate(end);
                break;
            }
            separator = ',';
        }
        self.text.push_str(if separator == '[' { "[]" } else { "]" });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let start = self.text.len();
        let mut separator = '{';
        while let Some(key) = entries.next_key::<Key>()? {
            self.text.push(separator);
            self.put_string(&key.0);
            self.text.push(':');
            entries.next_value_seed(self.inner())?;
            separator = ',';
        }
        self.text.push_str(if separator == '{' { "{}" } else { "}" });
        if let Some(number) = number_of(&self.text[start..]) {
            self.text.truncate(start);
            self.put(number);
        }
        Ok(())
    }

    /// Writes a variant of an enum as an object with one entry, as serde_json does.
    fn visit_enum<A: EnumAccess<'de>>(mut self, variant: A) -> Result<(), A::Error> {
        let (name, content) = variant.variant::<Key>()?;
        self.text.push('{');
        self.put_string(&name.0);
        self.text.push(':');
        content.newtype_variant_seed(self.inner())?;
        self.text.push('}');
        Ok(())
    }
}

/// Returns the number that serde_json represents as this object.
fn number_of(object: &str) -> Option<Number> {
    let entry = object.strip_prefix("{\"")?.strip_prefix(NUMBER)?;
    entry.strip_prefix("\":\"")?.strip_suffix("\"}")?.parse().ok()
}

/// A key of a map: JSON only has strings.
struct Key(String);

impl<'de> serde_core::Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string as key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
        Ok(Key(text.to_owned()))
    }
}
