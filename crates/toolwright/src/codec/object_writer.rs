//! Writes objects entry by entry.

use super::Writer;
use crate::issue::IssueKind;
use crate::json::Scanner;
use crate::value::Map;

/// An object that is being written. [`end`](Self::end) closes it.
#[derive(Debug)]
#[must_use = "an object is closed by `end`"]
pub struct ObjectWriter<'w> {
    writer: &'w mut Writer,
    /// The character before the next key: `{` or a comma.
    lead: u8,
    /// The start of the last entry in the text, and the number of issues before it.
    start: usize,
    mark: usize,
}

impl Writer {
    /// Opens an object, whose entries are then written one by one. If it is nested too deep, records an issue and
    /// returns `None`.
    pub fn object(&mut self) -> Option<ObjectWriter<'_>> {
        self.enter().then(|| ObjectWriter::new(self))
    }
}

impl<'w> ObjectWriter<'w> {
    fn new(writer: &'w mut Writer) -> Self {
        let (start, mark) = (writer.text.len(), writer.issues.count());
        Self { writer, lead: b'{', start, mark }
    }

    /// Writes a key and returns the writer, to which exactly one value must be written.
    pub fn key(&mut self, key: &str) -> &mut Writer {
        self.locate_issues();
        self.start(key);
        self.writer
    }

    /// Like [`key`](Self::key), for a key without escapes that is given as `,"key":`.
    #[doc(hidden)]
    pub fn plain_key(&mut self, key: &'static str) -> &mut Writer {
        self.locate_issues();
        self.start = self.writer.text.len();
        self.writer.text.push_with_first(self.lead, key);
        self.lead = b',';
        self.writer
    }

    /// Writes additional entries. A key that the schema declares is recorded as an issue.
    pub fn additional<T>(&mut self, map: &Map<T>, declared: &[&str], write: fn(&mut Writer, &T)) {
        self.locate_issues();
        for (key, value) in map {
            let mark = self.writer.issues.count();
            if declared.contains(&key) {
                let repeated = || IssueKind::DuplicateKey { key: key.to_owned() };
                self.writer.issues.add_under(key, repeated);
                continue;
            }
            self.start(key);
            write(self.writer, value);
            if self.writer.issues.count() > mark {
                self.writer.issues.under_key(mark, key);
            }
        }
        self.mark = self.writer.issues.count();
    }

    /// Closes the object.
    pub fn end(mut self) {
        self.locate_issues();
        if self.lead == b'{' {
            self.writer.text.push(b'{');
        }
        self.writer.close(b'}');
    }

    /// Adds the last key to the pointers of its value's issues.
    fn locate_issues(&mut self) {
        if self.writer.issues.count() > self.mark {
            self.add_key_to_issues();
        }
    }

    #[cold]
    fn add_key_to_issues(&mut self) {
        let entry = self.writer.text.since(self.start + 1);
        let key = Scanner::new(entry.as_bytes()).string().unwrap_or_default();
        self.writer.issues.under_key(self.mark, &key);
        self.mark = self.writer.issues.count();
    }

    fn start(&mut self, key: &str) {
        let text = &mut self.writer.text;
        self.start = text.len();
        text.push(self.lead);
        text.quote(key);
        text.push(b':');
        self.lead = b',';
    }
}
