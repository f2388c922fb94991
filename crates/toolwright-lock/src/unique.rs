//! Reads parts of locks: maps whose keys may stand only once, as those of a lock after a merge may not, and values that may be null.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use toolwright::untrusted::line;

/// The most bytes of a key in an error.
const MAX_SHOWN: usize = 100;

/// Reads a value that is there, also if it is null.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// Reads a map with serde, and refuses a second value of a key.
pub(crate) fn unique<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct Unique<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = entries.next_entry::<String, V>()? {
                let shown = line(&key, MAX_SHOWN);
                if map.insert(key, value).is_some() {
                    return Err(A::Error::custom(format!("the key `{shown}` stands twice")));
                }
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Unique(PhantomData))
}
