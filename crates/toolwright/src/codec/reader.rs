//! The pull reader that generated decoders call: one method a kind of value.
//!
//! It checks limits while reading and collects every issue; the grammar is the scanner's.

use std::borrow::Cow;
use std::fmt;

use super::checked::{Validator, Verdicts};
use super::issues::Issues;
use super::{Items, Length, Properties, Range, StandardInteger};
use crate::issue::{InvalidPayload, Issue, IssueKind, OneOf};
use crate::json::{Scanner, Word, describe, nearest_double, shortened};
use crate::value::{Decimal, Integer, Map, Number, Value};

/// A cursor in a JSON payload that remembers what was wrong so far.
///
/// Each method reads the value at the cursor and moves behind it. `None` means that at least one issue
/// was recorded.
pub struct Reader<'a> {
    pub(super) scanner: Scanner<'a>,
    pub(super) issues: Issues,
    /// The keys of all objects around the cursor, outermost first, as they are written between their quotes.
    pub(super) keys: Vec<&'a str>,
    /// The verdicts of validators on the value at the cursor or one around it.
    pub(super) verdicts: Option<Box<Verdicts<'a>>>,
}

/// How many keys there is room for at first: enough for most payloads.
const KEYS: usize = 16;

/// Where an array is being read.
#[derive(Debug)]
pub(super) struct ArrayCursor {
    /// Where the array begins.
    start: usize,
    /// Items reached so far, this one included.
    pub(super) reached: usize,
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
    /// Reads a payload, in so many steps.
    pub(super) fn within(json: &'a [u8], steps: u64) -> Self {
        Self {
            scanner: Scanner::new(json),
            issues: Issues::within(steps),
            keys: Vec::with_capacity(KEYS),
            verdicts: None,
        }
    }

    /// The error to return, if anything was wrong. Text that is not JSON is an issue by itself.
    pub(super) fn finish(self) -> Option<InvalidPayload> {
        match self.scanner.finish() {
            Some(stop) => Some(InvalidPayload::new(vec![Issue::new("", stop.into())])),
            None => self.issues.finish(),
        }
    }

    /// Reads `null`.
    pub fn null(&mut self) -> Option<()> {
        match self.scanner.peek() {
            Some(b'n') => self.scanner.word(Word::Null),
            _ => self.mismatch("null"),
        }
    }

    /// Reads a boolean.
    pub fn boolean(&mut self) -> Option<bool> {
        match self.scanner.peek() {
            Some(b't') => self.scanner.word(Word::True).map(|()| true),
            Some(b'f') => self.scanner.word(Word::False).map(|()| false),
            _ => self.mismatch("a boolean"),
        }
    }

    /// Reads a string.
    pub fn string(&mut self, limits: Length) -> Option<String> {
        self.scanner.peek();
        match self.scanner.plain_string() {
            Some(text) => limits.check(text, &mut self.issues).then(|| text.to_owned()),
            None => self.odd_string(limits),
        }
    }

    /// Reads a string with escapes, or what is not a string.
    #[cold]
    fn odd_string(&mut self, limits: Length) -> Option<String> {
        let text = self.text("a string")?;
        limits.check(&text, &mut self.issues).then(|| text.into_owned())
    }

    /// Reads an integer of a standard type; `1.0` and `1e2` are integers.
    pub fn integer<N: StandardInteger>(&mut self, range: Range<N>) -> Option<N> {
        self.scanner.peek();
        let Some(small) = self.scanner.plain_integer() else {
            return N::try_from(self.odd_integer(range.within_type())?.to_i128()?).ok();
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
            None => self.odd_integer(range),
        }
    }

    /// Reads an integer that is large or has a point or an exponent.
    #[cold]
    fn odd_integer(&mut self, range: Range<i128>) -> Option<Integer> {
        let text = self.digits("an integer")?;
        let Some(integer) = Integer::of_decimal(Decimal::of(text)) else {
            let (expected, found) = ("an integer".into(), describe(text));
            self.issues.add(IssueKind::Type { expected, found });
            return None;
        };
        range.check(&integer, &mut self.issues).then_some(integer)
    }

