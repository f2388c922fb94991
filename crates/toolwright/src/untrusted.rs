//! Makes untrusted texts safe to show to people and models. Control characters, marks of text direction and invisible
//! characters are replaced by U+FFFD. Texts are read up to a limit.

#[cfg(feature = "redaction")]
mod redactor;
mod schema;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Read};

#[cfg(feature = "redaction")]
pub use redactor::{Redactor, secrets_in_header};
pub use schema::{visible_schema, without_texts};

use crate::unicode::is_mark;

/// The most tools that an untrusted source may list.
pub const MAX_TOOLS: usize = 10_000;

/// The longest name that a tool from an untrusted source may have, in bytes. MCP recommends at most 128.
pub const MAX_TOOL_NAME_BYTES: usize = 256;

/// Returns a text with each [hidden character](hidden) replaced by U+FFFD.
///
/// ```
/// use toolwright::untrusted::visible;
///
/// assert_eq!(visible("over\u{202e}there\u{1b}[2J"), "over\u{fffd}there\u{fffd}[2J");
/// assert_eq!(visible("two\tlines\n\u{1f469}\u{200d}\u{1f680}"), "two\tlines\n\u{1f469}\u{200d}\u{1f680}");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if hidden(text).next().is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown(text).collect())
}

/// Returns the beginning of a text, at most `longest` bytes, with hidden characters replaced. If the text is longer,
/// `…` follows.
pub fn excerpt(text: &str, longest: usize) -> String {
    let mut excerpt = String::with_capacity(text.len().min(longest));
    for character in shown(text) {
        if excerpt.len() + character.len_utf8() > longest {
            excerpt.push('…');
            return excerpt;
        }
        excerpt.push(character);
    }
    excerpt
}

/// Returns an [`excerpt`] on one line, for logs and lists: line ends and tabs become spaces.
pub fn line(text: &str, longest: usize) -> String {
    let text: String = text.chars().map(|c| if "\r\n\t".contains(c) { ' ' } else { c }).collect();
    excerpt(&text, longest)
}

/// Escapes the [hidden characters](hidden) of a JSON text, such as `\u202e`. The value stays the same: outside of strings, JSON has
/// only one of them, the carriage return, which becomes a space.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    let hidden: BTreeSet<char> = hidden(text).collect();
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\r' {
            shown.push(' ');
        } else if hidden.contains(&letter) || needs_neighbors(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Reads a text of at most `longest_mib` MiB, and stops there if the source is longer or endless.
///
/// # Errors
///
/// Errors of the source, an error if the text is longer, and [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_text(source: impl Read, longest_mib: u32) -> io::Result<String> {
    let longest = u64::from(longest_mib) << 20;
    let mut bytes = Vec::new();
    source.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let message = format!("found more than {longest_mib} MiB, expected a shorter text");
        return Err(io::Error::other(message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let message = format!("found a byte that is not UTF-8 at offset {place}, expected a text");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Returns the hidden characters of a text: control characters except tabs and line ends, marks of direction, tags,
/// blank letters and other invisible characters. Joiners and variation selectors are hidden outside emoji and the scripts whose
/// letters join. Blank braille patterns are hidden outside braille. On
/// one character, combining marks after the eighth are hidden.
pub fn hidden(text: &str) -> impl Iterator<Item = char> {
    characters(text).filter_map(|(character, is_hidden)| is_hidden.then_some(character))
}

fn shown(text: &str) -> impl Iterator<Item = char> {
    characters(text).map(
        |(character, is_hidden)| {
            if is_hidden { char::REPLACEMENT_CHARACTER } else { character }
        },
    )
}

/// The largest number of combining marks that letters of any script have: eight on Tibetan seed syllables. More marks
/// would cover neighboring lines. (UTS 39, section 5.4, suspects more than four in identifiers.)
const MAX_MARKS: usize = 8;

/// Returns each character of a text, with true if it is [hidden] at its place.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut pieces = Pieces::default();
    let mut following = text.chars().skip(1);
    text.chars().map(move |character| (character, pieces.hides(character, following.next())))
}

/// Makes a text [visible](visible()) that comes in pieces. The count of combining marks continues from piece to piece.
///
/// ```
/// use toolwright::untrusted::Pieces;
///
/// let mut pieces = Pieces::default();
/// assert_eq!(pieces.visible("a\u{300}\u{300}\u{300}\u{300}"), "a\u{300}\u{300}\u{300}\u{300}");
/// assert_eq!(pieces.visible("\u{300}\u{300}\u{300}\u{300}"), "\u{300}\u{300}\u{300}\u{300}");
/// assert_eq!(pieces.visible("\u{300}!"), "\u{fffd}!");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The last character.
    previous: Option<char>,
    /// The number of combining marks that were shown on the last character without marks.
    marks: usize,
}

impl Pieces {
    /// Returns the next piece, with hidden characters replaced.
    pub fn visible(&mut self, piece: &str) -> String {
        let mut following = piece.chars().skip(1);
        let show = |character| {
            let is_hidden = self.hides(character, following.next());
            if is_hidden { char::REPLACEMENT_CHARACTER } else { character }
        };
        piece.chars().map(show).collect()
    }

    /// Returns true if a character is hidden after those before it.
    fn hides(&mut self, character: char, next: Option<char>) -> bool {
        let is_mark = !character.is_ascii() && is_mark(character);
        let is_hidden = match character {
            '\n' | '\t' => false,
            '\r' => next != Some('\n'),
            '\u{200c}' | '\u{200d}' => {
                !(joins(self.previous) && joins(next) && next != Some('\u{fe0f}'))
            }
            '\u{fe0e}' | '\u{fe0f}' => !has_variants(self.previous),
            '\u{2800}' => {
                let is_braille = |c: &Option<char>| matches!(c, Some('\u{2801}'..='\u{28ff}'));
                ![self.previous, next].iter().all(is_braille)
            }
            _ => {
                let is_excess = is_mark && self.marks >= MAX_MARKS;
                character.is_control() || is_invisible(character) || is_excess
            }
        };
        // Hidden characters and joiners do not start a new count of marks.
        if is_mark && !is_hidden {
            self.marks += 1;
        } else if !is_hidden && !is_joiner(character) {
            self.marks = 0;
        }
        self.previous = Some(character);
        is_hidden
    }
}

/// Returns true for characters that are only visible beside certain others, which an escape is not: joiners, variation
/// selectors and blank braille patterns.
pub fn needs_neighbors(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{2800}')
}

/// Returns true if a joiner next to this character may have a visible effect: it is an emoji, or of a script whose letters join.
fn joins(neighbor: Option<char>) -> bool {
    let is_of_joining_script = |c| {
        matches!(c,
            '\u{600}'..='\u{109f}'
            | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}'
            | '\u{a800}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10a00}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}')
    };
    // A hidden character that is shown as U+FFFD does not hide the joiner beside it.
    let is_beside = |c| matches!(c, '\u{fe0f}' | char::REPLACEMENT_CHARACTER);
    neighbor
        .is_some_and(|c| is_of_joining_script(c) && !is_invisible(c) || is_emoji(c) || is_beside(c))
}

