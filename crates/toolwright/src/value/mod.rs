//! JSON values: [`Value`] and its parts. Numbers are exact, and objects keep the order of their keys.
//!
//! JSON text is read and written by codecs, not here.

mod canonical;
mod convert;
mod decimal;
mod integer;
mod kind;
mod map;
mod nullable;
mod number;

use std::collections::HashMap;

pub(crate) use decimal::Decimal;
pub use integer::Integer;
pub use kind::Kind;
pub use map::{Iter, Map};
pub use nullable::Nullable;
pub use number::{NotFiniteError, Number};

use crate::json::BYTES_PER_STEP;
use crate::pointer::unescaped;

/// Any JSON value. Numbers keep their text and objects the order of their keys.
///
/// Values are compared by meaning: `1` equals `1.0`, and the order of keys is ignored. A value displays as compact JSON
/// and is parsed from JSON by [`FromStr`](std::str::FromStr).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number of any size.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Map<Value>),
}

impl Value {
    /// Returns true if this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The integer, if this is a whole number in the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The integer, if this is a whole number in the range of `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// The nearest finite `f64`, if this is a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if this is an object.
    pub fn as_object(&self) -> Option<&Map<Value>> {
        match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value under a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The number of values in it, including itself.
    pub fn size(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(entries) => 1 + entries.values().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// Returns the value at a JSON Pointer (RFC 6901); the empty pointer is the value itself.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, segment| {
            let segment = unescaped(segment);
            match value {
                Self::Object(entries) => entries.get(&segment),
                Self::Array(items) => items.get(index(&segment)?),
                _ => None,
            }
        })
    }
}

/// Parses an index, which has no sign and no leading zeros (RFC 6901, section 4).
fn index(segment: &str) -> Option<usize> {
    let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
    let padded = segment.len() > 1 && segment.starts_with('0');
    if digits && !padded { segment.parse().ok() } else { None }
}

/// The steps for each item and entry of a value, to compare it with others by its hash.
pub(crate) const STEPS_PER_VALUE: usize = 4;

/// Returns the indices of two equal items of a JSON array, if there are any. `spend` returns false if the steps cannot be taken.
pub(crate) fn repeated_items(
    json: &str,
    mut spend: impl FnMut(usize) -> bool,
) -> Option<(usize, usize)> {
    if !spend(json.len() / BYTES_PER_STEP) {
        return None;
    }
    let array: Value = json.parse().ok()?;
    if !spend(array.size().saturating_mul(STEPS_PER_VALUE)) {
        return None;
    }
    let items = array.as_array()?;
    let mut seen = HashMap::with_capacity(items.len());
    let mut items = items.iter().enumerate();
    items.find_map(|(index, item)| Some((seen.insert(item, index)?, index)))
}
