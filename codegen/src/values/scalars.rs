//! Makes numbers and texts near the limits of their rules.

use std::borrow::Cow;

use toolwright::Value;
use toolwright::value::Number;

use super::pattern::matching;
use super::view::is_integer;
use super::{Made, Numbers, Part, Purpose, Strings, View, json};

/// The longest text that is made to find a difference.
const MAX_LENGTH: u64 = 300;

/// The longest text that is made for a codec.
const MAX_CODEC_LENGTH: u64 = 5000;

/// Makes numbers.
pub(super) fn numbers(rules: &Numbers, purpose: Purpose) -> Vec<Made> {
    let mut found: Vec<Made> =
        ["0", "1", "-1", "0.5"].map(|text| Made::new(json(text), "a number")).to_vec();
    for (side, reasons) in [BELOW, ABOVE].into_iter().enumerate() {
        let Some((number, _)) = &rules.ends[side] else { continue };
        found.push(Made::new(Value::Number(number.clone()), reasons[0]));
        let step = if side == 0 { -1 } else { 1 };
        let near = if let Some(whole) = number.to_integer().and_then(|whole| whole.to_i128()) {
            [1, -1].map(|sign| whole.checked_add(sign * step).map(|near| Number::from(near).into()))
        } else {
            let step = if side == 0 { -1.0 } else { 1.0 };
            [1.0, -1.0].map(|sign| (number.as_f64() + sign * step).to_string().parse().ok())
        };
        for (near, reason) in near.into_iter().zip([reasons[1], reasons[2]]) {
            found.extend(near.map(|near: Value| Made::new(near, reason)));
        }
        if purpose == Purpose::Codec && is_plain(number) {
            let text = number.as_str();
            let point = if text.contains('.') { "" } else { "." };
            let same = format!("{text}{point}000");
            let more = format!("{text}{point}00000000000000000000001");
            found.push(Made::new(json(&same), "a limit with a fraction of zeros"));
            found.push(Made::new(json(&more), "a number closer to a limit than a double is"));
        }
    }
    if rules.is_integer && purpose == Purpose::Difference {
        found.retain(|made| is_integer(&json(&made.text)));
    }
    if purpose == Purpose::Codec {
        found.extend(EXACT.map(|(text, reason)| Made::new(json(text), reason)));
    }
    found
}

/// Returns whether a number is written without an exponent.
fn is_plain(number: &Number) -> bool {
    !number.as_str().contains(['e', 'E'])
}

const BELOW: [&str; 3] = ["the minimum", "less than the minimum", "more than the minimum"];

const ABOVE: [&str; 3] = ["the maximum", "more than the maximum", "less than the maximum"];

/// Numbers that codecs often get wrong.
const EXACT: [(&str, &str); 10] = [
    ("1.0", "a whole number with a fraction of zeros"),
    ("1e2", "a whole number with an exponent"),
    ("150e-1", "a whole number that its exponent makes one"),
    ("-0", "zero with a sign"),
    ("0.1", "a fraction that no double is equal to"),
    ("9007199254740993", "2^53 + 1, which no double is equal to"),
    ("9223372036854775808", "2^63"),
    ("18446744073709551616", "2^64"),
    ("1e400", "a number beyond all doubles"),
    ("1e-400", "a number that doubles take for zero"),
];

