//! A stream of tokens, and what may become one. Nothing gets in unchecked: an identifier is one, a literal is escaped, a
//! doc line stays on its line. So no word of a schema becomes code.

use std::fmt::{self, Write};

/// What stands before every token of a stream's text. No token holds it: identifiers and numbers are made of other
/// characters, and what comes from a schema is escaped in literals and replaced in docs.
const MARK: u8 = 1;

/// What fits a line of a hundred columns, however deep its code stands.
const SHORT: usize = 76;

/// Tokens of Rust, in order.
///
/// They are one text, so that to put one stream into another is to copy it, and what `quote!` finds written out is in the
/// program as it will be in the stream.
#[derive(Clone, Debug, Default)]
pub(in crate::emit) struct TokenStream {
    text: String,
}

impl TokenStream {
    pub(in crate::emit) const fn new() -> Self {
        Self { text: String::new() }
    }

    /// Adds what may be part of a stream.
    pub(in crate::emit) fn push(&mut self, tokens: &(impl Append + ?Sized)) {
        tokens.append(self);
    }

    /// Adds tokens that stand in an emitter, as `quote!` writes them: each with the mark before it.
    pub(in crate::emit) fn push_static(&mut self, marked: &'static str) {
        self.push_marked(marked);
    }

    /// Adds a doc line. What would end the line, or hide in it, becomes a space.
    pub(in crate::emit) fn push_doc(&mut self, line: &str) {
        self.push_marked("\u{1}///");
        if !line.is_empty() {
            self.text.push(' ');
        }
        let is_safe = |c: char| if c.is_control() { ' ' } else { c };
        if line.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
            self.text.push_str(line);
        } else {
            self.text.extend(line.chars().map(is_safe));
        }
    }

    /// The tokens as they are written.
    pub(in crate::emit) fn tokens(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        std::iter::from_fn(move || {
            let marked = rest.get(1..)?;
            // Most tokens are a few bytes long: a search that is made for more takes longer to begin.
            let end = marked.bytes().position(|byte| byte == MARK).unwrap_or(marked.len());
            let (token, others) = marked.split_at(end);
            rest = others;
            Some(token)
        })
    }

    /// Whether it fits a line, wherever that is.
    pub(in crate::emit) fn is_short(&self) -> bool {
        // The marks stand for the spaces.
        self.text.len() <= SHORT
    }

    /// Whether there is a statement in it that ends with a semicolon, outside all brackets.
    pub(in crate::emit) fn has_statements(&self) -> bool {
        let mut depth = 0_usize;
        self.tokens().any(|token| {
            match token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token == ";"
        })
    }

    /// Adds a token that somebody else read.
    #[cfg(test)]
    pub(in crate::emit) fn push_read(&mut self, token: &str) {
        self.push_token(token);
    }

    /// Whether each of its characters is one byte, and one column wide.
    pub(super) fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn push_marked(&mut self, marked: &str) {
        if self.text.capacity() == 0 {
            // Few streams are shorter, and most are put into another soon.
            self.text.reserve(marked.len().max(96));
        }
        self.text.push_str(marked);
    }

    fn push_token(&mut self, token: &str) {
        self.push_marked("\u{1}");
        self.text.push_str(token);
    }
}

/// The tokens with a space between any two: what is compared with a printed file.
impl fmt::Display for TokenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, token) in self.tokens().enumerate() {
            let before = if place == 0 { "" } else { " " };
            let after = if token.starts_with("///") { "\n" } else { "" };
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
        if !self.text.is_empty() {
            stream.push_marked(&self.text);
        }
    }
}

impl<T: Append + ?Sized> Append for &T {
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

/// A text is a string literal.
impl Append for str {
    fn append(&self, stream: &mut TokenStream) {
        let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\');
        if self.bytes().all(is_plain) {
            stream.push_marked("\u{1}\"");
            stream.text.push_str(self);
            stream.text.push('"');
        } else {
            stream.push_marked("\u{1}");
            // `Debug` of a string is its literal: every character that is not shown is escaped.
            write!(stream.text, "{self:?}").expect("a string takes what is written to it");
        }
    }
}

impl Append for String {
    fn append(&self, stream: &mut TokenStream) {
        self.as_str().append(stream);
    }
}

impl Append for bool {
    fn append(&self, stream: &mut TokenStream) {
        stream.push_token(if *self { "true" } else { "false" });
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

impl PartialEq<&str> for Ident<'_> {
    fn eq(&self, name: &&str) -> bool {
        self.0 == *name
    }
}

fn is_identifier(name: &str) -> bool {
    let is_start = |first: char| first.is_alphabetic() || first == '_';
    name.starts_with(is_start) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl Append for Ident<'_> {
    fn append(&self, stream: &mut TokenStream) {
        stream.push_token(self.0);
    }
}

/// A number, without a sign before it and a type behind it.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Literal(String);

impl Literal {
    pub(in crate::emit) fn usize_unsuffixed(number: usize) -> Self {
        Self(number.to_string())
    }

    pub(in crate::emit) fn u64_unsuffixed(number: u64) -> Self {
        Self(number.to_string())
    }

    /// A number as Rust writes it.
    ///
    /// # Panics
    ///
    /// When it is none: a mistake of an emitter, which every test of it would show.
    pub(in crate::emit) fn number(text: String) -> Self {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '_' | '.' | 'e' | '-');
        let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_part);
        assert!(is_number, "{text:?} is no number");
        Self(text)
    }
}

impl Append for Literal {
    fn append(&self, stream: &mut TokenStream) {
        stream.push_token(&self.0);
    }
}
