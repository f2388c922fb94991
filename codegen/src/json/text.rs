//! JSON as text, written value after value: on one line, or on several. Never knows what the values mean.

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

/// Most schemas take at least so many bytes.
const FEW: usize = 1024;

/// A JSON text that is being written.
#[derive(Debug)]
pub(crate) struct JsonWriter {
    text: String,
    style: Style,
    /// How many objects and arrays are open.
    depth: usize,
    /// Whether the innermost of them has something in it.
    is_begun: bool,
}

impl JsonWriter {
    pub(crate) fn new(style: Style) -> Self {
        Self { text: String::with_capacity(FEW), style, depth: 0, is_begun: false }
    }

    /// Returns the text, in the pretty style with a newline at the end.
    pub(crate) fn finish(mut self) -> String {
        if self.style == Style::Pretty {
            self.text.push('\n');
            // Thousands are kept until they are written.
            self.text.shrink_to_fit();
        }
        self.text
    }

    /// An object, whose entries are written by this.
    pub(crate) fn object(&mut self, entries: impl FnOnce(&mut Self)) {
        self.open('{');
        entries(self);
        self.close('}');
    }

    /// Begins an object or an array.
    pub(crate) fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.depth += 1;
        self.is_begun = false;
    }

    /// Ends it.
    pub(crate) fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if self.is_begun {
            self.break_line();
        }
        self.text.push(bracket);
        self.is_begun = true;
    }

    /// The key of an object's next entry; its value follows.
    pub(crate) fn key(&mut self, key: &str) {
        self.item();
        self.string(key);
        self.text.push_str(if self.style == Style::Pretty { ": " } else { ":" });
    }

    /// As [`Self::key`], for a key that needs no escapes.
    pub(crate) fn keyword(&mut self, keyword: &'static str) {
        self.item();
        self.text.push('"');
        self.text.push_str(keyword);
        self.text.push_str(if self.style == Style::Pretty { "\": " } else { "\":" });
    }

    /// The place of an array's next item, which follows.
    pub(crate) fn item(&mut self) {
        if self.is_begun {
            self.text.push(',');
        }
        self.is_begun = true;
        self.break_line();
    }

    /// An array of plain values, each written by this.
    pub(crate) fn plain<T>(
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

    /// A number, in JSON's notation.
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
            self.plain(items, Self::value);
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

/// A JSON string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(text, &mut out);
    out
}

/// Writes a string literal: what needs no escape as it stands, which is most of it.
fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Looking at every byte is faster than to stop at one that is rarely there.
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
            // A string takes what is written to it.
            let _ = write!(out, "\\u{:04x}", control as u32);
        }
        plain => out.push(plain),
    }
}
