//! Helps to word docs and messages: quotes text of a schema safely, and suggests known words for an unknown one.

use std::borrow::Cow;

use toolwright::issue::nearest;
use toolwright::untrusted::{characters, hidden, line, needs_neighbors};

/// Returns a text as Markdown inline code. A text with backticks is delimited by two on each side (CommonMark 0.31,
/// section 6.1), and an empty one becomes quotes. If it has two in a row, which could look like a fence, all of them become apostrophes.
pub(crate) fn code(text: &str) -> String {
    let text = line(text, usize::MAX);
    if text.is_empty() {
        // Two backticks alone would begin code that ends at the next two.
        "`\"\"`".to_owned()
    } else if text.contains("``") {
        format!("`{}`", text.replace('`', "'"))
    } else if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

/// Rewrites a sentence in the style of Rust errors: the first letter becomes lower case, unless the first word is `I` or has
/// a capital after its first letter, and a single sentence loses its period.
pub(crate) fn as_error(sentence: &str) -> String {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let is_name = first == "I" || first.chars().skip(1).any(char::is_uppercase);
    let text = match sentence.strip_suffix('.') {
        Some(text) if !text.contains(['.', '!', '?']) => text,
        _ => sentence,
    };
    let mut chars = text.chars();
    match chars.next() {
        Some(begin) if !is_name => begin.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Returns untrusted text as part of one line, for a terminal, a log or a program that reads lines: control characters and
/// those that are [hidden](toolwright::untrusted::hidden) are escaped as in a Rust literal, and [commands](without_commands) are
/// none.
pub fn printable(text: &str) -> Cow<'_, str> {
    if in_line(text).all(|(_, is_visible)| is_visible) {
        return without_commands(text);
    }
    let escaped = |(c, is_visible): (char, bool)| {
        if is_visible { c.into() } else { c.escape_default().to_string() }
    };
    let line: String = in_line(text).map(escaped).collect();
    Cow::Owned(without_commands(&line).into_owned())
}

/// Returns a text in which nothing is a command for a program that runs a pipeline and reads its log: the bracket of `##[command]`
/// (GitHub), `##vso[command]` (Azure) or `##teamcity[command]`, which are found anywhere in a line, is written as `\u005b`. In JSON,
/// where such a text can only be in a string, that is the same.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let is_command = |(at, _): &(usize, &str)| {
        text[..*at].trim_end_matches(|c: char| c.is_ascii_alphabetic()).ends_with("##")
    };
    let mut brackets = text.match_indices('[').filter(is_command).peekable();
    if brackets.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut done) = (String::with_capacity(text.len() + 5), 0);
    for (at, bracket) in brackets {
        out.push_str(&text[done..at]);
        out.push_str("\\u005b");
        done = at + bracket.len();
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Returns each character of a text, and whether it is visible within a line: line ends and tabs are not.
pub(crate) fn in_line(text: &str) -> impl Iterator<Item = (char, bool)> {
    let has_hidden = hidden(text).next().is_some();
    let is_escaped = move |c: char| c.is_control() || (has_hidden && needs_neighbors(c));
    characters(text).map(move |(c, is_hidden)| (c, !(is_hidden || is_escaped(c))))
}

/// Returns advice on an unknown word that misspells a word which is also present.
pub(crate) fn keep_one(near: &str) -> String {
    format!("`{near}` is already present; keep one of the two")
}

/// The most known words that are compared with an unknown one.
pub(crate) const MAX_KNOWN: usize = 1000;

/// The most known words that are listed.
const MAX_LISTED: usize = 40;

/// The most characters of a listed word.
const MAX_WORD: usize = 80;

/// The most known words that are listed beside a nearest one.
const MAX_LISTED_BESIDE: usize = 12;

/// Returns advice on an unknown word: the nearest known word and a list of the known ones.
pub fn advice<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, what: &str) -> String {
    let known: Vec<&str> = known.into_iter().take(MAX_KNOWN).collect();
    let listed: Vec<String> =
        known.iter().take(MAX_LISTED).map(|word| format!("`{}`", line(word, MAX_WORD))).collect();
    let rest = match known.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        _ if known.len() == MAX_KNOWN => " and more".to_owned(),
        more => format!(" and {more} more"),
    };
    match (nearest(word, known.iter().copied()), listed.is_empty()) {
        (_, true) => format!("{what}: none"),
        (Some(near), _) if known.len() > MAX_LISTED_BESIDE => format!("did you mean `{near}`?"),
        (Some(near), _) => format!("did you mean `{near}`? {what}: {}{rest}", listed.join(", ")),
        (None, _) => format!("{what}: {}{rest}", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a text is one span of code (CommonMark 0.31, section 6.1): between two runs of backticks of one length is no
    /// other run of that length.
    fn is_code_span(text: &str) -> bool {
        let inside = text.trim_start_matches('`');
        let fence = &text[..text.len() - inside.len()];
        let Some(inside) = inside.strip_suffix(fence) else { return false };
        let mut runs = inside.split(|c| c != '`').filter(|run| !run.is_empty());
        !fence.is_empty() && !inside.ends_with('`') && runs.all(|run| run != fence)
    }

    #[test]
    fn any_text_becomes_one_span_of_code() {
        let mut texts = vec![String::new()];
        for start in 0..5_usize.pow(4) {
            let more = ["`", " ", "a", "\\", "\n"].map(|part| format!("{}{part}", texts[start]));
            texts.extend(more);
        }
        for text in texts {
            assert!(is_code_span(&code(&text)), "{text:?}: {}", code(&text));
        }
        assert!(!is_code_span("``") && !is_code_span("`a``"));
    }
}
