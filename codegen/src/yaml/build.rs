//! Builds a tree from parser events, without recursion and within limits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use saphyr_parser::{Event, ScalarStyle};

use super::{Entry, Node, Places, Value, scalar};
use crate::diagnostic::{Report, yaml as mistakes};
use crate::source::{Span, Spanned};

/// The greatest depth of nested values: far more than any schema needs, far less than what overflows the stack.
const MAX_DEPTH: usize = 120;

/// The most values in a file, including those that aliases repeat.
const MAX_VALUES: usize = 200_000;

/// The most values that anchors and aliases copy: a few lines could otherwise fill the memory. A text counts as one value for every
/// [`COPIED_BYTES`] of it.
const MAX_COPIED: usize = 100_000;

/// The bytes of a text that count as one copied value.
const COPIED_BYTES: usize = 64;

/// The longest key, in bytes: the names of nested types contain it.
const MAX_KEY: usize = 4096;

/// The most entries in one list or mapping.
const MAX_ENTRIES: usize = 10_000;

/// The most keys that are compared pairwise, which is then faster than a set.
const MAX_PAIRWISE: usize = 12;

/// Builds the tree. Methods return `None` if reading has to stop.
pub(super) struct Builder<'a> {
    places: &'a Places<'a>,
    report: &'a mut Report,
    /// True if any scalar is a valid key, by its text: other languages have keys such as numbers.
    pub(super) has_plain_keys: bool,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    values: usize,
    copied: usize,
    documents: usize,
    root: Option<Node>,
}

struct Anchored {
    node: Node,
    size: Size,
}

#[derive(Clone, Copy)]
struct Size {
    nodes: usize,
    /// How many values a copy counts as, for [`MAX_COPIED`].
    copied: usize,
    depth: usize,
}

/// A list or mapping whose end has not been reached.
struct Open {
    span: Span,
    anchor: usize,
    size: Size,
    parts: Parts,
}

enum Parts {
    Sequence(Vec<Node>),
    /// The key belongs to the next value.
    Mapping {
        entries: Vec<ParsedEntry>,
        key: Option<Key>,
    },
}

/// An entry, with whether its key is valid.
struct ParsedEntry {
    entry: Entry,
    is_valid: bool,
}

struct Key {
    name: Spanned<String>,
    is_valid: bool,
}

const LEAF: Size = Size { nodes: 1, copied: 1, depth: 1 };

impl<'a> Builder<'a> {
    pub(super) fn new(places: &'a Places<'a>, report: &'a mut Report) -> Self {
        Self {
            places,
            report,
            has_plain_keys: false,
            open: Vec::new(),
            anchors: HashMap::new(),
            values: 0,
            copied: 0,
            documents: 0,
            root: None,
        }
    }

    /// Processes the next event.
    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents == 1 {
                    return Some(());
                }
                self.report.add(mistakes::yaml_documents(span));
                None
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                // A copy takes less memory than the parser's text, which has spare capacity.
                self.scalar(&text, style, anchor, span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.open(Parts::Sequence(Vec::new()), anchor, span)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                let parts = Parts::Mapping { entries: Vec::new(), key: None };
                self.open(parts, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Some(()),
        }
    }

    /// Returns the tree; null if the file has no document.
    pub(super) fn finish(self) -> Node {
        let start = self.places.after(0);
        self.root.unwrap_or(Node { span: start, value: Value::Null })
    }

    fn refuse_tag(&mut self, tagged: bool, span: Span) {
        if tagged {
            self.report.add(mistakes::yaml_tag(span));
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, span: Span) -> Option<()> {
        if self.awaits_key() {
            return self.key(text, style, span);
        }
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(text).unwrap_or_else(|message| {
                self.report.add(mistakes::yaml_number(span, message));
                // Still a number, so that its kind is not reported as wrong.
                Value::Number("1".to_owned())
            }),
            _ => Value::String(text.to_owned()),
        };
        let size = Size { copied: 1 + text.len() / COPIED_BYTES, ..LEAF };
        self.place(Node { span, value }, size, anchor)
    }

    /// Returns whether the next value is a key.
    fn awaits_key(&self) -> bool {
        let parts = self.open.last().map(|open| &open.parts);
        matches!(parts, Some(Parts::Mapping { key: None, .. }))
    }

