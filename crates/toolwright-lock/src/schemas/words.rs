//! Compares annotations, and the ways in which equal sets are written.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::Value;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::schema::{Annotations, NodeId};
use toolwright_codegen::internal::values::{retained, sorted};

use super::{Comparison, Place, Shows};
use crate::classes::Trust;
use crate::finding::Finding;
use crate::rules::{self, Rule};

impl Comparison<'_> {
    /// Compares the annotations at two places, with those of the schemas that they refer to unless only their own count.
    pub(super) fn annotations(&mut self, old: &Place, new: &Place, only_own: bool) {
        let (Some(was), Some(is)) = (old.node, new.node) else { return };
        let (was, is) = (self.annotations_of(was, only_own), self.annotations_of(is, only_own));
        let words = self.of([&rules::WORDS_CHANGED, &rules::WORDS_CHANGED_IN_RESULT]);
        let mut found: Vec<(&'static Rule, String)> = Vec::new();
        let texts =
            [("title", &was.title, &is.title), ("description", &was.description, &is.description)];
        for (what, was, is) in texts {
            if was != is {
                found.push((
                    words,
                    format!("{what}: {}, was {}", quoted(is.as_deref()), quoted(was.as_deref())),
                ));
            }
        }
        if (was.deprecated, was.read_only, was.write_only, &was.content)
            != (is.deprecated, is.read_only, is.write_only, &is.content)
        {
            found.push((words, "`deprecated`, `readOnly`, `writeOnly` or the content".to_owned()));
        }
        if was.format != is.format {
            let rule = match &is.format {
                Some(_) => {
                    self.of([&rules::ARG_FORMAT_UNKNOWN_ADDED, &rules::RESULT_FORMAT_UNKNOWN_ADDED])
                }
                None => words,
            };
            found.push((
                rule,
                format!(
                    "format: {}, was {}",
                    quoted(is.format.as_deref()),
                    quoted(was.format.as_deref())
                ),
            ));
        }
        if was.examples != is.examples {
            let rule = self.of([&rules::EXAMPLES_CHANGED, &rules::EXAMPLES_CHANGED_IN_RESULT]);
            found.push((rule, "examples".to_owned()));
        }
        let default = |annotations: &Annotations| annotations.default.as_ref().map(Json::to_value);
        let (before, after) = (default(&was), default(&is));
        if before != after {
            let text = |value: Option<Value>| {
                value.map_or_else(|| "none".to_owned(), |value| value.to_string())
            };
            let rule = self.of([&rules::DEFAULT_CHANGED, &rules::DEFAULT_CHANGED_IN_RESULT]);
            found.push((rule, format!("default: {}, was {}", text(after), text(before))));
        }
        for (rule, text) in found {
            self.add(rule, old, new, Shows::Nothing, text);
        }
    }

    /// Returns the annotations of a node. Missing ones are those of the nodes that it refers to, unless only its own count.
    fn annotations_of(&self, node: NodeId, only_own: bool) -> Annotations {
        let mut found = Annotations::clone(&self.annotated[node].annotations);
        let mut place = Place { node: Some(node), pointer: String::new() };
        while let Some(target) = self.target(&place).filter(|_| !only_own) {
            let further = target.node.map(|node| &self.annotated[node].annotations);
            found = further.map_or(found.clone(), |further| found.completed_by(further));
            place = target;
        }
        found
    }

    /// Reports annotations that changed in parts that were not compared one by one, such as the members of overlapping choices.
    pub(super) fn other_words(
        &mut self,
        old: &Value,
        new: &Value,
        (old_place, new_place): (&Place, &Place),
    ) {
        let is_reviewed = |finding: &Finding| finding.classes.trust > Trust::Same;
        if self.findings.iter().any(is_reviewed) {
            return;
        }
        let (mut was, mut is) = (BTreeMap::new(), BTreeMap::new());
        let is_same_set = sorted(&without_words(old)) == sorted(&without_words(new));
        // Where the sets are equal, each text has its place; else only new texts count, and those that occur more often.
        annotations(old, if is_same_set { Some(String::new()) } else { None }, &mut was);
        annotations(new, if is_same_set { Some(String::new()) } else { None }, &mut is);
        let changed =
            is.iter().filter(|(text, count)| was.get(*text).is_none_or(|was| was < *count));
        let gone = was.keys().filter(|text| is_same_set && !is.contains_key(*text));
        let changed: Vec<&Annotation> = changed.map(|(text, _)| text).chain(gone).collect();
        let has = |word: &str| changed.iter().any(|(keyword, ..)| keyword == word);
        let sides = [
            (has("default"), [&rules::DEFAULT_CHANGED, &rules::WORDS_CHANGED_IN_RESULT]),
            (has("examples"), [&rules::EXAMPLES_CHANGED, &rules::EXAMPLES_CHANGED_IN_RESULT]),
            (
                has("title") || has("description"),
                [&rules::WORDS_CHANGED, &rules::WORDS_CHANGED_IN_RESULT],
            ),
        ];
        for (is_found, rule) in sides {
            if is_found {
                let texts = changed.iter().map(|(keyword, text, _)| format!("{keyword} {text}"));
                let words = texts.take(3).collect::<Vec<_>>().join(", ");
                self.add(self.of(rule), old_place, new_place, Shows::Nothing, words);
            }
        }
    }

    /// Returns the rule of a change in the text of a schema that has no other finding.
    pub(super) fn spelling(old: &Value, new: &Value) -> (&'static Rule, &'static str) {
        if sorted(old) == sorted(new) {
            return (&rules::ORDER_CHANGED, "the order of properties or values");
        }
        (&rules::SAME_SET, "the same values are accepted")
    }
}

/// Returns the names of the definitions of a schema that are equal to the schema itself.
pub(super) fn copies(schema: &Value) -> BTreeSet<&str> {
    let Some(definitions) = schema.get("$defs").and_then(Value::as_object) else {
        return BTreeSet::new();
    };
    let own = schema.as_object().into_iter().flatten();
    let own = own.filter(|(key, _)| !["$defs", "$schema"].contains(key));
    let own = Value::Object(own.map(|(key, value)| (key, value.clone())).collect());
    let equal = definitions.iter().filter(|(_, definition)| **definition == own);
    equal.map(|(name, _)| name).collect()
}

/// An annotation: the keyword, its value as JSON, and its place if that matters.
type Annotation = (String, String, Option<String>);

/// The annotations that a model reads.
const ANNOTATIONS: [&str; 4] = ["default", "description", "examples", "title"];

/// Collects the annotations of a schema, with how often each occurs.
fn annotations(schema: &Value, place: Option<String>, found: &mut BTreeMap<Annotation, usize>) {
    let below = |part: &str| place.as_ref().map(|place| format!("{place}/{part}"));
    match schema {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                // The constant of an alternative is its place: the order of alternatives does not matter.
                let part = item.get("const").map_or_else(|| index.to_string(), Value::to_string);
                annotations(item, below(&part), found);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                // A property of this name has a schema, which is an object.
                let is_annotation = ANNOTATIONS.contains(&key)
                    && (key == "default" || !matches!(value, Value::Object(_)));
                if is_annotation {
                    let text = value.to_string();
                    *found.entry((key.to_owned(), text, below(key))).or_default() += 1;
                } else {
                    annotations(value, below(key), found);
                }
            }
        }
        _ => {}
    }
}

/// Returns a schema without the annotations that a model reads.
fn without_words(schema: &Value) -> Value {
    retained(schema, &|_, key, value| {
        !ANNOTATIONS.contains(&key) || matches!(value, Value::Object(_))
    })
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| Value::from(text).to_string())
}
