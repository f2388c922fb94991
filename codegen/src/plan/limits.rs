//! The plans of limits: what the codecs check besides the type of a value.

use crate::naming::Identifier;

/// Limits of a string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringLimits {
    /// The minimal number of code points.
    pub min: Option<u64>,
    /// The maximal number of code points.
    pub max: Option<u64>,
    /// Its pattern.
    pub pattern: Option<PatternUse>,
}

/// A pattern in use.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternUse {
    /// The static that holds it.
    pub name: Identifier,
    /// The pattern as the schema has it.
    pub ecma: String,
}

/// Inclusive limits of an integer, without those of its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntegerLimits {
    /// The minimum.
    pub min: Option<i128>,
    /// The maximum.
    pub max: Option<i128>,
}

/// Limits of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberLimits {
    /// The lower one.
    pub lower: Option<NumberLimit>,
    /// The upper one.
    pub upper: Option<NumberLimit>,
    /// Set if missing limits are those of doubles, as they always are for [`TypeUse::Number`](super::types::TypeUse::Number).
    pub is_double: bool,
}

/// One limit of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberLimit {
    /// The limit.
    pub value: f64,
    /// Set if the limit itself is not allowed.
    pub is_exclusive: bool,
}

/// Limits of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemLimits {
    /// The minimal number of items.
    pub min: Option<u64>,
    /// The maximal number of items.
    pub max: Option<u64>,
    /// Set if no two items may be equal.
    pub unique: bool,
}

/// Limits of an object's keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyLimits {
    /// The minimal number of keys.
    pub min: Option<u64>,
    /// The maximal number of keys.
    pub max: Option<u64>,
    /// The limits of each key as a string.
    pub names: StringLimits,
    /// Keys that require other keys.
    pub dependent: Vec<DependentKeys>,
}

/// A key and the keys that it requires.
#[derive(Clone, Debug, PartialEq)]
pub struct DependentKeys {
    /// The key.
    pub key: String,
    /// The keys that it requires.
    pub needed: Vec<String>,
}
