//! JSON text itself (RFC 8259): read and written piece by piece, quoted, and cut short for sentences.
//!
//! Nothing here knows a type, a limit or an issue.

mod excerpt;
mod output;
mod scalar;
mod scanner;
mod string;

pub(crate) use excerpt::{describe, quoted, shortened};
pub(crate) use output::{Output, double_text};
pub(crate) use scalar::nearest_double;
pub(crate) use scanner::{Scanner, Stop, Word, text_of};
pub(crate) use string::meaning;

/// The deepest nesting of arrays and objects that codecs read and write.
pub const MAX_DEPTH: usize = 128;
