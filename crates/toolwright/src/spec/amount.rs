//! Parses amounts of money such as `0.5` in schema files and agent files.

use std::fmt;

/// The error for a text that is not an amount above zero with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountError;

/// Parses an amount of money, whatever its currency, to millionths.
///
/// ```
/// use toolwright::spec::parse_amount;
///
/// assert_eq!(parse_amount("0.25"), Ok(250_000));
/// assert_eq!(
///     parse_amount("-1").unwrap_err().to_string(),
///     "expected an amount above zero with at most six decimals, such as 2 or 0.25"
/// );
/// ```
///
/// # Errors
///
/// If the text is not of this form, is zero, or exceeds `u64::MAX` millionths.
pub fn parse_amount(text: &str) -> Result<u64, AmountError> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return Err(AmountError);
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 6 {
        return Err(AmountError);
    }
    let whole: u64 = whole.parse().map_err(|_| AmountError)?;
    let decimals: u64 = format!("{decimals:0<6}").parse().map_err(|_| AmountError)?;
    let amount = whole.checked_mul(1_000_000).and_then(|amount| amount.checked_add(decimals));
    amount.filter(|&amount| amount > 0).ok_or(AmountError)
}

impl AmountError {
    /// The expected text, for error messages.
    #[doc(hidden)]
    pub const EXPECTED: &str = "an amount above zero with at most six decimals, such as 2 or 0.25";
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", Self::EXPECTED)
    }
}

impl std::error::Error for AmountError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_positive_decimal_number() {
        for (text, millionths) in [
            ("1", 1_000_000),
            ("0.5", 500_000),
            ("0.000001", 1),
            ("2.50", 2_500_000),
            ("2.0", 2_000_000),
            ("2.5000000000", 2_500_000),
            ("18446744073709.551615", u64::MAX),
        ] {
            assert_eq!(parse_amount(text), Ok(millionths), "{text}");
        }
        for text in [
            "",
            "0",
            "0.0",
            ".5",
            "1.",
            "-1",
            "+1",
            "1e3",
            "0.0000001",
            "1,5",
            "$1",
            "18446744073709.551616",
        ] {
            assert_eq!(parse_amount(text), Err(AmountError), "{text}");
        }
    }
}
