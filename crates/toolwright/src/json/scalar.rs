//! Numbers between text and memory, apart from any payload.

/// Numbers of at most so many digits are exact in a double.
const EXACT_DIGITS: usize = 15;

/// Powers of ten that are exact in a double, as far as short decimals need them.
pub(crate) const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The nearest finite double of a JSON number; beyond the largest double, the largest.
pub(crate) fn nearest_double(number: &str) -> f64 {
    short_double(number).unwrap_or_else(|| {
        // The grammar of JSON numbers is part of what `f64` reads, so the fallback is never taken.
        number.parse::<f64>().unwrap_or_default().clamp(f64::MIN, f64::MAX)
    })
}

/// A number of few digits without an exponent: both sides of the division are exact, so its result is the nearest
/// double.
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

/// The double of an integer.
#[expect(clippy::cast_precision_loss, reason = "callers pass integers of at most 15 digits")]
pub(crate) fn double(value: u64) -> f64 {
    value as f64
}

/// The integer below.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers pass what fits"
)]
pub(crate) fn whole(value: f64) -> u64 {
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
