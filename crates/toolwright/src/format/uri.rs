//! URIs (RFC 3986, section 3 and appendix A): the generic syntax, without the rules of particular schemes.

use super::address::is_ipv6;

pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    is_scheme(scheme) && is_hierarchy(hierarchy) && is_query(query) && is_query(fragment)
}

/// Section 3.1.
fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// `hier-part`. Two slashes always begin an authority, so a path cannot begin with them.
fn is_hierarchy(text: &str) -> bool {
    match text.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && is_path(path)
        }
        None => is_path(text),
    }
}

/// Section 3.2.
fn is_authority(text: &str) -> bool {
    let (user, host_and_port) = text.split_once('@').unwrap_or(("", text));
    // The colons of an address are inside its brackets, so they are not mistaken for that of a port.
    let address_end = host_and_port.rfind(']').map_or(0, |end| end + 1);
    let (address, rest) = host_and_port.split_at(address_end);
    let (name, port) = rest.split_once(':').unwrap_or((rest, ""));
    let is_host =
        if address.is_empty() { is_name(name) } else { name.is_empty() && is_literal(address) };
    is_user(user) && is_host && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Section 3.2.1.
fn is_user(text: &str) -> bool {
    consists_of(text, |byte| is_unreserved(byte) || is_sub_delimiter(byte) || byte == b':')
}

/// `reg-name`, section 3.2.2; an IPv4 address is one too.
fn is_name(text: &str) -> bool {
    consists_of(text, |byte| is_unreserved(byte) || is_sub_delimiter(byte))
}

/// `IP-literal`, section 3.2.2.
fn is_literal(text: &str) -> bool {
    let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    address.is_some_and(|address| match address.strip_prefix(['v', 'V']) {
        Some(future) => is_future_address(future),
        None => is_ipv6(address),
    })
}

/// `IPvFuture` without its `v`.
fn is_future_address(text: &str) -> bool {
    let Some((version, address)) = text.split_once('.') else { return false };
    let is_allowed = |byte| is_unreserved(byte) || is_sub_delimiter(byte) || byte == b':';
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_version && !address.is_empty() && address.bytes().all(is_allowed)
}

/// Section 3.3.
fn is_path(text: &str) -> bool {
    consists_of(text, |byte| is_path_character(byte) || byte == b'/')
}

/// Sections 3.4 and 3.5: a fragment has the same characters as a query.
fn is_query(text: &str) -> bool {
    consists_of(text, |byte| is_path_character(byte) || b"/?".contains(&byte))
}

/// `pchar`.
fn is_path_character(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delimiter(byte) || b":@".contains(&byte)
}

/// Section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Section 2.2.
fn is_sub_delimiter(byte: u8) -> bool {
    b"!$&'()*+,;=".contains(&byte)
}

/// Returns true if a text consists of such bytes and percent-encoded ones (section 2.1).
fn consists_of(text: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    let mut pieces = text.split('%');
    let plain = |text: &str| text.bytes().all(&is_allowed);
    pieces.next().is_none_or(plain)
        && pieces.all(|piece| after_hex_digits(piece).is_some_and(plain))
}

/// Returns the text after two hexadecimal digits.
fn after_hex_digits(text: &str) -> Option<&str> {
    let (digits, rest) = text.split_at_checked(2)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(rest)
}
