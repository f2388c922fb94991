//! Streams of tokens, and the values that can be added to one. Identifiers are checked, literals are escaped and doc lines
//! cannot contain a line break, so no text of a schema becomes code.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::mem::take;

use super::buffers;
use super::kind::{Kind, Token};
use crate::naming::Identifier;
use crate::prose::in_line;

/// Tokens of Rust, in order.
///
/// Their texts are stored as one string, so adding a stream or the tokens written in a `quote!` copies one string.
#[derive(Debug, Default)]
pub(in crate::emit) struct TokenStream {
    text: String,
    tokens: Vec<Token>,
}

impl TokenStream {
    pub(in crate::emit) const fn new() -> Self {
        Self { text: String::new(), tokens: Vec::new() }
    }

    /// Adds the tokens of a value.
    pub(in crate::emit) fn push(&mut self, tokens: &(impl ToTokens + ?Sized)) {
        tokens.to_tokens(self);
    }

    /// Adds tokens that are written in a `quote!`.
    pub(in crate::emit) fn push_static(&mut self, text: &'static str, tokens: &'static [Token]) {
        self.push_tokens(text, tokens);
    }

    /// Adds a doc line, without trailing spaces. Line breaks and other control characters become spaces.
    pub(in crate::emit) fn push_doc(&mut self, line: &str) {
        self.push_token(Kind::Doc, |text| {
            text.push_str("/// ");
            let is_safe = |c: char| if c.is_control() { ' ' } else { c };
            if line.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
                text.push_str(line);
            } else {
                text.extend(line.chars().map(is_safe));
            }
            text.truncate(text.trim_end().len());
        });
    }

    /// Returns the kind and the text of each token.
    pub(in crate::emit) fn texts(&self) -> impl Iterator<Item = (Kind, &str)> {
        let mut end = 0;
        self.tokens.iter().map(move |token| {
            let start = end;
            end += token.length;
            (token.kind, &self.text[start..end])
        })
    }

    /// Returns the first segment of each path that names a type or a module.
    pub(in crate::emit) fn heads(&self) -> impl Iterator<Item = &str> {
        let (mut end, mut before) = (0, Kind::End);
        let next = self.tokens.iter().skip(1).map(|token| token.kind).chain([Kind::End]);
        self.tokens.iter().zip(next).filter_map(move |(token, next)| {
            let start = end;
            end += token.length;
            let is_named = match token.kind {
                Kind::Type => true,
                Kind::Name => next == Kind::TwoColons,
                _ => false,
            };
            let is_head = is_named && before != Kind::TwoColons;
            before = token.kind;
            is_head.then(|| &self.text[start..end])
        })
    }

    /// Adds a token by its text, unchecked.
    #[cfg(test)]
    pub(in crate::emit) fn push_text(&mut self, token: &str) {
        self.push_token(Kind::of(token.as_bytes()), |text| text.push_str(token));
    }

    /// Returns the texts of all tokens, with nothing between them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    fn push_tokens(&mut self, text: &str, tokens: &[Token]) {
        self.take_buffers();
        self.text.push_str(text);
        self.tokens.extend_from_slice(tokens);
    }

    /// Adds one token; `write` appends its text.
    fn push_token(&mut self, kind: Kind, write: impl FnOnce(&mut String)) {
        self.take_buffers();
        let start = self.text.len();
        write(&mut self.text);
        self.tokens.push(Token { kind, length: self.text.len() - start });
    }

    /// An empty stream has no buffers, so it takes some with the first token.
    fn take_buffers(&mut self) {
        if self.text.capacity() == 0 {
            (self.text, self.tokens) = buffers::take();
        }
    }
}

impl Clone for TokenStream {
    fn clone(&self) -> Self {
        let mut stream = Self::new();
        stream.push(self);
        stream
    }
}

impl Drop for TokenStream {
    fn drop(&mut self) {
        buffers::put_back((take(&mut self.text), take(&mut self.tokens)));
    }
}

/// Writes the tokens with a space between any two; tests compare this with printed files.
impl fmt::Display for TokenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (kind, token)) in self.texts().enumerate() {
            let before = if place == 0 { "" } else { " " };
            let after = if kind == Kind::Doc { "\n" } else { "" };
            write!(f, "{before}{token}{after}")?;
        }
        Ok(())
    }
}

/// A value that can be added to a stream.
pub(in crate::emit) trait ToTokens {
    /// Adds its tokens.
    fn to_tokens(&self, stream: &mut TokenStream);
}

impl ToTokens for TokenStream {
    fn to_tokens(&self, stream: &mut TokenStream) {
        if !self.tokens.is_empty() {
            stream.push_tokens(&self.text, &self.tokens);
        }
    }
}

