//! The pull reader that generated decoders call, with a method for each kind of value.
//!
//! It checks limits while reading and collects the issues; the scanner checks the grammar of JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use super::checked::{Evaluations, Validator};
use super::issues::Issues;
use super::positions::Positions;
use super::{Items, Length, Properties, Range, StandardInteger};
use crate::issue::{InvalidPayload, Issue, IssueKind, listed_values};
use crate::json::{Literal, Scanner, describe, nearest_double, quoted, shortened};
use crate::value::{Decimal, Integer, Map, Number, Value};

/// A cursor in a JSON payload that collects issues.
///
/// Each method reads the value at the cursor and moves past it. `None` means that at least one issue was recorded.
pub struct Reader<'a> {
    pub(super) scanner: Scanner<'a>,
    pub(super) issues: Issues,
    /// The keys of all objects around the cursor, outermost first, as written between their quotes.
    pub(super) keys: Vec<&'a str>,
    /// The bytes of memory that are left for items, and how many there were.
    memory: [usize; 2],
    /// The positions of constants in their lists, by the address and the length of a list: the items of an array have the same.
    constants: HashMap<(usize, usize), HashMap<Value, usize>>,
    pub(super) names: Positions<&'static str>,
    pub(super) integers: Positions<i64>,
    /// The evaluations by validators of the value at the cursor or of one that contains it.
    pub(super) evaluations: Option<Box<Evaluations<'a>>>,
}

/// The most bytes of memory for the items of a payload: this, and some for each of its bytes. An item of two bytes, `{}`, can be a
/// struct of some kilobytes.
const MEMORY: usize = 64 << 20;
const MEMORY_PER_BYTE: usize = 64;

/// The initial capacity for keys, enough for most payloads.
const KEY_CAPACITY: usize = 16;

/// The position in an array.
#[derive(Debug)]
pub(super) struct ArrayCursor {
    /// The start of the array in the text.
    start: usize,
    /// The number of items so far, including the current one.
    pub(super) count: usize,
    issues: usize,
    keys: usize,
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (position, issues) = (self.scanner.position, self.issues.since(0));
        f.debug_struct("Reader")
            .field("position", &position)
            .field("issues", &issues)
            .finish_non_exhaustive()
    }
}