    /// Reads a number as the nearest double that is in the range; what is beyond the largest double is outside. Whether the
    /// number is in the range is decided by its digits.
    pub fn number(&mut self, range: Range<f64>) -> Option<f64> {
        let text = self.digits("a number")?;
        range.within_doubles().fit(nearest_double(text), text, &mut self.issues)
    }

    /// Reads a number as it is written.
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

    /// Reads a value that means the same as this JSON text.
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
    fn equals(&mut self, json: &str) -> Option<bool> {
        let plain = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let plain = plain.filter(|plain| !plain.contains('\\'));
        if let (Some(plain), Some(b'"')) = (plain, self.scanner.peek()) {
            return Some(self.scanner.string()? == plain);
        }
        let value = self.value()?;
        Some(json.parse().is_ok_and(|constant: Value| constant == value))
    }

    /// Reads one of several values, given as JSON texts, and returns the variant in the same place.
    pub fn one_of<T: Copy>(
        &mut self,
        texts: &'static [&'static str],
        variants: &'static [T],
    ) -> Option<T> {
        variants.get(self.text_of(texts)?).copied()
    }

    /// All of [`one_of`](Self::one_of) that need not be compiled anew for each type.
    fn text_of(&mut self, texts: &'static [&'static str]) -> Option<usize> {
        self.scanner.peek();
        let start = self.scanner.position;
        let value = self.value()?;
        let is_same = |text: &&str| text.parse().is_ok_and(|constant: Value| constant == value);
        let found = texts.iter().position(is_same);
        if found.is_none() {
            let expected = format!("one of {}", texts.join(", ")).into();
            let found = shortened(self.scanner.since(start));
            self.issues.add(IssueKind::Constant { expected, found });
        }
        found
    }

    /// Reads one of an enum's strings and returns the variant in the same place.
    pub fn variant<T: Copy>(
        &mut self,
        names: &'static [&'static str],
        variants: &'static [T],
    ) -> Option<T> {
        variants.get(self.choice(names)?).copied()
    }

    /// Reads one of these strings and returns its place: all of [`variant`](Self::variant) that need not be compiled
    /// anew for each type.
    pub(super) fn choice(&mut self, names: &'static [&'static str]) -> Option<usize> {
        if self.scanner.peek() != Some(b'"') {
            self.refuse(OneOf(names).to_string().into());
            return None;
        }
        let text = self.scanner.string()?;
        let found = names.iter().position(|name| *name == text);
        if found.is_none() {
            self.issues.add(IssueKind::Variant { one_of: names.into(), found: shortened(&text) });
        }
        found
    }

    /// Reads an array, each item by `item`: a function, so that arrays of one type are compiled once.
    pub fn array<T>(&mut self, limits: Items, item: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.items(limits, item)
    }

    /// Reads an array of strings.
    pub fn strings(&mut self, limits: Items, length: Length) -> Option<Vec<String>> {
        self.items(limits, |input| input.string(length))
    }

    fn items<T>(&mut self, limits: Items, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut cursor = self.open_array()?;
        let mut items = Vec::new();
        while self.next_item(&mut cursor) {
            if let Some(item) = item(self) {
                items.push(item);
            }
        }
        if self.close_array(&cursor, items.len(), limits) { Some(items) } else { None }
    }

    pub(super) fn open_array(&mut self) -> Option<ArrayCursor> {
        if self.scanner.peek() != Some(b'[') {
            return self.mismatch("an array");
        }
        let start = self.scanner.position;
        self.scanner.enter()?;
        Some(ArrayCursor { start, reached: 0, issues: self.issues.count(), keys: self.keys.len() })
    }

    pub(super) fn next_item(&mut self, cursor: &mut ArrayCursor) -> bool {
        if self.issues.count() > cursor.issues {
            self.issues.under_index(cursor.issues, cursor.reached - 1);
            cursor.issues = self.issues.count();
        }
        self.keys.truncate(cursor.keys);
        let more = self.scanner.next_item(cursor.reached == 0).is_some();
        cursor.reached += usize::from(more);
        more
    }

    fn close_array(&mut self, cursor: &ArrayCursor, items: usize, limits: Items) -> bool {
        !self.scanner.failed()
            && limits.check(cursor.reached, &mut self.issues)
            && limits.check_unique(|| self.scanner.since(cursor.start), &mut self.issues)
            && cursor.reached == items
    }

    /// Reads an object whose keys are free, each value by `value`.
    pub fn map<T>(
        &mut self,
        limits: Properties,
        value: fn(&mut Self) -> Option<T>,
    ) -> Option<Map<T>> {
        let mut map = Map::new();
        let before = self.issues.count();
        let mut object = self.object()?;
        while let Some(key) = object.next_key() {
            object.additional(&mut map, key, value);
        }
        object.has_within(limits);
        (self.issues.count() == before && !self.scanner.failed()).then_some(map)
    }

    /// Reads `null`, or a value by `value`.
    pub fn nullable<T>(&mut self, value: fn(&mut Self) -> Option<T>) -> Option<Option<T>> {
        self.or_null(value)
    }

    /// Reads `null` or a string.
    pub fn nullable_string(&mut self, length: Length) -> Option<Option<String>> {
        self.or_null(|input| input.string(length))
    }

    #[allow(
        clippy::option_option,
        reason = "as in `nullable`: the outer is whether the value fits, the inner may be null"
    )]
    fn or_null<T>(&mut self, value: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.scanner.peek() == Some(b'n') {
            return self.scanner.word(Word::Null).map(|()| None);
        }
        let mark = self.issues.count();
        if let Some(value) = value(self) {
            return Some(Some(value));
        }
        self.issues.allow_null(mark);
        None
    }

    /// Reads the first of several choices, in this order, that the value fits: each is an index among the schemas behind a
    /// keyword (`anyOf` or `oneOf`) of a validator, and what reads it. Where none fits, nothing is said: the validator that
    /// judges the value knows what all of them want.
    pub fn first_of<T>(
        &mut self,
        validator: &'static Validator,
        keyword: &str,
        choices: &[(usize, fn(&mut Self) -> Option<T>)],
    ) -> Option<T> {
        self.scanner.peek();
        let order = choices.iter().map(|(index, _)| *index);
        let (text, start) = (self.scanner.text, self.scanner.position);
        let chosen = Verdicts::at(&mut self.verdicts, text, start).and_then(|(verdicts, item)| {
            let (document, evaluation) = verdicts.by(validator, &self.issues).ok()?;
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

    /// Reads a value of a type, then checks its text.
    pub fn checked<T>(
        &mut self,
        validator: &'static Validator,
        decode: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.scanner.peek();
        let (text, start, mark) = (self.scanner.text, self.scanner.position, self.issues.count());
        // Begun before the value is read, so that what is inside is judged by the same verdicts.
        Verdicts::at(&mut self.verdicts, text, start);
        let value = decode(self);
        self.scanner.ok()?;
        if let Some((verdicts, item)) = Verdicts::at(&mut self.verdicts, text, start) {
            verdicts.check(validator, item, &mut self.issues, mark);
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

    /// Skips a value of another kind than expected; never returns anything.
    pub(super) fn mismatch<T>(&mut self, expected: &'static str) -> Option<T> {
        self.refuse(expected.into());
        None
    }

    #[cold]
    pub(super) fn refuse(&mut self, expected: Cow<'static, str>) {
        let start = self.scanner.position;
        if self.scanner.skip().is_some() {
            let found = describe(self.scanner.since(start));
            self.issues.add(IssueKind::Type { expected, found });
        }
    }
}

/// The error of a decoder that gave nothing without saying why.
#[cold]
pub(super) fn unexplained(json: &[u8]) -> InvalidPayload {
    let found = describe(String::from_utf8_lossy(json).trim_start());
    let expected = "a value that its decoder takes".into();
    InvalidPayload::new(vec![Issue::new("", IssueKind::Type { expected, found })])
}
