//! Decodes punycode (RFC 3492, sections 5 and 6).

const BASE: u32 = 36;
const MIN_THRESHOLD: u32 = 1;
const MAX_THRESHOLD: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_CODE_POINT: u32 = 0x80;

/// Decodes a lowercase ASCII text.
pub(super) fn decode(text: &str) -> Option<Vec<char>> {
    let (plain, mut encoded) = match text.rsplit_once('-') {
        // Encoders write a hyphen only after a character.
        Some(("", _)) => return None,
        Some(parts) => parts,
        None => ("", text),
    };
    let mut output: Vec<char> = plain.chars().collect();
    let (mut code_point, mut place, mut bias) = (INITIAL_CODE_POINT, 0, INITIAL_BIAS);
    let mut is_first = true;
    while !encoded.is_empty() {
        let delta = integer(&mut encoded, bias)?;
        let length = u32::try_from(output.len()).ok()? + 1;
        bias = adapt(delta, length, is_first);
        is_first = false;
        place = delta.checked_add(place)?;
        code_point = code_point.checked_add(place / length)?;
        place %= length;
        output.insert(usize::try_from(place).ok()?, char::from_u32(code_point)?);
        place += 1;
    }
    Some(output)
}

/// Reads a generalized variable-length integer (section 3.3) from the start of a text.
fn integer(encoded: &mut &str, bias: u32) -> Option<u32> {
    let (mut value, mut weight, mut position) = (0_u32, 1_u32, BASE);
    loop {
        let mut characters = encoded.chars();
        let digit = digit(characters.next()?)?;
        *encoded = characters.as_str();
        value = value.checked_add(digit.checked_mul(weight)?)?;
        let threshold = position.saturating_sub(bias).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
        if digit < threshold {
            return Some(value);
        }
        weight = weight.checked_mul(BASE - threshold)?;
        position += BASE;
    }
}

/// Letters are 0 to 25, digits 26 to 35.
fn digit(character: char) -> Option<u32> {
    match character {
        'a'..='z' => Some(u32::from(character) - u32::from('a')),
        '0'..='9' => Some(u32::from(character) - u32::from('0') + 26),
        _ => None,
    }
}

/// Returns the bias for the next integer (section 3.4).
fn adapt(delta: u32, length: u32, is_first: bool) -> u32 {
    let delta = if is_first { delta / DAMP } else { delta / 2 };
    let mut delta = delta + delta / length;
    let mut bias = 0;
    while delta > (BASE - MIN_THRESHOLD) * MAX_THRESHOLD / 2 {
        delta /= BASE - MIN_THRESHOLD;
        bias += BASE;
    }
    bias + (BASE - MIN_THRESHOLD + 1) * delta / (delta + SKEW)
}
