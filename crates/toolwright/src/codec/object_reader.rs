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

/// A reader of the entries of one object: [`next_key`](Self::next_key) moves the [`Reader`] to the next value, which the
/// reader then reads.
#[derive(Debug)]
pub struct ObjectReader<'a> {
    /// The start of this object's keys in the reader's list, and their number.
    base: usize,
    count: usize,
    /// The bits of all keys so far: a key whose bit is not set is new, without a comparison.
    seen: u64,
    index: Option<HashSet<Cow<'a, str>>>,
    /// The current key, if it was not read in the common case.
    other_key: Cow<'a, str>,
    /// The start of the value under the current key.
    value: usize,
    is_ended: bool,
    /// The number of issues before the value under the current key was read.
    mark: usize,
}

impl<'a> Reader<'a> {
    /// Enters an object, whose entries are then read one by one.
    pub fn object(&mut self) -> Option<ObjectReader<'a>> {
        if self.scanner.peek() != Some(b'{') {
            return self.mismatch("an object");
        }
        self.scanner.enter()?;
        Some(ObjectReader::new(self))
    }
}

impl<'a> ObjectReader<'a> {
    /// Creates a reader after the opening brace.
    fn new(input: &Reader<'a>) -> Self {
        Self {
            base: input.keys.len(),
            count: 0,
            seen: 0,
            index: None,
            other_key: Cow::Borrowed(""),
            value: usize::MAX,
            is_ended: false,
            mark: input.issues.count(),
        }
    }

    /// Returns the next key, or `None` at the end of the object. The reader is then at the value under the key; if the
    /// value is not read, it is skipped. A repeated key is recorded as an issue and skipped.
    ///
    /// Also adds the last key to the pointers of its value's issues, so call it until it returns `None`.
    pub fn next_key(&mut self, input: &mut Reader<'a>) -> Option<&str> {
        match self.common_key(input) {
            Some(key) => Some(key),
            None => self.other_key(input),
        }
    }

