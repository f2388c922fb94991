//! A JSON text as a flat list of its values, so that results can be cached by the index of a value.
//!
//! It holds slices of the text and only copies strings with escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::json::Scanner;
use crate::pointer::escaped;

/// The values of a text in the order of their starts: an array or object comes before its items or entries.
pub(crate) struct Document<'a> {
    text: &'a str,
    items: Vec<Item<'a>>,
}

/// One value of a document.
struct Item<'a> {
    /// The start and end of its text, in bytes.
    start: usize,
    end: usize,
    /// The index of the first value after this one that is not a part of it.
    next: usize,
    /// The array or object that holds it, and its key or index there; `None` for the outermost value.
    parent: Option<usize>,
    key: Cow<'a, str>,
    index: usize,
    content: Content<'a>,
}

/// The content of a value; for arrays and objects the number of items or entries.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    Null,
    Boolean,
    Number(&'a str),
    String(Cow<'a, str>),
    Array(usize),
    Object(usize),
}

impl<'a> Document<'a> {
    /// Reads the value that begins at a byte of a text; the text after it is ignored. Returns `None` if the text is not
    /// JSON or nested too deep for codecs.
    pub(crate) fn read(text: &'a str, start: usize) -> Option<Self> {
        let mut document = Self { text, items: Vec::new() };
        let mut scanner = Scanner::at(text, start);
        document.value(&mut scanner, None, Cow::Borrowed(""), 0)?;
        Some(document)
    }

    fn value(
        &mut self,
        scanner: &mut Scanner<'a>,
        parent: Option<usize>,
        key: Cow<'a, str>,
        index: usize,
    ) -> Option<()> {
        let first = scanner.peek()?;
        let (current, start) = (self.items.len(), scanner.position);
        let content = Content::Null;
        self.items.push(Item { start, end: 0, next: 0, parent, key, index, content });
        let content = match first {
            b'{' => Content::Object(self.entries(scanner, current)?),
            b'[' => Content::Array(self.elements(scanner, current)?),
            b'"' => Content::String(scanner.string()?),
            b'-' | b'0'..=b'9' => Content::Number(scanner.number()?),
            _ => {
                scanner.skip()?;
                match first {
                    b'n' => Content::Null,
                    _ => Content::Boolean,
                }
            }
        };
        let next = self.items.len();
        let item = &mut self.items[current];
        (item.end, item.next, item.content) = (scanner.position, next, content);
        Some(())
    }

    fn entries(&mut self, scanner: &mut Scanner<'a>, parent: usize) -> Option<usize> {
        scanner.enter()?;
        let mut count = 0;
        while let Some(key) = scanner.next_key(count == 0) {
            self.value(scanner, Some(parent), key, count)?;
            count += 1;
        }
        scanner.ok().map(|()| count)
    }

    fn elements(&mut self, scanner: &mut Scanner<'a>, parent: usize) -> Option<usize> {
        scanner.enter()?;
        let mut count = 0;
        while scanner.next_item(count == 0).is_some() {
            self.value(scanner, Some(parent), Cow::Borrowed(""), count)?;
            count += 1;
        }
        scanner.ok().map(|()| count)
    }

    /// Returns the value that begins at a byte of the text.
    pub(crate) fn at(&self, start: usize) -> Option<usize> {
        self.items.binary_search_by_key(&start, |item| item.start).ok()
    }

    pub(crate) fn content(&self, item: usize) -> &Content<'a> {
        &self.items[item].content
    }

    /// The key of an entry; empty for other values.
    pub(crate) fn key(&self, item: usize) -> &str {
        &self.items[item].key
    }

    /// The items of an array or the values of an object, in order.
    pub(crate) fn children(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.items[item].next;
        let first = Some(item + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| {
            Some(self.items[*child].next).filter(|next| *next < end)
        })
    }

    /// The text of a value.
    pub(crate) fn json(&self, item: usize) -> &'a str {
        let Item { start, end, .. } = self.items[item];
        self.text.get(start..end).unwrap_or_default()
    }

    /// The number of values in a value, including itself.
    pub(crate) fn size(&self, item: usize) -> usize {
        self.items[item].next - item
    }

    /// The JSON Pointer (RFC 6901) of a value, relative to a value that contains it.
    pub(crate) fn pointer(&self, item: usize, base: usize) -> String {
        let mut current = item;
        let mut path = Vec::new();
        while current != base {
            path.push(current);
            let Some(parent) = self.items[current].parent else { break };
            current = parent;
        }
        let mut pointer = String::new();
        for current in path.into_iter().rev() {
            let Item { parent, key, index, .. } = &self.items[current];
            let in_object =
                parent.is_some_and(|parent| matches!(self.content(parent), Content::Object(_)));
            pointer.push('/');
            if in_object {
                pointer.push_str(&escaped(key));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(pointer, "{index}");
            }
        }
        pointer
    }
}
