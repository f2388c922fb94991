//! JSON values as a schema writes them: numbers keep their text, objects their order.

use std::fmt::{self, Display};

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number in JSON's own notation, kept exactly.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object in written order, without duplicate keys.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A string value.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// The value of a key, where this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The text on several lines, indented by two spaces, with a newline at the end.
    pub fn pretty(&self) -> String {
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = write_pretty(self, 0, &mut text);
        text.push('\n');
        text.shrink_to_fit();
        text
    }
}

/// The text on one line, without spaces.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_compact(self, ",", f)
    }
}

/// A JSON string literal.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    // A string takes whatever is written to it.
    let _ = write_quoted(text, &mut out);
    out
}

/// Writes a string literal: what needs no escape as it stands, which is most of it.
fn write_quoted(text: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        out.write_str(&rest[..at])?;
        let mut others = rest[at..].chars();
        others.next().map_or(Ok(()), |special| write_escaped(special, out))?;
        rest = others.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

fn write_escaped(special: char, out: &mut impl fmt::Write) -> fmt::Result {
    match special {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        control => write!(out, "\\u{:04x}", control as u32),
    }
}

/// Writes a value on one line, with this between the items of an outermost array.
fn write_compact(value: &Json, between: &str, out: &mut impl fmt::Write) -> fmt::Result {
    match value {
        Json::Null => out.write_str("null"),
        Json::Boolean(value) => out.write_str(if *value { "true" } else { "false" }),
        Json::Number(text) => out.write_str(text),
        Json::String(text) => write_quoted(text, out),
        Json::Array(items) => {
            out.write_char('[')?;
            for (index, item) in items.iter().enumerate() {
                out.write_str(if index > 0 { between } else { "" })?;
                write_compact(item, ",", out)?;
            }
            out.write_char(']')
        }
        Json::Object(entries) => {
            out.write_char('{')?;
            for (index, (key, value)) in entries.iter().enumerate() {
                out.write_str(if index > 0 { "," } else { "" })?;
                write_quoted(key, out)?;
                out.write_char(':')?;
                write_compact(value, ",", out)?;
            }
            out.write_char('}')
        }
    }
}

fn write_pretty(value: &Json, depth: usize, out: &mut String) -> fmt::Result {
    let has_parts =
        |items: &[Json]| items.iter().any(|item| matches!(item, Json::Array(_) | Json::Object(_)));
    match value {
        Json::Array(items) if has_parts(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                break_line(depth + 1, out);
                write_pretty(item, depth + 1, out)?;
            }
            break_line(depth, out);
            out.push(']');
            Ok(())
        }
        Json::Object(entries) if !entries.is_empty() => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                break_line(depth + 1, out);
                write_quoted(key, out)?;
                out.push_str(": ");
                write_pretty(item, depth + 1, out)?;
            }
            break_line(depth, out);
            out.push('}');
            Ok(())
        }
        flat => write_compact(flat, ", ", out),
    }
}

fn break_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
