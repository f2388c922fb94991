//! Objects of a payload that is being written, entry by entry.

use super::Writer;
use crate::issue::IssueKind;
use crate::value::Map;

/// An object that is being written. [`end`](Self::end) closes it.
#[derive(Debug)]
#[must_use = "an object is closed by `end`"]
pub struct ObjectWriter<'w> {
    writer: &'w mut Writer,
    empty: bool,
    /// The key whose value was written last, and how many issues there were before it.
    key: &'static str,
    mark: usize,
}

impl Writer {
    /// Opens an object, whose entries are then written one by one; nothing where it is nested too
    /// deep, which is an issue.
    pub fn object(&mut self) -> Option<ObjectWriter<'_>> {
        self.open(b'{').then(|| ObjectWriter::new(self))
    }
}

impl<'w> ObjectWriter<'w> {
    fn new(writer: &'w mut Writer) -> Self {
        let mark = writer.issues.count();
        Self { writer, empty: true, key: "", mark }
    }

    /// The writer, behind a key: write exactly one value there. The key is one that JSON needs no escape
    /// for; any other goes through [`escaped_key`](Self::escaped_key).
    pub fn key(&mut self, key: &'static str) -> &mut Writer {
        self.settle();
        self.writer.text.plain_key(self.empty, key);
        self.empty = false;
        self.key = key;
        self.writer
    }

    /// As [`key`](Self::key), for a key with quotes, backslashes or control characters in it.
    pub fn escaped_key(&mut self, key: &'static str) -> &mut Writer {
        self.settle();
        self.start(key);
        self.key = key;
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
        self.writer.issues.under_key(self.mark, self.key);
        self.mark = self.writer.issues.count();
    }

    fn start(&mut self, key: &str) {
        self.writer.text.key(key, self.empty);
        self.empty = false;
    }
}
