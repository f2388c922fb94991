//! JSON as wires read and write it: typed, with the texts of schemas and arguments as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolwright::Payload;

use crate::draft::MOST_PARTS;
use crate::error::{ModelError, first_line};
use crate::model::Settings;

/// Reads JSON of a provider. Unknown keys are skipped.
pub(super) fn read<'a, T: Deserialize<'a>>(what: &str, text: &'a str) -> Result<T, ModelError> {
    serde_json::from_str(text).map_err(|error| ModelError::malformed(what, &error, text))
}

/// Reads a list that may be left out.
#[cfg(feature = "openai-chat")]
pub(super) fn list<'a, T: Deserialize<'a>>(
    what: &str,
    json: Option<&'a RawValue>,
) -> Result<Vec<T>, ModelError> {
    let Some(json) = json.map(RawValue::get) else { return Ok(Vec::new()) };
    let items = bounded(&mut serde_json::Deserializer::from_str(json));
    items.map(Option::unwrap_or_default).map_err(|error| ModelError::malformed(what, &error, json))
}

/// Reads a list that may be left out, for `#[serde(deserialize_with)]`. Stops at a list with more items than an answer may have
/// parts, as items take far more memory than their text.
pub(super) fn bounded<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    deserializer.deserialize_option(BoundedVisitor(PhantomData))
}

struct BoundedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedVisitor<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, list: D) -> Result<Self::Value, D::Error> {
        list.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MOST_PARTS {
                let message = format_args!(
                    "found more than {MOST_PARTS} items of a list, expected a shorter answer"
                );
                return Err(serde::de::Error::custom(message));
            }
            items.push(item);
        }
        Ok(Some(items))
    }
}

/// The error for an answer that lacks a part.
pub(super) fn missing(what: &str, text: &str) -> ModelError {
    ModelError::Malformed(format!("expected {what}; it begins with `{}`", first_line(text)))
}

/// Returns the text of an answer.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, ModelError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = error.valid_up_to();
        let message = format!("found a byte that is not UTF-8 at offset {place}");
        ModelError::Malformed(message)
    })
}

/// Writes the body of a request.
pub(super) fn write(body: &impl serde::Serialize) -> Result<String, ModelError> {
    serde_json::to_string(body).map_err(|error| ModelError::Unsendable(error.to_string()))
}

/// Returns JSON that somebody else wrote, to be sent as it is.
pub(super) fn raw<'a>(what: &str, json: &'a str) -> Result<&'a RawValue, ModelError> {
    serde_json::from_str(json)
        .map_err(|error| ModelError::Unsendable(format!("found {what} that is not JSON: {error}")))
}

/// Returns arguments as an object. Where the model wrote something else, or JSON that providers refuse, such as half a character,
/// the object holds its text under `_raw`.
pub(super) fn object(args: &Payload) -> Result<Cow<'_, RawValue>, ModelError> {
    let text = match args.as_str().trim() {
        "" => "{}",
        text => text,
    };
    if text.starts_with('{')
        && serde_json::from_str::<Checked>(text).is_ok()
        && let Ok(object) = serde_json::from_str::<&RawValue>(text)
    {
        return Ok(Cow::Borrowed(object));
    }
    let object = write(&BTreeMap::from([("_raw", args.as_str())]))?;
    let object = RawValue::from_string(object);
    object.map(Cow::Owned).map_err(|error| ModelError::Unsendable(error.to_string()))
}

/// JSON of which nothing is kept, as values take far more memory than their text. Unlike
/// [`IgnoredAny`](serde::de::IgnoredAny), it decodes the texts and numbers, and so refuses those that are not valid.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while let Some(Self) = items.next_element()? {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while let Some((Self, Self)) = entries.next_entry()? {}
        Ok(self)
    }
}

/// Returns JSON with U+FFFD in place of each half of a character (a lone surrogate). A provider that divides a text between two
/// events may divide a character.
pub(super) fn without_halves(json: &str) -> Cow<'_, str> {
    if !["\\ud", "\\uD"].iter().any(|escape| json.contains(escape)) {
        return Cow::Borrowed(json);
    }
    let unit = |escape: Option<&str>| u16::from_str_radix(escape?.strip_prefix("\\u")?, 16).ok();
    let (mut whole, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(place) = rest.find('\\') {
        let (before, escape) = rest.split_at(place);
        whole += before;
        let length = match (unit(escape.get(..6)), unit(escape.get(6..12))) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole += "\\ufffd";
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            // The character after the backslash, which may be one itself.
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        whole += &escape[..length];
        rest = &escape[length..];
    }
    whole += rest;
    Cow::Owned(whole)
}

/// Returns a text that is a JSON string in an answer, or the JSON itself where it is something else.
pub(super) fn text_of(json: &RawValue) -> Result<Cow<'_, str>, ModelError> {
    let json = json.get();
    let Some(inside) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Ok(Cow::Borrowed(if json == "null" { "" } else { json }));
    };
    if !inside.contains('\\') {
        return Ok(Cow::Borrowed(inside));
    }
    read("a text", json).map(Cow::Owned)
}

/// Returns the extra keys of a body.
pub(super) fn extra<'a>(
    settings: &'a Settings,
    written: &[&str],
) -> Result<BTreeMap<&'a str, &'a RawValue>, ModelError> {
    let entries = settings.extra.iter().map(|(key, json)| {
        if written.contains(&key.as_str()) {
            let message =
                format!("found the extra key `{key}`, which the wire writes itself; remove it");
            return Err(ModelError::Unsendable(message));
        }
        Ok((key.as_str(), raw(&format!("the extra key `{key}`"), json.as_str())?))
    });
    entries.collect()
}

/// Encodes a segment of a path.
#[cfg(any(feature = "gemini", feature = "bedrock"))]
pub(super) fn segment(text: &str) -> String {
    /// All but the unreserved characters of URLs (RFC 3986, section 2.3).
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(all(test, any(feature = "anthropic", feature = "gemini", feature = "bedrock")))]
mod tests {
    use toolwright::Payload;

    use super::object;

    #[test]
    fn arguments_are_sent_as_an_object_if_they_are_a_valid_one() {
        let deep = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        for valid in [
            "{}",
            r#"{"a":[null,true,-1,12345678901234567890123,1.50e3,"\ud83d\ude00é",{"b":[]}],"a":1}"#,
            &deep(127),
        ] {
            assert_eq!(object(&Payload::new(valid)).unwrap().get(), valid);
        }
        assert_eq!(object(&Payload::new(" ")).unwrap().get(), "{}");
        for invalid in [
            "[]",
            "{",
            "{} {}",
            r#"{"a":"\ud83d"}"#,
            r#"{"\ud83d":0}"#,
            r#"{"a":["\udc00"]}"#,
            r#"{"a":1e999}"#,
            "{\"a\":\"\n\"}",
            &deep(128),
        ] {
            let args = Payload::new(invalid);
            let object = object(&args).unwrap();
            assert!(object.get().starts_with(r#"{"_raw":"#), "{}", object.get());
        }
    }
}