/// Makes texts.
pub(super) fn strings(rules: &Strings, purpose: Purpose) -> Vec<Made> {
    let is_for_codec = purpose == Purpose::Codec;
    let mut lengths = vec![(0, "no characters"), (1, "one character"), (3, "three characters")];
    for (limit, reasons) in rules.lengths.iter().zip([LEAST, MOST]) {
        let Some(limit) = limit else { continue };
        let near = [limit.saturating_sub(1), *limit, limit.saturating_add(1)];
        lengths.extend(near.into_iter().zip(reasons));
    }
    if is_for_codec {
        lengths.retain(|(_, reason)| ![LEAST[2], MOST[0]].contains(reason));
    }
    let longest = if is_for_codec { MAX_CODEC_LENGTH } else { MAX_LENGTH };
    lengths.retain(|(length, _)| *length <= longest);
    let is_any = is_for_codec && rules.pattern.is_none();
    let letters: &[&str] = if is_any { &["a"] } else { &["a", "A", "0", "-"] };
    let mut found = Vec::new();
    for (length, reason) in &lengths {
        let length = usize::try_from(*length).unwrap_or_default();
        found.extend(letters.iter().map(|letter| Made::new(letter.repeat(length), *reason)));
    }
    if is_for_codec {
        // Four bytes and two units of UTF-16 are one character.
        for (length, reason) in lengths.iter().filter(|(_, reason)| WIDE.contains(reason)) {
            let text = "\u{1f600}".repeat(usize::try_from(*length).unwrap_or_default());
            found.push(Made::new(text, format!("{reason}, in characters of four bytes")));
        }
        found.push(Made::new("\u{0}\u{1f}\"\\/", "characters that need escapes"));
    }
    if !is_for_codec || rules.format.is_some() {
        found.extend(FORMATS.map(|text| Made::new(text, "a text of a format")));
    }
    if is_for_codec && rules.format.is_some() {
        found.extend(NO_FORMATS.map(|text| Made::new(text, "a text of nearly a format")));
    }
    if let Some(pattern) = &rules.pattern {
        // The pattern without its signs often matches itself.
        let itself = pattern.trim_start_matches('^').trim_end_matches('$').to_owned();
        let texts = [matching(pattern, 0), matching(pattern, 1), itself];
        if is_for_codec {
            let [text, ..] = &texts;
            found.push(Made::new(format!("{text}\n"), "a text of the pattern and a line end"));
            found.push(Made::new(format!("-{text}"), "a text of the pattern after a hyphen"));
        }
        found.extend(texts.map(|text| Made::new(text, "a text of the pattern")));
    }
    found
}

const LEAST: [&str; 3] =
    ["shorter than the minimum", "at the minimum length", "longer than the minimum"];

const MOST: [&str; 3] =
    ["shorter than the maximum", "at the maximum length", "longer than the maximum"];

/// The lengths that are also made of characters outside of ASCII.
const WIDE: [&str; 3] = ["one character", LEAST[0], MOST[1]];

/// Texts of many formats.
const FORMATS: [&str; 9] = [
    "2024-01-31",
    "2024-01-31T12:00:00Z",
    "12:00:00Z",
    "P1D",
    "a@b.de",
    "https://example.com/a",
    "127.0.0.1",
    "::1",
    "123e4567-e89b-12d3-a456-426614174000",
];

/// Texts that are nearly of a format.
const NO_FORMATS: [&str; 9] = [
    "2024-02-30",
    "2024-01-31T12:00:00",
    "2016-12-31T23:59:60Z",
    "24:00:00Z",
    "P",
    "a@b@c",
    "//example.com/a b",
    "127.0.0.256",
    "123e4567e89b12d3a456426614174000",
];

/// Adds values that differ little from the constants of a view.
pub(super) fn add_near_constants(view: &View, found: &mut Vec<Made>) {
    if let Some(Part::Values(values)) = &view.string
        && let Some(text) = values.first().and_then(Value::as_str)
    {
        let upper =
            if text.to_uppercase() == text { text.to_lowercase() } else { text.to_uppercase() };
        let near: [(String, Cow<'static, str>); 3] = [
            (upper, "a constant in another case".into()),
            (format!("{text} "), "a constant and a blank".into()),
            (format!("{text}?"), "another text".into()),
        ];
        found.extend(near.map(|(text, reason)| Made::new(text, reason)));
    }
    if let Some(Part::Values(values)) = &view.number {
        for value in values.iter().take(2) {
            let text = value.to_string();
            let point = if text.contains(['.', 'e', 'E']) { "" } else { ".0" };
            found.push(Made::new(
                json(&format!("{text}{point}")),
                "a constant with a fraction of zeros",
            ));
            found.push(Made::new(text, "a constant as a text"));
        }
        found.push(Made::new(json("12345"), "another number"));
    }
    if let Some(Part::Values(values)) = &view.boolean
        && let [Value::Boolean(only)] = values[..]
    {
        found.push(Made::new(!only, "the other boolean"));
    }
}
