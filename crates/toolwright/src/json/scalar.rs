//! Conversions of numbers from text to `f64`.

/// An `f64` holds every integer of at most this many digits exactly.
const EXACT_DIGITS: usize = 15;

/// The powers of ten that short decimals need, all exact in an `f64`.
pub(crate) const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the finite `f64` that is nearest to a JSON number.
pub(crate) fn nearest_double(number: &str) -> f64 {
    short_double(number).unwrap_or_else(|| {
        // `f64` parses every JSON number, so the default is never used.
        number.parse::<f64>().unwrap_or_default().clamp(f64::MIN, f64::MAX)
    })
}

/// Returns the nearest `f64` of a short number without an exponent. Dividend and divisor are exact, so the result is
/// the nearest.
fn short_double(number: &str) -> Option<f64> {
    let unsigned = number.strip_prefix('-').unwrap_or(number);
    if unsigned.len() > EXACT_DIGITS {
        return None;
    }
    let (mut digits, mut places, mut step) = (0_u64, 0, 0);
    for byte in unsigned.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                places += step;
            }
            b'.' => step = 1,
            _ => return None,
        }
    }
    let value = double(digits) / POWERS_OF_TEN[places];
    Some(if unsigned.len() < number.len() { -value } else { value })
}

/// Converts an integer to an `f64`.
#[expect(clippy::cast_precision_loss, reason = "callers pass integers of at most 15 digits")]
pub(crate) fn double(value: u64) -> f64 {
    value as f64
}

/// Rounds down to an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers pass numbers that fit"
)]
pub(crate) fn floor(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_the_doubles_that_the_standard_library_reads() {
        let mut texts: Vec<String> =
            (0..20_000).map(|n| format!("{}.{:03}", n / 7, n % 1000)).collect();
        texts.extend(
            ["0", "-0", "-0.0", "0.1", "123456789012345", "0.0000000000001", "1e5", "1E-2"]
                .map(String::from),
        );
        texts.extend(
            ["9007199254740993", "0.30000000000000004", "12345678901234.5"].map(String::from),
        );
        for text in texts {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(nearest_double(&text).to_bits(), expected.to_bits(), "{text}");
        }
    }
}
