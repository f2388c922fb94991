//! Makes texts that a pattern is likely to match.

use std::iter::Peekable;
use std::str::Chars;

/// Returns a text for an ECMA-262 pattern, with `least` copies of what may be absent. Lookarounds, back references and sets of
/// Unicode properties are not understood, so the text need not match.
pub(super) fn matching(pattern: &str, least: usize) -> String {
    Reader { rest: pattern.chars().peekable(), least }.choice()
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
    least: usize,
}

impl Reader<'_> {
    /// Reads alternatives up to the end of their group; returns a text for the first.
    fn choice(&mut self) -> String {
        let mut first = None;
        let mut text = String::new();
        while let Some(next) = self.rest.next_if(|next| *next != ')') {
            if next == '|' {
                first.get_or_insert(std::mem::take(&mut text));
            } else {
                let atom = self.atom(next);
                text.push_str(&atom.repeat(self.count()));
            }
        }
        first.unwrap_or(text)
    }

    /// Returns a text for the part of a pattern that begins with a character.
    fn atom(&mut self, first: char) -> String {
        match first {
            '^' | '$' => String::new(),
            '.' => "a".to_owned(),
            '(' => {
                let is_text = self.group();
                let text = self.choice();
                self.rest.next();
                if is_text { text } else { String::new() }
            }
            '[' => self.set().into(),
            '\\' => self.escape(),
            other => other.into(),
        }
    }

    /// Reads the beginning of a group after its parenthesis; returns whether the text has to have what is in the group.
    fn group(&mut self) -> bool {
        if self.rest.next_if_eq(&'?').is_none() {
            return true;
        }
        match self.rest.next() {
            Some(':') => true,
            // A named group, unless it is a lookbehind.
            Some('<') if !matches!(self.rest.peek(), Some('=' | '!')) => {
                while self.rest.next().is_some_and(|next| next != '>') {}
                true
            }
            _ => false,
        }
    }

    /// Returns a character of a set.
    fn set(&mut self) -> char {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges: Vec<(char, char)> = Vec::new();
        while let Some(next) = self.rest.next_if(|next| *next != ']') {
            let from = self.member(next);
            let mut to = from;
            if self.rest.peek() == Some(&'-') {
                let mut ahead = self.rest.clone();
                ahead.next();
                if ahead.peek().is_some_and(|end| *end != ']') {
                    self.rest.next();
                    let end = self.rest.next().unwrap_or(from);
                    to = self.member(end);
                }
            }
            ranges.push((from, to));
        }
        self.rest.next();
        let has = |letter: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
        if is_negated {
            "aA0- _~".chars().find(|letter| !has(*letter)).unwrap_or('\u{e9}')
        } else {
            ranges.first().map_or('a', |(from, _)| *from)
        }
    }

    fn member(&mut self, first: char) -> char {
        if first == '\\' { self.escape().chars().next().unwrap_or('\u{8}') } else { first }
    }

    /// Returns a text for an escape.
    fn escape(&mut self) -> String {
        match self.rest.next() {
            Some('d') => "0".to_owned(),
            Some('w' | 'D' | 'S') => "a".to_owned(),
            Some('W') => "-".to_owned(),
            Some('s') => " ".to_owned(),
            Some('b' | 'B') | None => String::new(),
            Some('n') => "\n".to_owned(),
            Some('r') => "\r".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('p' | 'P') => {
                while self.rest.next().is_some_and(|next| next != '}') {}
                "a".to_owned()
            }
            Some('x') => self.code(2),
            Some('u') if self.rest.peek() == Some(&'{') => {
                let digits: String =
                    self.rest.by_ref().skip(1).take_while(|next| *next != '}').collect();
                character(&digits)
            }
            Some('u') => self.code(4),
            Some(other) => other.into(),
        }
    }

    fn code(&mut self, digits: usize) -> String {
        let digits: String = self.rest.by_ref().take(digits).collect();
        character(&digits)
    }

    /// Reads a quantifier, if there is one; returns how often its atom is repeated.
    fn count(&mut self) -> usize {
        let count = match self.rest.peek() {
            Some('*' | '?') => {
                self.rest.next();
                self.least
            }
            Some('+') => {
                self.rest.next();
                1
            }
            Some('{') => {
                self.rest.next();
                let limits: String = self.rest.by_ref().take_while(|next| *next != '}').collect();
                let least = limits.split(',').next().and_then(|least| least.parse().ok());
                least.unwrap_or(1).max(self.least).min(MAX_COUNT)
            }
            _ => return 1,
        };
        self.rest.next_if_eq(&'?');
        count
    }
}

/// The most repetitions of an atom.
const MAX_COUNT: usize = 300;

fn character(digits: &str) -> String {
    let code = u32::from_str_radix(digits, 16).ok();
    code.and_then(char::from_u32).map_or_else(String::new, String::from)
}

#[cfg(test)]
mod tests {
    use super::matching;

    #[test]
    fn texts_match_common_patterns() {
        for (pattern, expected) in [
            ("^[a-z][a-z0-9-]*$", "a"),
            ("^[A-Z]{2}-\\d{4}$", "AA-0000"),
            ("^(?:red|green)(?<n>x+)?$", "red"),
            ("^#[^0-9a]{2,3}$", "#AA"),
            ("^\\w+\\.\\u{e9}\\x41$", "a.\u{e9}A"),
            ("^[\\d-]$", "0"),
            ("a(?=b)b", "ab"),
            ("", ""),
            ("[", "a"),
            ("(", ""),
        ] {
            assert_eq!(matching(pattern, 0), expected, "{pattern}");
        }
        assert_eq!(matching("^[a-z][0-9]?(b{0,3})*$", 1), "a0b");
    }
}
