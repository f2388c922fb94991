//! Email addresses without display names (RFC 5321, section 4.1.2, `Mailbox`, and section 4.1.3).

use super::address::{is_ipv4, is_ipv6};
use super::hostname::is_label;

pub(super) fn is_email(text: &str) -> bool {
    // A quoted local part may hold an `@`; a domain may not.
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    (is_dot_string(local) || is_quoted_string(local)) && is_domain(domain)
}

fn is_dot_string(text: &str) -> bool {
    text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

/// RFC 5322, section 3.2.3.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

fn is_quoted_string(text: &str) -> bool {
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let Some(mut bytes) = inside.map(str::bytes) else { return false };
    while let Some(byte) = bytes.next() {
        let is_valid = match byte {
            b'"' => false,
            b'\\' => bytes.next().is_some_and(is_printable),
            plain => is_printable(plain),
        };
        if !is_valid {
            return false;
        }
    }
    true
}

fn is_printable(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

fn is_domain(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(literal) => is_address(literal),
        None => text.split('.').all(is_label),
    }
}

/// `address-literal`. Only the tag of IPv6 is registered, so other tags are refused.
fn is_address(text: &str) -> bool {
    match text.split_at_checked("IPv6:".len()) {
        Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => is_ipv6(address),
        _ => is_ipv4(text),
    }
}
