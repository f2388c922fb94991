//! Hints on a model: any JSON object without keys that are names of secrets.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolwright::{Map, Value};

/// Hints on the model, without secrets.
#[derive(Default)]
pub(crate) struct Hints(pub(crate) Map<Value>);

/// The message about a key that is the name of a secret, after the key.
pub(crate) const IS_SECRET: &str =
    "is a secret, expected a hint on the model; pass secrets to the planner in code";

/// The suffixes of keys that are names of secrets, in lowercase without `-` and `_`.
const SECRET_SUFFIXES: [&str; 13] = [
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "secret",
    "password",
    "passphrase",
    "authtoken",
    "accesstoken",
    "apitoken",
    "bearertoken",
    "authorization",
    "credentials",
];

/// The most keys of an object.
const MOST_KEYS: usize = 1000;

/// The key under which the TOML parser passes a date to serde.
const TOML_DATE: &str = "$__toml_private_datetime";

/// Returns whether a key is the name of a secret.
pub(crate) fn is_secret(key: &str) -> bool {
    let name = key.to_lowercase().replace(['-', '_'], "");
    matches!(name.as_str(), "key" | "token")
        || SECRET_SUFFIXES.iter().any(|end| name.ends_with(end))
}

/// A key. It is checked when it is deserialized, so that the error has its position.
struct Key(String);

/// Deserializes any JSON.
struct Json;

impl<'de> Deserialize<'de> for Hints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Json)? {
            Value::Object(hints) => Ok(Self(hints)),
            other => Err(D::Error::custom(format!("found {other}, expected a mapping of hints"))),
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        if key == TOML_DATE {
            return Err(D::Error::custom("found a date, expected JSON; write it as a string"));
        }
        if is_secret(&key) {
            return Err(D::Error::custom(format!("`{key}` {IS_SECRET}")));
        }
        Ok(Self(key))
    }
}

impl<'de> DeserializeSeed<'de> for Json {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = value
            .try_into()
            .map_err(|_| E::custom(format!("found {value}, expected a JSON number")))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = entries.next_key()? {
            if object.len() == MOST_KEYS {
                let message =
                    format!("found more than {MOST_KEYS} keys, expected hints on a model");
                return Err(A::Error::custom(message));
            }
            object.insert(key, entries.next_value_seed(Self)?);
        }
        Ok(Value::Object(object))
    }
}
