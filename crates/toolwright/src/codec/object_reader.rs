//! Objects of a payload, entry by entry: keys that repeat, are unknown or missing.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Reader;
use super::string::meaning;
use crate::issue::IssueKind;
use crate::value::Map;

/// Objects with this many keys are indexed, so that a repeated key is found in constant time. So are objects with
/// escapes in a key, which may then be written in two ways.
const UNINDEXED: usize = 32;

/// The entries of one object. [`next_key`](Self::next_key) and [`value`](Self::value) take turns.
pub struct ObjectReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// Where this object's keys begin in the reader's list, and how many it has.
    base: usize,
    count: usize,
    index: Option<HashSet<Cow<'a, str>>>,
    at_start: bool,
    at_value: bool,
    closed: bool,
    /// How many issues there were before the value under the current key was read.
    mark: usize,
}

impl<'r, 'a> ObjectReader<'r, 'a> {
    /// Reads on behind the opening brace.
    pub(super) fn new(reader: &'r mut Reader<'a>) -> Self {
        let base = reader.keys.len();
        let mark = reader.issues.count();
        let (at_start, at_value, closed) = (true, false, false);
        Self { reader, base, count: 0, index: None, at_start, at_value, closed, mark }
    }

    /// The next key, or nothing at the end of the object. A repeated key is an issue and is passed over.
    pub fn next_key(&mut self) -> Option<Cow<'a, str>> {
        loop {
            let key = self.advance()?;
            if !self.has(&key) {
                self.remember(key.clone());
                self.at_value = true;
                return Some(key);
            }
            let repeated = IssueKind::DuplicateKey { key: key.to_string() };
            self.reader.issues.add_under(&key, repeated);
            self.mark = self.reader.issues.count();
            self.reader.scanner.skip()?;
        }
    }

    fn advance(&mut self) -> Option<Cow<'a, str>> {
        if self.closed {
            return None;
        }
        self.settle();
        if self.at_value {
            self.at_value = false;
            self.reader.scanner.skip()?;
        }
        // What objects inside the last value left behind.
        self.reader.keys.truncate(self.base + self.count);
        let key = self.reader.scanner.next_key(self.at_start);
        self.at_start = false;
        self.closed = key.is_none();
        key
    }

    fn has(&self, key: &str) -> bool {
        match &self.index {
            None => self.keys().contains(&key),
            Some(index) => index.contains(key),
        }
    }

    fn remember(&mut self, key: Cow<'a, str>) {
        self.reader.keys.push(self.reader.scanner.written_key);
        self.count += 1;
        if let Some(index) = &mut self.index {
            index.insert(key);
        } else if self.count == UNINDEXED || matches!(key, Cow::Owned(_)) {
            self.index = Some(self.indexed());
        }
    }

    /// The keys so far by what they mean.
    #[cold]
    fn indexed(&self) -> HashSet<Cow<'a, str>> {
        self.keys().iter().map(|key| meaning(key)).collect()
    }

    /// This object's keys, as they are written. Without an index, that is what they mean.
    fn keys(&self) -> &[&'a str] {
        self.reader.keys.get(self.base..self.base + self.count).unwrap_or_default()
    }

    fn current(&self) -> Cow<'a, str> {
        self.keys().last().map_or(Cow::Borrowed(""), |key| meaning(key))
    }

    /// The reader, at the value under the current key. Issues found there get the key into their
    /// pointer with the next [`next_key`](Self::next_key), so call that until it gives nothing.
    pub fn value(&mut self) -> &mut Reader<'a> {
        self.at_value = false;
        self.mark = self.reader.issues.count();
        self.reader
    }

    /// Adds the current key to the path of the issues of its value.
    fn settle(&mut self) {
        if self.reader.issues.count() > self.mark {
            self.locate();
        }
    }

    #[cold]
    fn locate(&mut self) {
        let key = self.current();
        self.reader.issues.under_key(self.mark, &key);
        self.mark = self.reader.issues.count();
    }

    /// Refuses the current key; `known` are the keys the schema allows.
    #[cold]
    pub fn unknown_key(&mut self, known: &[&str]) {
        let key = self.current();
        let known = known.iter().map(|known| (*known).to_owned()).collect();
        self.reader.issues.add_under(&key, IssueKind::UnknownKey { key: key.to_string(), known });
        self.mark = self.reader.issues.count();
        self.at_value = false;
        self.reader.scanner.skip();
    }

    /// Reads the value under the current key and keeps it under that key.
    pub fn additional<T>(
        &mut self,
        map: &mut Map<T>,
        key: Cow<'a, str>,
        decode: impl FnOnce(&mut Reader<'a>) -> Option<T>,
    ) {
        if let Some(value) = decode(self.value()) {
            // Every key comes once, so there is no need to look for it.
            map.append(key.into_owned(), value);
        }
    }

    /// Passes on what a required key gave, after the last key; if the key was not there, that is an issue.
    pub fn required<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.miss(key);
        }
        value
    }

    #[cold]
    fn miss(&mut self, key: &'static str) {
        if !self.has(key) {
            self.reader.issues.add_under(key, IssueKind::Missing { one_of: Vec::new() });
        }
    }
}
