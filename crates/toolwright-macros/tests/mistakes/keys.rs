//! Keys of `#[tool]` that are unknown, given twice, or have a wrong value.

use toolwright_runtime::tool;

#[tool(descripton = "A typing error.")]
fn unknown() {}

#[tool(annotations(read_only = true))]
fn unknown_annotation() {}

#[tool(annotations(title = "Title"))]
fn title_among_annotations() {}

#[tool(approval(words = "Please."))]
fn unknown_word_of_an_approval() {}

#[tool(strict = "sometimes")]
fn unknown_strictness() {}

#[tool(hints(before = "…"))]
fn unknown_hint() {}

#[tool(title = "One", title = "Two")]
fn twice() {}

#[tool(description = " ")]
fn empty_description() {}

fn main() {}

#[tool]
fn no_description() {}

///
#[tool]
fn empty_comment() {}

/// Has an invalid name.
#[tool(name = "get weather")]
fn bad_name() {}

/// Has an invalid name.
#[tool(aliases = ["weather", ""])]
fn bad_alias() {}

/// Has a zero timeout.
#[tool(timeout = "0s")]
fn no_time() {}

/// Has a timeout with a sign.
#[tool(timeout = "+5s")]
fn signed_time() {}

/// Has an invalid name from its function.
#[tool]
fn größe() {}

/// Has a timeout without a unit.
#[tool(timeout = 5)]
fn no_unit() {}

/// Has no attempts.
#[tool(attempts = 0)]
fn no_attempt() {}

/// Has metadata that JSON cannot hold.
#[tool(approval(metadata(risk = 'h')))]
fn no_json() {}