    /// Does the same as [`next_key`](Self::next_key). The key borrows from the text, unless it has escapes there.
    pub fn next_key_of_text(&mut self, input: &mut Reader<'a>) -> Option<Cow<'a, str>> {
        if let Some(key) = self.common_key(input) {
            return Some(Cow::Borrowed(key));
        }
        self.other_key(input)?;
        Some(self.other_key.clone())
    }

    /// Returns the next key in the common case: the last value was read, and the key has no escapes and a new bit.
    /// Otherwise nothing changes.
    #[inline]
    fn common_key(&mut self, input: &mut Reader<'a>) -> Option<&'a str> {
        if self.is_ended || input.scanner.position == self.value {
            return None;
        }
        let (key, value) = input.scanner.plain_key(self.count == 0)?;
        let kind = key_bit(key);
        if self.seen & kind != 0 {
            return None;
        }
        self.locate_issues(input);
        self.seen |= kind;
        input.scanner.position = value;
        self.push(input, key);
        Some(key)
    }

    /// Returns the next key in all other cases.
    fn other_key(&mut self, input: &mut Reader<'a>) -> Option<&str> {
        loop {
            let key = self.advance(input)?;
            let kind = key_bit(&key);
            if self.seen & kind == 0 || !self.has(input, &key) {
                self.seen |= kind;
                self.remember(input, key.clone());
                self.other_key = key;
                return Some(&self.other_key);
            }
            self.refuse_repeated(input, &key)?;
        }
    }

    #[cold]
    fn refuse_repeated(&mut self, input: &mut Reader<'a>, key: &str) -> Option<()> {
        input.issues.add_under(key, || IssueKind::DuplicateKey { key: key.to_owned() });
        self.mark = input.issues.count();
        input.scanner.skip()
    }

    fn advance(&mut self, input: &mut Reader<'a>) -> Option<Cow<'a, str>> {
        if self.is_ended {
            return None;
        }
        self.locate_issues(input);
        if input.scanner.position == self.value {
            input.scanner.skip()?;
        }
        let key = input.scanner.next_key(self.count == 0);
        self.is_ended = key.is_none();
        key
    }

    fn has(&self, input: &Reader<'a>, key: &str) -> bool {
        match &self.index {
            None => self.keys(input).contains(&key),
            Some(index) => index.contains(key),
        }
    }

    #[inline]
    fn push(&mut self, input: &mut Reader<'a>, raw_key: &'a str) {
        // Remove the keys of objects inside the last value.
        input.keys.truncate(self.base + self.count);
        input.keys.push(raw_key);
        self.count += 1;
        self.value = input.scanner.position;
        self.mark = input.issues.count();
    }

    fn remember(&mut self, input: &mut Reader<'a>, key: Cow<'a, str>) {
        self.push(input, input.scanner.raw_key);
        if let Some(index) = &mut self.index {
            index.insert(key);
        } else if self.count >= MIN_INDEXED || matches!(key, Cow::Owned(_)) {
            self.index = Some(self.unescaped_keys(input));
            // From now on, every key is looked up.
            self.seen = u64::MAX;
        }
    }

    /// Returns the keys so far, unescaped.
    #[cold]
    fn unescaped_keys(&self, input: &Reader<'a>) -> HashSet<Cow<'a, str>> {
        self.keys(input).iter().map(|key| unescape(key)).collect()
    }

    /// This object's keys as written. Without an index, no key has an escape.
    fn keys<'r>(&self, input: &'r Reader<'a>) -> &'r [&'a str] {
        input.keys.get(self.base..self.base + self.count).unwrap_or_default()
    }

    fn current(&self, input: &Reader<'a>) -> Cow<'a, str> {
        let key = self.keys(input).last().copied().unwrap_or_default();
        if self.index.is_some() { unescape(key) } else { Cow::Borrowed(key) }
    }

    /// Adds the current key to the pointers of its value's issues.
    fn locate_issues(&mut self, input: &mut Reader<'a>) {
        if input.issues.count() > self.mark {
            self.add_key_to_issues(input);
        }
    }

    #[cold]
    fn add_key_to_issues(&mut self, input: &mut Reader<'a>) {
        let key = self.current(input);
        input.issues.under_key(self.mark, &key);
        self.mark = input.issues.count();
    }

    /// Records that the current key is unknown; `known` are the keys that the schema allows.
    #[cold]
    pub fn unknown_key(&mut self, input: &mut Reader<'a>, known: &'static [&'static str]) {
        let key = self.current(input);
        let unknown = || IssueKind::UnknownKey { key: key.to_string(), known: known.into() };
        input.issues.add_under(&key, unknown);
        self.mark = input.issues.count();
        input.scanner.skip();
    }

    /// Reads the value under the current key and adds it to a map.
    pub fn additional<T>(
        &self,
        input: &mut Reader<'a>,
        map: &mut Map<T>,
        decode: fn(&mut Reader<'a>) -> Option<T>,
    ) {
        if let Some(value) = decode(input) {
            input.takes::<(String, T)>();
            // Repeated keys are skipped, so the key is new.
            map.append(self.current(input).into_owned(), value);
        }
    }

    /// Returns the value of a required key; if there is none, records a missing key. Call it after the last key.
    pub fn required<T>(
        &self,
        input: &mut Reader<'a>,
        key: &'static str,
        value: Option<T>,
    ) -> Option<T> {
        if value.is_none() {
            self.has_required(input, key);
        }
        value
    }

    /// Returns true if the keys are within these limits; otherwise records the issues. Call it after the last key.
    pub fn has_within(&self, input: &mut Reader<'a>, limits: Properties) -> bool {
        if input.scanner.failed() {
            return false;
        }
        let keys = input.keys.get(self.base..self.base + self.count).unwrap_or_default();
        if self.index.is_none() {
            return limits.check(keys.iter().copied(), &mut input.issues);
        }
        let keys: Vec<_> = keys.iter().map(|key| unescape(key)).collect();
        limits.check(keys.iter().map(AsRef::as_ref), &mut input.issues)
    }

    /// Returns true if a required key was there; otherwise records the issue. Call it after the last key.
    #[cold]
    pub fn has_required(&self, input: &mut Reader<'a>, key: &'static str) -> bool {
        let is_there = self.has(input, key);
        if !is_there {
            input.issues.add_under(key, || IssueKind::Missing { one_of: Names::default() });
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
