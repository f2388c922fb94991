//! A buffer for writing JSON text.
//!
//! It holds bytes, because appending small pieces to them is faster than to a `String`. The bytes are valid UTF-8,
//! which is only checked at the end.

use super::scalar::{POWERS_OF_TEN, double, floor};
use super::string::{is_plain, plain_end};

/// A JSON text that is being written.
#[derive(Default)]
pub(crate) struct Output {
    /// The text, followed by spare bytes, so that a piece is appended with a single check of the remaining space.
    bytes: Vec<u8>,
    length: usize,
}

/// The smallest number of bytes by which the buffer grows.
const MIN_GROWTH: usize = 512;

impl Output {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), length: 0 }
    }

    /// Creates a buffer with `count` spare bytes, for short texts.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { bytes: vec![b' '; count], length: 0 }
    }

    pub(crate) fn into_string(mut self) -> String {
        self.bytes.truncate(self.length);
        // Only texts and ASCII bytes are written, so no byte is lost.
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The length of the text, which also serves as a mark for [`since`](Self::since).
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns the text that was written since the mark.
    pub(crate) fn since(&self, mark: usize) -> &str {
        let written = self.bytes.get(mark..self.length).unwrap_or_default();
        std::str::from_utf8(written).unwrap_or_default()
    }

    /// Appends `count` bytes, which the caller has to fill.
    #[inline]
    fn extend(&mut self, count: usize) -> &mut [u8] {
        let start = self.length;
        if self.bytes.len() - start < count {
            self.grow(count);
        }
        self.length = start + count;
        &mut self.bytes[start..start + count]
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let room = self.bytes.len().max(count).max(MIN_GROWTH);
        self.bytes.resize(self.bytes.len() + room, b' ');
    }

    /// Appends an ASCII character.
    #[inline]
    pub(crate) fn push(&mut self, ascii: u8) {
        debug_assert!(ascii.is_ascii(), "only ASCII bytes are characters of their own");
        self.extend(1)[0] = ascii;
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        copy(self.extend(text.len()), text.as_bytes());
    }

    /// Appends a text with its first character replaced by another ASCII character.
    #[inline]
    pub(crate) fn push_with_first(&mut self, first_byte: u8, text: &str) {
        debug_assert!(first_byte.is_ascii() && text.as_bytes().first().is_some_and(u8::is_ascii));
        let room = self.extend(text.len());
        copy(room, text.as_bytes());
        if let [first, ..] = room {
            *first = first_byte;
        }
    }

    /// Writes a text as a JSON string and escapes only the characters that must be.
    #[inline]
    pub(crate) fn quote(&mut self, text: &str) {
        if !is_plain(text.as_bytes()) {
            return self.push_escaped(text);
        }
        if let [open, content @ .., close] = self.extend(text.len() + 2) {
            (*open, *close) = (b'"', b'"');
            copy(content, text.as_bytes());
        }
    }

    #[cold]
    fn push_escaped(&mut self, text: &str) {
        self.push(b'"');
        let mut rest = text;
        loop {
            let (plain, special) = rest.split_at(plain_end(rest.as_bytes(), 0));
            self.push_str(plain);
            let mut characters = special.chars();
            let Some(character) = characters.next() else { break };
            self.escape(character);
            rest = characters.as_str();
        }
        self.push(b'"');
    }

    fn escape(&mut self, character: char) {
        match character {
            '"' => self.push_str("\\\""),
            '\\' => self.push_str("\\\\"),
            '\n' => self.push_str("\\n"),
            '\r' => self.push_str("\\r"),
            '\t' => self.push_str("\\t"),
            '\u{8}' => self.push_str("\\b"),
            '\u{c}' => self.push_str("\\f"),
            control => {
                self.push_str(if control < '\u{10}' { "\\u000" } else { "\\u001" });
                let digit = char::from_digit(u32::from(control) % 16, 16);
                self.push_str(digit.unwrap_or_default().encode_utf8(&mut [0; 4]));
            }
        }
    }

    /// Writes an integer of at most 64 bits and a sign, several times faster than `format!`.
    #[inline]
    pub(crate) fn integer(&mut self, value: i128) {
        if value < 0 {
            self.push(b'-');
        }
        self.digits(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX));
    }

    fn digits(&mut self, value: u64) {
        let mut left = value;
        let count = count_of_digits(value);
        let (first, pairs) = self.extend(count).split_at_mut(count % 2);
        for place in pairs.rchunks_exact_mut(2) {
            place.copy_from_slice(&pair(left));
            left /= 100;
        }
        if let [digit] = first {
            [_, *digit] = pair(left);
        }
    }

    /// Writes a finite `f64` as the shortest text that parses to the same value.
    pub(crate) fn double(&mut self, value: f64) {
        if let Some((digits, places)) = short_digits(value.abs()) {
            return self.decimal(value.is_sign_negative(), digits, places);
        }
        // `Debug` writes this text, and it is valid JSON; but it writes `2.0` where a person or a model would write
        // `2`.
        let text = format!("{value:?}");
        self.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }

    fn decimal(&mut self, negative: bool, digits: u64, places: usize) {
        if negative {
            self.push(b'-');
        }
        let power = floor(POWERS_OF_TEN[places]);
        self.digits(digits / power);
        if places > 0 {
            let point = self.length;
            // A leading 1 keeps the zeros after the point; the point then replaces it.
            self.digits(power + digits % power);
            self.bytes[point] = b'.';
        }
    }
}

