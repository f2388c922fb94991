//! Codecs, which decode payloads to Rust types and encode them back, and check the rules of the schema.
//!
//! A codec is a function over a [`Reader`] or a [`Writer`]. It is not generic over formats, so that generated code
//! compiles fast. Limits are passed by the caller.

mod checked;
mod constants;
mod domain;
mod format;
mod impls;
mod issues;
mod limits;
mod macros;
mod mixed;
mod newtype;
mod object_reader;
mod object_writer;
mod pattern;
mod positions;
mod properties;
mod reader;
mod tuple;
mod union;
mod writer;

use std::borrow::Cow;

pub use checked::Validator;
pub use domain::DomainType;
pub use limits::{Items, Length, Range, StandardInteger};
pub use object_reader::ObjectReader;
pub use object_writer::ObjectWriter;
pub use pattern::Pattern;
pub use properties::Properties;
pub use reader::Reader;
pub use tuple::{TupleReader, TupleWriter};
pub use writer::Writer;

pub use crate::json::MAX_DEPTH;
pub use crate::value::Kind;

use crate::issue::{InvalidPayload, MAX_STEPS};
use crate::value::Value;

/// A type that can be read from JSON.
pub trait Decode: Sized {
    /// Reads the value at the cursor and moves past it.
    ///
    /// `None` means that at least one issue was recorded. The value is then skipped, so that its siblings are still
    /// checked.
    fn decode(input: &mut Reader<'_>) -> Option<Self>;
}

/// A type that can be written as JSON.
pub trait Encode {
    /// Writes the value and records an issue for each rule of its schema that it breaks.
    fn encode(&self, out: &mut Writer);
}

/// Decodes a payload.
///
/// # Errors
///
/// The first 1,000 issues of the payload, or the place where it stops being JSON.
pub fn from_json<T: Decode>(json: &[u8]) -> Result<T, InvalidPayload> {
    from_json_within(json, &mut { MAX_STEPS })
}

/// Decodes a payload within a limit of steps, and subtracts the steps that were taken. Only validators, as in
/// [`Schema::check_within`](crate::schema::Schema::check_within), patterns, lists of unique items and names that other
/// properties require take steps.
///
/// # Errors
///
/// As [`from_json`], and [`IssueKind::TooCostly`](crate::issue::IssueKind::TooCostly) if the limit is exceeded.
pub fn from_json_within<T: Decode>(json: &[u8], steps: &mut u64) -> Result<T, InvalidPayload> {
    decoded(json, steps, T::decode)
}

/// Decodes a payload with a function, for values that borrow from it.
///
/// ```
/// use toolwright::codec;
///
/// let number = codec::from_json_by(b" 1.50 ", |input| input.json())?;
/// assert_eq!(number, "1.50");
/// # Ok::<(), toolwright::InvalidPayload>(())
/// ```
///
/// # Errors
///
/// As [`from_json`].
pub fn from_json_by<'a, T>(
    json: &'a [u8],
    decode: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Result<T, InvalidPayload> {
    decoded(json, &mut { MAX_STEPS }, decode)
}

fn decoded<'a, T>(
    json: &'a [u8],
    steps: &mut u64,
    decode: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Result<T, InvalidPayload> {
    let mut reader = Reader::within(json, *steps);
    let value = decode(&mut reader);
    *steps = reader.issues.steps;
    match (value, reader.finish()) {
        (Some(value), None) => Ok(value),
        (_, invalid) => Err(invalid.unwrap_or_else(|| reader::error_without_issues(json))),
    }
}

/// Decodes a text as if it were a JSON string.
///
/// # Errors
///
/// As [`from_json`].
pub fn from_text<T: Decode>(text: &str) -> Result<T, InvalidPayload> {
    from_json(to_json(text)?.as_bytes())
}

/// Decodes a text as a string without quotes, or else as JSON.
#[doc(hidden)]
pub fn from_text_or_json<T: Decode>(text: &str) -> Result<T, InvalidPayload> {
    from_text(text).or_else(|refused| from_json(text.as_bytes()).map_err(|_| refused))
}

/// Returns the text of a JSON constant: a string without quotes and escapes, any other value as it is.
#[doc(hidden)]
pub fn constant_text(json: &str) -> Cow<'_, str> {
    from_json::<String>(json.as_bytes()).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Returns the variant of an enum by its name. Variants and names must be in the same order.
#[doc(hidden)]
pub fn variant_of<T: Copy>(
    text: &str,
    names: &'static [&'static str],
    variants: &'static [T],
) -> Result<T, InvalidPayload> {
    index_of(text, names).map(|place| variants[place])
}

/// Returns the index of a name: the part of [`variant_of`] that is not generic.
fn index_of(text: &str, names: &'static [&'static str]) -> Result<usize, InvalidPayload> {
    decoded(to_json(text)?.as_bytes(), &mut { MAX_STEPS }, |input| input.string_index(names))
}

/// [`Encode::encode`] with the writer first, to be passed to methods of [`Writer`].
#[doc(hidden)]
pub fn encode<T: Encode>(out: &mut Writer, value: &T) {
    value.encode(out);
}

/// Encodes a value.
///
/// # Errors
///
/// Every issue that decoding the text would report, except that it takes too much memory or stack to decode.
pub fn to_json<T: Encode + ?Sized>(value: &T) -> Result<String, InvalidPayload> {
    let mut writer = Writer::new(MAX_DEPTH);
    value.encode(&mut writer);
    writer.finish()
}

/// Checks a payload by decoding it.
///
/// # Errors
///
/// As [`from_json`].
pub fn check<T: Decode>(json: &[u8]) -> Result<(), InvalidPayload> {
    from_json::<T>(json).map(drop)
}

/// Returns a value as compact JSON, of any depth.
pub(crate) fn compact_json(value: &Value) -> String {
    let mut writer = Writer::new(usize::MAX);
    value.encode(&mut writer);
    writer.into_text()
}