impl<'a> Reader<'a> {
    /// Creates a reader of a payload with a limit of steps.
    pub(super) fn within(json: &'a [u8], steps: u64) -> Self {
        let memory = json.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY);
        Self {
            memory: [memory; 2],
            scanner: Scanner::new(json),
            issues: Issues::within(steps),
            keys: Vec::with_capacity(KEY_CAPACITY),
            constants: HashMap::new(),
            names: Positions::default(),
            integers: Positions::default(),
            evaluations: None,
        }
    }

    /// Returns the error, if there are any issues. If the text is not JSON, that is the only issue.
    pub(super) fn finish(self) -> Option<InvalidPayload> {
        match self.scanner.finish() {
            Some(stop) => Some(InvalidPayload::new(vec![Issue::new("", stop.into())])),
            None => self.issues.finish(),
        }
    }

    /// Reads `null`.
    pub fn null(&mut self) -> Option<()> {
        match self.scanner.peek() {
            Some(b'n') => self.scanner.literal(Literal::Null),
            _ => self.mismatch("null"),
        }
    }

    /// Reads a boolean.
    pub fn boolean(&mut self) -> Option<bool> {
        match self.scanner.peek() {
            Some(b't') => self.scanner.literal(Literal::True).map(|()| true),
            Some(b'f') => self.scanner.literal(Literal::False).map(|()| false),
            _ => self.mismatch("a boolean"),
        }
    }

    /// Reads a string.
    pub fn string(&mut self, limits: Length) -> Option<String> {
        self.scanner.peek();
        match self.scanner.plain_string() {
            Some(text) => limits.check(text, &mut self.issues).then(|| text.to_owned()),
            None => self.escaped_string(limits),
        }
    }

    /// Reads a string with escapes, or records that the value is not a string.
    #[cold]
    fn escaped_string(&mut self, limits: Length) -> Option<String> {
        let text = self.text("a string")?;
        limits.check(&text, &mut self.issues).then(|| text.into_owned())
    }

    /// Reads an integer of a standard type; `1.0` and `1e2` are integers.
    pub fn integer<N: StandardInteger>(&mut self, range: Range<N>) -> Option<N> {
        self.scanner.peek();
        let Some(small) = self.scanner.plain_integer() else {
            return N::try_from(self.other_integer(range.within_type())?.to_i128()?).ok();
        };
        if let Ok(small) = N::try_from(small) {
            return range.check_small(small, &mut self.issues).then_some(small);
        }
        range.within_type().check(&Integer::from(small), &mut self.issues);
        None
    }

    /// Reads an integer of any size; `1.0` and `1e2` are integers.
    pub fn big_integer(&mut self, range: Range<i128>) -> Option<Integer> {
        self.scanner.peek();
        match self.scanner.plain_integer() {
            Some(small) => {
                let is_inside = range.check_small(small.into(), &mut self.issues);
                is_inside.then_some(Integer::from(small))
            }
            None => self.other_integer(range),
        }
    }

    /// Reads an integer that is large or has a decimal point or an exponent.
    #[cold]
    fn other_integer(&mut self, range: Range<i128>) -> Option<Integer> {
        let text = self.digits("an integer")?;
        let Some(integer) = Integer::from_decimal(Decimal::of(text)) else {
            let (expected, found) = ("an integer".into(), describe(text));
            self.issues.add(IssueKind::Type { expected, found });
            return None;
        };
        range.check(&integer, &mut self.issues).then_some(integer)
    }

    /// Reads a number as the nearest `f64` in the range. The number itself must be in the range, and within the bounds
    /// of `f64`.
    pub fn number(&mut self, range: Range<f64>) -> Option<f64> {
        let text = self.digits("a number")?;
        range.within_doubles().fit(nearest_double(text), text, &mut self.issues)
    }

    /// Reads a number and keeps its text.
    pub fn exact_number(&mut self, range: Range<f64>) -> Option<Number> {
        let text = self.digits("a number")?;
        range.fit(nearest_double(text), text, &mut self.issues).map(|_| Number::of_json(text))
    }

    /// Reads any value.
    pub fn value(&mut self) -> Option<Value> {
        match self.scanner.peek() {
            Some(b'{') => self.map(Properties::ANY, Self::value).map(Value::Object),
            Some(b'[') => self.array(Items::ANY, Self::value).map(Value::Array),
            Some(b'"') => self.string(Length::ANY).map(Value::String),
            Some(b't' | b'f') => self.boolean().map(Value::Boolean),
            Some(b'n') => self.null().map(|()| Value::Null),
            _ => self.exact_number(Range::ANY).map(Value::Number),
        }
    }

    /// Reads any value and returns its text. Only its grammar is checked: keys may be repeated in it.
    pub fn json(&mut self) -> Option<&'a str> {
        self.scanner.peek();
        let start = self.scanner.position;
        if self.scanner.plain_string().is_none() {
            self.scanner.skip()?;
        }
        Some(self.scanner.since(start))
    }

    /// Reads a value that is equal to this JSON text.
    pub fn constant(&mut self, json: &'static str) -> Option<()> {
        self.scanner.peek();
        let start = self.scanner.position;
        if self.equals(json)? {
            return Some(());
        }
        let found = shortened(self.scanner.since(start));
        self.issues.add(IssueKind::Constant { expected: json.into(), found });
        None
    }

    /// Reads the value at the cursor and compares it with a JSON text.
    fn equals(&mut self, json: &'static str) -> Option<bool> {
        let plain = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let plain = plain.filter(|plain| !plain.contains('\\'));
        if let (Some(plain), Some(b'"')) = (plain, self.scanner.peek()) {
            return Some(self.scanner.string()? == plain);
        }
        let value = self.value()?;
        let list = (json.as_ptr().addr(), json.len());
        Some(self.position(list, &[json], &value).is_some())
    }

    /// The position of a value among constants, which are parsed once.
    fn position(
        &mut self,
        list: (usize, usize),
        texts: &[&'static str],
        value: &Value,
    ) -> Option<usize> {
        let positions = self.constants.entry(list).or_insert_with(|| {
            let parsed = texts.iter().enumerate();
            parsed.filter_map(|(index, text)| Some((text.parse().ok()?, index))).collect()
        });
        positions.get(value).copied()
    }

    /// Reads one of several values, given as JSON texts, and returns the variant with the same index.
    pub fn one_of<T: Copy>(
        &mut self,
        texts: &'static [&'static str],
        variants: &'static [T],
    ) -> Option<T> {
        variants.get(self.constant_index(texts)?).copied()
    }

    /// The part of [`one_of`](Self::one_of) that is not generic.
    fn constant_index(&mut self, texts: &'static [&'static str]) -> Option<usize> {
        self.scanner.peek();
        let start = self.scanner.position;
        let value = self.value()?;
        let list = (texts.as_ptr().addr(), texts.len());
        let found = self.position(list, texts, &value);
        if found.is_none() {
            let found = self.scanner.since(start);
            self.issues.add_with(|| IssueKind::Constant {
                expected: listed_values(texts.iter().map(ToString::to_string)).into(),
                found: shortened(found),
            });
        }
        found
    }

    /// Reads one of an enum's strings and returns the variant with the same index.
    pub fn variant<T: Copy>(
        &mut self,
        names: &'static [&'static str],
        variants: &'static [T],
    ) -> Option<T> {
        variants.get(self.string_index(names)?).copied()
    }

    /// Reads one of these strings and returns its index: the part of [`variant`](Self::variant) that is not generic.
    pub(super) fn string_index(&mut self, names: &'static [&'static str]) -> Option<usize> {
        if self.scanner.peek() != Some(b'"') {
            self.refuse(|| listed_values(names.iter().map(|name| quoted(name))).into());
            return None;
        }
        let text = self.scanner.string()?;
        let found = self.names.of(&*text, names, |name| name);
        if found.is_none() {
            self.issues.add(IssueKind::Variant { one_of: names.into(), found: shortened(&text) });
        }
        found
    }

    /// Reads an array, with `item` for each item. It is a function pointer, so that arrays of one type are compiled
    /// once.
    pub fn array<T>(&mut self, limits: Items, item: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.items(limits, item)
    }

    /// Reads an array of strings.
    pub fn strings(&mut self, limits: Items, length: Length) -> Option<Vec<String>> {
        self.items(limits, |input| input.string(length))
    }

    /// As [`array`](Self::array), with a closure.
    pub fn items<T>(
        &mut self,
        limits: Items,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut cursor = self.open_array()?;
        let mut items = Vec::new();
        while self.next_item(&mut cursor) {
            if let Some(item) = item(self) {
                self.takes::<T>();
                items.push(item);
            }
        }
        if self.close_array(&cursor, items.len(), limits) { Some(items) } else { None }
    }

    /// Reads a value into a `Box`. It is not inlined, as each field would then have a place for a whole value on the stack.
    #[inline(never)]
    pub fn boxed<T: super::Decode>(&mut self) -> Option<Box<T>> {
        self.takes::<T>();
        T::decode(self).map(Box::new)
    }

    /// Counts the memory of an item or a boxed value. Reading stops when none is left.
    #[inline]
    pub(super) fn takes<T>(&mut self) {
        self.fills(size_of::<T>());
    }

    /// Counts bytes that a value takes beyond its text, such as those of defaults. Reading stops when the limit is exceeded.
    #[inline]
    pub fn fills(&mut self, bytes: usize) {
        let [left, limit] = &mut self.memory;
        match left.checked_sub(bytes) {
            Some(rest) => *left = rest,
            None => self.scanner.stop_too_large(*limit),
        }
    }

    pub(super) fn open_array(&mut self) -> Option<ArrayCursor> {
        if self.scanner.peek() != Some(b'[') {
            return self.mismatch("an array");
        }
        let start = self.scanner.position;
        self.scanner.enter()?;
        Some(ArrayCursor { start, count: 0, issues: self.issues.count(), keys: self.keys.len() })
    }

    pub(super) fn next_item(&mut self, cursor: &mut ArrayCursor) -> bool {
        if self.issues.count() > cursor.issues {
            self.issues.under_index(cursor.issues, cursor.count - 1);
            cursor.issues = self.issues.count();
        }
        self.keys.truncate(cursor.keys);
        let more = self.scanner.next_item(cursor.count == 0).is_some();
        cursor.count += usize::from(more);
        more
    }

    fn close_array(&mut self, cursor: &ArrayCursor, items: usize, limits: Items) -> bool {
        !self.scanner.failed()
            && limits.check(cursor.count, &mut self.issues)
            && limits.check_unique(|| self.scanner.since(cursor.start), &mut self.issues)
            && cursor.count == items
    }

    /// Reads an object with any keys, with `value` for each value.
    pub fn map<T>(
        &mut self,
        limits: Properties,
        value: fn(&mut Self) -> Option<T>,
    ) -> Option<Map<T>> {
        let mut map = Map::new();
        let before = self.issues.count();
        let mut object = self.object()?;
        while object.next_key(self).is_some() {
            object.additional(self, &mut map, value);
        }
        object.has_within(self, limits);
        (self.issues.count() == before && !self.scanner.failed()).then_some(map)
    }

    /// Reads `null`, or a value with `value`.
    pub fn nullable<T>(&mut self, value: fn(&mut Self) -> Option<T>) -> Option<Option<T>> {
        self.or_null(value)
    }

    /// Reads `null` or a string.
    pub fn nullable_string(&mut self, length: Length) -> Option<Option<String>> {
        self.or_null(|input| input.string(length))
    }

    #[allow(
        clippy::option_option,
        reason = "as in `nullable`: the outer is `None` for an invalid value, the inner for null"
    )]
    fn or_null<T>(&mut self, value: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.scanner.peek() == Some(b'n') {
            return self.scanner.literal(Literal::Null).map(|()| None);
        }
        let mark = self.issues.count();
        if let Some(value) = value(self) {
            return Some(Some(value));
        }
        self.issues.allow_null(mark);
        None
    }

    /// Reads a value with the first of several choices that accepts it. Each choice has an index in a validator's
    /// keyword (`anyOf` or `oneOf`) and a function that reads it. If no choice accepts the value, no issue is recorded,
    /// since the validator that checks the value will record it.
    pub fn first_of<T>(
        &mut self,
        validator: &'static Validator,
        keyword: &str,
        choices: &[(usize, fn(&mut Self) -> Option<T>)],
    ) -> Option<T> {
        self.scanner.peek();
        let order = choices.iter().map(|(index, _)| *index);
        let (text, start) = (self.scanner.text, self.scanner.position);
        let chosen =
            Evaluations::at(&mut self.evaluations, text, start).and_then(|(evaluations, item)| {
                let (document, evaluation) = evaluations.by(validator, &self.issues).ok()?;
                let chosen = evaluation.choice(document, item, keyword, order);
                self.issues.steps = evaluation.steps();
                chosen
            });
        if let Some((_, read)) = choices.iter().find(|(index, _)| Some(*index) == chosen) {
            return read(self);
        }
        self.scanner.skip();
        None
    }

    /// Reads a value with `decode`, then checks its text with a validator.
    pub fn checked<T>(
        &mut self,
        validator: &'static Validator,
        decode: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.scanner.peek();
        let (text, start, mark) = (self.scanner.text, self.scanner.position, self.issues.count());
        // Created before the value is read, so that values inside it share the evaluations.
        Evaluations::at(&mut self.evaluations, text, start);
        let value = decode(self);
        self.scanner.ok()?;
        if let Some((evaluations, item)) = Evaluations::at(&mut self.evaluations, text, start) {
            evaluations.check(validator, item, &mut self.issues, mark);
        }
        value
    }

    pub(super) fn text(&mut self, expected: &'static str) -> Option<Cow<'a, str>> {
        match self.scanner.peek() {
            Some(b'"') => self.scanner.string(),
            _ => self.mismatch(expected),
        }
    }

    fn digits(&mut self, expected: &'static str) -> Option<&'a str> {
        match self.scanner.peek() {
            Some(b'-' | b'0'..=b'9') => self.scanner.number(),
            _ => self.mismatch(expected),
        }
    }

    /// Records that a value is of the wrong kind, skips it and returns `None`.
    pub(super) fn mismatch<T>(&mut self, expected: &'static str) -> Option<T> {
        self.refuse(|| expected.into());
        None
    }

    #[cold]
    pub(super) fn refuse(&mut self, expected: impl FnOnce() -> Cow<'static, str>) {
        let start = self.scanner.position;
        if self.scanner.skip().is_some() {
            let found = self.scanner.since(start);
            self.issues
                .add_with(|| IssueKind::Type { expected: expected(), found: describe(found) });
        }
    }
}

/// Returns the error of a decoder that returned `None` without an issue.
#[cold]
pub(super) fn error_without_issues(json: &[u8]) -> InvalidPayload {
    let found = describe(String::from_utf8_lossy(json).trim_start());
    let expected = "a value that its decoder accepts".into();
    InvalidPayload::new(vec![Issue::new("", IssueKind::Type { expected, found })])
}
