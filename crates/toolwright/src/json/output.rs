//! JSON text while it is being written: bytes that are UTF-8 by construction. Checks no limits.
//!
//! Bytes, because a text that grows by a few of them at a time is copied faster than as a `String`; whether they are
//! UTF-8 is then asked once, at the end.

use super::scalar::{POWERS_OF_TEN, double, whole};
use super::string::{is_plain, plain_end};

/// A JSON text that grows.
#[derive(Default)]
pub(crate) struct Output {
    /// The text, and behind it room for what follows: there a piece is copied with one look at how much is left.
    bytes: Vec<u8>,
    length: usize,
}

/// How many bytes of room are made at least.
const STEP: usize = 512;

impl Output {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), length: 0 }
    }

    /// With room for so many bytes, where little is to be written.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { bytes: vec![b' '; count], length: 0 }
    }

    pub(crate) fn into_string(mut self) -> String {
        self.bytes.truncate(self.length);
        // Only texts and ASCII are ever put in, so nothing is lost.
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// How long the text is: a mark for [`since`](Self::since).
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns the text that was written since the mark.
    pub(crate) fn since(&self, mark: usize) -> &str {
        let written = self.bytes.get(mark..self.length).unwrap_or_default();
        std::str::from_utf8(written).unwrap_or_default()
    }

    /// Makes the text so much longer and returns the new part, to be filled by the caller.
    #[inline]
    fn more(&mut self, count: usize) -> &mut [u8] {
        let start = self.length;
        if self.bytes.len() - start < count {
            self.grow(count);
        }
        self.length = start + count;
        &mut self.bytes[start..start + count]
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let room = self.bytes.len().max(count).max(STEP);
        self.bytes.resize(self.bytes.len() + room, b' ');
    }

    /// Puts a character of ASCII behind the text.
    #[inline]
    pub(crate) fn push(&mut self, ascii: u8) {
        debug_assert!(ascii.is_ascii(), "a byte is a character of its own");
        self.more(1)[0] = ascii;
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        copy(self.more(text.len()), text.as_bytes());
    }

    /// Writes a text whose first character is replaced by another one of ASCII.
    #[inline]
    pub(crate) fn push_led(&mut self, lead: u8, text: &str) {
        debug_assert!(lead.is_ascii() && text.as_bytes().first().is_some_and(u8::is_ascii));
        let room = self.more(text.len());
        copy(room, text.as_bytes());
        if let [first, ..] = room {
            *first = lead;
        }
    }

    /// Writes a text as a JSON string, escaping only what must be.
    #[inline]
    pub(crate) fn quote(&mut self, text: &str) {
        if !is_plain(text.as_bytes()) {
            return self.push_escaped(text);
        }
        if let [open, content @ .., close] = self.more(text.len() + 2) {
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

    /// Writes an integer of at most 64 digits in binary; several times faster than the formatting machinery.
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
        let (first, pairs) = self.more(count).split_at_mut(count % 2);
        for place in pairs.rchunks_exact_mut(2) {
            place.copy_from_slice(&pair(left));
            left /= 100;
        }
        if let [digit] = first {
            [_, *digit] = pair(left);
        }
    }

    /// Writes a finite double: the shortest text that reads back as the same one.
    pub(crate) fn double(&mut self, value: f64) {
        if let Some((digits, places)) = short_digits(value.abs()) {
            return self.decimal(value.is_sign_negative(), digits, places);
        }
        // The debug form is that text, with an exponent where it is needed, and always JSON; but it says
        // `2.0` where a person or a model would write `2`.
        let text = format!("{value:?}");
        self.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }

    fn decimal(&mut self, negative: bool, digits: u64, places: usize) {
        if negative {
            self.push(b'-');
        }
        let power = whole(POWERS_OF_TEN[places]);
        self.digits(digits / power);
        if places > 0 {
            let point = self.length;
            // A leading one keeps the zeros behind the point; the point then takes its place.
            self.digits(power + digits % power);
            self.bytes[point] = b'.';
        }
    }
}

/// The digits of each number below 100: two are written in one step.
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

/// Copies a text into a place of its length. A short one is two words that overlap, which takes no call.
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

/// Copies the first and the last bytes, which is everything where they meet.
#[inline]
fn copy_ends<const N: usize>(place: &mut [u8], text: &[u8]) {
    if let (Some(first), Some(start)) = (text.first_chunk::<N>(), place.first_chunk_mut::<N>()) {
        *start = *first;
    }
    if let (Some(last), Some(end)) = (text.last_chunk::<N>(), place.last_chunk_mut::<N>()) {
        *end = *last;
    }
}

/// A number with at most three digits behind its point, as an integer and the count of those digits: `(125, 2)`
/// for 1.25.
///
/// The division is exact to the last bit, so these digits read back as the same double, and fewer would not.
fn short_digits(value: f64) -> Option<(u64, usize)> {
    // Larger numbers have more digits than a double tells apart.
    if value.is_nan() || value >= 1e11 {
        return None;
    }
    (0..4).find_map(|places| {
        let power = POWERS_OF_TEN[places];
        let digits = whole(value * power + 0.5);
        let same = (double(digits) / power).to_bits() == value.to_bits();
        same.then_some((digits, places))
    })
}

/// A finite double as the shortest text that reads back as the same one.
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
    fn doubles_are_written_as_the_standard_library_does_but_for_a_fraction_of_zero() {
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
    fn only_what_must_be_is_escaped() {
        assert_eq!(
            written(|out| out.quote("é/\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}😀")),
            "\"é/\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}😀\""
        );
    }

    #[test]
    fn a_special_byte_is_escaped_wherever_it_is() {
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