/// Returns true if a variation selector may follow a character: an emoji, a symbol, or the digit of a keycap.
fn has_variants(character: Option<char>) -> bool {
    let is_keycap = |c: char| c.is_ascii_digit() || matches!(c, '#' | '*');
    character.is_some_and(|c| is_keycap(c) || is_emoji(c))
}

/// Returns true for symbols and emoji, also those that have another form in texts, such as `©`.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{a9}'
        | '\u{ae}'
        | '\u{203c}'
        | '\u{2049}'
        | '\u{2100}'..='\u{27ff}'
        | '\u{2900}'..='\u{2bff}'
        | '\u{3030}'
        | '\u{303d}'
        | '\u{3297}'
        | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Unicode's `Default_Ignorable_Code_Point` without joiners and the two common variation selectors, and also the
/// characters that end lines or mark annotations, and blank letters and musical notes.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13441}'..='\u{13442}'
        | '\u{16fe4}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{excerpt, hidden, line, read_text, visible};
    use crate::Value;

    #[test]
    fn h6_hidden_characters_of_arguments_become_escapes_of_the_same_json() {
        let args = "{\r\"a\u{200b}\":\"\u{202e}\u{e0041}\u{1f600} \\r\"}";
        let shown = super::visible_json(args);
        assert_eq!(shown, "{ \"a\\u200b\":\"\\u202e\\udb40\\udc41\u{1f600} \\r\"}");
        let values = [args, &*shown].map(str::parse::<Value>);
        assert_eq!(values[0], values[1]);
        // A joiner beside what becomes an escape is one, too.
        let shown = super::visible_json("\"a\u{fe0f}\u{200d}\u{1f600}\"");
        assert_eq!(shown, "\"a\\ufe0f\\u200d\u{1f600}\"");
    }

    /// Each case has a text and, if it changes, how it is shown.
    #[test]
    fn texts_are_shown_as_the_cases_say() {
        let cases: Value =
            include_str!("../tests/untrusted.json").parse().expect("the cases are JSON");
        let mut tried = 0;
        for case in cases.as_array().expect("cases are a list") {
            let text = |key: &str| case.get(key).and_then(Value::as_str);
            let (why, given) = (text("why").expect("a reason"), text("text").expect("a text"));
            let expected = text("shown").unwrap_or(given);
            let shown = visible(given);
            assert_eq!(shown, expected, "{why}: {given:?}");
            assert_eq!(hidden(given).next().is_some(), expected != given, "{why}: {given:?}");
            assert_eq!(hidden(&shown).next(), None, "{why}: {given:?}");
            tried += 1;
        }
        assert!(tried > 20, "{tried} cases");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let never_ends = std::io::repeat(b'a');
        let error = read_text(never_ends, 1).expect_err("it is longer");
        assert_eq!(error.to_string(), "found more than 1 MiB, expected a shorter text");
        let longest = vec![b'a'; 1 << 20];
        assert_eq!(read_text(&*longest, 1).expect("it fits").len(), 1 << 20);
        let error = read_text(&b"a\xff"[..], 1).expect_err("it is not UTF-8");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_excerpt_is_no_longer_than_its_limit() {
        assert_eq!(excerpt("äöü", 4), "äö…");
        assert_eq!(excerpt("äöü", 6), "äöü");
        assert_eq!(excerpt("\u{202e}", 2), "…");
        assert_eq!(line("a\r\nb\u{1b}\u{2028}c\rd", 99), "a  b\u{fffd}\u{fffd}c d");
    }
}
