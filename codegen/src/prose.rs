//! Puts words of a schema into sentences: harmless as inline code, or as advice on an unknown word.

use std::borrow::Cow;

use toolwright::issue::nearest;
use toolwright::untrusted::{characters, line};

/// A text as inline code. Where it has backticks it stands between two of them on each side (CommonMark 0.31, section 6.1);
/// several in a row, which may look like a fence, become quotes.
pub(crate) fn code(text: &str) -> String {
    let text = line(text, usize::MAX);
    if text.contains("``") {
        format!("`{}`", text.replace('`', "'"))
    } else if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

/// A sentence as errors are worded in Rust: in lower case where it begins with a word that is not written in capitals, and
/// without the period behind a single sentence.
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

/// A text of others as part of one line, for a terminal, a log or a program that reads lines: line ends and whatever is
/// [hidden](toolwright::untrusted::hidden) are escaped as in a Rust literal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if in_line(text).all(|(_, is_shown)| is_shown) {
        return Cow::Borrowed(text);
    }
    let escaped = |(c, is_shown): (char, bool)| {
        if is_shown { c.into() } else { c.escape_default().to_string() }
    };
    Cow::Owned(in_line(text).map(escaped).collect())
}

/// Each character of a text, and whether it is seen on a line: line ends and tabs are not.
pub(crate) fn in_line(text: &str) -> impl Iterator<Item = (char, bool)> {
    characters(text).map(|(c, is_hidden)| (c, !is_hidden && !c.is_control()))
}

/// Returns advice on an unknown word that misspells one beside it.
pub(crate) fn is_there_already(near: &str) -> String {
    format!("`{near}` is there already; keep one of the two")
}

/// How many known words are looked at for an unknown one.
const MOST: usize = 1000;

/// Longer lists are left out when there is a nearest word.
const SHORT: usize = 12;

/// Returns advice on an unknown word: the nearest known word and a list of the known ones.
pub fn advice<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, what: &str) -> String {
    let known: Vec<&str> = known.into_iter().take(MOST).collect();
    let listed: Vec<String> = known.iter().take(40).map(|word| format!("`{word}`")).collect();
    let rest = match known.len().saturating_sub(40) {
        0 => String::new(),
        _ if known.len() == MOST => " and more".to_owned(),
        more => format!(" and {more} more"),
    };
    match (nearest(word, known.iter().copied()), listed.is_empty()) {
        (_, true) => format!("{what}: none"),
        (Some(near), _) if known.len() > SHORT => format!("did you mean `{near}`?"),
        (Some(near), _) => format!("did you mean `{near}`? {what}: {}{rest}", listed.join(", ")),
        (None, _) => format!("{what}: {}{rest}", listed.join(", ")),
    }
}
