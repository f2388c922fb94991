//! Strings of a checked format, read and written. What is of a format is known in [`crate::format`] alone.

use super::{Length, Reader, Writer};
use crate::format::{Format, FormatError, Formatted};

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

    /// Reads a string of a format as the type it becomes.
    pub fn formatted_as<T: Formatted>(&mut self, limits: Length) -> Option<T> {
        let text = self.text("a string")?;
        let value = T::of_text(&text);
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

    /// Writes a value that was a string of a format, and still is.
    pub fn formatted_as<T: Formatted>(&mut self, value: &T, limits: Length) {
        self.string(&value.text(), limits);
    }
}
