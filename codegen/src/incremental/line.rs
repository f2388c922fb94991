//! A line of the record as it is read: a JSON object with its keys in a fixed order. Never the judge of a line: what is
//! not as it would be written again, letter by letter, the record does not take.
//!
//! By hand, because a JSON library would be all that a build script compiles for this.

use std::collections::BTreeSet;

/// What is left to read of a line.
pub(super) struct Line<'a> {
    rest: &'a str,
}

impl<'a> Line<'a> {
    /// A whole line.
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    /// The text behind a key.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.key(key)?;
        self.string()
    }

    /// The number behind a key.
    pub(super) fn number(&mut self, key: &str) -> Option<usize> {
        self.key(key)?;
        let end = self.rest.find(|c: char| !c.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    /// Whether a key is there; what stands behind it is `true`.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        if self.key(key).is_none() {
            return Some(false);
        }
        self.skip("true").map(|()| true)
    }

    /// The texts behind a key; none where it is not there.
    pub(super) fn list(&mut self, key: &str) -> Option<BTreeSet<String>> {
        let mut texts = BTreeSet::new();
        if self.key(key).is_none() {
            return Some(texts);
        }
        self.skip("[")?;
        while self.skip("]").is_none() {
            texts.insert(self.string()?);
            // That one stands between any two shows when the line is compared.
            let _ = self.skip(",");
        }
        Some(texts)
    }

    /// Goes past a key; none, and nothing read, where another one stands.
    fn key(&mut self, key: &str) -> Option<()> {
        let rest = self.rest.strip_prefix(['{', ','])?.strip_prefix('"')?;
        self.rest = rest.strip_prefix(key)?.strip_prefix("\":")?;
        Some(())
    }

    fn skip(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        self.skip("\"")?;
        let mut text = String::new();
        loop {
            let (plain, special) = self.rest.split_at(self.rest.find(['"', '\\'])?);
            text.push_str(plain);
            self.rest = special;
            if self.skip("\"").is_some() {
                return Some(text);
            }
            text.push(self.escaped()?);
        }
    }

    /// A character that JSON has a special way to write (RFC 8259, section 7).
    fn escaped(&mut self) -> Option<char> {
        self.skip("\\")?;
        let sign = self.rest.chars().next()?;
        self.rest = &self.rest[sign.len_utf8()..];
        match sign {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => {
                let (digits, rest) = self.rest.split_at_checked(4)?;
                self.rest = rest;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)
            }
            other => Some(other),
        }
    }
}
