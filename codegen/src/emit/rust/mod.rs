//! Rust as tokens: what they are, how emitters write them down, what may stand between them. Never decides what is
//! emitted, nor how it is laid out in lines.

mod quotation;
mod repeated;
mod spaced;
mod spacing;
mod stream;

pub(in crate::emit) use quotation::{quote, repeat, tokens};
pub(in crate::emit) use repeated::{EachItem, EachOnce, Turns};
pub(in crate::emit) use spaced::{Kind, Spaced, Span, columns};
pub(in crate::emit) use stream::{Ident, Literal, TokenStream};
