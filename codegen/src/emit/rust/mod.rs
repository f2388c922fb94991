//! Rust tokens: the types for them, the macros that make them, and the spaces between them.
//!
//! Emitters write `quote!` (see [`quotation`]) and get a [`TokenStream`]: one text, and for each token its [`Kind`] and its
//! length. [`FlatTokens`] holds such a stream on one line, with the position of each token and of its matching bracket. From it
//! [`Printer`](super::printer::Printer) makes the lines of a file.
//!
//! This folder and the printer promise:
//!
//! - No text of a schema becomes code: strings become literals, doc lines contain no line break, identifiers are checked.
//! - `syn` parses every printed file, and the file has the tokens of its emitter in the same order. Only commas may differ:
//!   after the last item of a list, and after the block of a match arm.
//! - Printing is deterministic, and a printed file that is parsed and printed again stays the same.
//! - No line is longer than 100 columns if the house style allows a break in it.
//! - Time and memory grow linearly with the number of tokens.
//!
//! They do not:
//!
//! - parse Rust. An emitter can write invalid Rust, such as an unclosed bracket; its tests show it.
//! - keep comments, or blank lines inside an item.
//! - support nested repetitions, or the same variable twice in one repetition: no emitter needs them.
//! - format as rustfmt does, or break a string or a path.
//!
//! The tests in `emit/tests` check this with the worked examples, the test cases of the compiler and random projects, against
//! `syn` and `prettyplease`. docs/decisions/0016 and 0019 say why those two do not do the printing.

mod buffers;
mod flat;
mod kind;
mod quotation;
mod repeated;
mod spacing;
mod stream;

pub(in crate::emit) use flat::{FlatTokens, GroupKind, TokenRange};
pub(in crate::emit) use kind::{Kind, Token};
pub(in crate::emit) use quotation::{push, quote, repeat, tokens};
pub(in crate::emit) use repeated::{RepeatIterator, RepeatValue, Repeated};
pub(in crate::emit) use stream::{Ident, Literal, ToTokens, TokenStream};
