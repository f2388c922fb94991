//! The kinds of issues and their messages. A kind holds the limit that was broken and the value that was found.
//!
//! The place of an issue in its payload is kept in [`Issue`](super::Issue).

use std::borrow::Cow;
use std::fmt;

use super::nearest;
use crate::format::{Format, FormatError};
use crate::json::{ScanError, quoted, shortened};
use crate::value::{Number, Value};

/// Names that a schema lists. In generated code they are static.
pub type Names = Cow<'static, [&'static str]>;

/// The kind of a mistake in a payload.
///
/// `found` texts are short: long values are truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IssueKind {
    /// The text is not JSON (RFC 8259). This is then the only issue, since the rest of the text cannot be read.
    Malformed {
        /// The offset of the mistake in bytes.
        offset: usize,
        /// The expected text.
        expected: Cow<'static, str>,
        /// The text that was found.
        found: String,
    },
    /// Arrays and objects are nested deeper than codecs read.
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// A payload whose value would take more memory than `limit`, which grows with the length of the text. This is then the only issue.
    TooLarge {
        /// The most bytes.
        limit: usize,
    },
    /// A value of the wrong kind.
    Type {
        /// The expected kind, with its article: `an integer`.
        expected: Cow<'static, str>,
        /// The kind and the beginning of the value that was found: `the string "two"`.
        found: String,
    },
    /// A required property is missing.
    Missing {
        /// The values it may have, if the schema lists them.
        one_of: Names,
    },
    /// A key that the schema does not allow.
    UnknownKey {
        /// The key that was found.
        key: String,
        /// The keys that are allowed.
        known: Names,
    },
    /// A key that its object holds more than once.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value that is not equal to the constant of the schema.
    Constant {
        /// The allowed value as JSON.
        expected: Cow<'static, str>,
        /// The beginning of the value that was found, as JSON.
        found: String,
    },
    /// A string that is not one of an enum's values.
    Variant {
        /// The values of the enum.
        one_of: Names,
        /// The beginning of the string that was found.
        found: String,
    },
    /// A tag that names no variant of a union.
    Tag {
        /// The tags of the union.
        one_of: Names,
        /// The beginning of the tag that was found.
        found: String,
    },
    /// A string with too few characters.
    TooShort {
        /// The minimum number of characters, in code points.
        minimum: u64,
        /// The number that was found.
        length: u64,
    },
    /// A string with too many characters.
    TooLong {
        /// The maximum number of characters, in code points.
        maximum: u64,
        /// The number that was found.
        length: u64,
    },
    /// A string that does not match its pattern.
    Pattern {
        /// The pattern as written in the schema.
        pattern: &'static str,
        /// The beginning of the string that was found.
        found: String,
    },
    /// A string that is not of its format.
    Format {
        /// The format.
        format: Format,
        /// The beginning of the string that was found.
        found: String,
    },
    /// A number below its range.
    BelowMinimum {
        /// The bound that was broken.
        minimum: Number,
        /// True if the bound itself is outside the range.
        exclusive: bool,
        /// The number that was found.
        found: String,
    },
    /// A number above its range.
    AboveMaximum {
        /// The bound that was broken.
        maximum: Number,
        /// True if the bound itself is outside the range.
        exclusive: bool,
        /// The number that was found.
        found: String,
    },
    /// An array with too few items.
    TooFewItems {
        /// The minimum number of items.
        minimum: u64,
        /// The number that was found.
        length: u64,
    },
    /// An array with too many items.
    TooManyItems {
        /// The maximum number of items.
        maximum: u64,
        /// The number that was found.
        length: u64,
    },
    /// Two equal items in an array whose items must be unique.
    RepeatedItem {
        /// The index of the first.
        first: usize,
        /// The index of the second.
        second: usize,
    },
    /// A value that breaks a part of its schema that types cannot express.
    Schema {
        /// The message of the validator.
        message: String,
    },
    /// A value that its schema accepts and a [`DomainType`](crate::codec::DomainType) does not.
    Refused {
        /// The message of that type.
        reason: String,
    },
    /// A value whose check, by its schema or by a pattern, was given up because it took too many steps.
    TooCostly {
        /// The limit of steps.
        limit: u64,
    },
    /// A number that JSON cannot hold: NaN or an infinity. Only encoding reports it.
    NotFinite,
}

