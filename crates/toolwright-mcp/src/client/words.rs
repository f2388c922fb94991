//! Texts of servers that a model or a person will read: short enough, and without what cannot be seen. Never decides who
//! reads them.

/// How many bytes of an error's text a model is shown.
pub(super) const LONGEST: usize = 4 * 1024;

/// A text of a server, cut to so many bytes, with what steers terminals or hides words made visible.
pub(super) fn harmless(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len().min(longest));
    for character in text.chars() {
        if out.len() + character.len_utf8() > longest {
            out.push('…');
            return out;
        }
        out.push(if is_hidden(character) { char::REPLACEMENT_CHARACTER } else { character });
    }
    out
}

/// Control characters but for tabs and line ends, marks of direction, and tags, which spell words nobody sees.
fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t' | '\r'))
        || matches!(character,
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn hidden_characters_are_made_visible_and_long_texts_are_cut() {
        let cases = [
            ("plain\ttext\nä", 99, "plain\ttext\nä"),
            ("a\u{1b}[2Jb\u{202e}c\u{e0041}", 99, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}"),
            ("äöü", 4, "äö…"),
        ];
        for (text, longest, expected) in cases {
            assert_eq!(harmless(text, longest), expected);
        }
    }
}
