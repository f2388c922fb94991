//! Reads JSON strings (RFC 8259, section 7): borrowed if they have no escapes, otherwise unescaped.
//!
//! Lengths and patterns are checked by the codecs.

use std::borrow::Cow;

use super::scanner::Scanner;

impl<'a> Scanner<'a> {
    /// Reads the string whose opening quote is at the cursor.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        match self.plain_string() {
            Some(text) => Some(Cow::Borrowed(text)),
            None => self.unescaped().map(Cow::Owned),
        }
    }

    /// Reads the string at the cursor if it has no escapes; otherwise the cursor does not move.
    #[inline]
    pub(crate) fn plain_string(&mut self) -> Option<&'a str> {
        let (text, end) = self.plain_between_quotes(self.position)?;
        self.position = end;
        Some(text)
    }

    /// Returns the key at the cursor and the position of its value, if there are no escapes and no white space. The
    /// cursor does not move.
    #[inline]
    pub(crate) fn plain_key(&self, first: bool) -> Option<(&'a str, usize)> {
        if !first && self.byte() != Some(b',') {
            return None;
        }
        let (key, end) = self.plain_between_quotes(self.position + usize::from(!first))?;
        if self.text.as_bytes().get(end) == Some(&b':') { Some((key, end + 1)) } else { None }
    }

    /// Returns the text between a quote at this position and the next quote, and the position after it.
    #[inline]
    fn plain_between_quotes(&self, quote: usize) -> Option<(&'a str, usize)> {
        let bytes = self.text.as_bytes();
        // Checked first, because otherwise a long text may be scanned for a closing quote in vain.
        if bytes.get(quote) != Some(&b'"') {
            return None;
        }
        let start = quote + 1;
        let end = plain_end(bytes, start);
        if bytes.get(end) == Some(&b'"') {
            Some((self.text.get(start..end)?, end + 1))
        } else {
            None
        }
    }

    /// Reads a string with escapes.
    #[cold]
    pub(crate) fn unescaped(&mut self) -> Option<String> {
        let start = self.position + 1;
        self.position = self.end_of_plain(start);
        let mut text = self.since(start).to_owned();
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    self.fail("an escape, since control characters must be escaped");
                    return None;
                }
                None => {
                    self.fail("`\"` at the end of a string");
                    return None;
                }
            }
            let plain = self.position;
            self.position = self.end_of_plain(plain);
            text.push_str(self.since(plain));
        }
        self.position += 1;
        Some(text)
    }

    fn escape(&mut self) -> Option<char> {
        self.position += 1;
        let unescaped = match self.byte() {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => {
                self.fail("an escape of JSON");
                return None;
            }
        };
        self.position += 1;
        Some(unescaped)
    }

    /// Reads `u` and four hexadecimal digits, twice for a character beyond U+FFFF.
    fn unicode_escape(&mut self) -> Option<char> {
        let start = self.position - 1;
        let unit = self.code_unit()?;
        let character = match unit {
            0xd800..=0xdbff => self.low_surrogate().map(|low| {
                0x1_0000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00)
            }),
            _ => Some(u32::from(unit)),
        };
        let character = character.and_then(char::from_u32);
        if character.is_none() && !self.failed() {
            self.position = start;
            self.fail("a surrogate pair or a character that is not a surrogate");
        }
        character
    }

    /// Reads the second half of a surrogate pair, if it follows.
    fn low_surrogate(&mut self) -> Option<u16> {
        if !self.text.as_bytes().get(self.position..)?.starts_with(b"\\u") {
            return None;
        }
        self.position += 1;
        self.code_unit().filter(|low| (0xdc00..=0xdfff).contains(low))
    }

    fn code_unit(&mut self) -> Option<u16> {
        self.position += 1;
        let digits = self.text.get(self.position..self.position + 4);
        // `from_str_radix` also accepts a sign.
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            self.fail("four hexadecimal digits");
            return None;
        };
        self.position += 4;
        Some(unit)
    }

    /// Returns the end of plain text: a quote, a backslash, a control character or the end of the text.
    #[inline]
    fn end_of_plain(&self, start: usize) -> usize {
        plain_end(self.text.as_bytes(), start)
    }
}

/// Unescapes a valid string, given as written between its quotes.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.as_bytes().contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let quoted = format!("\"{raw}\"");
    let text = Scanner::new(quoted.as_bytes()).string().map(Cow::into_owned);
    text.map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Returns the position of the first byte from `start` that must be escaped in a JSON string.
///
/// It checks eight bytes at a time, since text is most of a payload.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let mut rest = bytes.get(start..).unwrap_or_default();
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return bytes.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let plain = rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len());
    bytes.len() - rest.len() + plain
}

/// Returns true if a text needs no escapes in a JSON string.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    if bytes.len() > 16 {
        return is_long_plain(bytes);
    }
    // Two words that may overlap cover a short text.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return special_bytes(u64::from_le_bytes(*first))
            | special_bytes(u64::from_le_bytes(*last))
            == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let word = |chunk: &[u8; 4]| u64::from(u32::from_le_bytes(*chunk));
        return special_bytes(word(first) << 32 | word(last)) == 0;
    }
    !bytes.iter().any(|byte| is_special(*byte))
}

fn is_long_plain(bytes: &[u8]) -> bool {
    // There is no early exit inside a chunk, so that the compiler can vectorize the check.
    let special = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | is_special(*byte));
    !bytes.chunks_exact(16).any(special)
        && !bytes.last_chunk::<16>().is_some_and(|chunk| special(chunk))
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Sets the high bit of each special byte. Only the lowest bit that is set is reliable, because the subtractions
/// borrow.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_plain_text_is_found_at_every_position() {
        for special in [0_u8, 0x1f, b'"', b'\\'] {
            for place in 0..40 {
                let mut bytes = "é \u{7f}ÿ~!#[]".repeat(5).into_bytes();
                bytes[place] = special;
                bytes[place + 1] = special;
                assert_eq!(plain_end(&bytes, 0), place, "{special} at {place}");
            }
        }
        assert_eq!(plain_end("é \u{7f}~!#[]".repeat(3).as_bytes(), 0), 27);
    }
}
