//! Reads and writes strings that have a format of [`crate::format`].

use std::net::Ipv4Addr;

use super::{Decode, Encode, Length, Reader, Writer};
use crate::format::{Date, DateTime, Format, FormatError, Formatted, Ipv6, Uuid};

impl Reader<'_> {
    /// Reads a string of a format.
    pub fn formatted(&mut self, format: Format, limits: Length) -> Option<String> {
        let text = self.text("a string")?;
        let is_valid = format.is_valid(&text);
        if !is_valid {
            self.issues.add(FormatError::new(format, &text).into());
        }
        (limits.check(&text, &mut self.issues) & is_valid).then(|| text.into_owned())
    }

    /// Reads a string of a format as its Rust type.
    pub fn formatted_as<T: Formatted>(&mut self, limits: Length) -> Option<T> {
        let text = self.text("a string")?;
        let value = T::from_text(&text);
        if value.is_none() {
            self.issues.add(FormatError::new(T::FORMAT, &text).into());
        }
        let fits = limits.check(&text, &mut self.issues);
        value.filter(|_| fits)
    }
}

impl Writer {
    /// Writes a string of a format.
    pub fn formatted(&mut self, value: &str, format: Format, limits: Length) {
        if !format.is_valid(value) {
            self.issues.add(FormatError::new(format, value).into());
        }
        self.string(value, limits);
    }

    /// Writes a value as a string of its format.
    pub fn formatted_as<T: Formatted>(&mut self, value: &T, limits: Length) {
        self.string(&value.text(), limits);
    }
}

macro_rules! codecs {
    ($($name:ident),+) => {$(
        impl Decode for $name {
            fn decode(input: &mut Reader<'_>) -> Option<Self> {
                input.formatted_as(Length::ANY)
            }
        }

        impl Encode for $name {
            fn encode(&self, out: &mut Writer) {
                out.formatted_as(self, Length::ANY);
            }
        }
    )+};
}

codecs!(Date, DateTime, Ipv4Addr, Ipv6, Uuid);
crate::serde_bridge!(Date, DateTime, Ipv6, Uuid);
