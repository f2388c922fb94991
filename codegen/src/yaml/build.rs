//! Parser events to a tree, without recursion and within a budget. Never looks at the text itself.

use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle};

use super::{Entry, Node, Places, Value, scalar};
use crate::diagnostic::{Diagnostic, Report};
use crate::source::{Span, Spanned};

/// How deep values may nest: far beyond any schema, far below what recursion over a tree can bear.
const MAX_DEPTH: usize = 120;

/// How many values a file may have, those that aliases repeat included.
const MAX_VALUES: usize = 200_000;

/// How many values anchors and aliases may copy: few lines can ask for more copies than memory holds.
const MAX_COPIED: usize = 100_000;

/// The longest key, in bytes: the names of types and places below are made of it.
const MAX_KEY: usize = 4096;

/// How many entries one list or mapping may have.
const MAX_ENTRIES: usize = 10_000;

/// Builds the tree; every method gives `None` when reading on makes no sense.
pub(super) struct Builder<'a> {
    places: &'a Places<'a>,
    report: &'a mut Report,
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
    depth: usize,
}

/// A list or mapping whose end has not been seen.
struct Open {
    span: Span,
    anchor: usize,
    size: Size,
    parts: Parts,
}

enum Parts {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, keys: HashMap<String, Span>, key: Option<Spanned<String>> },
}

const LEAF: Size = Size { nodes: 1, depth: 1 };

impl<'a> Builder<'a> {
    pub(super) fn new(places: &'a Places<'a>, report: &'a mut Report) -> Self {
        Self {
            places,
            report,
            open: Vec::new(),
            anchors: HashMap::new(),
            values: 0,
            copied: 0,
            documents: 0,
            root: None,
        }
    }