impl<T: ToTokens + ?Sized> ToTokens for &T {
    fn to_tokens(&self, stream: &mut TokenStream) {
        (**self).to_tokens(stream);
    }
}

impl<T: ToTokens + ?Sized> ToTokens for Box<T> {
    fn to_tokens(&self, stream: &mut TokenStream) {
        (**self).to_tokens(stream);
    }
}

impl<T: ToTokens> ToTokens for Option<T> {
    fn to_tokens(&self, stream: &mut TokenStream) {
        if let Some(tokens) = self {
            tokens.to_tokens(stream);
        }
    }
}

/// A string becomes a string literal, a raw one if that avoids escapes.
impl ToTokens for str {
    fn to_tokens(&self, stream: &mut TokenStream) {
        let is_shown = self.bytes().all(|byte| (b' '..0x7f).contains(&byte));
        let is_plain = is_shown && !self.contains(['"', '\\']);
        stream.push_token(Kind::Text, |text| {
            if is_plain {
                text.push('"');
                text.push_str(self);
                text.push('"');
            } else if is_shown && !self.contains("\"#") {
                let hash = if self.contains('"') { "#" } else { "" };
                write!(text, "r{hash}\"{self}\"{hash}").expect("writing to a string does not fail");
            } else {
                // `Debug` writes a string as a literal, but leaves blank letters such as U+3164 as they are.
                for (c, is_visible) in in_line(&format!("{self:?}")) {
                    if is_visible { text.push(c) } else { text.extend(c.escape_unicode()) }
                }
            }
        });
    }
}

impl ToTokens for String {
    fn to_tokens(&self, stream: &mut TokenStream) {
        self.as_str().to_tokens(stream);
    }
}

impl ToTokens for Cow<'_, str> {
    fn to_tokens(&self, stream: &mut TokenStream) {
        (**self).to_tokens(stream);
    }
}

impl ToTokens for bool {
    fn to_tokens(&self, stream: &mut TokenStream) {
        let text = if *self { "true" } else { "false" };
        stream.push_token(Kind::Name, |out| out.push_str(text));
    }
}

/// An identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct Ident<'a>(&'a str);

impl<'a> Ident<'a> {
    /// Takes an identifier of the naming module; keywords have an `r#` prefix.
    ///
    /// # Panics
    ///
    /// Panics if the name is not an identifier, which is a bug of the plan.
    pub(in crate::emit) fn new(name: &'a str) -> Self {
        assert!(
            is_identifier(name.strip_prefix("r#").unwrap_or(name)),
            "{name:?} is not an identifier"
        );
        Self(name)
    }
}

impl ToTokens for Identifier {
    fn to_tokens(&self, out: &mut TokenStream) {
        out.push(&Ident(self));
    }
}

impl PartialEq<&str> for Ident<'_> {
    fn eq(&self, name: &&str) -> bool {
        self.0 == *name
    }
}

/// Marks the bytes of ASCII identifiers.
const PLAIN: [bool; 256] = {
    let (mut plain, mut byte) = ([false; 256], 0_u8);
    while byte < u8::MAX {
        plain[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    plain
};

fn is_identifier(name: &str) -> bool {
    if name.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        return name.starts_with(|first: char| !first.is_ascii_digit());
    }
    let is_start = |first: char| first.is_alphabetic() || first == '_';
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    name.starts_with(is_start) && name.chars().all(is_part)
}

impl ToTokens for Ident<'_> {
    fn to_tokens(&self, stream: &mut TokenStream) {
        stream.push_token(Kind::of_name(self.0.as_bytes()), |text| text.push_str(self.0));
    }
}

/// A number literal without a type suffix.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Literal(String);

impl Literal {
    pub(in crate::emit) fn usize_unsuffixed(number: usize) -> Self {
        Self(number.to_string())
    }

    pub(in crate::emit) fn u64_unsuffixed(number: u64) -> Self {
        Self(number.to_string())
    }

    /// Takes a number in Rust's notation, with or without a minus sign.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a number, which is a bug of an emitter.
    pub(in crate::emit) fn number(text: String) -> Self {
        let is_part = |c: u8| c.is_ascii_digit() || matches!(c, b'_' | b'.' | b'e' | b'-');
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let is_number =
            digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(is_part);
        assert!(is_number, "{text:?} is not a number");
        Self(text)
    }
}

impl ToTokens for Literal {
    fn to_tokens(&self, stream: &mut TokenStream) {
        let digits = self.0.strip_prefix('-');
        if digits.is_some() {
            stream.push_token(Kind::Minus, |text| text.push('-'));
        }
        let digits = digits.unwrap_or(&self.0);
        stream.push_token(Kind::Number, |text| text.push_str(digits));
    }
}
