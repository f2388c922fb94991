//! JSON text (RFC 8259): reads and writes its tokens, quotes strings, and makes excerpts for messages.
//!
//! Types, limits and issues are up to the codecs.

mod excerpt;
mod output;
mod scalar;
mod scanner;
mod string;

pub(crate) use excerpt::{describe, quoted, shortened};
pub(crate) use output::{Output, double_text};
pub(crate) use scalar::nearest_double;
pub(crate) use scanner::{Literal, ScanError, Scanner, utf8};
pub(crate) use string::unescape;

/// The bytes of a text that are read in one step.
pub(crate) const BYTES_PER_STEP: usize = 16;

/// The deepest nesting of arrays and objects that codecs read and write.
pub const MAX_DEPTH: usize = 128;
