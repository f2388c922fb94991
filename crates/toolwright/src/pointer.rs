//! Escaping of keys in JSON Pointers (RFC 6901).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes a key as a segment of a pointer (section 3).
pub fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) {
        return Cow::Owned(key.replace('~', "~0").replace('/', "~1"));
    }
    Cow::Borrowed(key)
}

/// Returns the key of a segment of a pointer (section 4).
pub fn unescaped(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        return Cow::Owned(segment.replace("~1", "/").replace("~0", "~"));
    }
    Cow::Borrowed(segment)
}

/// Decodes a URI fragment, such as a pointer (section 6; RFC 3986, section 2.1). Returns `None` if a `%` begins no
/// escape or the bytes are not UTF-8.
pub fn from_fragment(fragment: &str) -> Option<String> {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        let is_hex = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(hex, 16).ok().filter(|_| is_hex)?);
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Encodes a pointer as a URI fragment (section 6; RFC 3986, section 3.5).
pub fn to_fragment(pointer: &str) -> String {
    let mut fragment = String::new();
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"/~-._$".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(fragment, "%{byte:02X}");
        }
    }
    fragment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescaping_an_escaped_key_returns_the_key() {
        for key in ["", "a", "a/b", "~", "~1", "~01", "/~/"] {
            assert_eq!(unescaped(&escaped(key)), key);
        }
        assert_eq!(escaped("~1/"), "~01~1");
    }

    #[test]
    fn a_fragment_is_decoded_unless_an_escape_is_wrong() {
        assert_eq!(from_fragment("/a%20b%C3%A9").as_deref(), Some("/a bé"));
        for pointer in ["", "/$defs/a b", "/é~1%25"] {
            assert_eq!(from_fragment(&to_fragment(pointer)).as_deref(), Some(pointer));
        }
        assert_eq!(to_fragment("/$defs/a b%"), "/$defs/a%20b%25");
        for wrong in ["%", "%2", "%2g", "%+2", "%é", "%FF"] {
            assert_eq!(from_fragment(wrong), None, "{wrong}");
        }
    }
}
