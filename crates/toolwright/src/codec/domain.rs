//! Types of the user's in the place of generated ones: a value is read and written as its schema says, and converted.

use super::{Reader, Writer};
use crate::issue::IssueKind;

/// A type of your own that stands in the place of a generated one.
///
/// `Json` is what a generated field of the schema would hold: `String`, `i64`, `f64`, [`DateTime`](crate::format::DateTime),
/// `Vec<String>` and so on. A payload is held against the schema before `from_json` sees it and after `to_json` gave it, so
/// these need not check what the schema says. `from_json` has to accept what `to_json` gives.
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

    /// Makes a value of what its schema accepts.
    ///
    /// # Errors
    ///
    /// The reason, as the rest of a sentence that begins with the place of the value: `is more than any price`.
    fn from_json(json: Self::Json) -> Result<Self, String>;

    /// The value in JSON.
    fn to_json(&self) -> Self::Json;
}

impl Reader<'_> {
    /// Reads what a value is in JSON, and converts it where nothing is wrong with that.
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
    /// Writes what a value is in JSON.
    pub fn converted<T: DomainType>(&mut self, value: &T, write: impl FnOnce(&mut Self, &T::Json)) {
        write(self, &value.to_json());
    }
}
