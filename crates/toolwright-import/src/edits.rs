//! Keeps what people changed in an imported schema when the import runs again. A file records every word that the last
//! import wrote, as six hexadecimal digits of a digest of the word and its place. A word is a value that is no object.

use std::collections::BTreeSet;

use super::digest;
use super::equality::is_same_value;
use super::keywords::{Entries, joined};
use toolwright_codegen::internal::Json;

/// How many hexadecimal digits stand for one word.
const DIGITS: usize = 6;

/// The words that an import wrote of one schema.
pub(super) struct Written<'a> {
    words: BTreeSet<&'a str>,
}

/// The record of a schema for its file.
pub(super) fn remembered(schema: &Json) -> Json {
    let mut words = BTreeSet::new();
    each_word(schema, "", &mut |word| {
        words.insert(word);
    });
    Json::String(words.into_iter().collect())
}

fn each_word(value: &Json, at: &str, visit: &mut dyn FnMut(String)) {
    let entries: Vec<(String, &Json)> = match value {
        Json::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Json::Array(items) if holds_objects(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    if entries.is_empty() {
        visit(word(value, at));
    }
    for (key, value) in entries {
        each_word(value, &joined(at, &key), visit);
    }
}

/// The digits of a word at its place.
fn word(value: &Json, at: &str) -> String {
    let mut digits = digest::value(&Json::Array(vec![Json::string(at), value.clone()]));
    digits.truncate(DIGITS);
    digits
}

/// Lists of schemas have words in them; any other list is one.
fn holds_objects(items: &[Json]) -> bool {
    items.iter().any(|item| matches!(item, Json::Object(_)))
}

impl<'a> Written<'a> {
    /// Reads the record of a schema; `None` where it is malformed.
    pub(super) fn read(digits: Option<&'a Json>) -> Option<Self> {
        let Some(Json::String(digits)) = digits else { return None };
        let is_such = digits.len() % DIGITS == 0 && digits.is_ascii();
        let words = (0..digits.len()).step_by(DIGITS).filter_map(|at| digits.get(at..at + DIGITS));
        is_such.then(|| Self { words: words.collect() })
    }

    /// Merges the schema in the file with what the server says now. Of words that differ, the changed one counts; if both
    /// changed, the file's, and `is_conflict` is set.
    pub(super) fn keep(&self, file: &Json, said: &Json, is_conflict: &mut bool) -> Json {
        self.kept(Some(file), Some(said), "", is_conflict).unwrap_or_else(|| said.clone())
    }

    fn kept(
        &self,
        file: Option<&Json>,
        said: Option<&Json>,
        at: &str,
        is_conflict: &mut bool,
    ) -> Option<Json> {
        match (file, said) {
            (None, None) => None,
            (None, Some(said)) => (!self.has(said, at)).then(|| said.clone()),
            (Some(file), None) => (!self.has(file, at)).then(|| file.clone()),
            (Some(file), Some(said)) if is_same_value(file, said) => Some(said.clone()),
            (Some(Json::Object(old)), Some(Json::Object(new))) if is_one_form(old, new) => {
                let value = |entries: &'_ Entries, key: &str| {
                    entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
                };
                let rest = old.iter().filter(|(key, _)| new.iter().all(|(known, _)| known != key));
                let keys = new.iter().chain(rest).map(|(key, _)| key);
                let entries = keys.filter_map(|key| {
                    let (old, new) = (value(old, key), value(new, key));
                    let at = joined(at, key);
                    Some((key.clone(), self.kept(old.as_ref(), new.as_ref(), &at, is_conflict)?))
                });
                Some(Json::Object(entries.collect()))
            }
            (Some(Json::Array(old)), Some(Json::Array(new)))
                if old.len() == new.len() && holds_objects(old) && holds_objects(new) =>
            {
                let items = old.iter().zip(new).enumerate().map(|(index, (old, new))| {
                    let at = joined(at, &index.to_string());
                    self.kept(Some(old), Some(new), &at, is_conflict).unwrap_or_else(|| new.clone())
                });
                Some(Json::Array(items.collect()))
            }
            (Some(file), Some(said)) => {
                let is_new = !self.has(said, at);
                // What moved into a type, or out of one, is the server's again once the server changes it.
                let is_moved = is_new && [file, said].iter().any(|one| one.get("$ref").is_some());
                if self.has(file, at) || is_moved {
                    return Some(said.clone());
                }
                *is_conflict |= is_new;
                Some(file.clone())
            }
        }
    }

    /// Whether an import wrote every word of a value.
    fn has(&self, value: &Json, at: &str) -> bool {
        let mut has = true;
        each_word(value, at, &mut |word| has &= self.words.contains(word.as_str()));
        has
    }
}

/// Whether two schemas both refer to one thing, or both to none.
fn is_one_form(old: &Entries, new: &Entries) -> bool {
    let reference =
        |entries: &Entries| entries.iter().find(|(key, _)| key == "$ref").map(|(_, to)| to.clone());
    reference(old) == reference(new)
}
