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

/// Is named badly.
#[tool(name = "get weather")]
fn bad_name() {}

/// Is named badly.
#[tool(aliases = ["weather", ""])]
fn bad_alias() {}

/// Takes no time.
#[tool(timeout = "0s")]
fn no_time() {}

/// Takes a time with a sign.
#[tool(timeout = "+5s")]
fn signed_time() {}

/// Is named by its function, badly.
#[tool]
fn größe() {}

/// Takes a time without a unit.
#[tool(timeout = 5)]
fn no_unit() {}

/// Is not tried at all.
#[tool(attempts = 0)]
fn no_attempt() {}

/// Says an approval's metadata in a form that is none of JSON.
#[tool(approval(metadata(risk = 'h')))]
fn no_json() {}
