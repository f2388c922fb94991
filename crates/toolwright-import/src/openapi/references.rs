//! References inside an OpenAPI document. Nothing outside it is ever fetched.

use toolwright::pointer::from_fragment;

use super::super::references::at;
use super::is_set;
use toolwright_codegen::internal::Json;

/// How many references are followed from one place; a circle of them leads nowhere.
pub(super) const MAX_STEPS: usize = 16;

/// Whether a schema of a document says `true` behind a key, or one that it refers to does.
pub(super) fn says(root: &Json, schema: &Json, key: &str) -> bool {
    chain(root, schema).any(|schema| is_set(schema, key))
}

/// A schema, what it refers to, and what that refers to.
pub(super) fn chain<'a>(root: &'a Json, schema: &'a Json) -> impl Iterator<Item = &'a Json> {
    let next = |schema: &&'a Json| {
        let Some(Json::String(reference)) = schema.get("$ref") else { return None };
        at(root, &pointer(reference).ok()?)
    };
    std::iter::successors(Some(schema), next).take(MAX_STEPS)
}

/// The pointer of a reference inside the document; nothing else is ever fetched.
pub(super) fn pointer(reference: &str) -> Result<String, String> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(format!(
            "it refers to another document, {reference}; put both into one file first"
        ));
    };
    let pointer = from_fragment(fragment).filter(|pointer| pointer.starts_with('/'));
    pointer.ok_or_else(|| {
        format!("{reference} names no place; refer to one such as #/components/schemas/Pet")
    })
}
