//! Writes JSON text value by value, on one line or on several.

use std::fmt::Write;

use super::Json;

/// How JSON text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// On one line, without spaces.
    Compact,
    /// On several lines, indented by two spaces; an array of plain values stays on its line.
    Pretty,
}

/// Most schemas need at least this many bytes.
const INITIAL_CAPACITY: usize = 1024;

/// A JSON text that is being written.
#[derive(Debug)]
pub(crate) struct JsonWriter {
    text: String,
    style: Style,
    /// The number of open objects and arrays.
    depth: usize,
    /// True if the innermost of them already has an entry or item.
    has_items: bool,
}

impl JsonWriter {
    pub(crate) fn new(style: Style) -> Self {
        Self { text: String::with_capacity(INITIAL_CAPACITY), style, depth: 0, has_items: false }
    }

    /// Returns the number of bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text, in the pretty style with a newline at the end.
    pub(crate) fn finish(mut self) -> String {
        if self.style == Style::Pretty {
            self.text.push('\n');
            // Thousands of texts are in memory until they are written to disk.
            self.text.shrink_to_fit();
        }
        self.text
    }

    /// Writes an object; `entries` writes its entries.
    pub(crate) fn object(&mut self, entries: impl FnOnce(&mut Self)) {
        self.open('{');
        entries(self);
        self.close('}');
    }

    /// Begins an object or an array.
    pub(crate) fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.depth += 1;
        self.has_items = false;
    }

    /// Ends an object or an array.
    pub(crate) fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if self.has_items {
            self.break_line();
        }
        self.text.push(bracket);
        self.has_items = true;
    }

    /// Writes the key of an object's next entry; its value has to follow.
    pub(crate) fn key(&mut self, key: &str) {
        self.item();
        self.string(key);
        self.text.push_str(if self.style == Style::Pretty { ": " } else { ":" });
    }

    /// Like [`Self::key`], for a key that needs no escapes.
    pub(crate) fn keyword(&mut self, keyword: &'static str) {
        self.item();
        self.text.push('"');
        self.text.push_str(keyword);
        self.text.push_str(if self.style == Style::Pretty { "\": " } else { "\":" });
    }

    /// Begins an array's next item; its value has to follow.
    pub(crate) fn item(&mut self) {
        if self.has_items {
            self.text.push(',');
        }
        self.has_items = true;
        self.break_line();
    }

    /// Writes an array of scalars on one line; `write` writes each of them.
    pub(crate) fn inline_array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Self, T),
    ) {
        let between = if self.style == Style::Pretty { ", " } else { "," };
        self.text.push('[');
        for (index, item) in items.into_iter().enumerate() {
            self.text.push_str(if index > 0 { between } else { "" });
            write(self, item);
        }
        self.text.push(']');
    }

    pub(crate) fn string(&mut self, text: &str) {
        push_quoted(text, &mut self.text);
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Writes a number that is already in JSON's notation.
    pub(crate) fn number(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn value(&mut self, value: &Json) {
        match value {
            Json::Null => self.text.push_str("null"),
            Json::Boolean(value) => self.boolean(*value),
            Json::Number(text) => self.number(text),
            Json::String(text) => self.string(text),
            Json::Array(items) => self.array(items),
            Json::Object(entries) => self.object(|writer| {
                for (key, value) in entries {
                    writer.key(key);
                    writer.value(value);
                }
            }),
        }
    }

    pub(crate) fn array(&mut self, items: &[Json]) {
        if !items.iter().any(|item| matches!(item, Json::Array(_) | Json::Object(_))) {
            self.inline_array(items, Self::value);
            return;
        }
        self.open('[');
        for item in items {
            self.item();
            self.value(item);
        }
        self.close(']');
    }

    fn break_line(&mut self) {
        if self.style == Style::Pretty {
            self.text.push('\n');
            for _ in 0..self.depth {
                self.text.push_str("  ");
            }
        }
    }
}

/// Returns a text as a JSON string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(text, &mut out);
    out
}

/// Writes a string literal. Most texts need no escapes and are copied whole.
fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Looking at every byte is faster than stopping early: few texts need escapes.
    if text.bytes().fold(true, |are_plain, byte| are_plain & is_plain(byte)) {
        out.push_str(text);
    } else {
        text.chars().for_each(|character| push_escaped(character, out));
    }
    out.push('"');
}

fn push_escaped(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        control if control.is_control() => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", control as u32);
        }
        plain => out.push(plain),
    }
}
