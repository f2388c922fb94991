//! Values as a model sent them. They borrow from the text, because most of it is copied to the canonical text as it is.

use std::borrow::Cow;
use std::collections::HashMap;

use toolwright::InvalidPayload;
use toolwright::codec::{self, Items, Kind, Reader};
use toolwright::value::{Number, Value};

/// The values of a JSON text in one list: each array and object comes before its items or entries.
#[derive(Debug)]
pub(crate) struct Document<'a>(Vec<Node<'a>>);

#[derive(Debug)]
struct Node<'a> {
    /// The key of an entry; empty for other values.
    key: Cow<'a, str>,
    /// The text of a scalar, strings with their quotes and escapes; the first character of an array or object.
    json: &'a str,
    /// The number of values in this one, including itself.
    size: usize,
}

/// A value of a document: its node, and those of its items or entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'a>(&'a [Node<'a>]);

/// The kinds that differ in their first character, common ones first.
const KINDS: [Kind; 6] =
    [Kind::String, Kind::Null, Kind::Number, Kind::Object, Kind::Array, Kind::Boolean];

/// The estimated bytes of a value with its key, to reserve memory.
const BYTES_OF_VALUE: usize = 12;

impl<'a> Document<'a> {
    /// # Errors
    ///
    /// If the text is not JSON, or an object in it has a key twice.
    pub(crate) fn of(text: &'a str) -> Result<Self, InvalidPayload> {
        let mut document = Self(Vec::with_capacity(text.len() / BYTES_OF_VALUE + 1));
        codec::from_json_by(text.as_bytes(), |input| document.read(input, Cow::Borrowed("")))?;
        Ok(document)
    }

    fn read(&mut self, input: &mut Reader<'a>, key: Cow<'a, str>) -> Option<()> {
        let index = self.0.len();
        match input.kind(&KINDS)? {
            Kind::Array => {
                self.0.push(Node { key, json: "[", size: 1 });
                input.items(Items::ANY, |input| self.read(input, Cow::Borrowed("")))?;
            }
            Kind::Object => {
                self.0.push(Node { key, json: "{", size: 1 });
                let mut object = input.object()?;
                while let Some(key) = object.next_key_of_text(input) {
                    self.read(input, key)?;
                }
            }
            _ => {
                let json = input.json()?;
                self.0.push(Node { key, json, size: 1 });
                return Some(());
            }
        }
        self.0[index].size = self.0.len() - index;
        Some(())
    }

    pub(crate) fn root(&self) -> Wire<'_> {
        Wire(&self.0)
    }
}

impl<'a> Wire<'a> {
    fn json(self) -> &'a str {
        self.0.first().map_or("null", |node| node.json)
    }

    /// The kind; `Number` for integers, too.
    pub(crate) fn kind(self) -> Kind {
        match self.json().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            _ => Kind::Number,
        }
    }

    /// The number of values in this one, with itself.
    pub(crate) fn count(self) -> usize {
        self.0.len()
    }

    /// The address of the value, which no other value of its document has.
    pub(crate) fn address(self) -> usize {
        self.0.as_ptr().addr()
    }

    pub(crate) fn is_null(self) -> bool {
        self.json() == "null"
    }

    /// Returns whether this is a whole number, in any notation.
    pub(crate) fn is_integer(self) -> bool {
        self.json().parse().is_ok_and(|number: Number| number.is_integer())
    }

    /// The text of a string, without quotes and escapes.
    pub(crate) fn as_str(self) -> Option<Cow<'a, str>> {
        let json = self.json();
        let plain = json.strip_prefix('"')?.strip_suffix('"')?;
        if !plain.contains('\\') {
            return Some(Cow::Borrowed(plain));
        }
        codec::from_json(json.as_bytes()).ok().map(Cow::Owned)
    }

    /// The items of an array with empty keys, or the entries of an object.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> + Clone {
        let mut rest = self.0.get(1..).unwrap_or_default();
        std::iter::from_fn(move || {
            let first = rest.first()?;
            let (entry, behind) = rest.split_at(first.size);
            rest = behind;
            Some((first.key.as_ref(), Self(entry)))
        })
    }

    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        self.entries().map(|(_, item)| item)
    }

    /// The value under a key, if this is an object that has it.
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        let mut entries = self.entries();
        let entry = entries.find(|(name, _)| *name == key).filter(|_| self.kind() == Kind::Object);
        entry.map(|(_, value)| value)
    }

    /// Returns whether this is the same value; numbers in any notation, and keys in any order.
    pub(crate) fn equals(self, value: &Value) -> bool {
        match (self.kind(), value) {
            (Kind::Array, Value::Array(values)) => {
                self.items().count() == values.len()
                    && self.items().zip(values).all(|(item, value)| item.equals(value))
            }
            (Kind::Object, Value::Object(values)) => {
                if self.entries().count() != values.len() {
                    return false;
                }
                // A map finds a key by a search through all keys.
                let values: HashMap<&str, &Value> = values.iter().collect();
                self.entries()
                    .all(|(key, entry)| values.get(key).is_some_and(|value| entry.equals(value)))
            }
            (Kind::String, Value::String(text)) => self.as_str().is_some_and(|own| own == *text),
            (Kind::Number, Value::Number(number)) => {
                self.json().parse().is_ok_and(|own: Number| own == *number)
            }
            (Kind::Boolean, Value::Boolean(true)) => self.json() == "true",
            (Kind::Boolean, Value::Boolean(false)) => self.json() == "false",
            (Kind::Null, Value::Null) => true,
            _ => false,
        }
    }

    /// Appends the value as compact JSON.
    pub(crate) fn write(self, out: &mut String) {
        out.push_str(self.json());
        let kind = self.kind();
        if !matches!(kind, Kind::Array | Kind::Object) {
            return;
        }
        for (index, (key, value)) in self.entries().enumerate() {
            if index > 0 {
                out.push(',');
            }
            if kind == Kind::Object {
                write_key(key, out);
            }
            value.write(out);
        }
        out.push(if kind == Kind::Array { ']' } else { '}' });
    }
}

/// Appends a key and the colon after it.
pub(crate) fn write_key(key: &str, out: &mut String) {
    let is_plain = |byte| byte >= b' ' && byte != b'"' && byte != b'\\';
    // Without an early exit, which keys are too short for.
    if key.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        out.push('"');
        out.push_str(key);
        out.push_str("\":");
    } else {
        out.push_str(&Value::from(key).to_string());
        out.push(':');
    }
}
