//! Resolves plain scalars, which have no quotes, by the core schema (YAML 1.2.2, section 10.3.2).

use toolwright::value::Number;

use super::Value;

/// Resolves a plain scalar; returns a message if it is a number that JSON cannot represent.
pub(super) fn resolve(text: &str) -> Result<Value, String> {
    if let Some(value) = word(text) {
        return Ok(value);
    }
    let number = number(text)?;
    Ok(number.map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

/// Returns whether a plain scalar is a string.
pub(super) fn is_string(text: &str) -> bool {
    word(text).is_none() && matches!(number(text), Ok(None))
}

fn word(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Boolean(true),
        "false" | "False" | "FALSE" => Value::Boolean(false),
        _ => return None,
    })
}

fn number(text: &str) -> Result<Option<String>, String> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '+' | '-')) {
        return Ok(None);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(text, digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(text, digits, 8);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let not_finite = [".inf", ".Inf", ".INF"].contains(&rest);
    if not_finite || [".nan", ".NaN", ".NAN"].contains(&text) {
        return Err(format!("`{text}` is a number that JSON cannot represent"));
    }
    let Some(number) = decimal(rest) else { return Ok(None) };
    if number.parse::<Number>().is_err() {
        return Err("an exponent of more than 38 digits, which no payload may have".to_owned());
    }
    Ok(Some(format!("{sign}{number}")))
}

fn radix(text: &str, digits: &str, radix: u32) -> Result<Option<String>, String> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Ok(None);
    }
    let too_large = |_| format!("`{text}` is larger than 128 bits");
    u128::from_str_radix(digits, radix).map(|value| Some(value.to_string())).map_err(too_large)
}

/// Converts unsigned YAML notation to JSON's, which needs digits on both sides of the point and no leading zeros.
fn decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    let exponent = match exponent {
        None => String::new(),
        Some(power) => {
            let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
            if unsigned.is_empty() || !digits(unsigned) {
                return None;
            }
            format!("e{power}")
        }
    };
    Some(format!("{whole}{fraction}{exponent}"))
}
