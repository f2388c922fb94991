//! Parses YAML into a tree with a span on every key and value. Only this module uses the YAML parser.

mod build;
mod scalar;

use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScanError};

use crate::diagnostic::{Diagnostic, Report, form, yaml as mistakes};
use crate::json::Json;
use crate::source::{SourceId, Span, Spanned};
use build::Builder;

/// The most brackets, braces and commas in a file.
const MAX_PUNCTUATION: usize = 400_000;

/// A value with its span.
#[derive(Clone, Debug)]
pub struct Node {
    /// The span of its text.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A value by the core schema of YAML 1.2.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`; `yes` and `no` are strings.
    Boolean(bool),
    /// A number in JSON's notation.
    Number(String),
    /// Any other scalar.
    String(String),
    /// A list. Copies of the tree share it.
    Sequence(Arc<[Node]>),
    /// Entries in written order, without duplicate keys.
    Mapping(Arc<[Entry]>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Node,
}

/// Parses the only document of a file; returns `None` after reporting a syntax error.
pub fn parse(source: SourceId, text: &str, report: &mut Report) -> Option<Node> {
    read(source, text, report, false)
}

/// Like [`parse`], for a file of another language, whose keys may look like numbers.
pub fn parse_foreign(source: SourceId, text: &str, report: &mut Report) -> Option<Node> {
    read(source, text, report, true)
}

fn read(source: SourceId, text: &str, report: &mut Report, has_plain_keys: bool) -> Option<Node> {
    let places = Places::new(source, text);
    check_punctuation(&places, report)?;
    let mut builder = Builder::new(&places, report);
    builder.has_plain_keys = has_plain_keys;
    for event in Parser::new_from_str(places.text) {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => {
                if builder.take(event, places.span(span)).is_none() {
                    report.note_unread_definitions();
                    return None;
                }
            }
            Err(error) => {
                report.add(syntax_error(&error, &places));
                report.note_unread_definitions();
                return None;
            }
        }
    }
    Some(builder.finish())
}

/// Limits the punctuation before parsing, because the parser keeps all tokens of a flow collection in memory, and a token is
/// a hundred times as large as its character.
fn check_punctuation(places: &Places<'_>, report: &mut Report) -> Option<()> {
    let is_token = |byte: u8| matches!(byte, b'[' | b']' | b'{' | b'}' | b',');
    let bytes = || places.text.bytes().enumerate();
    if bytes().filter(|(_, byte)| is_token(*byte)).count() <= MAX_PUNCTUATION {
        return Some(());
    }
    let (at, _) = bytes().filter(|(_, byte)| is_token(*byte)).nth(MAX_PUNCTUATION)?;
    let start = places.skipped + at;
    let message = format!("this file has more than {MAX_PUNCTUATION} brackets, braces and commas");
    report.add(mistakes::yaml_budget(places.bytes(start, start + 1), message));
    None
}

fn syntax_error(error: &ScanError, places: &Places<'_>) -> Diagnostic {
    let at = error.marker().index();
    let is_colon_in_text = is_colon_in_text(places.text, places.byte(at) - places.skipped);
    mistakes::yaml_syntax(places.after(at), error.info(), is_colon_in_text)
}

/// Returns whether the parser stopped at a colon inside an unquoted text that follows a key on the same line.
fn is_colon_in_text(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_plain = |(_, text): (&str, &str)| !text.trim_start().starts_with(['"', '\'', '{', '[']);
    after.strip_prefix(':').is_some_and(|after| after.starts_with([' ', '\r', '\n']))
        && line.rsplit_once(": ").is_some_and(is_plain)
}

/// Converts the parser's character positions to byte offsets.
struct Places<'a> {
    source: SourceId,
    text: &'a str,
    /// The bytes before `text`: a byte order mark.
    skipped: usize,
    /// The byte offset of every character and of the end; empty if all characters are ASCII.
    offsets: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(source: SourceId, whole: &'a str) -> Self {
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let ends = || text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
        let offsets = if text.is_ascii() { Vec::new() } else { ends().collect() };
        Self { source, text, skipped: whole.len() - text.len(), offsets }
    }

    fn byte(&self, character: usize) -> usize {
        let offset = match self.offsets.last() {
            None => character.min(self.text.len()),
            Some(&end) => self.offsets.get(character).copied().unwrap_or(end),
        };
        self.skipped + offset
    }

    fn bytes(&self, start: usize, end: usize) -> Span {
        let offset = |byte| u32::try_from(byte).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(start), end: offset(end.max(start)) }
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        self.bytes(self.byte(span.start.index()), self.byte(span.end.index()))
    }

    /// Returns the span of one character.
    fn after(&self, character: usize) -> Span {
        self.bytes(self.byte(character), self.byte(character + 1))
    }
}

impl Node {
    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Boolean(value) => format!("the boolean {value}"),
            Value::Number(text) => format!("the number {text}"),
            Value::String(_) => "a string".to_owned(),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// Returns the finding that the value has the wrong kind.
    pub(crate) fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = self.kind();
        match &self.value {
            Value::Null => {
                form::empty_value(self.span, format!("expected {expected}, found {found}"))
            }
            Value::Number(_) | Value::Boolean(_) if expected.contains("string") => {
                form::unquoted(self.span, expected, &found)
            }
            _ => form::wrong_kind(self.span, expected, &found),
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value of a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| entry.key.value == key).map(|entry| &entry.value)
    }

    /// Returns the value without spans.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Boolean(value) => Json::Boolean(*value),
            Value::Number(text) => Json::Number(text.clone()),
            Value::String(text) => Json::String(text.clone()),
            Value::Sequence(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Mapping(entries) => {
                let pair = |entry: &Entry| (entry.key.value.clone(), entry.value.to_json());
                Json::Object(entries.iter().map(pair).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests;
