//! Conversions from and to the type of the crate `uuid`. It does not keep the case of digits: they become lowercase.

use super::by_value;
use crate::format::Uuid;

impl From<&Uuid> for uuid::Uuid {
    fn from(uuid: &Uuid) -> Self {
        Self::from_bytes(uuid.to_bytes())
    }
}

impl From<uuid::Uuid> for Uuid {
    fn from(uuid: uuid::Uuid) -> Self {
        Self::parse(&uuid.hyphenated().to_string()).expect("it is the text of a UUID")
    }
}

by_value! {
    From<Uuid> for uuid::Uuid;
}
