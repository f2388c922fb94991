//! Host names (RFC 1123, section 2.1; RFC 952). What a punycode label may hold is the rules of `idna`.

use super::idna;

/// The longest label and the longest name, in bytes (RFC 1035, section 2.3.4, less what the wire adds).
const LABEL: usize = 63;
const NAME: usize = 253;

pub(super) fn is_hostname(text: &str) -> bool {
    let is_right = |label| is_label(label) && idna::punycode(label).is_none_or(idna::is_a_label);
    text.len() <= NAME && text.split('.').all(is_right)
}

/// Letters, digits and hyphens, none of these at an end.
pub(super) fn is_label(label: &str) -> bool {
    (1..=LABEL).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}
