//! [`Nullable`], which distinguishes null from an absent value.

/// The value of an optional property that may also be null.
///
/// As a field it is `Option<Nullable<T>>`: `None` is absent, `Some(Nullable::Null)` is `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nullable<T> {
    /// `null`
    #[default]
    Null,
    /// A value.
    Value(T),
}

impl<T> Nullable<T> {
    /// The value, if it is not null.
    pub fn as_option(&self) -> Option<&T> {
        match self {
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Returns the value, if it is not null.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Returns true if the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

impl<T> From<Nullable<T>> for Option<T> {
    fn from(value: Nullable<T>) -> Self {
        value.into_option()
    }
}
