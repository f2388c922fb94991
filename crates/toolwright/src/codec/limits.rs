//! The limits of a schema on one value: lengths, item counts, ranges.
//!
//! Generated code has them as constants. Readers and writers share their checks, which are here too.

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

use super::Pattern;
use super::issues::Issues;
use crate::issue::IssueKind;
use crate::json::{double_text, shortened};
use crate::value::{Integer, Number, repeated_items};

/// The limits of a string: its length in code points and its pattern.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    minimum: u64,
    maximum: u64,
    pattern: Option<&'static Pattern>,
}

impl Length {
    /// Any string.
    pub const ANY: Self = Self { minimum: 0, maximum: u64::MAX, pattern: None };

    /// A string with this many code points, inclusively.
    #[must_use]
    pub const fn between(minimum: u64, maximum: u64) -> Self {
        Self { minimum, maximum, pattern: None }
    }

    /// Sets the minimum number of code points.
    #[must_use]
    pub const fn at_least(self, minimum: u64) -> Self {
        Self { minimum, ..self }
    }

    /// Sets the maximum number of code points.
    #[must_use]
    pub const fn at_most(self, maximum: u64) -> Self {
        Self { maximum, ..self }
    }

    /// Sets the pattern, which must match somewhere in the string.
    #[must_use]
    pub const fn matching(self, pattern: &'static Pattern) -> Self {
        Self { pattern: Some(pattern), ..self }
    }

    /// The minimum length in code points.
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The maximum length in code points, if there is one.
    pub const fn maximum(self) -> Option<u64> {
        unless_any(self.maximum)
    }

    /// The pattern as written in the schema, if there is one.
    pub const fn pattern(self) -> Option<&'static str> {
        match self.pattern {
            Some(pattern) => Some(pattern.ecma()),
            None => None,
        }
    }

    /// Returns true if the string is within the limits; otherwise records the issues.
    #[inline]
    pub(super) fn check(self, text: &str, issues: &mut Issues) -> bool {
        if self.surely_fits(text.len() as u64) || self.check_length(text, issues) {
            return self.pattern.is_none_or(|pattern| pattern.check(text, issues));
        }
        if let Some(pattern) = self.pattern {
            pattern.check_refused(text, issues);
        }
        false
    }

    /// A code point takes one to four bytes, so most strings need not be counted.
    #[inline]
    fn surely_fits(self, bytes: u64) -> bool {
        bytes.div_ceil(4) >= self.minimum && bytes <= self.maximum
    }

    fn check_length(self, text: &str, issues: &mut Issues) -> bool {
        let length = text.chars().count() as u64;
        if length < self.minimum {
            issues.add(IssueKind::TooShort { minimum: self.minimum, length });
        } else if length > self.maximum {
            issues.add(IssueKind::TooLong { maximum: self.maximum, length });
        }
        (self.minimum..=self.maximum).contains(&length)
    }
}

/// Returns a maximum, or `None` for `u64::MAX`, which means that there is none.
pub(super) const fn unless_any(maximum: u64) -> Option<u64> {
    if maximum == u64::MAX { None } else { Some(maximum) }
}

/// The limits of an array: the number of items, and whether they must be unique.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    minimum: u64,
    maximum: u64,
    unique: bool,
}

impl Items {
    /// Any number of items.
    pub const ANY: Self = Self { minimum: 0, maximum: u64::MAX, unique: false };

    /// An array with this many items, inclusively.
    #[must_use]
    pub const fn between(minimum: u64, maximum: u64) -> Self {
        Self { minimum, maximum, unique: false }
    }

    /// Sets the minimum number of items.
    #[must_use]
    pub const fn at_least(self, minimum: u64) -> Self {
        Self { minimum, ..self }
    }

    /// Sets the maximum number of items.
    #[must_use]
    pub const fn at_most(self, maximum: u64) -> Self {
        Self { maximum, ..self }
    }

    /// Requires that no two items are equal as JSON: `1` and `1.0` are equal (2020-12 core, section 4.2.2).
    #[must_use]
    pub const fn unique(self) -> Self {
        Self { unique: true, ..self }
    }

    /// The minimum number of items.
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The maximum number of items, if there is one.
    pub const fn maximum(self) -> Option<u64> {
        unless_any(self.maximum)
    }

