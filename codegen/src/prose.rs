//! Words of a schema inside sentences of ours: neutral, whatever they hold. Never a sentence itself.

/// A text as inline code.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len() + 2);
    code.push('`');
    for c in text.chars().filter(|c| is_shown(*c)) {
        code.push(if c == '`' { '\'' } else { c });
    }
    code.push('`');
    code
}

/// Control characters and those that reorder text (Unicode UAX #9, and rustc's
/// `text_direction_codepoint_in_comment`) are left out.
pub(crate) fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
