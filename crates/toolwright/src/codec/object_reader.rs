//! Reads objects entry by entry and reports repeated, unknown and missing keys.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Properties, Reader};
use crate::issue::{IssueKind, Names};
use crate::json::unescape;
use crate::value::Map;

/// Objects with this many keys have an index, so that a repeated key is found in constant time. So have objects with
/// escapes in a key, since such a key can be written in several ways.
const MIN_INDEXED: usize = 32;

/// A reader of the entries of one object: call [`next_key`](Self::next_key) and [`value`](Self::value) alternately.
#[derive(Debug)]
pub struct ObjectReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// The start of this object's keys in the reader's list, and their number.
    base: usize,
    count: usize,
    /// The bits of all keys so far: a key whose bit is not set is new, without a comparison.
    seen: u64,
    index: Option<HashSet<Cow<'a, str>>>,
    position: Position,
    /// The number of issues before the value under the current key was read.
    mark: usize,
}

/// The reader's position in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    BeforeFirstKey,
    BeforeValue,
    AfterValue,
    AfterObject,
}

impl<'a> Reader<'a> {
    /// Enters an object, whose entries are then read one by one.
    pub fn object(&mut self) -> Option<ObjectReader<'_, 'a>> {
        if self.scanner.peek() != Some(b'{') {
            return self.mismatch("an object");
        }
        self.scanner.enter()?;
        Some(ObjectReader::new(self))
    }
}

impl<'r, 'a> ObjectReader<'r, 'a> {
    /// Creates a reader after the opening brace.
    fn new(reader: &'r mut Reader<'a>) -> Self {
        let (base, mark) = (reader.keys.len(), reader.issues.count());
        let position = Position::BeforeFirstKey;
        Self { reader, base, count: 0, seen: 0, index: None, position, mark }
    }

