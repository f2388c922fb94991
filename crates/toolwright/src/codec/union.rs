//! Tagged unions: which variant an object is, found before it is read.

use std::borrow::Cow;

use super::Reader;
use crate::issue::{IssueKind, Names, OneOf};
use crate::json::{Scanner, describe, shortened};

impl Reader<'_> {
    /// Finds the tag of the object at the cursor without moving: the value of one property, if it is one
    /// of `tags`. Otherwise the object is skipped and the issue says which tags there are.
    ///
    /// A tag that comes first costs nothing; one that comes last costs a second look at the object.
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
        let tag = found.and_then(|found| tags.iter().find(|tag| means(found, tag)));
        if tag.is_none() && self.scanner.skip().is_some() {
            self.issues.add_under(property, no_variant(found, tags));
        }
        tag.copied()
    }
}

impl<'a> Scanner<'a> {
    /// The JSON text under a key of the object at the cursor, if it is there and the text is JSON so far.
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

/// Whether a JSON text is the string `tag`.
fn means(json: &str, tag: &str) -> bool {
    unquoted(json).is_some_and(|text| text == tag)
}

fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    if json.starts_with('"') { Scanner::new(json.as_bytes()).string() } else { None }
}

#[cold]
fn no_variant(found: Option<&str>, tags: &'static [&'static str]) -> IssueKind {
    let one_of = Names::Borrowed(tags);
    let Some(json) = found else { return IssueKind::Missing { one_of } };
    if let Some(text) = unquoted(json) {
        return IssueKind::Tag { one_of, found: shortened(&text) };
    }
    IssueKind::Type { expected: OneOf(tags).to_string().into(), found: describe(json) }
}
