//! The subjects of a toolset, and the characters that its name may have in them.

use std::fmt::Write as _;

/// The first token of all subjects.
const PREFIX: &str = "toolwright";

/// The subjects on which the workers of a toolset listen.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    /// The name of the toolset as a token.
    token: String,
}

impl Subjects {
    pub(crate) fn new(toolset: &str) -> Self {
        Self { token: token(toolset) }
    }

    /// The name of the service in discovery, which has the characters `A-Z a-z 0-9 _ -` only.
    pub(crate) fn service(&self) -> String {
        format!("{PREFIX}-{}", self.token)
    }

    /// The subject on which one of the workers answers.
    pub(crate) fn group(&self) -> String {
        format!("{PREFIX}.{}", self.token)
    }

    /// The subject of all connections to a worker.
    pub(crate) fn connections(&self, worker: &str) -> String {
        format!("{PREFIX}.{}.{worker}.*", self.token)
    }

    /// The subject of a connection, whose nonce is the worker and the number of the connection, with a dot between them.
    pub(crate) fn connection(&self, nonce: &str) -> String {
        format!("{PREFIX}.{}.{nonce}", self.token)
    }
}

/// Returns the name of a toolset as a token of a subject. Bytes other than `A-Z a-z 0-9 _` become `-` and two hex digits, so that
/// different names have different tokens.
pub fn token(toolset: &str) -> String {
    let mut token = String::new();
    for byte in toolset.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            token.push(char::from(byte));
        } else {
            let _ = write!(token, "-{byte:02X}");
        }
    }
    // A token has at least one character.
    if token.is_empty() { "-".to_owned() } else { token }
}

/// Returns the name of the toolset with this token; `None` if it is not a token that [`token`] returns.
pub fn toolset(token: &str) -> Option<String> {
    let (mut rest, mut name) = (token.as_bytes(), Vec::new());
    if token == "-" {
        return Some(String::new());
    }
    while let [byte, more @ ..] = rest {
        rest = more;
        if *byte == b'-' {
            let (digits, more) = rest.split_at_checked(2)?;
            name.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = more;
        } else {
            name.push(*byte);
        }
    }
    let name = String::from_utf8(name).ok()?;
    (self::token(&name) == token).then_some(name)
}
