//! A strict scanner of JSON (RFC 8259), which reads one token at a time and stops at the first syntax error.
//!
//! It only checks the grammar: types are up to the codecs.

use std::borrow::Cow;

use super::MAX_DEPTH;

/// How many digits an exponent may have. RFC 8259, 6 allows limits of the range of numbers.
const EXPONENT_DIGITS: usize = 38;

/// A cursor in a JSON text.
pub(crate) struct Scanner<'a> {
    pub(crate) text: &'a str,
    pub(crate) position: usize,
    /// The last key that was read, as written between its quotes.
    pub(crate) raw_key: &'a str,
    depth: usize,
    /// Where the stack ended when reading began.
    stack: usize,
    failure: Option<ScanError>,
}

/// A position to return to.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    position: usize,
    depth: usize,
}

/// The reason why a text cannot be read as JSON.
#[derive(Debug)]
pub(crate) enum ScanError {
    /// A syntax error.
    Malformed {
        /// The offset of the error in bytes.
        offset: usize,
        /// The expected text.
        expected: &'static str,
        /// The text that was found.
        found: String,
    },
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    TooDeep {
        /// The levels that could be read.
        limit: usize,
    },
    /// The value would take more memory than its text allows.
    TooLarge {
        /// The most bytes.
        limit: usize,
    },
}

/// The literals of JSON.
#[derive(Clone, Copy)]
pub(crate) enum Literal {
    Null,
    True,
    False,
}

/// The most bytes of the stack that reading may take: half of what threads have by default. A type with many fields that contains
/// itself needs much of it at each level.
const MAX_STACK: usize = 1 << 20;

/// Returns about where the stack ends now.
#[inline]
fn stack_address() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}

impl Literal {
    /// The text of the literal, and the text for error messages.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Null => ("null", "`null`"),
            Self::True => ("true", "`true`"),
            Self::False => ("false", "`false`"),
        }
    }
}

impl<'a> Scanner<'a> {
    /// Creates a scanner of bytes, which should be JSON in UTF-8.
    pub(crate) fn new(json: &'a [u8]) -> Self {
        match utf8(json) {
            Ok(text) => Self::at(text, 0),
            Err(stop) => Self { failure: Some(stop), ..Self::at("", 0) },
        }
    }

    /// Creates a scanner that begins at a byte of a text.
    pub(crate) fn at(text: &'a str, position: usize) -> Self {
        Self { text, position, raw_key: "", depth: 0, stack: stack_address(), failure: None }
    }

