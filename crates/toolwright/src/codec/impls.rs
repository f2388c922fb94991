//! Codecs of types without a schema: those of the standard library and of [`crate::value`].

use std::fmt;
use std::str::FromStr;

use super::{
    Decode, Encode, Items, Length, Properties, Range, Reader, Writer, compact_json, from_json,
};
use crate::issue::InvalidPayload;
use crate::value::{Integer, Map, Nullable, Number, Value};

impl Decode for () {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.null()
    }
}

impl Encode for () {
    fn encode(&self, out: &mut Writer) {
        out.null();
    }
}

impl Decode for bool {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.boolean()
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Writer) {
        out.boolean(*self);
    }
}

macro_rules! integers {
    ($($name:ident)*) => {$(
        impl Decode for $name {
            fn decode(input: &mut Reader<'_>) -> Option<Self> {
                input.integer(Range::<$name>::ANY)
            }
        }

        impl Encode for $name {
            fn encode(&self, out: &mut Writer) {
                out.integer(*self, Range::<$name>::ANY);
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Decode for f64 {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.number(Range::<f64>::ANY)
    }
}

impl Encode for f64 {
    fn encode(&self, out: &mut Writer) {
        out.number(*self, Range::<f64>::ANY);
    }
}

impl Decode for String {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.string(Length::ANY)
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Writer) {
        out.string(self, Length::ANY);
    }
}

impl Encode for str {
    fn encode(&self, out: &mut Writer) {
        out.string(self, Length::ANY);
    }
}

impl Decode for Integer {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.big_integer(Range::<i128>::ANY)
    }
}

impl Encode for Integer {
    fn encode(&self, out: &mut Writer) {
        out.big_integer(self, Range::<i128>::ANY);
    }
}

impl Decode for Number {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.exact_number(Range::ANY)
    }
}

impl Encode for Number {
    fn encode(&self, out: &mut Writer) {
        out.exact_number(self, Range::ANY);
    }
}

impl Decode for Value {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.value()
    }
}

impl Encode for Value {
    fn encode(&self, out: &mut Writer) {
        out.value(self);
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.array(Items::ANY, T::decode)
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Writer) {
        out.array(self, Items::ANY, |out, item| item.encode(out));
    }
}

impl<T: Decode> Decode for Map<T> {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.map(Properties::ANY, T::decode)
    }
}

impl<T: Encode> Encode for Map<T> {
    fn encode(&self, out: &mut Writer) {
        out.map(self, Properties::ANY, |out, value| value.encode(out));
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.nullable(T::decode)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Writer) {
        out.nullable(self.as_ref(), |out, value| value.encode(out));
    }
}

impl<T: Decode> Decode for Nullable<T> {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.nullable(T::decode).map(Self::from)
    }
}

impl<T: Encode> Encode for Nullable<T> {
    fn encode(&self, out: &mut Writer) {
        out.nullable(self.as_option(), |out, value| value.encode(out));
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        T::decode(input).map(Self::new)
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    fn encode(&self, out: &mut Writer) {
        (**self).encode(out);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, out: &mut Writer) {
        (**self).encode(out);
    }
}

/// Parses JSON; `1e3` and `2.0` are integers, `1.5` is not.
macro_rules! from_json_text {
    ($($name:ident),+) => {$(
        impl FromStr for $name {
            type Err = InvalidPayload;

            fn from_str(json: &str) -> Result<Self, InvalidPayload> {
                from_json(json.as_bytes())
            }
        }
    )+};
}

from_json_text!(Value, Number, Integer);

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&compact_json(self))
    }
}
