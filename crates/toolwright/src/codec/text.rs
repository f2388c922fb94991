//! Single values as JSON text: strings escaped, numbers printed and parsed.

use std::fmt::Write as _;

use super::string::plain_end;

/// Writes a text as a JSON string, escaping only what must be.
pub(crate) fn quote(json: &mut String, text: &str) {
    json.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_end(rest.as_bytes(), 0));
        json.push_str(plain);
        let mut characters = special.chars();
        let Some(character) = characters.next() else { break };
        escape(json, character);
        rest = characters.as_str();
    }
    json.push('"');
}

fn escape(json: &mut String, character: char) {
    match character {
        '"' => json.push_str("\\\""),
        '\\' => json.push_str("\\\\"),
        '\n' => json.push_str("\\n"),
        '\r' => json.push_str("\\r"),
        '\t' => json.push_str("\\t"),
        '\u{8}' => json.push_str("\\b"),
        '\u{c}' => json.push_str("\\f"),
        control => {
            json.push_str(if control < '\u{10}' { "\\u000" } else { "\\u001" });
            json.extend(char::from_digit(u32::from(control) % 16, 16));
        }
    }
}

/// Writes an integer; several times faster than the formatting machinery.
pub(super) fn write_integer(json: &mut String, value: i64) {
    if value < 0 {
        json.push('-');
    }
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    let mut left = value.unsigned_abs();
    loop {
        start -= 1;
        digits[start] += u8::try_from(left % 10).unwrap_or_default();
        left /= 10;
        if left == 0 {
            break;
        }
    }
    json.push_str(str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Writes a finite double: the shortest text that reads back as the same one.
pub(super) fn write_double(json: &mut String, value: f64) {
    // The debug form is that text, with an exponent where it is needed, and always JSON; but it says
    // `2.0` where a person or a model would write `2`.
    let written = write!(json, "{value:?}");
    debug_assert!(written.is_ok(), "a string takes any text");
    if json.ends_with(".0") {
        json.truncate(json.len() - 2);
    }
}

/// The nearest finite double of a JSON number; beyond the largest double, the largest.
pub(crate) fn nearest_double(number: &str) -> f64 {
    // The grammar of JSON numbers is part of what `f64` reads, so the fallback is never taken.
    number.parse::<f64>().unwrap_or_default().clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_the_standard_library_does() {
        for value in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut json = String::new();
            write_integer(&mut json, value);
            assert_eq!(json, value.to_string());
        }
    }

    #[test]
    fn only_what_must_be_is_escaped() {
        let mut json = String::new();
        quote(&mut json, "é/\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}😀");
        assert_eq!(json, "\"é/\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}😀\"");
    }
}
