//! JSON numbers by their text: order, and whether they are whole. Never rounds a whole number that
//! fits 128 bits.

use std::cmp::Ordering;

/// A number as it can be compared.
#[derive(Clone, Copy, Debug)]
enum Value {
    Whole(i128),
    Other(f64),
}

/// Which of two numbers is greater; numbers beyond `f64` are infinite.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    match (value(a), value(b)) {
        (Value::Whole(a), Value::Whole(b)) => a.cmp(&b),
        _ => as_f64(a).total_cmp(&as_f64(b)),
    }
}

/// Whether a number has no fraction: `1`, `1.0` and `1e2` have none.
pub(super) fn is_whole(text: &str) -> bool {
    match value(text) {
        Value::Whole(_) => true,
        Value::Other(number) => number.is_finite() && number.fract() == 0.0,
    }
}

/// A count such as a length: a whole number that is not negative.
pub(super) fn count(text: &str) -> Option<u64> {
    match value(text) {
        Value::Whole(number) => u64::try_from(number).ok(),
        Value::Other(_) => None,
    }
}

/// The nearest `f64`; never `-0.0`, which JSON Schema does not tell from zero.
pub(super) fn as_f64(text: &str) -> f64 {
    text.parse::<f64>().map_or(f64::NAN, |number| number + 0.0)
}

/// The least whole number on or above a bound, where it fits `i64`.
pub(super) fn ceiling(text: &str, exclusive: bool) -> Option<i64> {
    let least = match value(text) {
        Value::Whole(number) => number + i128::from(exclusive),
        Value::Other(number) => within_i64(number.ceil())?,
    };
    i64::try_from(least).ok()
}

/// The greatest whole number on or below a bound, where it fits `i64`.
pub(super) fn floor(text: &str, exclusive: bool) -> Option<i64> {
    let greatest = match value(text) {
        Value::Whole(number) => number - i128::from(exclusive),
        Value::Other(number) => within_i64(number.floor())?,
    };
    i64::try_from(greatest).ok()
}

fn value(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::Whole(number.into());
    }
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse().unwrap_or(i32::MAX)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let missing = usize::try_from(power).ok().and_then(|power| power.checked_sub(fraction.len()));
    let digits = match missing {
        Some(zeros) if zeros <= 40 => format!("{whole}{fraction}{}", "0".repeat(zeros)),
        _ => return Value::Other(as_f64(text)),
    };
    digits.parse().map_or(Value::Other(as_f64(text)), |number: i128| {
        if number.unsigned_abs() < u128::MAX / 4 {
            Value::Whole(number)
        } else {
            Value::Other(as_f64(text))
        }
    })
}

/// A whole `f64` as an integer, within the range of `i64`.
fn within_i64(number: f64) -> Option<i128> {
    format!("{number:.0}").parse().ok().filter(|number| i64::try_from(*number).is_ok())
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
        assert_eq!(floor("9223372036854775808", true), Some(i64::MAX));
        assert_eq!(floor("9223372036854775808", false), None);
        assert_eq!(ceiling("-1e300", false), None);
    }
}