    /// Moves to the next byte that is not white space and returns it; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.position += 1,
                byte => return byte,
            }
        }
    }

    /// The byte at the cursor.
    #[inline]
    pub(crate) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// The text from a position to the cursor.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { position: self.position, depth: self.depth }
    }

    pub(crate) fn rewind(&mut self, mark: Mark) {
        (self.position, self.depth) = (mark.position, mark.depth);
    }

    /// Stops with a syntax error at the cursor. Only the first failure is kept.
    #[cold]
    pub(crate) fn fail(&mut self, expected: &'static str) {
        let found = self.text.get(self.position..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("{found:?}"));
        let offset = self.position;
        self.stop(ScanError::Malformed { offset, expected, found });
    }

    fn stop(&mut self, failure: ScanError) {
        self.failure.get_or_insert(failure);
        // Moves to the end, so that every loop over the text ends.
        self.position = self.text.len();
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns the failure, if there is one. Text after the value is a failure, too.
    pub(crate) fn finish(mut self) -> Option<ScanError> {
        if self.failure.is_none() && self.peek().is_some() {
            self.fail("the end");
        }
        self.failure
    }

    /// Enters the array or object at the cursor.
    #[inline]
    pub(crate) fn enter(&mut self) -> Option<()> {
        self.position += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.stack.abs_diff(stack_address()) > MAX_STACK {
            self.stop(ScanError::TooDeep { limit: self.depth - 1 });
            return None;
        }
        Some(())
    }

    /// Stops because the value would take more than `limit` bytes of memory.
    #[cold]
    pub(crate) fn stop_too_large(&mut self, limit: usize) {
        self.stop(ScanError::TooLarge { limit });
    }

    fn leave(&mut self) {
        self.position += 1;
        self.depth -= 1;
    }

    /// Moves to the next item of an array; leaves the array and returns `None` at its end.
    #[inline]
    pub(crate) fn next_item(&mut self, first: bool) -> Option<()> {
        match self.peek() {
            Some(b']') => {
                self.leave();
                return None;
            }
            Some(b',') if !first => self.position += 1,
            Some(_) if first => {}
            _ => {
                self.fail("`,` or `]`");
                return None;
            }
        }
        Some(())
    }

    /// Moves to the next value of an object and returns its key; leaves the object and returns `None` at its end.
    #[inline]
    pub(crate) fn next_key(&mut self, first: bool) -> Option<Cow<'a, str>> {
        match self.peek() {
            Some(b'}') => {
                self.leave();
                return None;
            }
            Some(b',') if !first => self.position += 1,
            Some(b'"') if first => {}
            _ => {
                self.fail(if first { "a key in double quotes or `}`" } else { "`,` or `}`" });
                return None;
            }
        }
        self.key()
    }

    fn key(&mut self) -> Option<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            self.fail("a key in double quotes");
            return None;
        }
        let start = self.position + 1;
        let key = self.string()?;
        self.raw_key = match key {
            Cow::Borrowed(written) => written,
            Cow::Owned(_) => self.text.get(start..self.position - 1).unwrap_or_default(),
        };
        if self.peek() != Some(b':') {
            self.fail("`:`");
            return None;
        }
        self.position += 1;
        Some(key)
    }

    /// Reads `null`, `true` or `false`; the caller has checked the first letter.
    pub(crate) fn literal(&mut self, literal: Literal) -> Option<()> {
        let (text, expected) = literal.texts();
        let rest = self.text.as_bytes().get(self.position..).unwrap_or_default();
        if rest.starts_with(text.as_bytes()) {
            self.position += text.len();
            return Some(());
        }
        self.fail(expected);
        None
    }

    /// Reads a number and returns its text.
    pub(crate) fn number(&mut self) -> Option<&'a str> {
        let start = self.position;
        self.position += usize::from(self.byte() == Some(b'-'));
        match self.byte() {
            Some(b'0') => self.position += 1,
            _ => self.digits("a digit")?,
        }
        if self.byte() == Some(b'.') {
            self.position += 1;
            self.digits("a digit after the point")?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.position += 1;
            self.position += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.exponent()?;
        }
        Some(self.since(start))
    }

    /// Reads an exponent that fits an `i128` and leaves room for the digits before it, so that numbers compare exactly.
    fn exponent(&mut self) -> Option<()> {
        let start = self.position;
        self.digits("a digit of the exponent")?;
        let digits = self.since(start).trim_start_matches('0').len();
        if digits <= EXPONENT_DIGITS {
            return Some(());
        }
        let found = format!("{digits} digits");
        let expected = "an exponent of at most 38 digits";
        self.stop(ScanError::Malformed { offset: start, expected, found });
        None
    }

    fn digits(&mut self, expected: &'static str) -> Option<()> {
        let start = self.position;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        if self.position > start {
            return Some(());
        }
        self.fail(expected);
        None
    }

    /// Reads an integer of at most 18 digits without decimal point and exponent; moves only if there is one.
    #[inline]
    pub(crate) fn plain_integer(&mut self) -> Option<i64> {
        let (negative, digits) = match self.text.as_bytes().get(self.position..)? {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let mut length = 0;
        let mut value = 0_i64;
        // Eighteen digits never overflow an `i64`.
        for byte in digits.iter().take(18) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value * 10 + i64::from(digit);
            length += 1;
        }
        let continues = matches!(digits.get(length), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        let padded = length > 1 && digits.first() == Some(&b'0');
        if length == 0 || continues || padded {
            return None;
        }
        self.position += length + usize::from(negative);
        Some(if negative { -value } else { value })
    }

    /// Reads any value and checks only its grammar.
    pub(crate) fn skip(&mut self) -> Option<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.skip_object(),
            Some(b'[') => self.skip_array(),
            Some(b't') => self.literal(Literal::True),
            Some(b'f') => self.literal(Literal::False),
            Some(b'n') => self.literal(Literal::Null),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            _ => {
                self.fail("a value");
                None
            }
        }
    }

    fn skip_array(&mut self) -> Option<()> {
        self.enter()?;
        let mut first = true;
        while self.next_item(first).is_some() {
            self.skip()?;
            first = false;
        }
        self.ok()
    }

    fn skip_object(&mut self) -> Option<()> {
        self.enter()?;
        let mut first = true;
        while self.next_key(first).is_some() {
            self.skip()?;
            first = false;
        }
        self.ok()
    }

    /// Returns `None` if the scanner has stopped.
    pub(crate) fn ok(&self) -> Option<()> {
        if self.failed() { None } else { Some(()) }
    }
}

/// Returns bytes as a text, if they are UTF-8.
pub(crate) fn utf8(json: &[u8]) -> Result<&str, ScanError> {
    std::str::from_utf8(json).map_err(|error| {
        let offset = error.valid_up_to();
        let byte = json.get(offset);
        let found = byte.map_or_else(String::new, |byte| format!("the byte 0x{byte:02x}"));
        ScanError::Malformed { offset, expected: "UTF-8", found }
    })
}
