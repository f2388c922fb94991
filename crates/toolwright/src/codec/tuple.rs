//! Arrays with a type for each of their places.

use super::reader::ArrayCursor;
use super::{Items, Reader, Writer};

/// The items of a tuple that is being read, one after the other.
pub struct TupleReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    cursor: ArrayCursor,
    is_over: bool,
}

impl<'a> TupleReader<'_, 'a> {
    /// Reads the next item; nothing where the array ends before it.
    pub fn item<T>(&mut self, decode: fn(&mut Reader<'a>) -> Option<T>) -> Option<T> {
        if self.advance() { decode(self.reader) } else { None }
    }

    fn advance(&mut self) -> bool {
        self.is_over = self.is_over || !self.reader.next_item(&mut self.cursor);
        !self.is_over
    }
}

impl<'a> Reader<'a> {
    /// Reads an array of exactly so many items, each by its own type.
    pub fn tuple<T>(
        &mut self,
        count: u64,
        items: fn(&mut TupleReader<'_, 'a>) -> Option<T>,
    ) -> Option<T> {
        let cursor = self.open_array()?;
        let mut tuple = TupleReader { reader: self, cursor, is_over: false };
        let value = items(&mut tuple);
        while tuple.advance() {
            tuple.reader.scanner.skip();
        }
        let cursor = tuple.cursor;
        let limits = Items::ANY.at_least(count).at_most(count);
        if !self.scanner.failed() && limits.check(cursor.reached, &mut self.issues) {
            value
        } else {
            None
        }
    }
}

/// The items of a tuple that is being written, one after the other.
pub struct TupleWriter<'w> {
    writer: &'w mut Writer,
    count: usize,
}

impl TupleWriter<'_> {
    /// Writes the next item.
    pub fn item<T>(&mut self, value: &T, write: fn(&mut Writer, &T)) {
        let mark = self.writer.start_item(self.count);
        write(self.writer, value);
        self.writer.end_item(mark, self.count);
        self.count += 1;
    }
}

impl Writer {
    /// Writes an array, each item by its own type.
    pub fn tuple(&mut self, items: impl FnOnce(&mut TupleWriter<'_>)) {
        if self.open(b'[') {
            items(&mut TupleWriter { writer: self, count: 0 });
            self.close(b']');
        }
    }
}
