//! Which code points may stand where in a label (RFC 5892). How labels are decoded is not known here.

use super::tables::{
    GREEK, HEBREW, JAPANESE, JOINS_NEXT, JOINS_PREVIOUS, Ranges, UNSTABLE, VIRAMAS,
};
use super::{is_in, is_mark};

/// Whether the character at a place of a label may stand there: the rules of appendix A, and `PVALID`.
pub(super) fn is_allowed(label: &[char], place: usize) -> bool {
    let Some((before, [character, after @ ..])) = label.split_at_checked(place) else {
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

/// Appendix A.1: a joiner between letters that join, marks aside.
fn joins(before: &[char], after: &[char]) -> bool {
    let is_letter = |character: &&char| !is_mark(**character);
    is_in_some(JOINS_NEXT, before.iter().rev().find(is_letter))
        && is_in_some(JOINS_PREVIOUS, after.iter().find(is_letter))
}

/// `PVALID` (section 3): letters that are small, digits and marks, and the exceptions of section 2.6.
fn is_valid_anywhere(character: char) -> bool {
    match character {
        // The range is capital Cherokee letters: they are what small ones fold to.
        '-' | '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{13a0}'..='\u{13f5}' => true,
        _ => is_small_or_mark(character) && !is_in(UNSTABLE, character),
    }
}

fn is_small_or_mark(character: char) -> bool {
    let is_small = character.to_lowercase().eq([character]);
    (character.is_alphanumeric() && is_small) || is_mark(character)
}
