//! Edits a YAML text so that it holds a new value, and keeps its comments and layout. If a text cannot be edited in place, it
//! is rewritten as a whole.

use std::collections::BTreeMap;

use super::equality::is_same_value;
use super::keywords::Entries;
use super::{yaml_scalar, yaml_text};
use toolwright_codegen::diagnostic::Report;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::yaml::{self, Entry, Node, Value};
use toolwright_codegen::{Source, Sources};

/// The path of an entry and its new name.
pub(super) type Rename = (Vec<String>, String);

/// An edited text.
pub(super) struct Patched {
    /// The text.
    pub(super) text: String,
    /// True if the whole text had to be rewritten, without its comments.
    pub(super) is_rewritten: bool,
}

/// Changes a text so that it holds `new`. Keys keep their order; a new entry follows the entry that it follows in `new`.
pub(super) fn patch(text: &str, root: &Node, new: &Json, renames: &[Rename]) -> Patched {
    let mut patch = Patch { text, renames, path: Vec::new(), edits: Vec::new() };
    if let (Some(entries), Json::Object(new)) = (root.entries(), new) {
        patch.mapping(entries, new);
    }
    let patched = patch.applied().filter(|patched| parses_as(patched, new));
    match (patched, new) {
        (Some(text), _) => Patched { text, is_rewritten: false },
        (None, Json::Object(entries)) => {
            Patched { text: yaml_text::document(entries), is_rewritten: true }
        }
        (None, _) => Patched { text: text.to_owned(), is_rewritten: false },
    }
}

/// Returns whether a text parses as a value.
fn parses_as(text: &str, value: &Json) -> bool {
    let sources = Sources::new(vec![Source { path: String::new(), text: text.to_owned() }]);
    let mut report = Report::default();
    let roots =
        sources.iter().filter_map(|(id, source)| yaml::parse(id, &source.text, &mut report));
    let mut roots = roots.map(|root| root.to_json());
    roots.next().is_some_and(|found| is_same_value(&found, value)) && !report.has_errors()
}

struct Patch<'a> {
    text: &'a str,
    renames: &'a [Rename],
    path: Vec<String>,
    edits: Vec<Edit>,
}

