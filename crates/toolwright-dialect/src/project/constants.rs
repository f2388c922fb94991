//! Projects `enum` and `const`.

use std::collections::HashSet;
use std::slice;

use toolwright::schema::Schema;
use toolwright::value::{Kind, Map, Value};

use super::leaf::is_beyond_doubles;
use super::{Node, Projector, WORDS};
use crate::canonical::visit_in;
use crate::guard::strings;
use crate::listed::Listed;
use crate::loss::LossKind;
use crate::plan::{SAME, Step};

impl Projector<'_> {
    pub(super) fn constants(&mut self, entries: &Map<Value>, at: &str) -> Node {
        let listed = match (entries.get("const"), entries.get("enum").and_then(Value::as_array)) {
            (Some(value), Some(values)) if !values.contains(value) => &[],
            (Some(value), _) => slice::from_ref(value),
            (None, values) => values.unwrap_or_default(),
        };
        let kinds: Vec<&str> = match entries.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(list) => strings(Some(list)).collect(),
            None => Vec::new(),
        };
        let fits = |value: &Value| {
            let kind = kind_of(value);
            let wider = kind == Kind::Integer && kinds.contains(&"number");
            kinds.is_empty() || kinds.contains(&kind.as_str()) || wider
        };
        let mut seen = HashSet::with_capacity(listed.len());
        let fitting = listed.iter().filter(|value| fits(value) && seen.insert(*value));
        let mut values: Vec<&Value> = fitting.collect();
        if !self.rules.keep_following(&mut values, entries) {
            // The codec checks them.
            self.lose_rules(entries, at);
        }
        if values.is_empty() {
            return self.text(entries, at, "T15");
        }
        let all = values.len();
        values.retain(|value| !value.is_null());
        let has_null = values.len() < all;
        if values.is_empty() {
            return self.leaf(Kind::Null, &without_values(entries), at);
        }
        let mut node = self.listed(&values, entries, at);
        if has_null {
            node = self.nullable(node, at);
        }
        node
    }

    /// Leaves the rules beside listed values to the codec.
    fn lose_rules(&mut self, entries: &Map<Value>, at: &str) {
        for (keyword, value) in entries.iter().filter(|(keyword, _)| is_rule(keyword)) {
            self.lose(LossKind::Enforcement, at, keyword, value.clone(), "", "T20");
        }
    }

    /// Values other than null.
    fn listed(&mut self, values: &[&Value], entries: &Map<Value>, at: &str) -> Node {
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in values.iter().map(|value| kind_of(value)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let mut wire = Map::new();
        if let [Kind::Boolean] = kinds.as_slice()
            && values.len() == 2
        {
            wire.insert("type", Value::from("boolean"));
            self.finish(&mut wire, entries, at, &["enum", "const"], &[Kind::Boolean], SAME);
            return Node::same(wire);
        }
        let takes_kind = |kind: &Kind| match (&self.dialect.enum_scalars, kind) {
            (_, Kind::Object | Kind::Array) => false,
            (_, kind) if self.dialect.enum_strings_only => *kind == Kind::String,
            (Some(names), kind) => names.iter().any(|name| name == kind.as_str()),
            (None, _) => true,
        };
        let one_type = kinds.len() == 1
            || (self.takes_type_list(&kinds) && self.dialect.enum_scalars.is_none());
        let has_empty = self.dialect.enum_strings_nonempty
            && values.iter().any(|value| value.as_str() == Some(""));
        let is_exact = !self.dialect.doubles
            || !values.iter().filter_map(|value| value.as_number()).any(is_beyond_doubles);
        let step = if kinds.iter().all(takes_kind) && one_type && !has_empty && is_exact {
            let names: Vec<Value> = kinds.iter().map(|kind| Value::from(kind.as_str())).collect();
            let type_value = if names.len() == 1 { names[0].clone() } else { Value::Array(names) };
            wire.insert("type", type_value);
            if let [value] = values
                && self.dialect.takes("const")
            {
                wire.insert("const", (*value).clone());
            } else {
                wire.insert("enum", Value::Array(owned(values)));
            }
            SAME
        } else {
            self.copied_values += values.len() * COPIES_IN_TABLE;
            let texts = texts(values, has_empty);
            wire.insert("type", Value::from("string"));
            wire.insert("enum", Value::Array(texts.clone()));
            self.step(Step::Table {
                canonical: Listed::new(owned(values)),
                wire: Listed::new(texts),
            })
        };
        let words = entries.iter().filter(|(key, _)| !is_rule(key));
        let words = words.map(|(key, value)| (key, value.clone())).collect();
        self.finish(&mut wire, &words, at, &["enum", "const"], &[], step);
        Node { wire, step }
    }
}