    /// Returns true if the items may repeat or are unique; otherwise records the issue. `json` returns the text of the
    /// array.
    pub(super) fn check_unique<'j>(
        self,
        json: impl FnOnce() -> &'j str,
        issues: &mut Issues,
    ) -> bool {
        if !self.unique {
            return true;
        }
        let repeated = repeated_items(json(), |steps| issues.spend(steps));
        if let Some((first, second)) = repeated {
            issues.add(IssueKind::RepeatedItem { first, second });
        }
        repeated.is_none() && !issues.has_given_up()
    }

    /// Returns true if the number of items is within the limits; otherwise records the issue.
    pub(super) fn check(self, items: usize, issues: &mut Issues) -> bool {
        let length = items as u64;
        if length < self.minimum {
            issues.add(IssueKind::TooFewItems { minimum: self.minimum, length });
        } else if length > self.maximum {
            issues.add(IssueKind::TooManyItems { maximum: self.maximum, length });
        }
        (self.minimum..=self.maximum).contains(&length)
    }
}

/// The limits of a number.
#[derive(Clone, Copy, Debug)]
pub struct Range<N> {
    low: Bound<N>,
    high: Bound<N>,
}

impl<N: Copy> Range<N> {
    /// Any number.
    pub const ANY: Self = Self { low: Bound::Unbounded, high: Bound::Unbounded };

    /// A number from `low` to `high`, inclusively.
    #[must_use]
    pub const fn between(low: N, high: N) -> Self {
        Self { low: Bound::Included(low), high: Bound::Included(high) }
    }

    /// Sets an inclusive minimum.
    #[must_use]
    pub const fn at_least(self, low: N) -> Self {
        Self { low: Bound::Included(low), high: self.high }
    }

    /// Sets an inclusive maximum.
    #[must_use]
    pub const fn at_most(self, high: N) -> Self {
        Self { low: self.low, high: Bound::Included(high) }
    }

    /// Sets an exclusive minimum.
    #[must_use]
    pub const fn above(self, low: N) -> Self {
        Self { low: Bound::Excluded(low), high: self.high }
    }

    /// Sets an exclusive maximum.
    #[must_use]
    pub const fn below(self, high: N) -> Self {
        Self { low: self.low, high: Bound::Excluded(high) }
    }
}

impl<N: Copy> Range<N> {
    /// The lower bound. For an integer, unbounded means the minimum of its type.
    pub const fn low(self) -> Bound<N> {
        self.low
    }

    /// The upper bound. For an integer, unbounded means the maximum of its type.
    pub const fn high(self) -> Bound<N> {
        self.high
    }
}

impl<N: Copy + PartialOrd> Range<N> {
    /// Returns true if a number is in the range.
    #[inline]
    pub fn contains(self, number: N) -> bool {
        (self.low, self.high).contains(&number)
    }
}

/// An integer type of the standard library with at most 64 bits.
pub trait StandardInteger: Copy + PartialOrd + TryFrom<i64> + TryFrom<i128> + Into<i128> {
    /// The minimum of the type.
    const LEAST: Self;
    /// The maximum of the type.
    const GREATEST: Self;
}

macro_rules! standard_integers {
    ($($name:ident)*) => {$(
        impl StandardInteger for $name {
            const LEAST: Self = Self::MIN;
            const GREATEST: Self = Self::MAX;
        }
    )*};
}

standard_integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl<N: StandardInteger> Range<N> {
    /// Returns the same range for integers of any size, with the bounds of the type in place of missing ones.
    #[cold]
    pub(super) fn within_type(self) -> Range<i128> {
        let or = |bound, end| if bound == Bound::Unbounded { Bound::Included(end) } else { bound };
        let (low, high) = (or(self.low, N::LEAST), or(self.high, N::GREATEST));
        Range { low: low.map(Into::into), high: high.map(Into::into) }
    }
}

impl<N: Copy + PartialOrd + Into<i128>> Range<N> {
    /// Returns true if an integer is in the range; otherwise records the issue.
    #[inline]
    pub(super) fn check_small(self, number: N, issues: &mut Issues) -> bool {
        self.contains(number) || self.refuse_small(number.into(), issues)
    }
}

impl<N: Copy + Into<i128>> Range<N> {
    #[cold]
    fn refuse_small(self, number: i128, issues: &mut Issues) -> bool {
        let ends = (self.low.map(Into::into), self.high.map(Into::into));
        check(&number, ends, || number.to_string(), issues)
    }
}

impl Range<i128> {
    /// Returns true if an integer of any size is in the range; otherwise records the issue.
    #[cold]
    pub(super) fn check(self, number: &Integer, issues: &mut Issues) -> bool {
        let (low, high) = (self.low.map(Integer::from), self.high.map(Integer::from));
        check(number, (low, high), || shortened(&number.to_string()), issues)
    }
}