    fn key(&mut self, text: &str, style: ScalarStyle, span: Span) -> Option<()> {
        let plain = style == ScalarStyle::Plain;
        if text.len() > MAX_KEY {
            self.report.add(mistakes::yaml_key_length(span, MAX_KEY));
            return None;
        }
        let is_merge = plain && text == "<<";
        let is_string = !plain || self.has_plain_keys || scalar::is_string(text);
        if is_merge {
            self.report.add(mistakes::yaml_merge_key(span));
        } else if !is_string {
            self.report.add(mistakes::yaml_key(span, text));
        }
        let Some(Open { parts: Parts::Mapping { key, .. }, .. }) = self.open.last_mut() else {
            return None;
        };
        let name = Spanned::new(text.to_owned(), span);
        *key = Some(Key { name, is_valid: is_string && !is_merge });
        Some(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Option<()> {
        if self.awaits_key() {
            return self.refuse_key(span);
        }
        let Some(Anchored { node, size }) = self.anchors.get(&anchor) else {
            self.report.add(mistakes::yaml_alias(span));
            return None;
        };
        // Counted before the copy is made, so that no copy is too large.
        let size = *size;
        charge(&mut self.copied, size.copied, self.report, span)?;
        let node = Node { span, value: node.value.clone() };
        self.check_values(size.nodes, span)?;
        self.place(node, size, 0)
    }

    fn open(&mut self, parts: Parts, anchor: usize, span: Span) -> Option<()> {
        if self.awaits_key() {
            return self.refuse_key(span);
        }
        self.check_depth(self.open.len() + 1, span)?;
        self.open.push(Open { span, anchor, size: LEAF, parts });
        Some(())
    }

    fn refuse_key(&mut self, span: Span) -> Option<()> {
        self.report.add(mistakes::yaml_key_kind(span));
        None
    }

    fn check_depth(&mut self, depth: usize, span: Span) -> Option<()> {
        if depth <= MAX_DEPTH {
            return Some(());
        }
        let message = format!("values nested more than {MAX_DEPTH} deep");
        over_budget(self.report, span, message)
    }

    fn check_values(&mut self, added: usize, span: Span) -> Option<()> {
        self.values += added;
        if self.values <= MAX_VALUES {
            return Some(());
        }
        let message = format!("this file has more than {MAX_VALUES} values");
        over_budget(self.report, span, message)
    }

    /// Checks that the current list or mapping has room for another value.
    fn check_entries(&mut self, span: Span) -> Option<()> {
        let entries = self.open.last().map_or(0, |open| match &open.parts {
            Parts::Sequence(items) => items.len(),
            Parts::Mapping { entries, .. } => entries.len(),
        });
        if entries <= MAX_ENTRIES {
            return Some(());
        }
        let message = format!("a list or mapping of more than {MAX_ENTRIES} entries");
        over_budget(self.report, span, message)
    }

    fn close(&mut self, end: Span) -> Option<()> {
        let open = self.open.pop()?;
        let last = match &open.parts {
            Parts::Sequence(items) => items.last().map(|item| item.span.end),
            Parts::Mapping { entries, .. } => {
                entries.iter().rfind(|found| found.is_valid).map(|found| found.entry.value.span.end)
            }
        };
        // A block ends with its last value; the parser's end is where the next token begins.
        let end = if end.end > end.start { end.end } else { last.unwrap_or(open.span.end) };
        let span = Span { end: end.max(open.span.end), ..open.span };
        let value = match open.parts {
            Parts::Sequence(items) => Value::Sequence(items.into()),
            Parts::Mapping { entries, .. } => Value::Mapping(self.entries(entries)),
        };
        self.place(Node { span, value }, open.size, open.anchor)
    }

    /// Adds a complete value to the current list or mapping, or makes it the root.
    fn place(&mut self, node: Node, size: Size, anchor: usize) -> Option<()> {
        self.check_depth(self.open.len() + size.depth, node.span)?;
        self.check_values(1, node.span)?;
        self.check_entries(node.span)?;
        if anchor > 0 {
            charge(&mut self.copied, size.copied, self.report, node.span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), size });
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        open.size.nodes += size.nodes;
        open.size.copied += size.copied;
        open.size.depth = open.size.depth.max(size.depth + 1);
        match &mut open.parts {
            Parts::Sequence(items) => items.push(node),
            Parts::Mapping { entries, key, .. } => {
                let Key { name, is_valid } = key.take()?;
                open.size.copied += name.value.len() / COPIED_BYTES;
                entries.push(ParsedEntry { entry: Entry { key: name, value: node }, is_valid });
            }
        }
        Some(())
    }

    /// Reports repeated keys, and returns the first entry of each valid key.
    fn entries(&mut self, mut found: Vec<ParsedEntry>) -> Arc<[Entry]> {
        let mut keys = found.iter().map(|found| found.entry.key.value.as_str());
        let is_repeated = if found.len() > MAX_PAIRWISE {
            let mut seen = BTreeSet::new();
            !keys.all(|key| seen.insert(key))
        } else {
            keys.enumerate()
                .any(|(at, key)| found[..at].iter().any(|other| other.entry.key.value == key))
        };
        if is_repeated {
            // Findings are sorted later, so their order does not matter here.
            let mut places: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
            for Spanned { value, span } in found.iter().map(|found| &found.entry.key) {
                places.entry(value).or_default().push(*span);
            }
            for (key, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
                self.report.add(mistakes::duplicate_key(key, places));
            }
            let mut seen = BTreeSet::new();
            found.retain(|ParsedEntry { entry, .. }| seen.insert(entry.key.value.clone()));
        }
        found.into_iter().filter(|found| found.is_valid).map(|found| found.entry).collect()
    }
}

/// Counts what is copied; returns `None` after reporting that there are too many.
fn charge(copied: &mut usize, added: usize, report: &mut Report, span: Span) -> Option<()> {
    *copied += added;
    if *copied <= MAX_COPIED {
        return Some(());
    }
    let message = format!(
        "anchors and aliases copy more than {MAX_COPIED} values or {} MB of text",
        MAX_COPIED * COPIED_BYTES / 1_000_000
    );
    over_budget(report, span, message)
}

fn over_budget(report: &mut Report, span: Span, message: String) -> Option<()> {
    report.add(mistakes::yaml_budget(span, message));
    None
}