/// A range of bytes and the text that replaces them.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Patch<'_> {
    fn applied(mut self) -> Option<String> {
        let (text, is_crlf) = (self.text, self.text.contains("\r\n"));
        self.edits.sort_by_key(|edit| (edit.start, edit.end));
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for edit in &self.edits {
            out.push_str(text.get(at..edit.start)?);
            out.push_str(&if is_crlf {
                edit.text.replace('\n', "\r\n")
            } else {
                edit.text.clone()
            });
            at = edit.end;
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }

    fn mapping(&mut self, old: &[Entry], new: &Entries) {
        let names: Vec<String> = old.iter().map(|entry| self.name(entry)).collect();
        let values: BTreeMap<&str, &Json> =
            new.iter().map(|(key, value)| (key.as_str(), value)).collect();
        for (index, entry) in old.iter().enumerate() {
            match values.get(names[index].as_str()) {
                Some(value) => self.entry(entry, &names[index], value),
                None => self.remove(old, index),
            }
        }
        let places: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let mut after = None;
        for (key, value) in new {
            match places.get(key.as_str()) {
                Some(&index) => after = Some(index),
                None => self.insert(old, after, key, value),
            }
        }
    }

    /// The new name of an entry, or its own if it is not renamed.
    fn name(&self, entry: &Entry) -> String {
        let found = self.renames.iter().find(|(path, _)| {
            path.split_last()
                .is_some_and(|(last, above)| *last == entry.key.value && above == self.path)
        });
        found.map_or_else(|| entry.key.value.clone(), |(_, name)| name.clone())
    }

    fn entry(&mut self, entry: &Entry, name: &str, new: &Json) {
        let is_renamed = entry.key.value != name;
        let is_same = is_same_value(&entry.value.to_json(), new);
        if is_same || self.can_edit_inside(&entry.value, new) {
            if is_renamed {
                let (start, end) = (entry.key.span.start, entry.key.span.end);
                self.edit(start as usize, end as usize, name.to_owned());
            }
            if !is_same {
                self.path.push(entry.key.value.clone());
                self.inside(&entry.value, new);
                self.path.pop();
            }
        } else {
            self.replace(entry, name, new);
        }
    }

    /// Returns whether the parts of a value can be edited one by one.
    fn can_edit_inside(&self, old: &Node, new: &Json) -> bool {
        if self.is_inline(old) {
            return false;
        }
        match (&old.value, new) {
            (Value::Mapping(old), Json::Object(new)) => old.iter().any(|entry| {
                let name = &entry.key.value;
                new.iter().any(|(key, _)| key == name)
                    || self.renames.iter().any(|(path, _)| path.contains(name))
            }),
            (Value::Sequence(old), Json::Array(new)) => {
                let mut pairs = old.iter().zip(new);
                old.len() == new.len()
                    && pairs.all(|(old, new)| {
                        is_same_value(&old.to_json(), new)
                            || (matches!(old.value, Value::Mapping(_))
                                && self.can_edit_inside(old, new))
                    })
            }
            _ => false,
        }
    }

    fn inside(&mut self, old: &Node, new: &Json) {
        match (&old.value, new) {
            (Value::Mapping(old), Json::Object(new)) => self.mapping(old, new),
            (Value::Sequence(old), Json::Array(new)) => {
                for (old, new) in old.iter().zip(new) {
                    self.inside(old, new);
                }
            }
            _ => {}
        }
    }

    /// Rewrites an entry. The comment at the end of its line moves above it if the new text has several lines.
    fn replace(&mut self, entry: &Entry, name: &str, new: &Json) {
        let start = entry.key.span.start as usize;
        let indent = self.column(start);
        let mut text = yaml_text::entry(name, new, indent);
        let key = &self.text[start..entry.key.span.end as usize];
        if entry.key.value == name
            && let Some(rest) = text.strip_prefix(&yaml_scalar::inline(name, false))
        {
            text = format!("{key}{rest}");
        }
        let mut end = self.end(entry);
        let line_end = self.line_end(end);
        let comment = self.text[end..line_end].trim();
        if text.contains('\n') && comment.starts_with('#') {
            text = format!("{comment}\n{}{text}", " ".repeat(indent));
            end = line_end;
        }
        self.edit(start, end, text);
    }

    fn insert(&mut self, old: &[Entry], after: Option<usize>, key: &str, value: &Json) {
        let Some(first) = old.first() else { return };
        let indent = self.column(first.key.span.start as usize);
        let margin = " ".repeat(indent);
        let text = yaml_text::entry(key, value, indent);
        // An entry of the document is a paragraph.
        let gap = if indent == 0 { "\n" } else { "" };
        if let Some(index) = after {
            let at = self.line_end(self.end(&old[index]));
            self.edit(at, at, format!("\n{gap}{margin}{text}"));
        } else if let Some((at, _)) = self.lines(old, 0) {
            self.edit(
                at,
                at,
                if at == 0 { format!("{text}\n{gap}") } else { format!("\n{margin}{text}{gap}") },
            );
        } else {
            let at = first.key.span.start as usize;
            self.edit(at, at, format!("{text}\n{margin}"));
        }
    }

    fn remove(&mut self, old: &[Entry], index: usize) {
        let region = self.lines(old, index).or_else(|| {
            let next = old.get(index + 1)?;
            Some((old[index].key.span.start as usize, next.key.span.start as usize))
        });
        if let Some((start, end)) = region {
            self.edit(start, end, String::new());
        }
    }

    /// The range of an entry from the end of the line above, with the comments right above it; `None` if it begins inside a
    /// line.
    fn lines(&self, entries: &[Entry], index: usize) -> Option<(usize, usize)> {
        let entry = &entries[index];
        let key = entry.key.span.start as usize;
        let mut start = self.line_start(key);
        if !self.text[start..key].trim().is_empty() {
            return None;
        }
        let floor =
            index.checked_sub(1).map_or(0, |before| self.line_end(self.end(&entries[before])));
        while start > floor + 1 {
            let above = self.line_start(start - 1);
            if above <= floor && floor > 0 || !self.text[above..start].trim_start().starts_with('#')
            {
                break;
            }
            start = above;
        }
        let end = self.line_end(self.end(entry));
        if start == 0 {
            return Some((0, self.text[end..].find('\n').map_or(end, |newline| end + newline + 1)));
        }
        let above = self.line_above(start);
        let is_blank_above = above == self.line_start(above);
        let mut below = self.text[end..].lines().skip(1);
        let is_blank_below = below.next().is_some_and(|line| line.trim().is_empty());
        let doubled = is_blank_above && is_blank_below && above > 0;
        Some((if doubled { self.line_above(above) } else { above }, end))
    }

    /// The end of the line above, before its line break.
    fn line_above(&self, line_start: usize) -> usize {
        self.line_end(self.line_start(line_start - 1))
    }

    fn edit(&mut self, start: usize, end: usize, text: String) {
        self.edits.push(Edit { start, end, text });
    }

    /// The end of an entry.
    fn end(&self, entry: &Entry) -> usize {
        let key = entry.key.span.end as usize;
        let colon = self.text[key..].find(':').map_or(key, |colon| key + colon + 1);
        self.value_end(&entry.value).max(colon)
    }

    fn value_end(&self, node: &Node) -> usize {
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        if self.is_closed(start) {
            return start + closed(&self.text[start..end]);
        }
        match &node.value {
            Value::Mapping(entries) if !self.is_inline(node) => {
                entries.last().map_or(start, |entry| self.end(entry))
            }
            Value::Sequence(items) if !self.is_inline(node) => {
                items.last().map_or(start, |item| self.value_end(item))
            }
            Value::Null if start == end => 0,
            _ => self.text[..end].trim_end().len(),
        }
    }

    /// Returns whether a value is in flow style or an alias.
    fn is_inline(&self, node: &Node) -> bool {
        self.text[node.span.start as usize..].starts_with(['{', '[', '*'])
    }

    /// Returns whether the value at an offset ends with a bracket or a quotation mark. The parser's spans of such values
    /// include the comment after them.
    fn is_closed(&self, at: usize) -> bool {
        self.text[at..].starts_with(['{', '[', '"', '\''])
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// The end of a line, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = rest.split('\n').next().unwrap_or_default();
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn column(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }
}

/// The length of a value that begins with a bracket or a quotation mark.
fn closed(text: &str) -> usize {
    let (mut depth, mut before) = (0_usize, ' ');
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let begins = before.is_whitespace() || "[{,:".contains(before);
        let length = match c {
            '"' | '\'' if begins => quoted(&text[at..], c),
            '#' if before.is_whitespace() => text[at..].find('\n').unwrap_or(text.len() - at),
            c => c.len_utf8(),
        };
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
        at += length;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text in quotes, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote {
            let is_doubled =
                quote == '\'' && characters.next_if(|(_, next)| *next == quote).is_some();
            if !is_doubled {
                return at + 1;
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
