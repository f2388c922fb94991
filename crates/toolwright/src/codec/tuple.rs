//! Reads and writes tuples: arrays whose first items have types of their own.

use super::reader::ArrayCursor;
use super::{Items, Reader, Writer};
use crate::issue::{IssueKind, Names};

/// A reader of a tuple's items.
#[derive(Debug)]
pub struct TupleReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    cursor: ArrayCursor,
    has_ended: bool,
}

impl<'a> TupleReader<'_, 'a> {
    /// Reads the next item; `None` if the array has ended.
    pub fn item<T>(&mut self, decode: fn(&mut Reader<'a>) -> Option<T>) -> Option<T> {
        if self.advance() { decode(self.reader) } else { None }
    }

    /// Reads the next item, if there is one.
    pub fn optional_item<T>(
        &mut self,
        decode: fn(&mut Reader<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.advance() { decode(self.reader).map(Some) } else { Some(None) }
    }

    /// Reads the remaining items; `None` if one of them is invalid.
    pub fn rest<T>(&mut self, decode: fn(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
        let (mut items, mut is_right) = (Vec::new(), true);
        while self.advance() {
            match decode(self.reader) {
                Some(item) => {
                    self.reader.takes::<T>();
                    items.push(item);
                }
                None => is_right = false,
            }
        }
        is_right.then_some(items)
    }

    fn advance(&mut self) -> bool {
        self.has_ended = self.has_ended || !self.reader.next_item(&mut self.cursor);
        !self.has_ended
    }
}

impl<'a> Reader<'a> {
    /// Reads an array of exactly `count` items, each of its own type.
    pub fn tuple<T>(
        &mut self,
        count: u64,
        items: fn(&mut TupleReader<'_, 'a>) -> Option<T>,
    ) -> Option<T> {
        self.open_tuple(Items::between(count, count), items)
    }

    /// Reads an array whose first items have types of their own.
    pub fn open_tuple<T>(
        &mut self,
        limits: Items,
        items: fn(&mut TupleReader<'_, 'a>) -> Option<T>,
    ) -> Option<T> {
        let cursor = self.open_array()?;
        let mut tuple = TupleReader { reader: self, cursor, has_ended: false };
        let value = items(&mut tuple);
        while tuple.advance() {
            tuple.reader.scanner.skip();
        }
        let cursor = tuple.cursor;
        if !self.scanner.failed() && limits.check(cursor.count, &mut self.issues) {
            value
        } else {
            None
        }
    }
}

/// A writer of a tuple's items.
#[derive(Debug)]
pub struct TupleWriter<'w> {
    writer: &'w mut Writer,
    count: usize,
    /// The index of the first absent item.
    gap: Option<usize>,
}

impl TupleWriter<'_> {
    /// Writes the next item.
    pub fn item<T>(&mut self, value: &T, write: fn(&mut Writer, &T)) {
        let mark = self.writer.start_item(self.count);
        write(self.writer, value);
        self.writer.end_item(mark, self.count);
        self.count += 1;
    }

    /// Writes the next item, if there is one. An item after an absent one is an issue.
    pub fn optional_item<T>(&mut self, value: &Option<T>, write: fn(&mut Writer, &T)) {
        match value {
            Some(value) if self.gap.is_none() => self.item(value, write),
            Some(_) => self.refuse_gap(),
            None => self.gap = self.gap.or(Some(self.count)),
        }
    }

    /// Writes the remaining items.
    pub fn rest<T>(&mut self, values: &[T], write: fn(&mut Writer, &T)) {
        if !values.is_empty() && self.gap.is_some() {
            return self.refuse_gap();
        }
        for value in values {
            self.item(value, write);
        }
    }

    #[cold]
    fn refuse_gap(&mut self) {
        let (mark, issues) = (self.writer.issues.count(), &mut self.writer.issues);
        issues.add(IssueKind::Missing { one_of: Names::default() });
        issues.under_index(mark, self.gap.take().unwrap_or_default());
    }
}

impl Writer {
    /// Writes an array, with a type for each item.
    pub fn tuple(&mut self, items: impl FnOnce(&mut TupleWriter<'_>)) {
        self.open_tuple(Items::ANY, items);
    }

    /// Writes an array whose first items have types of their own.
    pub fn open_tuple(&mut self, limits: Items, items: impl FnOnce(&mut TupleWriter<'_>)) {
        if self.enter() {
            self.text.push(b'[');
            let mut tuple = TupleWriter { writer: self, count: 0, gap: None };
            items(&mut tuple);
            let count = tuple.count;
            limits.check(count, &mut self.issues);
            self.close(b']');
        }
    }
}
