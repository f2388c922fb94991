//! Sets of code points, and their syntax in `regex-lite`.

use std::fmt::Write as _;

/// The Kelvin sign, which folds to `k`.
const KELVIN: char = '\u{212a}';

/// The long s, which folds to `s`.
const LONG_S: char = '\u{17f}';

/// A set of code points as inclusive ranges, in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct CodePoints {
    ranges: Vec<(char, char)>,
}

impl CodePoints {
    pub(super) fn one(c: char) -> Self {
        Self { ranges: vec![(c, c)] }
    }

    /// The code points from `low` to `high` without surrogates, which no string holds.
    pub(super) fn between(low: u32, high: u32) -> Self {
        let below = (low, high.min(0xd7ff));
        let above = (low.max(0xe000), high);
        let parts = [below, above].into_iter().filter(|(low, high)| low <= high);
        let parts = parts.filter_map(|(low, high)| char::from_u32(low).zip(char::from_u32(high)));
        Self { ranges: parts.collect() }
    }

    /// `\d` (ECMA-262, CharacterClassEscape).
    pub(super) fn digits() -> Self {
        Self { ranges: vec![('0', '9')] }
    }

    /// `\w` without the `i` flag.
    pub(super) fn word() -> Self {
        Self { ranges: vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')] }
    }

    /// The characters that `.` does not match (ECMA-262, LineTerminator).
    pub(super) fn line_breaks() -> Self {
        Self { ranges: vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')] }
    }

    /// `\s`: ECMA-262, WhiteSpace and LineTerminator.
    pub(super) fn space() -> Self {
        let single = [' ', '\u{a0}', '\u{1680}', '\u{202f}', '\u{205f}', '\u{3000}', '\u{feff}'];
        let mut points =
            Self { ranges: vec![('\t', '\r'), ('\u{2000}', '\u{200a}'), ('\u{2028}', '\u{2029}')] };
        points.ranges.extend(single.map(|c| (c, c)));
        points
    }

    /// Returns true if a character ends a line.
    pub(super) fn is_line_break(c: char) -> bool {
        matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
    }

    /// Returns true for a word character. If case is ignored, two more are word characters, which fold to `s` and `k`.
    pub(super) fn is_word_character(c: char, ignores_case: bool) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || (ignores_case && matches!(c, LONG_S | KELVIN))
    }

    pub(super) fn add(&mut self, low: char, high: char) {
        self.ranges.push((low, high));
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.ranges.extend(&other.ranges);
    }

    /// The code point, if there is only one.
    pub(super) fn single(&self) -> Option<char> {
        match self.ranges.as_slice() {
            [(low, high)] if low == high => Some(*low),
            _ => None,
        }
    }

    /// The number of ranges.
    pub(super) fn range_count(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges, in the order in which they were added.
    #[cfg(feature = "patterns")]
    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.ranges
    }

    /// Returns the same set with its ranges in order, as [`contains`](Self::contains) needs.
    pub(super) fn sorted(&self) -> Self {
        Self { ranges: self.merged() }
    }

    /// Returns true if a character is in the set, whose ranges must be in order.
    pub(super) fn contains(&self, c: char) -> bool {
        let above = self.ranges.partition_point(|(low, _)| *low <= c);
        above.checked_sub(1).is_some_and(|last| c <= self.ranges[last].1)
    }

    /// Returns these code points and all that differ only by case (simple case folding), if these are ASCII.
    pub(super) fn any_case_of_ascii(&self) -> Option<Self> {
        let mut folded = self.clone();
        for &(low, high) in &self.ranges {
            if !high.is_ascii() {
                return None;
            }
            for c in (low..=high).filter(char::is_ascii_alphabetic) {
                let other = if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                };
                folded.add(other, other);
                match c.to_ascii_lowercase() {
                    'k' => folded.add(KELVIN, KELVIN),
                    's' => folded.add(LONG_S, LONG_S),
                    _ => {}
                }
            }
        }
        Some(folded)
    }

    /// Returns all other code points, without surrogates, which no string holds.
    pub(super) fn negated(&self) -> Self {
        let mut ranges = Vec::new();
        let mut start = Some('\0');
        for (low, high) in self.merged() {
            if let Some((first, last)) =
                start.zip(before(low)).filter(|(first, last)| first <= last)
            {
                ranges.push((first, last));
            }
            start = after(high);
        }
        ranges.extend(start.map(|first| (first, char::MAX)));
        Self { ranges }
    }

    /// Returns the ranges in order, with adjacent ones merged.
    #[allow(clippy::stable_sort_primitive)] // Only the stable sort is fast for ranges that are mostly in order.
    fn merged(&self) -> Vec<(char, char)> {
        let mut sorted = self.ranges.clone();
        sorted.sort();
        let mut merged: Vec<(char, char)> = Vec::new();
        for (low, high) in sorted {
            match merged.last_mut() {
                Some((_, end)) if after(*end).is_none_or(|next| low <= next) => {
                    *end = (*end).max(high);
                }
                _ => merged.push((low, high)),
            }
        }
        merged
    }

    /// Returns the set as a class of `regex-lite`.
    pub(super) fn class(&self) -> String {
        let ranges = self.merged();
        if ranges.is_empty() {
            return "[^\\x{0}-\\x{10ffff}]".to_owned();
        }
        let mut class = "[".to_owned();
        for (low, high) in ranges {
            write_point(&mut class, low);
            if low != high {
                class.push('-');
                write_point(&mut class, high);
            }
        }
        class.push(']');
        class
    }
}

fn write_point(class: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == '_' {
        class.push(c);
    } else {
        // Writing to a string cannot fail.
        let _ = write!(class, "\\x{{{:x}}}", u32::from(c));
    }
}

fn before(c: char) -> Option<char> {
    ('\0'..c).next_back()
}

fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}
