//! Bridges to serde: a value in any serde format is converted to JSON, which the codec then reads.
//!
//! There is no second codec: if the JSON codec refuses a value, it is refused in every format.
//!
//! With its feature `arbitrary_precision`, serde_json passes a number as an object with the one key `$serde_json::private::Number` and
//! the number's text, and any crate of a build may turn that on. So an object that looks like that is read as a number,
//! as serde_json itself does. Use [`from_json`](crate::codec::from_json) for JSON text that others send.

mod read;
mod write;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::codec::{self, Decode, Encode};
use crate::value::{Integer, Map, Nullable, Number, Value};

/// Serializes a value through its codec, into any format.
///
/// # Errors
///
/// Every issue the codec finds in the value, as one custom error of the serializer, or the serializer's own. A number that is beyond
/// 128 bits and beyond `f64`, such as `1e400`, is an error, too, since serde has no type for it.
pub fn serialize<T: Encode + ?Sized, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let json = codec::to_json(value).map_err(ser::Error::custom)?;
    let value: Value = json.parse().map_err(ser::Error::custom)?;
    value.serialize(serializer)
}

/// Deserializes a value through its codec, from any self-describing format.
///
/// # Errors
///
/// Every issue the codec finds, as one custom error of the deserializer, or the deserializer's own.
pub fn deserialize<'de, T: Decode, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let json = read::json(deserializer)?;
    codec::from_json(json.as_bytes()).map_err(de::Error::custom)
}

/// Implements `Serialize` and `Deserialize` for types that have a codec.
///
/// ```
/// # use toolwright::codec::{Decode, Encode, Reader, Writer};
/// struct Name(String);
/// # impl Decode for Name {
/// #     fn decode(input: &mut Reader<'_>) -> Option<Self> { String::decode(input).map(Self) }
/// # }
/// # impl Encode for Name {
/// #     fn encode(&self, out: &mut Writer) { self.0.encode(out); }
/// # }
/// toolwright::serde_bridge!(Name);
/// ```
#[macro_export]
macro_rules! serde_bridge {
    ($($name:ident),+ $(,)?) => {$(
        impl $crate::serde_core::Serialize for $name {
            fn serialize<S: $crate::serde_core::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::bridge::serialize(self, serializer)
            }
        }

        impl<'de> $crate::serde_core::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde_core::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::bridge::deserialize(deserializer)
            }
        }
    )+};
}

serde_bridge!(Integer, Number);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

impl<T: Encode> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<'de, T: Decode> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

impl<T: Encode> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<'de, T: Decode> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}
