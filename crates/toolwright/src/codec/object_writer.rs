//! Objects of a payload that is being written, entry by entry.

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
    /// Where the last entry begins in the text, and how many issues there were before it.
    start: usize,
    mark: usize,
}

impl Writer {
    /// Opens an object, whose entries are then written one by one; nothing where it is nested too
    /// deep, which is an issue.
    pub fn object(&mut self) -> Option<ObjectWriter<'_>> {
        self.enter().then(|| ObjectWriter::new(self))
    }
}

impl<'w> ObjectWriter<'w> {
    fn new(writer: &'w mut Writer) -> Self {
        let (start, mark) = (writer.text.len(), writer.issues.count());
        Self { writer, lead: b'{', start, mark }
    }

    /// Writes a key and returns the writer: write exactly one value there.
    pub fn key(&mut self, key: &str) -> &mut Writer {
        self.settle();
        self.start(key);
        self.writer
    }

    /// As [`key`](Self::key), for one that needs no escape, given as JSON between a comma and a colon.
    #[doc(hidden)]
    pub fn plain_key(&mut self, key: &'static str) -> &mut Writer {
        self.settle();
        self.start = self.writer.text.len();
        self.writer.text.push_led(self.lead, key);
        self.lead = b',';
        self.writer
    }

    /// Writes entries whose keys are free; a key that the schema declares is an issue.
    pub fn additional<T>(&mut self, map: &Map<T>, declared: &[&str], write: fn(&mut Writer, &T)) {
        self.settle();
        for (key, value) in map {
            let mark = self.writer.issues.count();
            if declared.contains(&key) {
                let repeated = IssueKind::DuplicateKey { key: key.to_owned() };
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
        self.settle();
        if self.lead == b'{' {
            self.writer.text.push(b'{');
        }
        self.writer.close(b'}');
    }

    /// Adds the last key to the path of the issues of its value.
    fn settle(&mut self) {
        if self.writer.issues.count() > self.mark {
            self.locate();
        }
    }

    #[cold]
    fn locate(&mut self) {
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
