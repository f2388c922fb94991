//! Projects `enum` and `const`.

use std::collections::HashSet;

use toolwright::schema::Schema;
use toolwright::value::{Kind, Map, Value};

use super::{Node, Projector};
use crate::guard::strings;
use crate::listed::Listed;
use crate::plan::{SAME, Step};

impl Projector<'_> {
    pub(super) fn constants(&mut self, entries: &Map<Value>, at: &str) -> Node {
        let listed: Vec<Value> = match entries.get("const") {
            Some(value) => vec![value.clone()],
            None => entries.get("enum").and_then(Value::as_array).unwrap_or_default().to_vec(),
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
        let rules = rules_beside(entries);
        let follows = |value: &Value| {
            rules.as_ref().is_none_or(|rules| rules.check(value.to_string().as_bytes()).is_ok())
        };
        let mut seen = HashSet::new();
        let values = listed.iter().filter(|value| fits(value) && follows(value));
        let values = values.filter(|value| seen.insert(*value));
        let values: Vec<Value> = values.cloned().collect();
        if values.is_empty() {
            return self.text(entries, at, "T15");
        }
        let has_null = values.contains(&Value::Null);
        let others: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        if others.is_empty() {
            return self.leaf(Kind::Null, &without_values(entries), at);
        }
        let mut node = self.listed(&others, entries, at);
        if has_null {
            node = self.nullable(node, at);
        }
        node
    }

    /// Values other than null.
    fn listed(&mut self, values: &[Value], entries: &Map<Value>, at: &str) -> Node {
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in values.iter().map(kind_of) {
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
        let has_empty = self.dialect.enum_strings_nonempty && values.contains(&Value::from(""));
        let step = if kinds.iter().all(takes_kind) && one_type && !has_empty {
            let names: Vec<Value> = kinds.iter().map(|kind| Value::from(kind.as_str())).collect();
            let type_value = if names.len() == 1 { names[0].clone() } else { Value::Array(names) };
            wire.insert("type", type_value);
            if let [value] = values
                && self.dialect.takes("const")
            {
                wire.insert("const", value.clone());
            } else {
                wire.insert("enum", Value::Array(values.to_vec()));
            }
            SAME
        } else {
            let texts = texts(values, has_empty);
            wire.insert("type", Value::from("string"));
            wire.insert("enum", Value::Array(texts.clone()));
            self.step(Step::Table {
                canonical: Listed::new(values.to_vec()),
                wire: Listed::new(texts),
            })
        };
        let words = entries.iter().filter(|(key, _)| !is_rule(key));
        let words = words.map(|(key, value)| (key, value.clone())).collect();
        self.finish(&mut wire, &words, at, &["enum", "const"], &[], step);
        Node { wire, step }
    }
}

/// Returns the rules beside listed values, if any.
fn rules_beside(entries: &Map<Value>) -> Option<Schema> {
    if !entries.keys().any(is_rule) {
        return None;
    }
    Schema::new(&Value::Object(entries.clone()).to_string()).ok()
}

/// The string of each value: itself, or its JSON text. All are JSON texts with `all_texts`, and where two would be equal.
fn texts(values: &[Value], all_texts: bool) -> Vec<Value> {
    let text = |value: &Value| Value::from(value.to_string());
    let plain = |value: &Value| if value.as_str().is_some() { value.clone() } else { text(value) };
    let mut seen = HashSet::new();
    let collides = !values.iter().all(|value| seen.insert(plain(value)));
    let string = |value| if collides || all_texts { text(value) } else { plain(value) };
    values.iter().map(string).collect()
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
