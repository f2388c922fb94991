//! Compares annotations, and the ways in which equal sets are written.

use std::collections::BTreeSet;

use toolwright::Value;
use toolwright_codegen::internal::schema::{Annotations, NodeId};

use super::{Comparison, Place, Shows};
use crate::classes::Trust;
use crate::finding::Finding;
use crate::rules::{self, Rule};
use crate::view::{json_value, sorted};

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
        let default = |annotations: &Annotations| annotations.default.as_ref().map(json_value);
        let (before, after) = (default(&was), default(&is));
        if before != after {
            let text = |value: Option<Value>| {
                value.map_or_else(|| "none".to_owned(), |value| value.to_string())
            };
            let rule = self.of([&rules::DEFAULT_CHANGED, words]);
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

    /// Reports words that are new in parts that were not compared one by one, such as the members of overlapping choices.
    pub(super) fn other_words(
        &mut self,
        old: &str,
        new: &str,
        (old_place, new_place): (&Place, &Place),
    ) {
        let is_reviewed = |finding: &Finding| finding.classes.trust > Trust::Same;
        if self.findings.iter().any(is_reviewed) {
            return;
        }
        let (mut was, mut is) = (BTreeSet::new(), BTreeSet::new());
        texts(&old.parse().unwrap_or_default(), &mut was);
        texts(&new.parse().unwrap_or_default(), &mut is);
        if let Some(text) = is.difference(&was).next() {
            let words = self.of([&rules::WORDS_CHANGED, &rules::WORDS_CHANGED_IN_RESULT]);
            self.add(
                words,
                old_place,
                new_place,
                Shows::Nothing,
                format!("{} is new", quoted(Some(text))),
            );
        }
    }

    /// Returns the rule of a change in the text of a schema that has no other finding.
    pub(super) fn spelling(old: &str, new: &str) -> (&'static Rule, &'static str) {
        let value = |text: &str| text.parse::<Value>().unwrap_or_default();
        let (old, new) = (value(old), value(new));
        if old == new || sorted(&old) == sorted(&new) {
            return (&rules::ORDER_CHANGED, "the order of properties or values");
        }
        (&rules::SAME_SET, "the same values are accepted")
    }
}

/// Returns the names of the definitions of a schema that are equal to the schema itself.
pub(super) fn copies(text: &str) -> Vec<String> {
    let Ok(Value::Object(mut root)) = text.parse() else { return Vec::new() };
    let Some(Value::Object(definitions)) = root.remove("$defs") else { return Vec::new() };
    root.remove("$schema");
    let root = Value::Object(root);
    let equal = definitions.iter().filter(|(_, definition)| **definition == root);
    equal.map(|(name, _)| name.to_owned()).collect()
}

/// Collects the titles and descriptions of a schema.
fn texts(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::String(text) if key == "title" || key == "description" => {
                        found.insert(text.clone());
                    }
                    _ => texts(value, found),
                }
            }
        }
        _ => {}
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| Value::from(text).to_string())
}
