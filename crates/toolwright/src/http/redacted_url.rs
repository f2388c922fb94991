//! Displays URLs without the secrets that they may hold.

use std::fmt;

/// A URL that displays without user, password, query values and fragment. The text may be an invalid URL; then more of
/// it is hidden rather than less.
///
/// ```
/// use toolwright::http::RedactedUrl;
///
/// let url = RedactedUrl::new("https://ann:secret@example.com:8443/mcp?token=secret&v=2#secret");
/// assert_eq!(url.to_string(), "https://…@example.com:8443/mcp?token=…&v=…#…");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RedactedUrl<'a> {
    url: &'a str,
}

impl<'a> RedactedUrl<'a> {
    /// Wraps the text of a URL.
    pub const fn new(url: &'a str) -> Self {
        Self { url }
    }
}

impl fmt::Display for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_scheme =
            |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let (scheme, rest) = match self.url.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, self.url),
        };
        // Clients read `http:host` and `http:\\host` as `http://host`.
        let (slashes, rest) =
            rest.split_at(rest.len() - rest.trim_start_matches(['/', '\\']).len());
        let authority = &rest[..rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())];
        let (hidden, rest) = match authority.rfind('@') {
            Some(at) => ("…", &rest[at..]),
            // A password with a slash ends the authority early; then anything may belong to the password.
            None if authority.contains("%40")
                || !is_host(authority) && rest.contains(['@', '%']) =>
            {
                ("…", "")
            }
            None => ("", rest),
        };
        let (rest, fragment) = split(rest, '#');
        let (rest, query) = split(rest, '?');
        let colon = if scheme.is_some() { ":" } else { "" };
        write!(f, "{}{colon}{slashes}{hidden}{rest}", scheme.unwrap_or_default())?;
        for (position, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
            f.write_str(if position == 0 { "?" } else { "&" })?;
            match pair.split_once('=') {
                // A key may end with the padding of base64.
                Some((name, value)) if !value.trim_matches('=').is_empty() => {
                    write!(f, "{name}=…")?;
                }
                // A value without a name may be a key.
                None if pair.is_empty() => {}
                _ => f.write_str("…")?,
            }
        }
        f.write_str(if fragment.is_some() { "#…" } else { "" })
    }
}

/// Splits a text at the first `at`, which neither half holds.
fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

/// Returns true if a text is a host with an optional port. All characters are of hosts that the URL standard does not forbid.
fn is_host(text: &str) -> bool {
    let is_of_host = |c: char| !c.is_control() && !" #/<>?@\\^|".contains(c);
    let behind_colon = text.rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &str| {
        // The last colon of an IPv6 address without a port is inside its brackets.
        port.bytes().all(|byte| byte.is_ascii_digit()) || port.ends_with(']')
    };
    !text.is_empty() && text.chars().all(is_of_host) && behind_colon.is_none_or(is_port)
}

impl fmt::Debug for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::RedactedUrl;

    #[test]
    fn no_user_password_value_or_fragment_is_shown() {
        let cases = [
            ("http://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp"),
            ("https://[::1]:8080/@scope/x", "https://[::1]:8080/@scope/x"),
            ("http://example.com/@scope", "http://example.com/@scope"),
            ("http://user:HUSH@127.0.0.1:1/mcp?token=HUSH", "http://…@127.0.0.1:1/mcp?token=…"),
            ("http://HUSH@host", "http://…@host"),
            ("http:user:HUSH@host/a", "http:…@host/a"),
            ("http:\\\\user:HUSH@host/a", "http:\\\\…@host/a"),
            ("http://user:HU/SH@host/a", "http://…"),
            ("http://user:HU/SH@host/a?mail=x@y&token=HUSH", "http://…"),
            ("http://exa!mple.org/mcp?mail=HUSH@HUSH&a=HUSH", "http://exa!mple.org/mcp?mail=…&a=…"),
            ("https://हिन्दी.example/?mail=HUSH@HUSH&a=HUSH", "https://हिन्दी.example/?mail=…&a=…"),
            ("https://{tenant}.example.org/?a=HUSH@HUSH", "https://{tenant}.example.org/?a=…"),
            ("http://user:HUSH@HUSH@host/a", "http://…@host/a"),
            ("http://user:HU?SH@host/a?b=HUSH", "http://…"),
            ("http://user:HU#SH@host/a", "http://…"),
            ("http://user:HUSH%40host/a", "http://…"),
            ("http://user:HUSH%40host:8080/a", "http://…"),
            ("http://HUSH%40host/a", "http://…"),
            ("http://user:HU/SH%40host/a", "http://…"),
            ("http://user:HU?SH%40host", "http://…"),
            ("http://host?HUSH", "http://host?…"),
            ("http://host?HUSH==", "http://host?…"),
            ("http://host/?a=HUSH&b=HUSH=&HUSH#HUSH", "http://host/?a=…&b=…&…#…"),
            ("user:HUSH@host", "user:…@host"),
            ("HUSH@host", "…@host"),
            ("", ""),
        ];
        for (url, expected) in cases {
            assert_eq!(RedactedUrl::new(url).to_string(), expected);
            assert_eq!(format!("{:?}", RedactedUrl::new(url)), format!("{expected:?}"));
        }
    }
}
