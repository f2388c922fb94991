//! Rust as tokens: what they are, how emitters write them down, what may stand between them. Never decides what is
//! emitted, nor how it is laid out in lines.

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
