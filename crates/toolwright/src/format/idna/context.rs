//! The rules for the code points of a label (RFC 5892).

use super::tables::{DISALLOWED, GREEK, HEBREW, JAPANESE, JOINS_NEXT, JOINS_PREVIOUS, VIRAMAS};
use crate::unicode::{Ranges, is_in, is_mark};

/// Returns true if the character at a position of a label is allowed there, by the rules of appendix A and `PVALID`.
pub(super) fn is_allowed(label: &[char], position: usize) -> bool {
    let Some((before, [character, after @ ..])) = label.split_at_checked(position) else {
        return false;
    };
    let (previous, next) = (before.last(), after.first());
    match character {
        '\u{200c}' => is_in_some(VIRAMAS, previous) || joins(before, after),
        '\u{200d}' => is_in_some(VIRAMAS, previous),
        '\u{b7}' => previous == Some(&'l') && next == Some(&'l'),
        '\u{375}' => is_in_some(GREEK, next),
        '\u{5f3}' | '\u{5f4}' => is_in_some(HEBREW, previous),
        '\u{30fb}' => label.iter().any(|other| is_in(JAPANESE, *other)),
        '\u{660}'..='\u{669}' => !label.iter().any(|other| matches!(other, '\u{6f0}'..='\u{6f9}')),
        '\u{6f0}'..='\u{6f9}' => !label.iter().any(|other| matches!(other, '\u{660}'..='\u{669}')),
        _ => is_valid_anywhere(*character),
    }
}

fn is_in_some(ranges: &Ranges, character: Option<&char>) -> bool {
    character.is_some_and(|character| is_in(ranges, *character))
}

/// Appendix A.1: returns true if a joiner is between letters that join, ignoring marks.
fn joins(before: &[char], after: &[char]) -> bool {
    let is_letter = |character: &&char| !is_mark(**character);
    is_in_some(JOINS_NEXT, before.iter().rev().find(is_letter))
        && is_in_some(JOINS_PREVIOUS, after.iter().find(is_letter))
}

/// `PVALID` (section 3): lowercase letters, digits and marks, and the exceptions of section 2.6.
fn is_valid_anywhere(character: char) -> bool {
    match character {
        // The range is the uppercase Cherokee letters, since lowercase ones fold to them.
        '-' | '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{13a0}'..='\u{13f5}' => true,
        _ => is_lowercase_or_mark(character) && !is_in(DISALLOWED, character),
    }
}

fn is_lowercase_or_mark(character: char) -> bool {
    let is_lowercase = character.to_lowercase().eq([character]);
    (character.is_alphanumeric() && is_lowercase) || is_mark(character)
}
