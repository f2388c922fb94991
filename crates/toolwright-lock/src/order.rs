//! Compares the ranges of two versions.

use std::cmp::Ordering;

use toolwright_codegen::internal::values::End;

/// How a set of values compares to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    /// The new set is a part of the old one.
    Tightened,
    /// The old set is a part of the new one.
    Loosened,
    /// Neither is a part of the other.
    Changed,
}

impl Shift {
    /// Compares two sets of which it is known whether one has values that the other has not.
    pub(crate) fn of(has_lost: bool, has_gained: bool) -> Option<Self> {
        match (has_lost, has_gained) {
            (false, false) => None,
            (true, false) => Some(Self::Tightened),
            (false, true) => Some(Self::Loosened),
            (true, true) => Some(Self::Changed),
        }
    }
}

/// Compares the ranges of numbers between two ends.
pub(crate) fn ranges(old: [Option<&End>; 2], new: [Option<&End>; 2]) -> Option<Shift> {
    let lower = compare(old[0], new[0], Ordering::Greater);
    let upper = compare(old[1], new[1], Ordering::Less);
    let has = |order| lower == order || upper == order;
    Shift::of(has(Ordering::Less), has(Ordering::Greater))
}

/// Returns whether the new end leaves fewer values ([`Ordering::Less`]) or more. `inwards` is the order of an end that lies further
/// inside a range.
fn compare(old: Option<&End>, new: Option<&End>, inwards: Ordering) -> Ordering {
    match (old, new) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some((old, was_excluded)), Some((new, is_excluded))) => match new.cmp(old) {
            Ordering::Equal => was_excluded.cmp(is_excluded),
            order if order == inwards => Ordering::Less,
            _ => Ordering::Greater,
        },
    }
}

/// Compares counts between two limits.
pub(crate) fn counts(old: [Option<u64>; 2], new: [Option<u64>; 2]) -> Option<Shift> {
    let limits = |[least, most]: [Option<u64>; 2]| (least.unwrap_or(0), most.unwrap_or(u64::MAX));
    let (old, new) = (limits(old), limits(new));
    Shift::of(new.0 > old.0 || new.1 < old.1, new.0 < old.0 || new.1 > old.1)
}

#[cfg(test)]
mod tests {
    use super::{End, Shift, counts, ranges};

    #[test]
    fn ranges_are_compared_by_their_exact_ends() {
        let end = |text: &str, is_excluded| -> End {
            let value: toolwright::Value = text.parse().unwrap();
            (value.as_number().unwrap().clone(), is_excluded)
        };
        let (one, above_one, two) = (end("1.0", false), end("1", true), end("2", false));
        assert_eq!(ranges([Some(&one), None], [Some(&end("1e0", false)), None]), None);
        assert_eq!(ranges([Some(&one), None], [Some(&above_one), None]), Some(Shift::Tightened));
        assert_eq!(ranges([Some(&two), None], [Some(&above_one), None]), Some(Shift::Loosened));
        assert_eq!(ranges([None, Some(&one)], [None, Some(&two)]), Some(Shift::Loosened));
        assert_eq!(ranges([None, Some(&one)], [Some(&one), Some(&two)]), Some(Shift::Changed));
        assert_eq!(ranges([None, None], [Some(&one), None]), Some(Shift::Tightened));
    }

    #[test]
    fn absent_counts_are_zero_and_any_number() {
        assert_eq!(counts([None, None], [Some(0), None]), None);
        assert_eq!(counts([None, Some(2)], [Some(1), Some(2)]), Some(Shift::Tightened));
        assert_eq!(counts([Some(1), Some(2)], [None, Some(3)]), Some(Shift::Loosened));
        assert_eq!(counts([Some(1), Some(2)], [Some(2), Some(3)]), Some(Shift::Changed));
    }
}
