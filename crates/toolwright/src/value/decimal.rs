//! [`Decimal`], the normal form of a decimal number: equal numbers have equal forms.
//!
//! Exponents are not expanded to zeros, so a number such as `1e999999999` takes little memory.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A number as sign, significant digits and power of ten: `digits × 10^exponent`.
///
/// The digits neither begin nor end with `0`; zero has no digits, no sign and the exponent 0. The scanner reads no
/// exponent of more than 38 digits, so sums of exponents and lengths fit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    digits: Cow<'a, str>,
    exponent: i128,
}

/// The largest exponent that the scanner reads, and the least is as far below zero.
const LARGEST_EXPONENT: i128 = 10_i128.pow(38) - 1;

impl<'a> Decimal<'a> {
    /// Parses a number that follows the JSON grammar.
    pub(crate) fn of(number: &'a str) -> Self {
        let unsigned = number.strip_prefix('-');
        let (mantissa, power) = split(unsigned.unwrap_or(number), &['e', 'E']);
        let (whole, fraction) = split(mantissa, &['.']);
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let significant = whole.trim_end_matches('0');
        let (digits, shift) = match (whole, fraction) {
            ("", "") => return Self { negative: false, digits: Cow::Borrowed(""), exponent: 0 },
            (_, "") => (significant.into(), signed(whole.len() - significant.len())),
            ("", _) => (fraction.trim_start_matches('0').into(), -signed(fraction.len())),
            _ => (Cow::Owned([whole, fraction].concat()), -signed(fraction.len())),
        };
        Self { negative: unsigned.is_some(), digits, exponent: exponent(power) + shift }
    }

    pub(crate) fn into_owned(self) -> Decimal<'static> {
        let Self { negative, digits, exponent } = self;
        Decimal { negative, digits: digits.into_owned().into(), exponent }
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns true if the number is an integer times `divisor`, which must be above zero. The cost is proportional to
    /// [`division_steps`](Self::division_steps).
    pub(crate) fn is_multiple_of(&self, divisor: &Self) -> bool {
        // Digits do not end with a zero, so a divisor with a higher power of ten only divides zero.
        let power = self.exponent.saturating_sub(divisor.exponent);
        if self.is_zero() || power < 0 {
            return self.is_zero();
        }
        let zeros = usize::try_from(power).unwrap_or(usize::MAX).min(divisor.decisive_zeros());
        let digits = self.digits.bytes().chain(std::iter::repeat_n(b'0', zeros));
        let divisor: Vec<u8> = [b'0'].into_iter().chain(divisor.digits.bytes()).collect();
        // Long division: `rest` has one digit more than the divisor's digits.
        let mut rest = vec![b'0'; divisor.len()];
        for digit in digits {
            rest.rotate_left(1);
            if let Some(last) = rest.last_mut() {
                *last = digit;
            }
            while rest >= divisor {
                subtract(&mut rest, &divisor);
            }
        }
        rest.iter().all(|digit| *digit == b'0')
    }

    /// The approximate number of steps to divide a number with `digits` digits by this one.
    pub(crate) fn division_steps(&self, digits: usize) -> usize {
        digits.saturating_add(self.decisive_zeros()).saturating_mul(self.digits.len())
    }

    /// The number of trailing zeros of a dividend that can decide whether this number divides it. Each zero adds a
    /// factor of 2 and of 5, and a number has at most four such factors for each of its digits.
    fn decisive_zeros(&self) -> usize {
        4 * self.digits.len()
    }

    /// Returns the number without an exponent, if it is an integer of at most `longest` digits.
    pub(crate) fn written_out(&self, longest: usize) -> Option<String> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        if self.digits.len().saturating_add(zeros) > longest {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        Some(format!("{sign}{}{}", self.digits, "0".repeat(zeros)))
    }

    /// Returns the number as an integer and a power of ten; if the scanner would not read that exponent, with zeros at an end.
    pub(crate) fn scientific(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let exponent = self.exponent.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT);
        let zeros = |count: i128| "0".repeat(usize::try_from(count).unwrap_or_default());
        let (left, right) = (zeros(exponent - self.exponent), zeros(self.exponent - exponent));
        let (places, digits) = (left.len(), format!("{left}{}{right}", self.digits));
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let whole = if places == 0 { whole } else { whole.trim_start_matches('0') };
        match (whole, fraction) {
            ("", _) => format!("{sign}0.{fraction}e{exponent}"),
            (_, "") => format!("{sign}{whole}e{exponent}"),
            _ => format!("{sign}{whole}.{fraction}e{exponent}"),
        }
    }

    /// The decimal position of the first digit, which compares numbers before their digits do.
    fn magnitude(&self) -> i128 {
        self.exponent.saturating_add(signed(self.digits.len()))
    }

    fn compare_unsigned(&self, other: &Self) -> Ordering {
        let sizes = self.magnitude().cmp(&other.magnitude());
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => sizes.then_with(|| self.digits.cmp(&other.digits)),
            (mine, theirs) => theirs.cmp(&mine),
        }
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_unsigned(other),
            (true, true) => other.compare_unsigned(self),
            (mine, theirs) => theirs.cmp(&mine),
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Subtracts a number from a greater or equal one with as many digits.
fn subtract(from: &mut [u8], number: &[u8]) {
    let mut borrowed = 0;
    for (digit, less) in from.iter_mut().zip(number).rev() {
        let less = less - b'0' + borrowed;
        borrowed = u8::from(*digit - b'0' < less);
        *digit = *digit + 10 * borrowed - less;
    }
}

fn split<'a>(text: &'a str, separators: &[char]) -> (&'a str, &'a str) {
    text.split_once(separators).unwrap_or((text, ""))
}

fn exponent(text: &str) -> i128 {
    if text.is_empty() { 0 } else { text.parse().expect("an exponent of at most 38 digits") }
}

fn signed(length: usize) -> i128 {
    i128::try_from(length).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use crate::Value;

    #[test]
    fn numbers_at_the_largest_exponents_are_written_as_they_can_be_read() {
        let nines = "9".repeat(38);
        for (number, expected) in [
            (format!("100e{nines}"), format!("100e{nines}")),
            (format!("-1230e{nines}"), format!("-1230e{nines}")),
            (format!("0.012e-{nines}"), format!("0.012e-{nines}")),
            (format!("-45.678e-{nines}"), format!("-45.678e-{nines}")),
            (format!("0.9e-{nines}"), format!("0.9e-{nines}")),
            (format!("7e{nines}"), format!("7e{nines}")),
            ("12e3".to_owned(), "12e3".to_owned()),
        ] {
            let written = Decimal::of(&number).scientific();
            assert_eq!(written, expected);
            assert_eq!(Decimal::of(&written), Decimal::of(&number));
            written.parse::<Value>().expect("it can be read");
        }
    }
}
