//! Limits that a schema sets on one value: lengths, item counts, ranges.
//!
//! They are plain constants of generated code. What checks them is here too, for reading and writing alike.

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

use super::Pattern;
use super::issues::Issues;
use crate::issue::IssueKind;
use crate::json::{double_text, shortened};
use crate::value::{Integer, Number, repeated};

/// Limits of a string: its length in code points and its pattern.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    minimum: u64,
    maximum: u64,
    pattern: Option<&'static Pattern>,
}

impl Length {
    /// Any string.
    pub const ANY: Self = Self { minimum: 0, maximum: u64::MAX, pattern: None };

    /// At least this many code points.
    #[must_use]
    pub const fn at_least(self, minimum: u64) -> Self {
        Self { minimum, ..self }
    }

    /// At most this many code points.
    #[must_use]
    pub const fn at_most(self, maximum: u64) -> Self {
        Self { maximum, ..self }
    }

    /// A match of this pattern somewhere in the string.
    #[must_use]
    pub const fn matching(self, pattern: &'static Pattern) -> Self {
        Self { pattern: Some(pattern), ..self }
    }

    /// The least length in code points.
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The greatest length in code points, if there is one.
    pub const fn maximum(self) -> Option<u64> {
        unless_any(self.maximum)
    }

    /// The pattern as the schema has it, if there is one.
    pub const fn pattern(self) -> Option<&'static str> {
        match self.pattern {
            Some(pattern) => Some(pattern.ecma()),
            None => None,
        }
    }

    /// Whether the string is inside the limits; what is not is recorded.
    #[inline]
    pub(super) fn check(self, text: &str, issues: &mut Issues) -> bool {
        let fits = self.surely_fits(text.len() as u64);
        (fits || self.check_length(text, issues)) & self.check_pattern(text, issues)
    }

    /// A code point takes one to four bytes, so most strings need no counting.
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

    #[inline]
    fn check_pattern(self, text: &str, issues: &mut Issues) -> bool {
        self.pattern.is_none_or(|pattern| pattern.check(text, issues))
    }
}

/// A greatest count; the greatest that there is stands for none.
pub(super) const fn unless_any(maximum: u64) -> Option<u64> {
    if maximum == u64::MAX { None } else { Some(maximum) }
}

/// Limits of an array: how many items it has, and whether one may stand twice.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    minimum: u64,
    maximum: u64,
    unique: bool,
}

impl Items {
    /// Any number of items.
    pub const ANY: Self = Self { minimum: 0, maximum: u64::MAX, unique: false };

    /// At least this many items.
    #[must_use]
    pub const fn at_least(self, minimum: u64) -> Self {
        Self { minimum, ..self }
    }

    /// At most this many items.
    #[must_use]
    pub const fn at_most(self, maximum: u64) -> Self {
        Self { maximum, ..self }
    }

    /// No two items that are equal as JSON: `1` and `1.0` are (2020-12 core, 4.2.2).
    #[must_use]
    pub const fn unique(self) -> Self {
        Self { unique: true, ..self }
    }

    /// The least count.
    pub const fn minimum(self) -> u64 {
        self.minimum
    }

    /// The greatest count, if there is one.
    pub const fn maximum(self) -> Option<u64> {
        unless_any(self.maximum)
    }

    /// Whether no two items of an array are equal, if they may not be; otherwise that is recorded. `json` gives the array.
    pub(super) fn check_unique<'j>(
        self,
        json: impl FnOnce() -> &'j str,
        issues: &mut Issues,
    ) -> bool {
        let repeated = if self.unique { repeated(json()) } else { None };
        if let Some((first, second)) = repeated {
            issues.add(IssueKind::RepeatedItem { first, second });
        }
        repeated.is_none()
    }

    /// Whether the count is inside the limits; if not, it is recorded.
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

/// Limits of a number.
#[derive(Clone, Copy, Debug)]
pub struct Range<N> {
    low: Bound<N>,
    high: Bound<N>,
}

impl<N: Copy> Range<N> {
    /// Any number.
    pub const ANY: Self = Self { low: Bound::Unbounded, high: Bound::Unbounded };