impl Range<f64> {
    /// Returns the same range, with the bounds of `f64` in place of missing ones.
    #[inline]
    #[must_use]
    pub const fn within_doubles(self) -> Self {
        let low = match self.low {
            Bound::Unbounded => Bound::Included(f64::MIN),
            low => low,
        };
        let high = match self.high {
            Bound::Unbounded => Bound::Included(f64::MAX),
            high => high,
        };
        Self { low, high }
    }

    /// Returns the `f64` in the range that is nearest to a number, if the number is in the range; otherwise records the
    /// issue. `found` is the number's text, and `nearest` is the `f64` that is nearest to it.
    #[inline]
    pub(super) fn fit(self, nearest: f64, found: &str, issues: &mut Issues) -> Option<f64> {
        let touches = |bound: Bound<f64>| match bound {
            Bound::Included(bound) | Bound::Excluded(bound) => {
                bound.partial_cmp(&nearest) == Some(Ordering::Equal)
            }
            Bound::Unbounded => false,
        };
        if touches(self.low) || touches(self.high) {
            return self.fit_exactly(nearest, found, issues);
        }
        self.check(nearest, found, issues).then_some(nearest)
    }

    /// Handles a number that was rounded to a bound: the exact number may be on either side of it.
    #[cold]
    fn fit_exactly(self, nearest: f64, found: &str, issues: &mut Issues) -> Option<f64> {
        let beside = match Number::of_json(found).cmp(&nearest.number()) {
            Ordering::Less => -next_up(-nearest),
            Ordering::Equal => return self.check(nearest, found, issues).then_some(nearest),
            Ordering::Greater => next_up(nearest),
        };
        // A number between two neighbors is also in the range if the range excludes them.
        let ends = self.with_ends();
        let neighbors = [nearest, beside];
        if let Some(outside) = neighbors.into_iter().find(|double| !ends.contains(*double)) {
            self.check(outside, found, issues);
            return None;
        }
        let inside = neighbors.into_iter().find(|double| self.contains(*double));
        // If the range has no double, only a type that keeps the digits has it.
        inside.or(Some(nearest))
    }

    /// Returns the same range, with the bounds that it excludes.
    fn with_ends(self) -> Self {
        let included = |bound| match bound {
            Bound::Excluded(bound) => Bound::Included(bound),
            bound => bound,
        };
        Self { low: included(self.low), high: included(self.high) }
    }

    /// Returns true if a number is in the range; otherwise records the issue. `found` is the number's text.
    #[inline]
    pub(super) fn check(self, number: f64, found: &str, issues: &mut Issues) -> bool {
        self.contains(number) || check(&number, (self.low, self.high), || shortened(found), issues)
    }
}

/// Returns the smallest `f64` above a finite one. The standard library has this function since Rust 1.86.
fn next_up(number: f64) -> f64 {
    const LEAST: u64 = 1;
    let bits = number.to_bits();
    f64::from_bits(if number == 0.0 {
        LEAST
    } else if number > 0.0 {
        bits + 1
    } else {
        bits - 1
    })
}

/// A bound that can be shown in an issue.
trait Limit: PartialOrd + Clone {
    fn number(&self) -> Number;
}

impl Limit for i128 {
    fn number(&self) -> Number {
        Number::from(*self)
    }
}

impl Limit for Integer {
    fn number(&self) -> Number {
        Number::from(self.clone())
    }
}

impl Limit for f64 {
    fn number(&self) -> Number {
        if self.is_finite() { Number::of_json(&double_text(*self)) } else { Number::default() }
    }
}

#[cold]
fn check<N: Limit>(
    number: &N,
    (low, high): (Bound<N>, Bound<N>),
    found: impl FnOnce() -> String,
    issues: &mut Issues,
) -> bool {
    let broken = match (&low, &high) {
        (Bound::Included(minimum) | Bound::Excluded(minimum), _)
            if !(low.as_ref(), Bound::Unbounded).contains(number) =>
        {
            let exclusive = matches!(low, Bound::Excluded(_));
            IssueKind::BelowMinimum { minimum: minimum.number(), exclusive, found: found() }
        }
        (_, Bound::Included(maximum) | Bound::Excluded(maximum))
            if !(Bound::Unbounded, high.as_ref()).contains(number) =>
        {
            let exclusive = matches!(high, Bound::Excluded(_));
            IssueKind::AboveMaximum { maximum: maximum.number(), exclusive, found: found() }
        }
        _ => return true,
    };
    issues.add(broken);
    false
}
