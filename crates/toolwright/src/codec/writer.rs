//! The writer that generated encoders call, with a method for each kind of value.
//!
//! It checks the same limits as the reader, except those for memory and the stack, so that what it writes can be read back.

use std::fmt;

use super::checked::{Evaluations, Validator};
use super::issues::Issues;
use super::{Items, Length, Properties, Range, StandardInteger};
use crate::issue::{InvalidPayload, IssueKind};
use crate::json::{Output, double_text};
use crate::value::{Integer, Map, Number, Value};

/// The initial capacity in bytes, enough for most payloads.
const INITIAL_CAPACITY: usize = 1024;

/// The JSON text of a payload and the issues found so far.
///
/// After an issue, writing continues so that every issue is found; the text is then dropped.
pub struct Writer {
    pub(super) text: Output,
    pub(super) issues: Issues,
    /// True inside a value that a validator will check.
    pub(super) is_checked: bool,
    depth: usize,
    max_depth: usize,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("text", &self.text.since(0))
            .field("issues", &self.issues.since(0))
            .finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(max_depth: usize) -> Self {
        let text = Output::with_capacity(INITIAL_CAPACITY);
        Self { text, issues: Issues::default(), is_checked: false, depth: 0, max_depth }
    }

    pub(super) fn finish(self) -> Result<String, InvalidPayload> {
        match self.issues.finish() {
            None => Ok(self.text.into_string()),
            Some(invalid) => Err(invalid),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text.into_string()
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.text.push_str("null");
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, value: bool) {
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Writes a string.
    pub fn string(&mut self, value: &str, limits: Length) {
        limits.check(value, &mut self.issues);
        self.text.quote(value);
    }

    /// Writes an integer of a standard type.
    pub fn integer<N: StandardInteger>(&mut self, value: N, range: Range<N>) {
        range.check_small(value, &mut self.issues);
        self.text.integer(value.into());
    }

    /// Writes an integer of any size.
    pub fn big_integer(&mut self, value: &Integer, range: Range<i128>) {
        match value.to_i64() {
            Some(small) => {
                range.check_small(small.into(), &mut self.issues);
                self.text.integer(small.into());
            }
            None => self.large_integer(value, range),
        }
    }

    #[cold]
    fn large_integer(&mut self, value: &Integer, range: Range<i128>) {
        range.check(value, &mut self.issues);
        self.text.push_str(&value.to_string());
    }

    /// Writes a number; NaN and the infinities are issues.
    pub fn number(&mut self, value: f64, range: Range<f64>) {
        if !value.is_finite() {
            self.issues.add(IssueKind::NotFinite);
            return;
        }
        if !range.contains(value) {
            range.check(value, &double_text(value), &mut self.issues);
        }
        self.text.double(value);
    }

    /// Writes the text of a number.
    pub fn exact_number(&mut self, number: &Number, range: Range<f64>) {
        range.fit(number.as_f64(), number.as_str(), &mut self.issues);
        self.text.push_str(number.as_str());
    }

    /// Writes any value.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null(),
            Value::Boolean(value) => self.boolean(*value),
            Value::Number(number) => self.exact_number(number, Range::ANY),
            Value::String(text) => self.string(text, Length::ANY),
            Value::Array(items) => self.array(items, Items::ANY, Self::value),
            Value::Object(entries) => self.map(entries, Properties::ANY, Self::value),
        }
    }

    /// Writes a value, given as JSON.
    pub fn constant(&mut self, json: &'static str) {
        self.text.push_str(json);
    }

    /// Writes an array, with `item` for each item.
    pub fn array<T>(&mut self, items: &[T], limits: Items, item: fn(&mut Self, &T)) {
        self.items(items.len(), limits, &|out, index| item(out, &items[index]));
    }

    /// Writes an array of strings.
    pub fn strings(&mut self, items: &[String], limits: Items, length: Length) {
        self.items(items.len(), limits, &|out, index| out.string(&items[index], length));
    }

    /// The part of [`array`](Self::array) that is not generic.
    fn items(&mut self, count: usize, limits: Items, item: &dyn Fn(&mut Self, usize)) {
        limits.check(count, &mut self.issues);
        let start = self.text.len();
        if !self.enter() {
            return;
        }
        self.text.push(b'[');
        for index in 0..count {
            let mark = self.start_item(index);
            item(self, index);
            self.end_item(mark, index);
        }
        self.close(b']');
        limits.check_unique(|| self.text.since(start), &mut self.issues);
    }

    pub(super) fn start_item(&mut self, index: usize) -> usize {
        if index > 0 {
            self.text.push(b',');
        }
        self.issues.count()
    }

    pub(super) fn end_item(&mut self, mark: usize, index: usize) {
        if self.issues.count() > mark {
            self.issues.under_index(mark, index);
        }
    }

    /// Writes an object with any keys, with `value` for each value.
    pub fn map<T>(&mut self, map: &Map<T>, limits: Properties, value: fn(&mut Self, &T)) {
        limits.check(map.keys(), &mut self.issues);
        let Some(mut object) = self.object() else { return };
        object.additional(map, &[], value);
        object.end();
    }

    /// Writes `null`, or a value with `write`.
    pub fn nullable<T>(&mut self, value: Option<&T>, write: fn(&mut Self, &T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }

    /// Writes `null` or a string.
    pub fn nullable_string(&mut self, value: Option<&String>, length: Length) {
        match value {
            Some(value) => self.string(value, length),
            None => self.null(),
        }
    }

    /// Checks the keys of the object that is about to be written.
    pub fn keys<'k>(&mut self, limits: Properties, keys: impl Iterator<Item = &'k str> + Clone) {
        limits.check(keys, &mut self.issues);
    }

    /// Writes a value, then checks its text with a validator. Inside a checked value nothing is checked again, since
    /// the schema of the outermost value includes those of the inner ones.
    pub fn checked(&mut self, validator: &'static Validator, write: impl FnOnce(&mut Self)) {
        let (start, mark) = (self.text.len(), self.issues.count());
        let is_inside = std::mem::replace(&mut self.is_checked, true);
        write(self);
        self.is_checked = is_inside;
        if is_inside || self.issues.count() > mark {
            return;
        }
        if let Some(mut evaluations) = Evaluations::of(self.text.since(start), 0) {
            evaluations.check(validator, 0, &mut self.issues, mark);
        }
    }

    /// Enters an array or object, unless it is nested too deep.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth == self.max_depth {
            self.issues.add(IssueKind::TooDeep { limit: self.max_depth });
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        self.text.push(bracket);
    }
}