/// The digits of each number below 100, for writing two digits at a time.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

fn pair(number: u64) -> [u8; 2] {
    PAIRS[usize::try_from(number % 100).unwrap_or_default()]
}

fn count_of_digits(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Copies a text into a slice of the same length. Short texts are copied as two words that may overlap, which is faster
/// than a call.
#[inline]
fn copy(place: &mut [u8], text: &[u8]) {
    match text.len() {
        0..4 => place.iter_mut().zip(text).for_each(|(place, byte)| *place = *byte),
        4..8 => copy_ends::<4>(place, text),
        8..=16 => copy_ends::<8>(place, text),
        17..=32 => copy_ends::<16>(place, text),
        _ => place.copy_from_slice(text),
    }
}

/// Copies the first and the last `N` bytes, which is the whole text if its length is at most `2 * N`.
#[inline]
fn copy_ends<const N: usize>(place: &mut [u8], text: &[u8]) {
    if let (Some(first), Some(start)) = (text.first_chunk::<N>(), place.first_chunk_mut::<N>()) {
        *start = *first;
    }
    if let (Some(last), Some(end)) = (text.last_chunk::<N>(), place.last_chunk_mut::<N>()) {
        *end = *last;
    }
}

/// Returns a number with at most three decimals as an integer and the number of decimals: `(125, 2)` for 1.25.
///
/// The division is correctly rounded, so these digits parse to the same `f64`, and fewer digits would not.
fn short_digits(value: f64) -> Option<(u64, usize)> {
    // With three decimals, larger numbers have more digits than an `f64` holds exactly.
    if value.is_nan() || value >= 1e11 {
        return None;
    }
    (0..4).find_map(|places| {
        let power = POWERS_OF_TEN[places];
        let digits = floor(value * power + 0.5);
        let same = (double(digits) / power).to_bits() == value.to_bits();
        same.then_some((digits, places))
    })
}

/// Returns a finite `f64` as the shortest text that parses to the same value.
pub(crate) fn double_text(value: f64) -> String {
    let mut text = Output::with_room(24);
    text.double(value);
    text.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Output)) -> String {
        let mut output = Output::default();
        write(&mut output);
        output.into_string()
    }

    #[test]
    fn integers_are_written_as_the_standard_library_does() {
        for value in [0, 7, -7, 10, 1_234_567_890, i64::MIN.into(), u64::MAX.into()] {
            assert_eq!(written(|out| out.integer(value)), value.to_string());
        }
    }

    #[test]
    fn doubles_are_written_as_the_standard_library_does_but_without_a_zero_fraction() {
        let mut values: Vec<f64> =
            (0..20_000).map(|thousandths| f64::from(thousandths) / 1e3).collect();
        values.extend([0.1 + 0.2, 1e-7, 1e11, 99_999_999_999.999, 1e15, 1e16, 1e300, 0.0005]);
        values.extend([f64::MIN_POSITIVE, f64::MAX, 1.0 / 3.0, 123_456.789, 0.001, 1.005]);
        for value in values.into_iter().flat_map(|value| [value, -value]) {
            let expected = format!("{value:?}");
            let expected = expected.strip_suffix(".0").unwrap_or(&expected);
            assert_eq!(written(|out| out.double(value)), expected);
        }
    }

    #[test]
    fn only_special_characters_are_escaped() {
        assert_eq!(
            written(|out| out.quote("é/\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}😀")),
            "\"é/\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}😀\""
        );
    }

    #[test]
    fn a_special_byte_is_escaped_at_every_position() {
        for length in 1..40 {
            let plain = "abcd~!#[]".repeat(5);
            let text = &plain[..length];
            assert_eq!(written(|out| out.quote(text)), format!("\"{text}\""));
            for place in 0..length {
                let mut text = text.to_owned();
                text.replace_range(place..=place, "\n");
                let expected = format!("\"{}\"", text.replace('\n', "\\n"));
                assert_eq!(written(|out| out.quote(&text)), expected);
            }
        }
    }
}
