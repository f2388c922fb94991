//! Objects of a payload, entry by entry: keys that repeat, are unknown or missing.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Properties, Reader};
use crate::issue::{IssueKind, Names};
use crate::json::meaning;
use crate::value::Map;

/// Objects with this many keys are indexed, so that a repeated key is found in constant time. So are objects with
/// escapes in a key, which may then be written in two ways.
const UNINDEXED: usize = 32;

/// The entries of one object. [`next_key`](Self::next_key) and [`value`](Self::value) take turns.
#[derive(Debug)]
pub struct ObjectReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// Where this object's keys begin in the reader's list, and how many it has.
    base: usize,
    count: usize,
    /// A bit for each kind of key so far: most new keys are then known to be new without a comparison.
    seen: u64,
    index: Option<HashSet<Cow<'a, str>>>,
    place: Place,
    /// How many issues there were before the value under the current key was read.
    mark: usize,
}

/// Where the reader is in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BeforeFirstKey,
    BeforeValue,
    BehindValue,
    BehindObject,
}

impl<'a> Reader<'a> {
    /// Goes into an object, whose entries are then read one by one.
    pub fn object(&mut self) -> Option<ObjectReader<'_, 'a>> {
        if self.scanner.peek() != Some(b'{') {
            return self.mismatch("an object");
        }
        self.scanner.enter()?;
        Some(ObjectReader::new(self))
    }
}

impl<'r, 'a> ObjectReader<'r, 'a> {
    /// Reads on behind the opening brace.
    fn new(reader: &'r mut Reader<'a>) -> Self {
        let (base, mark) = (reader.keys.len(), reader.issues.count());
        let place = Place::BeforeFirstKey;
        Self { reader, base, count: 0, seen: 0, index: None, place, mark }
    }

    /// The next key, or nothing at the end of the object. A repeated key is an issue and is passed over.
    pub fn next_key(&mut self) -> Option<Cow<'a, str>> {
        match self.usual_key() {
            Some(key) => Some(Cow::Borrowed(key)),
            None => self.unusual_key(),
        }
    }

    /// The next key where nothing is special: the last value was read, the key is written plainly and surely new.
    /// Otherwise nothing has happened.
    #[inline]
    fn usual_key(&mut self) -> Option<&'a str> {
        let first = match self.place {
            Place::BeforeFirstKey => true,
            Place::BehindValue => false,
            Place::BeforeValue | Place::BehindObject => return None,
        };
        let (key, value) = self.reader.scanner.plain_key(first)?;
        let kind = kind_of(key);
        if self.seen & kind != 0 {
            return None;
        }
        self.settle();
        self.seen |= kind;
        self.reader.scanner.position = value;
        self.push(key);
        Some(key)
    }

    /// The next key in all other cases.
    fn unusual_key(&mut self) -> Option<Cow<'a, str>> {
        loop {
            let key = self.advance()?;
            let kind = kind_of(&key);
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
        if self.place == Place::BehindObject {
            return None;
        }
        self.settle();
        if self.place == Place::BeforeValue {
            self.reader.scanner.skip()?;
        }
        let key = self.reader.scanner.next_key(self.place == Place::BeforeFirstKey);
        self.place = if key.is_some() { Place::BehindValue } else { Place::BehindObject };
        key
    }

    fn has(&self, key: &str) -> bool {
        match &self.index {
            None => self.keys().contains(&key),
            Some(index) => index.contains(key),
        }
    }

    #[inline]
    fn push(&mut self, written: &'a str) {
        // What objects inside the last value left behind goes first.
        self.reader.keys.truncate(self.base + self.count);
        self.reader.keys.push(written);
        self.count += 1;
        self.place = Place::BeforeValue;
    }

    fn remember(&mut self, key: Cow<'a, str>) {
        self.push(self.reader.scanner.written_key);
        if let Some(index) = &mut self.index {
            index.insert(key);
        } else if self.count >= UNINDEXED || matches!(key, Cow::Owned(_)) {
            self.index = Some(self.indexed());
            // From now on every key is looked up.
            self.seen = u64::MAX;
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
        let key = self.keys().last().copied().unwrap_or_default();
        if self.index.is_some() { meaning(key) } else { Cow::Borrowed(key) }
    }

    /// The reader, at the value under the current key. Issues found there get the key into their
    /// pointer with the next [`next_key`](Self::next_key), so call that until it gives nothing.
    pub fn value(&mut self) -> &mut Reader<'a> {
        self.place = Place::BehindValue;
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
    pub fn unknown_key(&mut self, known: &'static [&'static str]) {
        let key = self.current();
        let unknown = IssueKind::UnknownKey { key: key.to_string(), known: known.into() };
        self.reader.issues.add_under(&key, unknown);
        self.mark = self.reader.issues.count();
        self.place = Place::BehindValue;
        self.reader.scanner.skip();
    }

    /// Reads the value under the current key and keeps it under that key.
    pub fn additional<T>(
        &mut self,
        map: &mut Map<T>,
        key: Cow<'a, str>,
        decode: fn(&mut Reader<'a>) -> Option<T>,
    ) {
        if let Some(value) = decode(self.value()) {
            // Every key comes once, so there is no need to look for it.
            map.append(key.into_owned(), value);
        }
    }

    /// Passes on what a required key gave, after the last key; if the key was not there, that is an issue.
    pub fn required<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if let Some(value) = value {
            return Some(value);
        }
        self.has_required(key);
        None
    }

    /// Whether the keys are inside these limits, after the last key; what is not is an issue.
    pub fn has_within(&mut self, limits: Properties) -> bool {
        if self.reader.scanner.failed() {
            return false;
        }
        let keys = self.reader.keys.get(self.base..self.base + self.count).unwrap_or_default();
        if self.index.is_none() {
            return limits.check(keys.iter().copied(), &mut self.reader.issues);
        }
        let keys: Vec<_> = keys.iter().map(|key| meaning(key)).collect();
        limits.check(keys.iter().map(AsRef::as_ref), &mut self.reader.issues)
    }

    /// Whether a required key was there, after the last key; if it was not, that is an issue.
    #[cold]
    pub fn has_required(&mut self, key: &'static str) -> bool {
        let is_there = self.has(key);
        if !is_there {
            self.reader.issues.add_under(key, IssueKind::Missing { one_of: Names::default() });
        }
        is_there
    }
}

/// One bit, the same for equal keys: from length, first and last byte.
#[inline]
fn kind_of(key: &str) -> u64 {
    let byte = |byte: Option<&u8>| byte.copied().map_or(0, usize::from);
    let bytes = key.as_bytes();
    1 << ((bytes.len() * 3 + byte(bytes.first()) + byte(bytes.last()) * 7) % 64)
}
