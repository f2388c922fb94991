//! Conversions of Rust values to [`Value`].

use super::{Integer, Map, Nullable, Number, Value};

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Self::Number(Number::from(value))
            }
        }
    )*};
}

from_integers!(i32, i64, u32, u64, usize, Integer);

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Map<T>> for Value {
    fn from(entries: Map<T>) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Nullable<T>> for Value {
    fn from(value: Nullable<T>) -> Self {
        value.into_option().into()
    }
}