impl IssueKind {
    /// A stable word for the kind, such as `missing` or `too_long`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::TooDeep { .. } => "too_deep",
            Self::TooLarge { .. } => "too_large",
            Self::Type { .. } => "type",
            Self::Missing { .. } => "missing",
            Self::UnknownKey { .. } => "unknown_key",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::Constant { .. } => "constant",
            Self::Variant { .. } => "variant",
            Self::Tag { .. } => "tag",
            Self::TooShort { .. } => "too_short",
            Self::TooLong { .. } => "too_long",
            Self::Pattern { .. } => "pattern",
            Self::Format { .. } => "format",
            Self::BelowMinimum { .. } => "below_minimum",
            Self::AboveMaximum { .. } => "above_maximum",
            Self::TooFewItems { .. } => "too_few_items",
            Self::TooManyItems { .. } => "too_many_items",
            Self::RepeatedItem { .. } => "repeated_item",
            Self::Schema { .. } => "schema",
            Self::Refused { .. } => "refused",
            Self::TooCostly { .. } => "too_costly",
            Self::NotFinite => "not_finite",
        }
    }

    /// The expected value, kind or list of values, where the kind has one.
    pub(super) fn expected(&self) -> Option<Value> {
        match self {
            Self::Malformed { expected, .. }
            | Self::Type { expected, .. }
            | Self::Constant { expected, .. } => Some(Value::from(&**expected)),
            Self::Variant { one_of, .. } | Self::Tag { one_of, .. } => Some(strings(one_of)),
            Self::Missing { one_of } if !one_of.is_empty() => Some(strings(one_of)),
            Self::UnknownKey { known, .. } => Some(strings(known)),
            Self::Pattern { pattern, .. } => Some(Value::from(*pattern)),
            Self::Format { format, .. } => Some(Value::from(format.name())),
            _ => None,
        }
    }

    /// The value or length that was found, where the kind has one.
    pub(super) fn found(&self) -> Option<Value> {
        match self {
            Self::Malformed { found, .. }
            | Self::Type { found, .. }
            | Self::Constant { found, .. }
            | Self::Variant { found, .. }
            | Self::Tag { found, .. }
            | Self::Pattern { found, .. }
            | Self::Format { found, .. }
            | Self::BelowMinimum { found, .. }
            | Self::AboveMaximum { found, .. }
            | Self::UnknownKey { key: found, .. }
            | Self::DuplicateKey { key: found } => Some(Value::from(found.as_str())),
            Self::TooShort { length, .. }
            | Self::TooLong { length, .. }
            | Self::TooFewItems { length, .. }
            | Self::TooManyItems { length, .. } => Some(Value::from(*length)),
            _ => None,
        }
    }

    /// The limit that was broken, where the kind has one.
    pub(super) fn limit(&self) -> Option<Value> {
        match self {
            Self::TooDeep { limit } | Self::TooLarge { limit } => Some(Value::from(*limit)),
            Self::TooCostly { limit }
            | Self::TooShort { minimum: limit, .. }
            | Self::TooLong { maximum: limit, .. }
            | Self::TooFewItems { minimum: limit, .. }
            | Self::TooManyItems { maximum: limit, .. } => Some(Value::from(*limit)),
            Self::BelowMinimum { minimum: limit, .. }
            | Self::AboveMaximum { maximum: limit, .. } => Some(Value::from(limit.clone())),
            _ => None,
        }
    }
}

impl From<FormatError> for IssueKind {
    fn from(error: FormatError) -> Self {
        Self::Format { format: error.format(), found: error.into_found() }
    }
}

impl From<ScanError> for IssueKind {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Malformed { offset, expected, found } => {
                Self::Malformed { offset, expected: expected.into(), found }
            }
            ScanError::TooDeep { limit } => Self::TooDeep { limit },
            ScanError::TooLarge { limit } => Self::TooLarge { limit },
        }
    }
}

