//! Texts that others wrote, made safe to show to people and models: characters that steer a terminal, turn the direction
//! of words or cannot be seen become U+FFFD. Nothing here decides who may read a text.

mod schema;

use std::borrow::Cow;

pub use schema::visible_schema;

/// A text in which nothing is hidden: each [hidden character](hidden) is replaced by U+FFFD.
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

/// The beginning of a text, of so many bytes at most and with nothing hidden. What is cut off is replaced by `…`.
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

/// The same on one line, for logs and lists: whatever ends a line or moves on it becomes a space.
pub fn line(text: &str, longest: usize) -> String {
    let text: String = text.chars().map(|c| if "\r\n\t".contains(c) { ' ' } else { c }).collect();
    excerpt(&text, longest)
}

/// The hidden characters of a text: control characters but for tabs and line ends, marks of direction, tags, and the
/// other characters without a shape. Joiners and variation selectors count where they change nothing that is seen, which
/// is outside emoji and the scripts that need them.
pub fn hidden(text: &str) -> impl Iterator<Item = char> {
    marked(text).filter_map(|(character, is_hidden)| is_hidden.then_some(character))
}

fn shown(text: &str) -> impl Iterator<Item = char> {
    marked(text).map(
        |(character, is_hidden)| {
            if is_hidden { char::REPLACEMENT_CHARACTER } else { character }
        },
    )
}

/// Each character, and whether it is hidden where it stands.
fn marked(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut following = text.chars().skip(1);
    let mut previous = None;
    text.chars().map(move |character| {
        let next = following.next();
        let is_hidden = match character {
            '\n' | '\t' => false,
            '\r' => next != Some('\n'),
            '\u{200c}' | '\u{200d}' => {
                !(joins(previous) && joins(next) && next != Some('\u{fe0f}'))
            }
            '\u{fe0e}' | '\u{fe0f}' => !has_variants(previous),
            _ => character.is_control() || is_shapeless(character),
        };
        previous = Some(character);
        (character, is_hidden)
    })
}

/// Whether a joiner beside this character has something to join.
fn joins(neighbor: Option<char>) -> bool {
    neighbor.is_some_and(|c| !c.is_ascii() && !c.is_control() && !is_shapeless(c) && !is_joiner(c))
}

/// Whether a character may have another look, as emoji and the digits of keycaps have.
fn has_variants(character: Option<char>) -> bool {
    let is_keycap = |c: char| c.is_ascii_digit() || matches!(c, '#' | '*');
    let is_selector = |c: char| matches!(c, '\u{fe0e}' | '\u{fe0f}');
    character.is_some_and(is_keycap) || (joins(character) && !character.is_some_and(is_selector))
}

fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Unicode's `Default_Ignorable_Code_Point` but for joiners and the two common variation selectors, and the characters that
/// end lines or mark annotations.
fn is_shapeless(character: char) -> bool {
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
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{excerpt, hidden, line, visible};

    #[test]
    fn whatever_steers_turns_or_hides_words_becomes_visible() {
        let cases = [
            ("a\u{1b}[2Jb", "a\u{fffd}[2Jb"),
            ("a\u{9b}2Jb\u{7f}\u{0}", "a\u{fffd}2Jb\u{fffd}\u{fffd}"),
            ("good\rbad", "good\u{fffd}bad"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\u{fffd}b\u{fffd}c\u{fffd}"),
            ("a\u{e0041}\u{e007f}", "a\u{fffd}\u{fffd}"),
            ("i\u{200d}g\u{200c}n\u{200b}o", "i\u{fffd}g\u{fffd}n\u{fffd}o"),
            ("\u{200d}\u{200d}", "\u{fffd}\u{fffd}"),
            ("x\u{fe0f}", "x\u{fffd}"),
            ("\u{1f600}\u{fe0f}\u{fe0f}\u{e0101}", "\u{1f600}\u{fe0f}\u{fffd}\u{fffd}"),
            ("line\u{2028}line\u{ad}", "line\u{fffd}line\u{fffd}"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
            assert!(hidden(text).next().is_some());
            assert_eq!(hidden(&visible(text)).next(), None, "{text:?}");
        }
    }

    #[test]
    fn words_of_any_script_and_emoji_stay_as_they_are() {
        for text in [
            "plain\ttext\r\nä",
            "日本語 العربية עברית",
            "\u{646}\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn an_excerpt_is_no_longer_than_asked_for() {
        assert_eq!(excerpt("äöü", 4), "äö…");
        assert_eq!(excerpt("äöü", 6), "äöü");
        assert_eq!(excerpt("\u{202e}", 2), "…");
        assert_eq!(line("a\r\nb\u{1b}\u{2028}c\rd", 99), "a  b\u{fffd}\u{fffd}c d");
    }
}
