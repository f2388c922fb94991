//! Keywords that accept less if a schema in them accepts more, as `not`. Where a dialect does not take a rule in such a schema, the
//! whole keyword is left to the codec.

use std::collections::BTreeSet;

use toolwright::value::{Map, Value};

use super::{describe, strange_pattern};
use crate::canonical::{Part, change, parts_mut, visit};
use crate::loss::LossKind;
use crate::project::Projector;
use crate::sentence;

/// Removes the conditions that would accept less.
pub(super) fn remove(projector: &mut Projector<'_>, schema: &mut Value) {
    let dialect = projector.dialect;
    let loses = |node: &Map<Value>| {
        strange_pattern(dialect, node).is_some()
            || (dialect.items_required
                && !node.contains_key("items")
                && node.contains_key("unevaluatedItems"))
    };
    let mut is_lost = false;
    visit(schema, &mut |node, _| is_lost |= loses(node));
    if !is_lost {
        return;
    }
    let canonical = projector.canonical;
    let referred: Vec<&str> =
        canonical.referred().filter(|pointer| schema.pointer(pointer).is_some()).collect();
    // What a reference leads to may lose a rule, too.
    let loses = |node: &Map<Value>| {
        REFERENCES.iter().any(|keyword| node.contains_key(keyword)) || loses(node)
    };
    let mut removed = Vec::new();
    let original = schema.clone();
    remove_in(schema, "", &loses, &mut removed);
    if removed.iter().any(Removed::evaluates) {
        // What a removed keyword evaluated is unevaluated now.
        *schema = original;
        removed.clear();
        remove_in(schema, "", &|node| loses(node) || !unevaluated(node).is_empty(), &mut removed);
        remove_unevaluated(projector, schema);
    }
    for Removed { at, keyword, was, words } in removed {
        if words.is_empty() {
            projector.lose(LossKind::Widening, &at, keyword, Value::Null, "anyOf", "T7");
        } else {
            projector.lose(LossKind::Enforcement, &at, keyword, was, &words, "T20");
        }
    }
    if let Some(gone) = referred.iter().find(|pointer| schema.pointer(pointer).is_none()) {
        let reason = format!(
            "`#{gone}` is in a condition that the dialect does not take, and has a reference"
        );
        projector.refuse(gone, "T20", reason);
    }
}

/// Keywords with a reference.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A keyword that was removed, or an `oneOf` that became `anyOf`, which has no words.
struct Removed {
    at: String,
    keyword: &'static str,
    was: Value,
    words: String,
}

impl Removed {
    /// Returns whether properties or items may have been evaluated by it.
    fn evaluates(&self) -> bool {
        self.keyword != "not" && !self.words.is_empty()
    }
}

/// The keywords of a node about what no other keyword evaluates, each with its value and a sentence.
fn unevaluated(node: &Map<Value>) -> Vec<(&'static str, Value, String)> {
    let keywords = ["unevaluatedItems", "unevaluatedProperties"].into_iter();
    let found = keywords.filter_map(|keyword| {
        let was = node.get(keyword)?;
        Some((keyword, was.clone(), sentence::of(keyword, was, node).unwrap_or_default()))
    });
    found.collect()
}

/// Replaces such keywords by their sentences.
fn remove_unevaluated(projector: &mut Projector<'_>, schema: &mut Value) {
    visit(schema, &mut |node, at| {
        for (keyword, was, words) in unevaluated(node) {
            projector.lose(LossKind::Enforcement, at, keyword, was, &words, "T20");
        }
    });
    change(schema, &mut |node, _| {
        for (keyword, _, words) in unevaluated(node) {
            node.remove(keyword);
            describe(node, words);
        }
    });
}

/// Returns whether the node accepts more afterwards, or once its own rules are lost.
fn remove_in(
    schema: &mut Value,
    at: &str,
    loses: &impl Fn(&Map<Value>) -> bool,
    removed: &mut Vec<Removed>,
) -> bool {
    let Value::Object(entries) = schema else { return false };
    let kept = ["not", "if", "then", "else", "oneOf", "contains"];
    let kept =
        kept.into_iter().filter_map(|keyword| Some((keyword, entries.get(keyword)?.clone())));
    let original: Map<Value> = kept.collect();
    let is_condition = |keyword: &str| match keyword {
        "contains" => entries.contains_key("maxContains"),
        _ => matches!(keyword, "not" | "if" | "oneOf"),
    };
    let conditions: Vec<&str> = original.keys().filter(|keyword| is_condition(keyword)).collect();
    let mut accepts_more = loses(entries);
    let mut affected = BTreeSet::new();
    for Part { keyword, pointer, schema } in parts_mut(entries) {
        if remove_in(schema, &format!("{at}{pointer}"), loses, removed) {
            match conditions.iter().find(|condition| **condition == keyword) {
                Some(condition) => drop(affected.insert(*condition)),
                None => accepts_more = true,
            }
        }
    }
    for keyword in affected {
        accepts_more = true;
        let at = at.to_owned();
        let was = original.get(keyword).cloned().unwrap_or_default();
        if keyword == "oneOf"
            && !entries.contains_key("anyOf")
            && let Some(alternatives) = entries.remove(keyword)
        {
            entries.insert("anyOf", alternatives);
            removed.push(Removed { at, keyword: "oneOf", was, words: String::new() });
            continue;
        }
        let (keyword, others): (_, &[&str]) = match keyword {
            "not" => ("not", &[]),
            "if" => ("if", &["then", "else"]),
            "contains" => ("contains", &["minContains", "maxContains"]),
            _ => ("oneOf", &[]),
        };
        for keyword in others.iter().chain([&keyword]) {
            entries.remove(keyword);
            let inside = format!("{at}/{keyword}/");
            removed.retain(|other| !format!("{}/", other.at).starts_with(&inside));
        }
        let words = sentence::of(keyword, &was, &original).unwrap_or_default();
        describe(entries, words.clone());
        removed.push(Removed { at, keyword, was, words });
    }
    accepts_more
}