/// A table of listed values and their texts takes as long as so many copies of them.
const COPIES_IN_TABLE: usize = 4;

/// The most steps of a projection to find the listed values that follow the rules beside them.
const MOST_STEPS: u64 = 1_000_000;

/// The most steps of all patterns in these rules, as in one schema.
const MOST_PATTERN_STEPS: u64 = 300_000;

/// The steps of checking that take about as long as projecting one schema.
const STEPS_OF_SCHEMA: u64 = 1024;

/// The rules beside listed values, and the steps that are left for them.
pub(super) struct Rules {
    /// The text of the last rules, and these if they can be compiled: the alternatives of a choice share those beside it.
    last: (String, Option<Schema>),
    pattern_steps: u64,
    steps: u64,
}

impl Default for Rules {
    fn default() -> Self {
        let last = (String::new(), None);
        Self { last, pattern_steps: MOST_PATTERN_STEPS, steps: MOST_STEPS }
    }
}

impl Rules {
    /// How many schemas take about as long to project as these steps took. Compiling a step of a pattern counts as one.
    pub(super) fn schemas(&self) -> usize {
        let compiled = MOST_PATTERN_STEPS - self.pattern_steps;
        let checked = (MOST_STEPS - self.steps) / STEPS_OF_SCHEMA;
        usize::try_from(compiled + checked).unwrap_or(usize::MAX)
    }

    /// Keeps the values that follow the rules beside them. Returns false and keeps all if these are not known: the rules cannot be
    /// compiled, or take too many steps.
    fn keep_following(&mut self, values: &mut Vec<&Value>, entries: &Map<Value>) -> bool {
        if !entries.keys().any(is_rule) {
            return true;
        }
        if self.steps == 0 {
            return false;
        }
        let listing = if entries.contains_key("const") { "const" } else { "enum" };
        let unread = [listing, "$defs", "definitions"];
        let rules = entries.iter().filter(|(key, _)| !unread.contains(key) && !WORDS.contains(key));
        let rules: Map<Value> = rules.map(|(key, value)| (key, value.clone())).collect();
        // A reference in them leads to a place in the whole schema.
        let mut refers = false;
        visit_in(&rules, &mut |node, _| {
            refers |=
                ["$ref", "$dynamicRef", "$recursiveRef"].iter().any(|key| node.contains_key(key));
        });
        if refers {
            return false;
        }
        let text = Value::Object(rules).to_string();
        if self.last.0 != text {
            let schema = Schema::within(&text, &mut self.pattern_steps).ok();
            self.last = (text, schema);
        }
        let Some(schema) = &self.last.1 else { return false };
        let mut follows = |value: &&Value| {
            schema.check_within(value.to_string().as_bytes(), &mut self.steps).is_ok()
        };
        let following = values.iter().copied().filter(&mut follows).collect();
        let is_known = self.steps > 0;
        if is_known {
            *values = following;
        }
        is_known
    }
}

fn owned(values: &[&Value]) -> Vec<Value> {
    values.iter().copied().cloned().collect()
}

/// The string of each value: itself, or its JSON text. All are JSON texts with `all_texts`, and where two would be equal.
fn texts(values: &[&Value], all_texts: bool) -> Vec<Value> {
    let text = |value: &Value| Value::from(value.to_string());
    let plain = |value: &Value| if value.as_str().is_some() { value.clone() } else { text(value) };
    if !all_texts {
        let plain: Vec<Value> = values.iter().copied().map(plain).collect();
        let different: HashSet<&Value> = plain.iter().collect();
        if different.len() == plain.len() {
            return plain;
        }
    }
    values.iter().copied().map(text).collect()
}

fn without_values(entries: &Map<Value>) -> Map<Value> {
    entries
        .iter()
        .filter(|(key, _)| !matches!(*key, "enum" | "const"))
        .map(|(key, value)| (key, value.clone()))
        .collect()
}

/// Returns whether a keyword restricts values, besides those that list them.
fn is_rule(keyword: &str) -> bool {
    keyword == "format"
        || super::leaf::is_schema(keyword)
        || !crate::sentence::kinds_of_keyword(keyword).is_empty()
}

pub(super) fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Boolean(_) => Kind::Boolean,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
        Value::Number(number) if number.is_integer() => Kind::Integer,
        Value::Number(_) => Kind::Number,
    }
}
