//! Tagged unions: finds the tag of an object before the object is read.

use std::borrow::Cow;

use super::Reader;
use crate::issue::{IssueKind, Names, listed_values};
use crate::json::{Scanner, describe, quoted, shortened};

impl Reader<'_> {
    /// Returns the tag of the object at the cursor, without moving: the value of one property, if it is one of `tags`.
    /// Otherwise records an issue with the allowed tags and skips the object.
    ///
    /// This is fast if the tag is the first key; if it is the last one, the object is scanned twice.
    pub fn tag(
        &mut self,
        property: &'static str,
        tags: &'static [&'static str],
    ) -> Option<&'static str> {
        if self.scanner.peek() != Some(b'{') {
            self.object();
            return None;
        }
        let start = self.scanner.mark();
        let found = self.scanner.find(property);
        self.scanner.ok()?;
        self.scanner.rewind(start);
        let text = found.and_then(unquoted);
        let position = text.and_then(|text| self.names.of(&*text, tags, |tag| tag));
        if position.is_none() && self.scanner.skip().is_some() {
            self.issues.add_under(property, || tag_issue(found, tags));
        }
        position.map(|position| tags[position])
    }
}

impl<'a> Scanner<'a> {
    /// Returns the JSON text under a key of the object at the cursor, if the key is there and the text is JSON so far.
    /// Leaves the cursor somewhere in the object.
    fn find(&mut self, property: &str) -> Option<&'a str> {
        self.enter()?;
        let mut first = true;
        while let Some(key) = self.next_key(first) {
            self.peek();
            let start = self.position;
            self.skip()?;
            if key == property {
                return Some(self.since(start));
            }
            first = false;
        }
        None
    }
}

/// Returns the text of a JSON string.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    if json.starts_with('"') { Scanner::new(json.as_bytes()).string() } else { None }
}

#[cold]
fn tag_issue(found: Option<&str>, tags: &'static [&'static str]) -> IssueKind {
    let names = Names::Borrowed(tags);
    let Some(json) = found else { return IssueKind::Missing { one_of: names } };
    if let Some(text) = unquoted(json) {
        return IssueKind::Tag { one_of: names, found: shortened(&text) };
    }
    let expected = listed_values(tags.iter().map(|tag| quoted(tag))).into();
    IssueKind::Type { expected, found: describe(json) }
}