    /// Takes the next event.
    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        match event {
            Event::DocumentStart(_) => self.document(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.scalar(&text, style, anchor, span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                self.open(Parts::Sequence(Vec::new()), anchor, span)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span);
                let parts = Parts::Mapping { entries: Vec::new(), keys: HashMap::new(), key: None };
                self.open(parts, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Some(()),
        }
    }

    /// The tree; nothing where the file has no document.
    pub(super) fn finish(self) -> Node {
        let start = self.places.after(0);
        self.root.unwrap_or(Node { span: start, value: Value::Null })
    }

    fn document(&mut self, span: Span) -> Option<()> {
        self.documents += 1;
        if self.documents == 1 {
            return Some(());
        }
        let finding = Diagnostic::error("yaml-documents", span, "a second document in one file")
            .help("put it into a file of its own");
        self.report.add(finding);
        None
    }

    fn refuse_tag(&mut self, tagged: bool, span: Span) {
        if tagged {
            let finding = Diagnostic::error("yaml-tag", span, "a YAML tag on this value")
                .help("write the value without a tag; put it in quotes if it is a string");
            self.report.add(finding);
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, span: Span) -> Option<()> {
        if self.awaits_key() {
            return self.key(text, style, span);
        }
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(text).unwrap_or_else(|message| {
                self.report.add(Diagnostic::error("yaml-number", span, message));
                Value::Null
            }),
            _ => Value::String(text.to_owned()),
        };
        self.place(Node { span, value }, LEAF, anchor)
    }

    /// Whether the next value is a key.
    fn awaits_key(&self) -> bool {
        let parts = self.open.last().map(|open| &open.parts);
        matches!(parts, Some(Parts::Mapping { key: None, .. }))
    }

    fn key(&mut self, text: &str, style: ScalarStyle, span: Span) -> Option<()> {
        let plain = style == ScalarStyle::Plain;
        if text.len() > MAX_KEY {
            let message = format!("a key of more than {MAX_KEY} bytes");
            let finding = Diagnostic::error("yaml-key", span, message);
            self.report.add(finding.help("give it a shorter name"));
            return None;
        }
        if plain && text == "<<" {
            let finding = Diagnostic::error("yaml-merge-key", span, "a merge key `<<`")
                .help("write the keys out, or name a type and use `$ref`");
            self.report.add(finding);
        } else if plain && !matches!(scalar::resolve(text), Ok(Value::String(_))) {
            let finding = Diagnostic::error("yaml-key", span, "a key that is not a string")
                .help(format!("put it in quotes: \"{text}\""));
            self.report.add(finding);
        }
        let Some(Open { parts: Parts::Mapping { keys, key, .. }, .. }) = self.open.last_mut()
        else {
            return None;
        };
        let first = *keys.entry(text.to_owned()).or_insert(span);
        *key = Some(Spanned::new(text.to_owned(), span));
        if first != span {
            self.report.add(duplicate_key(text, span, first));
        }
        Some(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Option<()> {
        if self.awaits_key() {
            return self.refuse_key(span);
        }
        let Some(Anchored { node, size }) = self.anchors.get(&anchor) else {
            let message = "an alias inside the value it stands for";
            self.report.add(Diagnostic::error("yaml-alias", span, message));
            return None;
        };
        // Counted before the copy is made, so that none is made that is too large.
        let size = *size;
        charge(&mut self.copied, size.nodes, self.report, span)?;
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
        let message = "a key that is a list, a mapping or an alias";
        self.report.add(Diagnostic::error("yaml-key", span, message).help("write the key out"));
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

    /// Whether the list or mapping that a value is to join has room for it.
    fn check_entries(&mut self, span: Span) -> Option<()> {
        let entries = self.open.last().map_or(0, |open| match &open.parts {
            Parts::Sequence(items) => items.len(),
            Parts::Mapping { keys, .. } => keys.len(),
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
            Parts::Mapping { entries, .. } => entries.last().map(|entry| entry.value.span.end),
        };
        // A block ends where its last value does; the parser says where the next thing begins.
        let end = if end.end > end.start { end.end } else { last.unwrap_or(open.span.end) };
        let span = Span { end: end.max(open.span.end), ..open.span };
        let value = match open.parts {
            Parts::Sequence(items) => Value::Sequence(items),
            Parts::Mapping { entries, .. } => Value::Mapping(entries),
        };
        self.place(Node { span, value }, open.size, open.anchor)
    }

    /// Puts a whole value where it belongs.
    fn place(&mut self, node: Node, size: Size, anchor: usize) -> Option<()> {
        self.check_depth(self.open.len() + size.depth, node.span)?;
        self.check_values(1, node.span)?;
        self.check_entries(node.span)?;
        if anchor > 0 {
            charge(&mut self.copied, size.nodes, self.report, node.span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), size });
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        open.size.nodes += size.nodes;
        open.size.depth = open.size.depth.max(size.depth + 1);
        match &mut open.parts {
            Parts::Sequence(items) => items.push(node),
            Parts::Mapping { entries, keys, key } => {
                let key = key.take()?;
                // Of two equal keys the first stays, so that whoever reads on sees each key once.
                if keys.get(&key.value) == Some(&key.span) {
                    entries.push(Entry { key, value: node });
                }
            }
        }
        Some(())
    }
}

/// Adds to what was copied; `None` after reporting that it is too much.
fn charge(copied: &mut usize, nodes: usize, report: &mut Report, span: Span) -> Option<()> {
    *copied += nodes;
    if *copied <= MAX_COPIED {
        return Some(());
    }
    over_budget(report, span, format!("anchors and aliases copy more than {MAX_COPIED} values"))
}

fn over_budget(report: &mut Report, span: Span, message: String) -> Option<()> {
    let finding = Diagnostic::error("yaml-budget", span, message)
        .help("split the file, or say it with types and `$ref`");
    report.add(finding);
    None
}

fn duplicate_key(key: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("duplicate-key", span, format!("the key `{key}` stands here twice"))
        .labelled("again here")
        .also(first, "first here")
        .help("keep one of them")
}
