//! Words of a schema inside sentences of ours: neutral, whatever they hold. Never a sentence itself.

/// A text as inline code.
pub(crate) fn code(text: &str) -> String {
    let shown = text.chars().filter(|c| is_shown(*c));
    let text: String = shown.map(|c| if c == '`' { '\'' } else { c }).collect();
    format!("`{text}`")
}

/// Control characters and those that reorder text (Unicode UAX #9, and rustc's
/// `text_direction_codepoint_in_comment`) are left out.
pub(crate) fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