    /// This number or more.
    #[must_use]
    pub const fn at_least(self, low: N) -> Self {
        Self { low: Bound::Included(low), high: self.high }
    }

    /// This number or less.
    #[must_use]
    pub const fn at_most(self, high: N) -> Self {
        Self { low: self.low, high: Bound::Included(high) }
    }

    /// More than this number.
    #[must_use]
    pub const fn above(self, low: N) -> Self {
        Self { low: Bound::Excluded(low), high: self.high }
    }

    /// Less than this number.
    #[must_use]
    pub const fn below(self, high: N) -> Self {
        Self { low: self.low, high: Bound::Excluded(high) }
    }
}

impl<N: Copy> Range<N> {
    /// The lower end; of an integer, that of its type where the range has none.
    pub const fn low(self) -> Bound<N> {
        self.low
    }

    /// The upper end; of an integer, that of its type where the range has none.
    pub const fn high(self) -> Bound<N> {
        self.high
    }
}

impl<N: Copy + PartialOrd> Range<N> {
    /// Whether a number is in the range.
    #[inline]
    pub fn holds(self, number: N) -> bool {
        (self.low, self.high).contains(&number)
    }
}

/// An integer type of the standard library that holds what `i64` or `u64` holds, or less.
pub trait StandardInteger: Copy + PartialOrd + TryFrom<i64> + TryFrom<i128> + Into<i128> {
    /// Its least value.
    const LEAST: Self;
    /// Its greatest value.
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
    /// The same range for integers of any size: one that the type does not hold is outside.
    #[cold]
    pub(super) fn within_type(self) -> Range<i128> {
        let or = |bound, end| if bound == Bound::Unbounded { Bound::Included(end) } else { bound };
        let (low, high) = (or(self.low, N::LEAST), or(self.high, N::GREATEST));
        Range { low: low.map(Into::into), high: high.map(Into::into) }
    }
}

impl<N: Copy + PartialOrd + Into<i128>> Range<N> {
    /// Whether an integer is in the range; if not, it is recorded.
    #[inline]
    pub(super) fn check_small(self, number: N, issues: &mut Issues) -> bool {
        self.holds(number) || self.refuse_small(number.into(), issues)
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
    /// Whether an integer of any size is in the range; if not, it is recorded.
    #[cold]
    pub(super) fn check(self, number: &Integer, issues: &mut Issues) -> bool {
        let (low, high) = (self.low.map(Integer::from), self.high.map(Integer::from));
        check(number, (low, high), || shortened(&number.to_string()), issues)
    }
}

impl Range<f64> {
    /// The same range, which ends with the largest doubles where it has no end.
    #[inline]
    pub(super) fn within_doubles(self) -> Self {
        let or = |bound, end| if bound == Bound::Unbounded { Bound::Included(end) } else { bound };
        Self { low: or(self.low, f64::MIN), high: or(self.high, f64::MAX) }
    }

    /// The double that stands for a number, which is given by its digits, if the number is in the range; otherwise that is
    /// recorded. The double is the nearest one in the range.
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

    /// A number that was rounded to a bound may lie on either side of it.
    #[cold]
    fn fit_exactly(self, nearest: f64, found: &str, issues: &mut Issues) -> Option<f64> {
        let side = Number::of_json(found).cmp(&nearest.number());
        let beside = match side {
            Ordering::Less => -next_up(-nearest),
            Ordering::Equal => nearest,
            Ordering::Greater => next_up(nearest),
        };
        let inside = self.check(beside, found, issues);
        inside.then_some(if self.holds(nearest) { nearest } else { beside })
    }

    /// Whether a number, found as this text, is in the range; if not, it is recorded.
    #[inline]
    pub(super) fn check(self, number: f64, found: &str, issues: &mut Issues) -> bool {
        self.holds(number) || check(&number, (self.low, self.high), || shortened(found), issues)
    }
}

/// The least double above a finite one. The standard library has it since Rust 1.86.
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

/// The number of a bound, for a sentence.
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