impl fmt::Display for IssueKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { offset, expected, found } => {
                write!(out, "malformed JSON at byte {offset}, found {found}, expected {expected}")
            }
            Self::TooDeep { limit } => {
                write!(out, "nested too deep, at most {limit} levels allowed")
            }
            Self::TooLarge { limit } => {
                write!(out, "takes more than {limit} bytes of memory, expected fewer items")
            }
            Self::Type { expected, found } | Self::Constant { expected, found } => {
                write!(out, "found {found}, expected {expected}")
            }
            Self::Missing { one_of } if one_of.is_empty() => out.write_str("is missing"),
            Self::Missing { one_of } => write!(out, "is missing, expected {}", OneOf(one_of)),
            Self::UnknownKey { key, known } => write_unknown_key(out, key, known),
            Self::DuplicateKey { key } => {
                write!(out, "duplicate key `{key}`, each key is allowed once")
            }
            Self::Variant { one_of, found } | Self::Tag { one_of, found } => {
                write_choice(out, one_of, found)
            }
            Self::RepeatedItem { first, second } => {
                write!(out, "the items {first} and {second} are equal, expected unique items")
            }
            Self::Schema { message: words } | Self::Refused { reason: words } => {
                out.write_str(words)
            }
            Self::TooCostly { limit } => {
                write!(
                    out,
                    "cannot be checked in {limit} steps, expected a smaller or simpler value"
                )
            }
            Self::NotFinite => out.write_str("found NaN or an infinity, expected a finite number"),
            _ => self.write_limit(out),
        }
    }
}

impl IssueKind {
    fn write_limit(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { minimum, length } => {
                write!(out, "has {}, at least {minimum} required", Count(*length, "character"))
            }
            Self::TooLong { maximum, length } => {
                write!(out, "has {}, at most {maximum} allowed", Count(*length, "character"))
            }
            Self::TooFewItems { minimum, length } => {
                write!(out, "has {}, at least {minimum} required", Count(*length, "item"))
            }
            Self::TooManyItems { maximum, length } => {
                write!(out, "has {}, at most {maximum} allowed", Count(*length, "item"))
            }
            Self::Pattern { pattern, found } => {
                write!(out, "found {}, expected a match of `{pattern}`", quoted(found))
            }
            Self::Format { format, found } => {
                write!(out, "{}", FormatError::new(*format, found))
            }
            Self::BelowMinimum { minimum, exclusive, found } => {
                let words = if *exclusive { "more than" } else { "at least" };
                write!(out, "found {found}, expected {words} {minimum}")
            }
            Self::AboveMaximum { maximum, exclusive, found } => {
                let words = if *exclusive { "less than" } else { "at most" };
                write!(out, "found {found}, expected {words} {maximum}")
            }
            _ => Ok(()),
        }
    }
}

fn write_unknown_key(out: &mut fmt::Formatter<'_>, key: &str, known: &[&str]) -> fmt::Result {
    write!(out, "unknown key `{key}`")?;
    match near(key, known) {
        Some(near) => write!(out, ", did you mean `{near}`?"),
        None if known.is_empty() => out.write_str(", no key is allowed here"),
        None => write!(out, ", expected only `{}`", known.join("`, `")),
    }
}

fn write_choice(out: &mut fmt::Formatter<'_>, one_of: &[&str], found: &str) -> fmt::Result {
    write!(out, "found {}, expected {}", quoted(found), OneOf(one_of))?;
    match near(found, one_of) {
        Some(near) => write!(out, ", did you mean {}?", quoted(near)),
        None => Ok(()),
    }
}

/// Returns the known word that is nearest, unless there are so many that comparing them in each issue would take long.
fn near<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const MAX_COMPARED: usize = 256;
    if known.len() > MAX_COMPARED {
        return None;
    }
    nearest(word, known.iter().copied())
}

fn strings(texts: &[&str]) -> Value {
    Value::Array(texts.iter().map(|text| Value::from(*text)).collect())
}

/// The maximum number of values in the text of an issue. A text with all values of an enum would be large, and be in many issues.
const MAX_VALUES: usize = 20;

/// Returns the text for some values, given as JSON: the beginning of each, after "one of" if there are several.
pub(crate) fn listed_values(values: impl ExactSizeIterator<Item = String>) -> String {
    let count = values.len();
    let shown: Vec<String> = values.take(MAX_VALUES).map(|value| shortened(&value)).collect();
    let (lead, shown) = (if count > 1 { "one of " } else { "" }, shown.join(", "));
    match count.saturating_sub(MAX_VALUES) {
        0 => format!("{lead}{shown}"),
        more => format!("{lead}{shown} and {more} more"),
    }
}

/// Displays a list of strings as JSON, after "one of" if there are several.
struct OneOf<'a>(&'a [&'a str]);

impl fmt::Display for OneOf<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lead = if self.0.len() > 1 { "one of " } else { "" };
        let values: Vec<String> = self.0.iter().map(|value| quoted(value)).collect();
        write!(out, "{lead}{}", values.join(", "))
    }
}

/// Displays a number with a noun, which is plural unless the number is 1.
struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(out, "{} {}{plural}", self.0, self.1)
    }
}
