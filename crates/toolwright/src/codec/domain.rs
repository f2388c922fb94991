//! Types of your own in place of generated ones: a codec reads and writes the JSON value and converts it.

use super::{Reader, Writer};
use crate::issue::IssueKind;

/// A type of your own that replaces a generated one.
///
/// `Json` is the type that a generated field of the schema would have, which generated code checks: `String`, `i64`, `u8`, `f64`,
/// [`DateTime`](crate::format::DateTime), `Vec<String>` and so on. Values are checked against the schema before
/// `from_json` and after `to_json`, so these functions need not check the schema's rules. `from_json` must accept what
/// `to_json` returns.
///
/// ```
/// use toolwright::codec::{DomainType, Length, from_json};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Cents(i64);
///
/// impl DomainType for Cents {
///     type Json = String;
///
///     fn from_json(json: String) -> Result<Self, String> {
///         let digits = json.replace('.', "");
///         digits.parse().map(Self).map_err(|_| "is more than any price".to_owned())
///     }
///
///     fn to_json(&self) -> String {
///         format!("{}.{:02}", self.0 / 100, self.0 % 100)
///     }
/// }
///
/// struct Price {
///     total: Cents,
/// }
/// toolwright::object!(Price { required "total" => total: converted(string(Length::ANY)) });
///
/// assert_eq!(from_json::<Price>(br#"{"total": "12.50"}"#)?.total, Cents(1250));
/// # Ok::<_, toolwright::InvalidPayload>(())
/// ```
pub trait DomainType: Sized {
    /// The type of the value in JSON.
    type Json;

    /// Converts a JSON value that the schema accepts.
    ///
    /// # Errors
    ///
    /// The reason, as the end of a sentence that begins with the value's pointer: `is more than any price`.
    fn from_json(json: Self::Json) -> Result<Self, String>;

    /// Converts to the JSON value.
    fn to_json(&self) -> Self::Json;
}

impl Reader<'_> {
    /// Reads a JSON value and converts it, if it has no issues.
    pub fn converted<T: DomainType>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T::Json>,
    ) -> Option<T> {
        let mark = self.issues.count();
        let json = read(self).filter(|_| self.issues.count() == mark)?;
        match T::from_json(json) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.issues.add(IssueKind::Refused { reason });
                None
            }
        }
    }
}

impl Writer {
    /// Writes a value as its JSON value.
    pub fn converted<T: DomainType>(&mut self, value: &T, write: impl FnOnce(&mut Self, &T::Json)) {
        write(self, &value.to_json());
    }
}
