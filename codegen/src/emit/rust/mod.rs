//! Rust as tokens: what they are, how emitters write them down, what may stand between them. Never decides what is
//! emitted, nor how it is laid out in lines.
//!
//! Emitters write `quote!` (see [`quotation`]) and get a [`TokenStream`]: one text, and for each token its [`Kind`] and its
//! length. [`Spaced`] is such a stream in one line, with the place of each token and the bracket that belongs to it. From it
//! [`Printer`](super::printer::Printer) makes the lines of a file.
//!
//! This folder and the printer promise:
//!
//! - No word of a schema becomes code. A text is one literal, a doc line stays on its line, an identifier is tried.
//! - A printed file is read by `syn` and has the tokens of its emitter in their order. Only commas may differ: behind the last
//!   item of a list, and behind the block of an arm.
//! - What is printed, read and printed again is the same text. The same tokens give the same text, always.
//! - No line is longer than 100 columns where the house style could break it.
//! - Both take time and memory in proportion to the tokens.
//!
//! They cannot:
//!
//! - read Rust. An emitter can write what is no Rust, such as a bracket that does not close; its tests show it.
//! - keep comments, or blank lines inside of an item.
//! - repeat within a repetition, or name a variable twice in one: no emitter needs it.
//! - print as rustfmt does, or break a text or a path.
//!
//! The tests in `emit/tests` hold this over the worked examples, the cases of the compiler and random projects, with `syn` and
//! `prettyplease` as oracles. docs/decisions/0016 and 0019 say why neither prints in their place.

mod kind;
mod quotation;
mod repeated;
mod spaced;
mod spacing;
mod spare;
mod stream;

pub(in crate::emit) use kind::{Kind, Token};
pub(in crate::emit) use quotation::{push, quote, repeat, tokens};
pub(in crate::emit) use repeated::{EachItem, EachOnce, Turns};
pub(in crate::emit) use spaced::{Form, Spaced, Span};
pub(in crate::emit) use stream::{Append, Ident, Literal, TokenStream};
