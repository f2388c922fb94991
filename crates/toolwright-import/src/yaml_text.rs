//! Writes a value as YAML as a person would: short values in flow style, others in blocks. Reading it with
//! [`toolwright_codegen::internal::yaml`] gives the same value.

use super::yaml_scalar;
use toolwright_codegen::internal::Json;

/// The widest line. A word or scalar that cannot be broken may be wider.
const WIDTH: usize = 100;

/// The maximum depth of mappings on one line.
const FLOW_DEPTH: usize = 2;

/// The number of short values from which on a list is written several to a line.
const MANY: usize = 7;

/// The longest short value, in characters.
const SHORT: usize = 32;

/// The longest key that is written without `?` (YAML 1.2.2, 7.4.2 allows 1024 characters).
const LONGEST_KEY: usize = 512;

/// A whole document. Each entry is a paragraph, except that the scalars at the beginning are one.
pub(super) fn document(entries: &[(String, Json)]) -> String {
    let mut writer = Writer { out: String::new() };
    let mut is_head = true;
    for (index, (key, value)) in entries.iter().enumerate() {
        writer.out.push_str(match index {
            0 => "",
            _ if index == 1 || (is_head && !matches!(value, Json::Object(_))) => "\n",
            // A block that keeps its last line breaks already ends with a blank line; another would change its text.
            _ if writer.out.ends_with('\n') => "\n",
            _ => "\n\n",
        });
        is_head &= index == 0 || !matches!(value, Json::Object(_));
        writer.entry(key, value, 0);
    }
    writer.out.push('\n');
    writer.out
}

/// One entry at an indent. The first line is not indented.
pub(super) fn entry(key: &str, value: &Json, indent: usize) -> String {
    let mut writer = Writer { out: " ".repeat(indent) };
    writer.entry(key, value, indent);
    writer.out.split_off(indent)
}

struct Writer {
    out: String,
}

impl Writer {
    fn entry(&mut self, key: &str, value: &Json, indent: usize) {
        let key = yaml_scalar::inline(key, false);
        if key.len() > LONGEST_KEY {
            self.out.push_str("? ");
            self.out.push_str(&key);
            self.line(indent);
        } else {
            self.out.push_str(&key);
        }
        self.out.push(':');
        self.value(value, indent, false);
    }

    fn item(&mut self, value: &Json, indent: usize) {
        self.out.push('-');
        self.value(value, indent, true);
    }

    /// Writes what follows a colon or a dash.
    fn value(&mut self, value: &Json, indent: usize, after_dash: bool) {
        let text = match value {
            Json::String(text) => Some(self.string(text, indent)),
            Json::Array(items) if items.is_empty() => Some("[]".to_owned()),
            Json::Object(entries) if entries.is_empty() => Some("{}".to_owned()),
            // A mapping of the document is always a block.
            Json::Object(_) if indent == 0 && !after_dash => None,
            Json::Array(_) | Json::Object(_) => self.flow(value),
            scalar => Some(scalar.to_string()),
        };
        if let Some(text) = text {
            self.out.push(' ');
            self.out.push_str(&text);
        } else if let Some(words) = short_values(value) {
            self.filled(&words, indent + 2);
        } else if after_dash {
            self.out.push(' ');
            self.block(value, indent + 2);
        } else {
            self.line(indent + 2);
            self.block(value, indent + 2);
        }
    }

    /// Writes a list or mapping. Its first line is already indented.
    fn block(&mut self, value: &Json, indent: usize) {
        let length = match value {
            Json::Array(items) => items.len(),
            Json::Object(entries) => entries.len(),
            _ => 0,
        };
        for index in 0..length {
            if index > 0 {
                self.line(indent);
            }
            match value {
                Json::Array(items) => self.item(&items[index], indent),
                Json::Object(entries) => self.entry(&entries[index].0, &entries[index].1, indent),
                _ => {}
            }
        }
    }

    /// Writes a list of short values, several to a line.
    fn filled(&mut self, words: &[String], indent: usize) {
        self.line(indent);
        self.out.push('[');
        for (index, word) in words.iter().enumerate() {
            let is_last = index + 1 == words.len();
            if index > 0 && word.chars().count() + 3 <= self.room() {
                self.out.push(' ');
            } else if index > 0 {
                self.line(indent + 1);
            }
            self.out.push_str(word);
            self.out.push(if is_last { ']' } else { ',' });
        }
    }

    fn string(&self, text: &str, indent: usize) -> String {
        if let Some(literal) = yaml_scalar::literal(text, indent + 2) {
            return literal;
        }
        let inline = yaml_scalar::inline(text, false);
        if inline.chars().count() < self.room() {
            return inline;
        }
        yaml_scalar::folded(text, indent + 2, WIDTH).unwrap_or(inline)
    }

    /// A list or mapping in flow style; `None` if it does not fit on the line or nests too deep.
    fn flow(&self, value: &Json) -> Option<String> {
        let mut flow = Flow { out: String::new(), room: self.room() };
        flow.value(value, FLOW_DEPTH)?;
        Some(flow.out)
    }

    /// The room left on the line, with a space before the value.
    fn room(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        WIDTH.saturating_sub(self.out[line..].chars().count())
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// The values of a list that is written several to a line; `None` for other lists and values.
fn short_values(value: &Json) -> Option<Vec<String>> {
    let Json::Array(items) = value else { return None };
    let words = items.iter().map(|item| match item {
        Json::Array(_) | Json::Object(_) => None,
        Json::String(text) => Some(yaml_scalar::inline(text, true)),
        scalar => Some(scalar.to_string()),
    });
    let words: Vec<String> = words.collect::<Option<_>>()?;
    let is_short = |word: &String| word.chars().count() <= SHORT;
    (words.len() >= MANY && words.iter().all(is_short)).then_some(words)
}

/// Writes a value on one line. Every method returns `None` if the value does not fit.
struct Flow {
    out: String,
    room: usize,
}

impl Flow {
    fn value(&mut self, value: &Json, depth: usize) -> Option<()> {
        match value {
            Json::Array(items) if items.is_empty() => self.push("[]"),
            Json::Object(entries) if entries.is_empty() => self.push("{}"),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.push(if index == 0 { "[" } else { ", " })?;
                    self.value(item, depth)?;
                }
                self.push("]")
            }
            Json::Object(entries) => {
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.push(if index == 0 { "{ " } else { ", " })?;
                    self.push(&yaml_scalar::inline(key, true))?;
                    self.push(": ")?;
                    self.value(value, depth.checked_sub(1)?)?;
                }
                self.push(" }")
            }
            // A text of several lines is easier to read as a block.
            Json::String(text) if text.contains('\n') => None,
            Json::String(text) => self.push(&yaml_scalar::inline(text, true)),
            scalar => self.push(&scalar.to_string()),
        }
    }

    fn push(&mut self, text: &str) -> Option<()> {
        self.out.push_str(text);
        (self.out.chars().count() < self.room).then_some(())
    }
}

#[cfg(test)]
mod tests;
