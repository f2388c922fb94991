//! A domain type, which replaces a generated type.

use toolwright::codec::DomainType;

/// Cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub i64);

impl DomainType for Money {
    type Json = String;

    fn from_json(json: String) -> Result<Self, String> {
        json.replace('.', "").parse().map(Self).map_err(|_| "is too large".to_owned())
    }

    fn to_json(&self) -> String {
        format!("{}.{:02}", self.0 / 100, self.0 % 100)
    }
}
