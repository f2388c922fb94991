//! The normal form of a decimal number: equal numbers have equal forms.
//!
//! No exponent is ever written out, so a short text such as `1e999999999` stays small.

use std::cmp::Ordering;

/// A number as sign, significant digits and power of ten: `digits × 10^exponent`.
///
/// The digits neither begin nor end with `0`; zero has none, no sign and the exponent 0.
/// Exponents beyond 38 digits are cut to the largest that fits: no two such numbers are told apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    /// Reads a number that is known to follow the JSON grammar.
    pub(crate) fn of(number: &str) -> Self {
        let unsigned = number.strip_prefix('-');
        let (mantissa, power) = split(unsigned.unwrap_or(number), &['e', 'E']);
        let (whole, fraction) = split(mantissa, &['.']);
        let written = format!("{whole}{fraction}");
        let digits = written.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        let zeros = written.len() - written.trim_end_matches('0').len();
        let shift = signed(zeros) - signed(fraction.len());
        Self {
            negative: unsigned.is_some(),
            digits: digits.to_owned(),
            exponent: exponent(power).saturating_add(shift),
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether [`is_multiple_of`](Self::is_multiple_of) can divide by the number: it is above zero and has at most 19
    /// digits.
    pub(crate) fn is_divisor(&self) -> bool {
        !self.negative && self.digits.parse::<u64>().is_ok()
    }

    /// Whether the number is a divisor times an integer.
    pub(crate) fn is_multiple_of(&self, divisor: &Self) -> bool {
        let Ok(digits) = divisor.digits.parse::<u64>() else { return false };
        // Digits never end with a zero, so a divisor of a higher power of ten fits nothing but zero.
        let power = self.exponent.saturating_sub(divisor.exponent);
        if self.digits.is_empty() || power < 0 {
            return self.digits.is_empty();
        }
        let divisor = u128::from(digits);
        let digit = |byte: u8| u128::from(byte - b'0');
        let rest = self.digits.bytes().fold(0, |rest, byte| (rest * 10 + digit(byte)) % divisor);
        (rest * power_of_ten(power.unsigned_abs(), divisor)).is_multiple_of(divisor)
    }

    /// The number written out, if it is an integer of at most `longest` digits.
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

    /// The number as digits and a power of ten, both integers.
    pub(crate) fn scientific(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent)
    }

    /// The place of the first digit: the size of the number, whatever its digits are.
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

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_unsigned(other),
            (true, true) => other.compare_unsigned(self),
            (mine, theirs) => theirs.cmp(&mine),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What is left of a power of ten after division by a number that fits 64 bits.
fn power_of_ten(exponent: u128, divisor: u128) -> u128 {
    let (mut power, mut base, mut exponent) = (1 % divisor, 10 % divisor, exponent);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power * base % divisor;
        }
        base = base * base % divisor;
        exponent /= 2;
    }
    power
}

fn split<'a>(text: &'a str, separators: &[char]) -> (&'a str, &'a str) {
    text.split_once(separators).unwrap_or((text, ""))
}

fn exponent(text: &str) -> i128 {
    let beyond = if text.starts_with('-') { i128::MIN } else { i128::MAX };
    if text.is_empty() { 0 } else { text.parse().unwrap_or(beyond) }
}

fn signed(length: usize) -> i128 {
    i128::try_from(length).unwrap_or(i128::MAX)
}
