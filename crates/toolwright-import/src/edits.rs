//! Keeps the edits of people in an imported schema when the import runs again. A file records every leaf of the schema that
//! the last import wrote, as six hexadecimal digits of a digest of its path and value. A leaf is any value except a non-empty
//! object and a list of objects.

use std::collections::BTreeSet;

use super::digest;
use super::equality::is_same_value;
use super::keywords::{Entries, joined};
use toolwright_codegen::internal::Json;

/// The number of hexadecimal digits that record one leaf.
const DIGITS: usize = 6;

/// The record of one schema: the digests of the leaves that an import wrote.
pub(super) struct Record<'a> {
    digests: BTreeSet<&'a str>,
}

/// Computes the record of a schema.
pub(super) fn record(schema: &Json) -> Json {
    let mut digests = BTreeSet::new();
    each_leaf(schema, "", &mut |digest| {
        digests.insert(digest);
    });
    Json::String(digests.into_iter().collect())
}

/// Visits the digest of every leaf.
fn each_leaf(value: &Json, at: &str, visit: &mut dyn FnMut(String)) {
    let entries: Vec<(String, &Json)> = match value {
        Json::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Json::Array(items) if holds_objects(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    if entries.is_empty() {
        visit(leaf_digest(value, at));
    }
    for (key, value) in entries {
        each_leaf(value, &joined(at, &key), visit);
    }
}

fn leaf_digest(value: &Json, at: &str) -> String {
    let mut digits = digest::value(&Json::Array(vec![Json::string(at), value.clone()]));
    digits.truncate(DIGITS);
    digits
}

/// Returns whether a list is one of schemas, not a leaf.
fn holds_objects(items: &[Json]) -> bool {
    items.iter().any(|item| matches!(item, Json::Object(_)))
}

impl<'a> Record<'a> {
    /// Reads the record of a schema; `None` if it is missing or malformed.
    pub(super) fn read(digits: Option<&'a Json>) -> Option<Self> {
        let Some(Json::String(digits)) = digits else { return None };
        let is_valid = digits.len() % DIGITS == 0 && digits.is_ascii();
        let digests =
            (0..digits.len()).step_by(DIGITS).filter_map(|at| digits.get(at..at + DIGITS));
        is_valid.then(|| Self { digests: digests.collect() })
    }

    /// Merges the schema in the file with that of the server. Of two leaves that differ, the one that changed since the last
    /// import is kept. If both changed, the file's is kept and `is_conflict` is set.
    pub(super) fn merge(&self, file: &Json, server: &Json, is_conflict: &mut bool) -> Json {
        self.merged(Some(file), Some(server), "", is_conflict).unwrap_or_else(|| server.clone())
    }

    fn merged(
        &self,
        file: Option<&Json>,
        server: Option<&Json>,
        at: &str,
        is_conflict: &mut bool,
    ) -> Option<Json> {
        match (file, server) {
            (None, None) => None,
            (None, Some(server)) => (!self.has(server, at)).then(|| server.clone()),
            (Some(file), None) => (!self.has(file, at)).then(|| file.clone()),
            (Some(file), Some(server)) if is_same_value(file, server) => Some(server.clone()),
            (Some(Json::Object(old)), Some(Json::Object(new))) if has_same_reference(old, new) => {
                let value = |entries: &'_ Entries, key: &str| {
                    entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
                };
                let rest = old.iter().filter(|(key, _)| new.iter().all(|(known, _)| known != key));
                let keys = new.iter().chain(rest).map(|(key, _)| key);
                let entries = keys.filter_map(|key| {
                    let (old, new) = (value(old, key), value(new, key));
                    let at = joined(at, key);
                    Some((key.clone(), self.merged(old.as_ref(), new.as_ref(), &at, is_conflict)?))
                });
                Some(Json::Object(entries.collect()))
            }
            (Some(Json::Array(old)), Some(Json::Array(new)))
                if old.len() == new.len() && holds_objects(old) && holds_objects(new) =>
            {
                let items = old.iter().zip(new).enumerate().map(|(index, (old, new))| {
                    let at = joined(at, &index.to_string());
                    let merged = self.merged(Some(old), Some(new), &at, is_conflict);
                    merged.unwrap_or_else(|| new.clone())
                });
                Some(Json::Array(items.collect()))
            }
            (Some(file), Some(server)) => {
                let is_new = !self.has(server, at);
                // If the server changed a schema and one of both is a type now, the leaves cannot be compared.
                let is_moved = is_new && [file, server].iter().any(|one| one.get("$ref").is_some());
                if self.has(file, at) || is_moved {
                    return Some(server.clone());
                }
                *is_conflict |= is_new;
                Some(file.clone())
            }
        }
    }

    /// Returns whether the last import wrote every leaf of a value.
    fn has(&self, value: &Json, at: &str) -> bool {
        let mut has = true;
        each_leaf(value, at, &mut |digest| has &= self.digests.contains(digest.as_str()));
        has
    }
}

/// Returns whether two schemas have the same `$ref`, or none.
fn has_same_reference(old: &Entries, new: &Entries) -> bool {
    let reference =
        |entries: &Entries| entries.iter().find(|(key, _)| key == "$ref").map(|(_, to)| to.clone());
    reference(old) == reference(new)
}
