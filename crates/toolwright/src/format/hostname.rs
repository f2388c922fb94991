//! Host names (RFC 1123, section 2.1; RFC 952). The module `idna` checks punycode labels.

use super::idna;

/// The maximum lengths of a label and of a name, in bytes (RFC 1035, section 2.3.4, without length bytes).
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;

pub(super) fn is_hostname(text: &str) -> bool {
    let is_valid = |label| is_label(label) && idna::punycode(label).is_none_or(idna::is_a_label);
    text.len() <= MAX_NAME && text.split('.').all(is_valid)
}

/// Returns true for letters, digits and hyphens, without a hyphen at either end.
pub(super) fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}
