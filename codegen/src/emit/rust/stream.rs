//! A stream of tokens, and what may become one. Nothing gets in unchecked: an identifier is one, a literal is escaped, a
//! doc line stays on its line. So no word of a schema becomes code.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::mem::take;

use super::kind::{Kind, Token};
use super::spare;
use crate::naming::Identifier;

/// Tokens of Rust, in order.
///
/// They are one text, so that to put one stream into another is to copy it, and what `quote!` finds written out is in the
/// program as it will be in the stream.
#[derive(Debug, Default)]
pub(in crate::emit) struct TokenStream {
    text: String,
    tokens: Vec<Token>,
}

impl TokenStream {
    pub(in crate::emit) const fn new() -> Self {
        Self { text: String::new(), tokens: Vec::new() }
    }

    /// Adds what may be part of a stream.
    pub(in crate::emit) fn push(&mut self, tokens: &(impl Append + ?Sized)) {
        tokens.append(self);
    }

    /// Adds tokens that stand in an emitter, as `quote!` finds them.
    pub(in crate::emit) fn push_static(&mut self, text: &'static str, tokens: &'static [Token]) {
        self.push_tokens(text, tokens);
    }

    /// Adds a doc line, without spaces at its end. What would end the line, or hide in it, becomes a space.
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

    /// The tokens as they are written.
    pub(in crate::emit) fn texts(&self) -> impl Iterator<Item = (Kind, &str)> {
        let mut end = 0;
        self.tokens.iter().map(move |token| {
            let start = end;
            end += token.length;
            (token.kind, &self.text[start..end])
        })
    }

    /// The names that stand at the head of a path: of types, and of modules.
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

    /// Adds a token that somebody else read.
    #[cfg(test)]
    pub(in crate::emit) fn push_read(&mut self, token: &str) {
        self.push_token(Kind::of(token.as_bytes()), |text| text.push_str(token));
    }

    /// The text of all tokens, with nothing between them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    fn push_tokens(&mut self, text: &str, tokens: &[Token]) {
        self.make_room();
        self.text.push_str(text);
        self.tokens.extend_from_slice(tokens);
    }

    /// Adds one token, whose text is what `write` adds.
    fn push_token(&mut self, kind: Kind, write: impl FnOnce(&mut String)) {
        self.make_room();
        let start = self.text.len();
        write(&mut self.text);
        self.tokens.push(Token { kind, length: self.text.len() - start });
    }

    fn make_room(&mut self) {
        if self.text.capacity() == 0 {
            (self.text, self.tokens) = spare::take();
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
        spare::keep((take(&mut self.text), take(&mut self.tokens)));
    }
}

/// The tokens with a space between any two: what is compared with a printed file.
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

/// What may be part of a stream.
pub(in crate::emit) trait Append {
    /// Adds its tokens.
    fn append(&self, stream: &mut TokenStream);
}

impl Append for TokenStream {
    fn append(&self, stream: &mut TokenStream) {
        if !self.tokens.is_empty() {
            stream.push_tokens(&self.text, &self.tokens);
        }
    }
}

impl<T: Append + ?Sized> Append for &T {
    fn append(&self, stream: &mut TokenStream) {
        (**self).append(stream);
    }
}

impl<T: Append + ?Sized> Append for Box<T> {
    fn append(&self, stream: &mut TokenStream) {
        (**self).append(stream);
    }
}

impl<T: Append> Append for Option<T> {
    fn append(&self, stream: &mut TokenStream) {
        if let Some(tokens) = self {
            tokens.append(stream);
        }
    }
}

/// A text is a string literal: a raw one where that saves escapes.
impl Append for str {
    fn append(&self, stream: &mut TokenStream) {
        let is_shown = self.bytes().all(|byte| (b' '..0x7f).contains(&byte));
        let is_plain = is_shown && !self.contains(['"', '\\']);
        stream.push_token(Kind::Text, |text| {
            if is_plain {
                text.push('"');
                text.push_str(self);
                text.push('"');
            } else if is_shown && !self.contains("\"#") {
                let hash = if self.contains('"') { "#" } else { "" };
                write!(text, "r{hash}\"{self}\"{hash}")
                    .expect("a string takes what is written to it");
            } else {
                // `Debug` of a string is its literal: every character that is not shown is escaped.
                write!(text, "{self:?}").expect("a string takes what is written to it");
            }
        });
    }
}

impl Append for String {
    fn append(&self, stream: &mut TokenStream) {
        self.as_str().append(stream);
    }
}

impl Append for Cow<'_, str> {
    fn append(&self, stream: &mut TokenStream) {
        (**self).append(stream);
    }
}

impl Append for bool {
    fn append(&self, stream: &mut TokenStream) {
        let text = if *self { "true" } else { "false" };
        stream.push_token(Kind::Name, |out| out.push_str(text));
    }
}

/// An identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct Ident<'a>(&'a str);

impl<'a> Ident<'a> {
    /// An identifier of the naming module, `r#` before it where it is a keyword.
    ///
    /// # Panics
    ///
    /// When it is none: a mistake of a plan, which every test of it would show.
    pub(in crate::emit) fn new(name: &'a str) -> Self {
        assert!(
            is_identifier(name.strip_prefix("r#").unwrap_or(name)),
            "{name:?} is no identifier"
        );
        Self(name)
    }
}

impl Append for Identifier {
    fn append(&self, out: &mut TokenStream) {
        out.push(&Ident(self));
    }
}

impl PartialEq<&str> for Ident<'_> {
    fn eq(&self, name: &&str) -> bool {
        self.0 == *name
    }
}

/// The bytes that most identifiers are made of.
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

impl Append for Ident<'_> {
    fn append(&self, stream: &mut TokenStream) {
        stream.push_token(Kind::of_name(self.0.as_bytes()), |text| text.push_str(self.0));
    }
}

/// A number, without a type behind it.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Literal(String);

impl Literal {
    pub(in crate::emit) fn usize_unsuffixed(number: usize) -> Self {
        Self(number.to_string())
    }

    pub(in crate::emit) fn u64_unsuffixed(number: u64) -> Self {
        Self(number.to_string())
    }

    /// A number as Rust writes it, maybe with a sign before it.
    ///
    /// # Panics
    ///
    /// When it is none: a mistake of an emitter, which every test of it would show.
    pub(in crate::emit) fn number(text: String) -> Self {
        let is_part = |c: u8| c.is_ascii_digit() || matches!(c, b'_' | b'.' | b'e' | b'-');
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let is_number =
            digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(is_part);
        assert!(is_number, "{text:?} is no number");
        Self(text)
    }
}

impl Append for Literal {
    fn append(&self, stream: &mut TokenStream) {
        let digits = self.0.strip_prefix('-');
        if digits.is_some() {
            stream.push_token(Kind::Minus, |text| text.push('-'));
        }
        let digits = digits.unwrap_or(&self.0);
        stream.push_token(Kind::Number, |text| text.push_str(digits));
    }
}
