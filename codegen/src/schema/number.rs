//! Compares and rounds JSON numbers in text form, exactly, with the contract's numbers.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use toolwright::value::Number;

/// The values that `i64` or `u64` holds.
const STANDARD: RangeInclusive<i128> = i64::MIN as i128..=u64::MAX as i128;

/// Compares two numbers.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => number(a).cmp(&number(b)),
    }
}

/// Returns whether a number has no fraction: `1`, `1.0` and `1e2` have none.
pub(super) fn is_whole(text: &str) -> bool {
    text.parse::<i64>().is_ok() || number(text).is_integer()
}

/// Returns a whole number as an integer, if it fits `i64` or `u64`.
pub fn whole(text: &str) -> Option<i128> {
    if is_whole(text) { ceiling(text, false) } else { None }
}

/// Parses a count such as a length: a whole number that is not negative.
pub(super) fn count(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| number(text).as_u64())
}

/// Returns the text that is the same for all notations of a number, and only for these.
pub(super) fn canonical(text: &str) -> String {
    number(text).to_canonical()
}

/// Returns the nearest `f64`, but never `-0.0`, because JSON Schema does not distinguish it from zero.
pub fn as_f64(text: &str) -> f64 {
    text.parse::<f64>().map_or(f64::NAN, |number| number + 0.0)
}

/// Returns whether the nearest double, in its shortest notation, is the same number. This is true for `0.1`.
pub fn is_double(text: &str) -> bool {
    Number::try_from(as_f64(text)).is_ok_and(|double| double == number(text))
}

/// Returns the place of the last digit of a number as a power of ten: `-2` for `0.25`, `0` for `7`.
pub fn last_place(text: &str) -> Option<i32> {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction).ok()?)
}

/// Returns the least whole number that a lower bound allows, if it fits `i64` or `u64`.
pub(super) fn ceiling(text: &str, exclusive: bool) -> Option<i128> {
    let least = match text.parse::<i64>() {
        Ok(whole) => i128::from(whole) + i128::from(exclusive),
        Err(_) => least(text, exclusive)?,
    };
    STANDARD.contains(&least).then_some(least)
}

/// Returns the greatest whole number that an upper bound allows, if it fits `i64` or `u64`.
pub(super) fn floor(text: &str, exclusive: bool) -> Option<i128> {
    if let Ok(whole) = text.parse::<i64>() {
        let greatest = i128::from(whole) - i128::from(exclusive);
        return STANDARD.contains(&greatest).then_some(greatest);
    }
    // The numbers below a bound are the negatives of those above the negative bound.
    let negative = text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned);
    let greatest = -least(&negative, exclusive)?;
    STANDARD.contains(&greatest).then_some(greatest)
}

/// Returns the least whole number that a lower bound allows, if it has at most about 64 bits.
fn least(text: &str, exclusive: bool) -> Option<i128> {
    let bound = number(text);
    let is_inside = |candidate: i128| match Number::from(candidate).cmp(&bound) {
        Ordering::Less => false,
        Ordering::Equal => !exclusive,
        Ordering::Greater => true,
    };
    let (mut low, mut high) = (-(1 << 64), 1 << 64);
    if is_inside(low) || !is_inside(high) {
        return None;
    }
    // `low` is outside, `high` is inside.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_inside(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

fn number(text: &str) -> Number {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{ceiling, compare, count, floor, is_whole};

    #[test]
    fn whole_numbers_are_compared_exactly() {
        assert_eq!(compare("9007199254740993", "9007199254740992"), Ordering::Greater);
        assert_eq!(compare("1.0", "1"), Ordering::Equal);
        assert_eq!(compare("-0", "0.0"), Ordering::Equal);
        assert_eq!(compare("1.5", "2"), Ordering::Less);
        assert_eq!(compare("1e400", "1e300"), Ordering::Greater);
    }

    #[test]
    fn a_number_is_whole_by_value_and_not_by_notation() {
        let cases =
            [("1.0", true), ("1e2", true), ("1.50e1", true), ("1.5", false), ("1e-1", false)];
        for (text, expected) in cases {
            assert_eq!(is_whole(text), expected, "{text}");
        }
        assert_eq!(count("3.0"), Some(3));
        assert_eq!(count("-1"), None);
    }

    #[test]
    fn bounds_of_integers_are_rounded_inwards() {
        assert_eq!((ceiling("1.5", false), floor("1.5", true)), (Some(2), Some(1)));
        assert_eq!((ceiling("1", true), floor("1", true)), (Some(2), Some(0)));
        assert_eq!(floor("9223372036854775808", true), Some(i64::MAX.into()));
        assert_eq!(floor("18446744073709551615", false), Some(u64::MAX.into()));
        assert_eq!(floor("18446744073709551616", false), None);
        assert_eq!(ceiling("-9223372036854775809", false), None);
        assert_eq!(ceiling("-1e300", false), None);
    }
}
