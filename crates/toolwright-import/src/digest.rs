//! Computes the digests of values that a file records to notice later edits.

use toolwright::digests::{ListedDigests, digest};
use toolwright_codegen::internal::Json;

/// The number of hexadecimal digits that record a value. A collision only hides an edit, which the diff of the file still shows.
const SHORT: usize = 8;

/// The digests of a tool as its server lists it.
pub(super) fn listed(tool: &Json) -> ListedDigests {
    toolwright::digests::listed(&tool.to_value())
}

/// The digest of one value.
pub(super) fn value(value: &Json) -> String {
    text(&value.to_value().to_canonical())[..SHORT].to_owned()
}

/// The digest of a text, with all its digits.
pub(super) fn text(text: &str) -> String {
    digest("import", text)
}
