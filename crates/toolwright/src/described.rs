//! Types with a JSON Schema, for handwritten tools. A tool from a schema file does not need this module: its types and
//! schemas are generated.

use crate::codec::{Decode, Encode};
use crate::value::{Map, Value};

/// A type that has a JSON Schema. The codec must accept exactly the payloads that the schema accepts.
///
/// [`described!`](crate::described!) declares an object type with its codec and schema.
pub trait Described: Decode + Encode {
    /// Returns the JSON Schema (2020-12).
    fn schema() -> Value;
}

impl Described for () {
    fn schema() -> Value {
        of_type("null")
    }
}

impl Described for bool {
    fn schema() -> Value {
        of_type("boolean")
    }
}

impl Described for String {
    fn schema() -> Value {
        of_type("string")
    }
}

impl Described for i64 {
    fn schema() -> Value {
        let range = [
            ("type", "integer".into()),
            ("minimum", i64::MIN.into()),
            ("maximum", i64::MAX.into()),
        ];
        Value::Object(Map::from_iter(range))
    }
}

impl Described for Value {
    fn schema() -> Value {
        Value::Object(Map::new())
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema() -> Value {
        Value::Object(Map::from_iter([("type", "array".into()), ("items", T::schema())]))
    }
}

impl<T: Described> Described for Map<T> {
    fn schema() -> Value {
        let entries = [("type", "object".into()), ("additionalProperties", T::schema())];
        Value::Object(Map::from_iter(entries))
    }
}

fn of_type(name: &str) -> Value {
    Value::Object(Map::from_iter([("type", name.into())]))
}

/// Returns the schema of an object with exactly these properties: key, description (none if empty) and schema.
/// [`described!`](crate::described!) uses it.
pub fn object(properties: impl IntoIterator<Item = (&'static str, &'static str, Value)>) -> Value {
    let (mut schemas, mut required) = (Map::new(), Vec::new());
    for (key, description, mut schema) in properties {
        if let (Value::Object(keywords), false) = (&mut schema, description.trim().is_empty()) {
            keywords.insert("description", description.trim().into());
        }
        schemas.insert(key, schema);
        required.push(key);
    }
    Value::Object(Map::from_iter([
        ("type", "object".into()),
        ("properties", Value::Object(schemas)),
        ("required", required.into()),
        ("additionalProperties", false.into()),
    ]))
}

/// Declares object types with their codecs and schemas. A field's name is its key, and its doc comment is its
/// description in the schema. All fields are required; other keys are refused.
///
/// ```
/// use toolwright::codec::from_json;
/// use toolwright::described::Described;
///
/// toolwright::described! {
///     /// A note to keep.
///     pub struct Note {
///         /// The key under which the note is kept.
///         pub key: String,
///         pub text: String,
///     }
/// }
///
/// let note: Note = from_json(br#"{"key":"a","text":"hello"}"#)?;
/// assert_eq!(note.text, "hello");
/// assert!(from_json::<Note>(br#"{"key":"a"}"#).is_err());
/// assert_eq!(
///     Note::schema().to_string(),
///     r#"{"type":"object","properties":{"key":{"type":"string","description":"The key under which the note is kept."},"text":{"type":"string"}},"required":["key","text"],"additionalProperties":false}"#
/// );
/// # Ok::<(), toolwright::InvalidPayload>(())
/// ```
#[macro_export]
macro_rules! described {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $description:literal])* $field_vis:vis $field:ident: $type:ty),* $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        $vis struct $name {
            $($(#[doc = $description])* $field_vis $field: $type,)*
        }

        impl $crate::codec::Decode for $name {
            fn decode(input: &mut $crate::codec::Reader<'_>) -> Option<Self> {
                $(let mut $field = None;)*
                let mut object = input.object()?;
                while let Some(key) = object.next_key(input) {
                    $(if key == stringify!($field) {
                        $field = <$type as $crate::codec::Decode>::decode(input);
                        continue;
                    })*
                    object.unknown_key(input, &[$(stringify!($field)),*]);
                }
                $(let $field = object.required(input, stringify!($field), $field);)*
                Some(Self { $($field: $field?),* })
            }
        }

        impl $crate::codec::Encode for $name {
            fn encode(&self, out: &mut $crate::codec::Writer) {
                let Some(mut object) = out.object() else { return };
                $($crate::codec::Encode::encode(&self.$field, object.key(stringify!($field)));)*
                object.end();
            }
        }

        impl $crate::described::Described for $name {
            fn schema() -> $crate::Value {
                $crate::described::object([$((
                    stringify!($field),
                    concat!($($description),*),
                    <$type as $crate::described::Described>::schema(),
                )),*])
            }
        }
    )+};
}
