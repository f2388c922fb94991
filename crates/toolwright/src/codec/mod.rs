//! Codecs: what decodes a payload into a type and encodes it back, checking its schema on the way.
//!
//! A codec is a plain function over a [`Reader`] or a [`Writer`], not generic over formats: that is what keeps
//! generated code quick to compile. Nothing here knows a schema; limits are given by the caller.

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

/// A type that is read from JSON.
pub trait Decode: Sized {
    /// Reads the value at the cursor and moves behind it.
    ///
    /// `None` means that at least one issue was recorded; the value is then skipped, so that its
    /// siblings are still checked.
    fn decode(input: &mut Reader<'_>) -> Option<Self>;
}

/// A type that is written as JSON.
pub trait Encode {
    /// Writes the value; what its schema does not accept is recorded as an issue.
    fn encode(&self, out: &mut Writer);
}

/// Decodes a payload.
///
/// # Errors
///
/// The first 1,000 issues of the payload, or the one place where it stops being JSON.
pub fn from_json<T: Decode>(json: &[u8]) -> Result<T, InvalidPayload> {
    from_json_within(json, &mut { MAX_STEPS })
}

/// Decodes a payload in so many steps, and takes off those that were needed. Steps are what validators take, as in
/// [`Schema::check_within`](crate::schema::Schema::check_within), and patterns that go back; what a type says by itself takes
/// none.
///
/// # Errors
///
/// As [`from_json`], and [`IssueKind::TooCostly`](crate::issue::IssueKind::TooCostly) where the steps do not suffice.
pub fn from_json_within<T: Decode>(json: &[u8], steps: &mut u64) -> Result<T, InvalidPayload> {
    decoded(json, steps, T::decode)
}

fn decoded<T>(
    json: &[u8],
    steps: &mut u64,
    decode: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> Result<T, InvalidPayload> {
    let mut reader = Reader::within(json, *steps);
    let value = decode(&mut reader);
    *steps = reader.issues.steps;
    match (value, reader.finish()) {
        (Some(value), None) => Ok(value),
        (_, invalid) => Err(invalid.unwrap_or_else(|| reader::unexplained(json))),
    }
}

/// Decodes a string that stands outside of JSON, as the JSON string it would be.
///
/// # Errors
///
/// As [`from_json`].
pub fn from_text<T: Decode>(text: &str) -> Result<T, InvalidPayload> {
    from_json(to_json(text)?.as_bytes())
}

/// Decodes a text that may be a string without its quotes, or else JSON.
#[doc(hidden)]
pub fn from_text_or_json<T: Decode>(text: &str) -> Result<T, InvalidPayload> {
    from_text(text).or_else(|refused| from_json(text.as_bytes()).map_err(|_| refused))
}

/// The text of a JSON constant: a string without its quotes and escapes, anything else as it is.
#[doc(hidden)]
pub fn constant_text(json: &str) -> Cow<'_, str> {
    from_json::<String>(json.as_bytes()).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Returns the variant of an enum by its name; variants and names are in the same order.
#[doc(hidden)]
pub fn variant_of<T: Copy>(
    text: &str,
    names: &'static [&'static str],
    variants: &'static [T],
) -> Result<T, InvalidPayload> {
    place_of(text, names).map(|place| variants[place])
}

/// Returns the index of a name: the part of [`variant_of`] that is not generic.
fn place_of(text: &str, names: &'static [&'static str]) -> Result<usize, InvalidPayload> {
    decoded(to_json(text)?.as_bytes(), &mut { MAX_STEPS }, |input| input.choice(names))
}

/// [`Encode::encode`] with the writer in front, as writers take it for what lists and the like hold.
#[doc(hidden)]
pub fn encode<T: Encode>(out: &mut Writer, value: &T) {
    value.encode(out);
}

/// Encodes a value.
///
/// # Errors
///
/// Every issue that decoding the text would report.
pub fn to_json<T: Encode + ?Sized>(value: &T) -> Result<String, InvalidPayload> {
    let mut writer = Writer::new(MAX_DEPTH);
    value.encode(&mut writer);
    writer.finish()
}

/// Checks a payload without keeping what it decodes to.
///
/// # Errors
///
/// As [`from_json`].
pub fn check<T: Decode>(json: &[u8]) -> Result<(), InvalidPayload> {
    from_json::<T>(json).map(drop)
}

/// The compact text of a value, however deep it is.
pub(crate) fn text_of(value: &Value) -> String {
    let mut writer = Writer::new(usize::MAX);
    value.encode(&mut writer);
    writer.into_text()
}