    /// Returns the next key, or `None` at the end of the object. A repeated key is recorded as an issue and skipped.
    pub fn next_key(&mut self) -> Option<Cow<'a, str>> {
        match self.common_key() {
            Some(key) => Some(Cow::Borrowed(key)),
            None => self.other_key(),
        }
    }

    /// Returns the next key in the common case: the last value was read, and the key has no escapes and a new bit.
    /// Otherwise nothing changes.
    #[inline]
    fn common_key(&mut self) -> Option<&'a str> {
        let first = match self.position {
            Position::BeforeFirstKey => true,
            Position::AfterValue => false,
            Position::BeforeValue | Position::AfterObject => return None,
        };
        let (key, value) = self.reader.scanner.plain_key(first)?;
        let kind = key_bit(key);
        if self.seen & kind != 0 {
            return None;
        }
        self.locate_issues();
        self.seen |= kind;
        self.reader.scanner.position = value;
        self.push(key);
        Some(key)
    }

    /// Returns the next key in all other cases.
    fn other_key(&mut self) -> Option<Cow<'a, str>> {
        loop {
            let key = self.advance()?;
            let kind = key_bit(&key);
            if self.seen & kind == 0 || !self.has(&key) {
                self.seen |= kind;
                self.remember(key.clone());
                return Some(key);
            }
            self.refuse_repeated(&key)?;
        }
    }

    #[cold]
    fn refuse_repeated(&mut self, key: &str) -> Option<()> {
        let repeated = IssueKind::DuplicateKey { key: key.to_owned() };
        self.reader.issues.add_under(key, repeated);
        self.mark = self.reader.issues.count();
        self.reader.scanner.skip()
    }

    fn advance(&mut self) -> Option<Cow<'a, str>> {
        if self.position == Position::AfterObject {
            return None;
        }
        self.locate_issues();
        if self.position == Position::BeforeValue {
            self.reader.scanner.skip()?;
        }
        let key = self.reader.scanner.next_key(self.position == Position::BeforeFirstKey);
        self.position = if key.is_some() { Position::AfterValue } else { Position::AfterObject };
        key
    }

    fn has(&self, key: &str) -> bool {
        match &self.index {
            None => self.keys().contains(&key),
            Some(index) => index.contains(key),
        }
    }

    #[inline]
    fn push(&mut self, raw_key: &'a str) {
        // Remove the keys of objects inside the last value.
        self.reader.keys.truncate(self.base + self.count);
        self.reader.keys.push(raw_key);
        self.count += 1;
        self.position = Position::BeforeValue;
    }

    fn remember(&mut self, key: Cow<'a, str>) {
        self.push(self.reader.scanner.raw_key);
        if let Some(index) = &mut self.index {
            index.insert(key);
        } else if self.count >= MIN_INDEXED || matches!(key, Cow::Owned(_)) {
            self.index = Some(self.unescaped_keys());
            // From now on, every key is looked up.
            self.seen = u64::MAX;
        }
    }

    /// Returns the keys so far, unescaped.
    #[cold]
    fn unescaped_keys(&self) -> HashSet<Cow<'a, str>> {
        self.keys().iter().map(|key| unescape(key)).collect()
    }

    /// This object's keys as written. Without an index, no key has an escape.
    fn keys(&self) -> &[&'a str] {
        self.reader.keys.get(self.base..self.base + self.count).unwrap_or_default()
    }

    fn current(&self) -> Cow<'a, str> {
        let key = self.keys().last().copied().unwrap_or_default();
        if self.index.is_some() { unescape(key) } else { Cow::Borrowed(key) }
    }

    /// Returns the reader at the value under the current key. The next call of [`next_key`](Self::next_key) adds the
    /// key to the pointers of the value's issues, so call it until it returns `None`.
    pub fn value(&mut self) -> &mut Reader<'a> {
        self.position = Position::AfterValue;
        self.mark = self.reader.issues.count();
        self.reader
    }

    /// Adds the current key to the pointers of its value's issues.
    fn locate_issues(&mut self) {
        if self.reader.issues.count() > self.mark {
            self.add_key_to_issues();
        }
    }

    #[cold]
    fn add_key_to_issues(&mut self) {
        let key = self.current();
        self.reader.issues.under_key(self.mark, &key);
        self.mark = self.reader.issues.count();
    }

    /// Records that the current key is unknown; `known` are the keys that the schema allows.
    #[cold]
    pub fn unknown_key(&mut self, known: &'static [&'static str]) {
        let key = self.current();
        let unknown = IssueKind::UnknownKey { key: key.to_string(), known: known.into() };
        self.reader.issues.add_under(&key, unknown);
        self.mark = self.reader.issues.count();
        self.position = Position::AfterValue;
        self.reader.scanner.skip();
    }

    /// Reads the value under the current key and adds it to a map.
    pub fn additional<T>(
        &mut self,
        map: &mut Map<T>,
        key: Cow<'a, str>,
        decode: fn(&mut Reader<'a>) -> Option<T>,
    ) {
        if let Some(value) = decode(self.value()) {
            // Repeated keys are skipped, so the key is new.
            map.append(key.into_owned(), value);
        }
    }

    /// Returns the value of a required key; if there is none, records a missing key. Call it after the last key.
    pub fn required<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if let Some(value) = value {
            return Some(value);
        }
        self.has_required(key);
        None
    }

    /// Returns true if the keys are within these limits; otherwise records the issues. Call it after the last key.
    pub fn has_within(&mut self, limits: Properties) -> bool {
        if self.reader.scanner.failed() {
            return false;
        }
        let keys = self.reader.keys.get(self.base..self.base + self.count).unwrap_or_default();
        if self.index.is_none() {
            return limits.check(keys.iter().copied(), &mut self.reader.issues);
        }
        let keys: Vec<_> = keys.iter().map(|key| unescape(key)).collect();
        limits.check(keys.iter().map(AsRef::as_ref), &mut self.reader.issues)
    }

    /// Returns true if a required key was there; otherwise records the issue. Call it after the last key.
    #[cold]
    pub fn has_required(&mut self, key: &'static str) -> bool {
        let is_there = self.has(key);
        if !is_there {
            self.reader.issues.add_under(key, IssueKind::Missing { one_of: Names::default() });
        }
        is_there
    }
}

/// Returns one bit for a key, from its length, first and last byte. Equal keys have the same bit.
#[inline]
fn key_bit(key: &str) -> u64 {
    let byte = |byte: Option<&u8>| byte.copied().map_or(0, usize::from);
    let bytes = key.as_bytes();
    1 << ((bytes.len() * 3 + byte(bytes.first()) + byte(bytes.last()) * 7) % 64)
}
