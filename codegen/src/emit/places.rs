//! Where codecs read values and write them: readers, writers and fields as tokens. Never about what is read or written.

use super::rust::{Append, TokenStream, push};
use super::tokens::ident;
use crate::naming::Identifier;

/// Where a value is read from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// What the whole codec reads.
    Input,
    /// The value of a member.
    Member,
    /// What a function inside is given.
    Variable,
}

impl Append for Source {
    fn append(&self, out: &mut TokenStream) {
        match self {
            Self::Input => push!(out, input),
            Self::Member => push!(out, object.value()),
            Self::Variable => push!(out, v),
        }
    }
}

/// Where a value is written to.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// What the whole codec writes.
    Out,
    /// What stands behind a key.
    Behind(&'a str),
    /// What a function inside is given.
    Variable,
}

impl Append for Target<'_> {
    fn append(&self, out: &mut TokenStream) {
        match self {
            Self::Out => push!(out, out),
            // RFC 8259, section 7: what JSON escapes.
            Self::Behind(key) if key.bytes().any(|c| c < b' ' || matches!(c, b'"' | b'\\')) => {
                push!(out, object.escaped_key(#key));
            }
            Self::Behind(key) => push!(out, object.key(#key)),
            Self::Variable => push!(out, w),
        }
    }
}

/// A value in reach of an encoder.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// A field of what is encoded.
    Field(&'a Identifier),
    /// The only field of a newtype.
    Inner,
    /// A variable that refers to it.
    Variable(&'static str),
    /// The variable that refers to a field which tells `null` from nothing.
    Nullable,
}

impl Append for Place<'_> {
    fn append(&self, out: &mut TokenStream) {
        match self {
            Self::Field(name) => push!(out, self.#name),
            Self::Inner => push!(out, self.0),
            Self::Variable(name) => out.push(&ident(name)),
            Self::Nullable => push!(out, value),
        }
    }
}

impl Place<'_> {
    fn is_reference(self) -> bool {
        matches!(self, Self::Variable(_) | Self::Nullable)
    }
}

/// A reference to the value in a place.
pub(super) struct ByReference<'a>(pub(super) Place<'a>);

impl Append for ByReference<'_> {
    fn append(&self, out: &mut TokenStream) {
        if !self.0.is_reference() {
            push!(out, &);
        }
        out.push(&self.0);
    }
}

/// A copy of the value in a place.
pub(super) struct ByCopy<'a>(pub(super) Place<'a>);

impl Append for ByCopy<'_> {
    fn append(&self, out: &mut TokenStream) {
        if self.0.is_reference() {
            push!(out, *);
        }
        out.push(&self.0);
    }
}

/// What may be in a place.
pub(super) struct AsOption<'a>(pub(super) Place<'a>);

impl Append for AsOption<'_> {
    fn append(&self, out: &mut TokenStream) {
        out.push(&self.0);
        match self.0 {
            Place::Nullable => push!(out, .as_option()),
            _ => push!(out, .as_ref()),
        }
    }
}
