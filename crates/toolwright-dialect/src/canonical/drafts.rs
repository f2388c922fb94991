//! Converts schemas of older drafts to 2020-12.

use toolwright::schema::Draft;
use toolwright::value::{Map, Value};

use super::parts::{parts_mut, visit_in};

/// The draft of the schemas in a schema with an id, and how they are written in 2020-12.
#[derive(Clone, Copy)]
struct Scope {
    draft: Draft,
    /// True if the schema with the id has a `$recursiveAnchor`.
    is_recursive: bool,
    /// True if `contains` must not evaluate items, as in 2019-09.
    hides_contains: bool,
}

/// The name that a `$recursiveAnchor` gets.
const RECURSIVE: &str = "recursive-anchor";

impl Scope {
    fn of(entries: &Map<Value>, outer: Draft) -> Self {
        let draft = entries.get("$schema").and_then(Value::as_str).and_then(Draft::from_uri);
        let draft = draft.unwrap_or(outer);
        let is_recursive = entries.get("$recursiveAnchor") == Some(&Value::Boolean(true));
        let mut hides_contains = false;
        if draft == Draft::D2019 {
            visit_in(entries, &mut |node, _| {
                hides_contains |= node.contains_key("unevaluatedItems");
            });
        }
        Self { draft, is_recursive, hides_contains }
    }

    /// The scope of a schema inside. Only one with an id has its own.
    fn inside(self, entries: &Map<Value>) -> Self {
        let word = if self.draft == Draft::D4 { "id" } else { "$id" };
        let is_old = self.draft < Draft::D2019;
        match entries.get(word).and_then(Value::as_str) {
            Some(id) if !(is_old && (id.starts_with('#') || entries.contains_key("$ref"))) => {
                Self::of(entries, self.draft)
            }
            _ => self,
        }
    }
}

/// Gives a schema the form of draft 2020-12, but leaves its `$schema`. What its own draft ignores is left out.
pub(crate) fn modernize(schema: &mut Value) {
    if let Value::Object(entries) = schema {
        let scope = Scope::of(entries, Draft::D2020);
        modernize_in(scope, entries);
    }
}

fn modernize_in(scope: Scope, node: &mut Map<Value>) {
    let Scope { draft, is_recursive, hides_contains } = scope;
    let is_hidden = draft < Draft::D2019 && node.contains_key("$ref");
    let beside = ["$ref", "definitions", "$defs", "description", "title", "$schema", "default"];
    let known = |key: &str| draft.has(key) && (!is_hidden || beside.contains(&key));
    if !node.keys().all(known) {
        *node = std::mem::take(node).into_iter().filter(|(key, _)| known(key)).collect();
    }
    let word = if draft == Draft::D4 { "id" } else { "$id" };
    if draft < Draft::D2019
        && let Some(Value::String(id)) = node.get(word)
    {
        let (uri, fragment) = id.split_once('#').unwrap_or((id, ""));
        let (word, name) = if uri.is_empty() { ("$anchor", fragment) } else { ("$id", uri) };
        let name = Value::from(name);
        node.remove("id");
        node.remove("$id");
        node.insert(word, name);
    }
    if node.get("$recursiveRef").and_then(Value::as_str) == Some("#") {
        node.remove("$recursiveRef");
        let target = if is_recursive { format!("#{RECURSIVE}") } else { "#".to_owned() };
        let is_plain = !is_recursive && !node.contains_key("$ref");
        node.insert(if is_plain { "$ref" } else { "$dynamicRef" }, Value::from(target));
    }
    if node.remove("$recursiveAnchor") == Some(Value::Boolean(true)) {
        node.insert("$dynamicAnchor", Value::from(RECURSIVE));
    }
    if let Some(Value::Array(_)) = node.get("items")
        && let Some(first) = node.remove("items")
    {
        node.insert("prefixItems", first);
        if let Some(rest) = node.remove("additionalItems") {
            node.insert("items", rest);
        }
    }
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Boolean(exclusive)) = node.get(flag) {
            let exclusive = *exclusive;
            node.remove(flag);
            if exclusive && let Some(value) = node.remove(bound) {
                node.insert(flag, value);
            }
        }
    }
    if let Some(Value::Object(dependencies)) = node.remove("dependencies") {
        let (required, schemas): (Vec<_>, Vec<_>) =
            dependencies.into_iter().partition(|(_, value)| value.as_array().is_some());
        for (keyword, part) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
            if !part.is_empty() {
                node.insert(keyword, Value::Object(part.into_iter().collect()));
            }
        }
    }
    for part in parts_mut(node) {
        if let Value::Object(inner) = part.schema {
            let scope = scope.inside(inner);
            inner.remove("$schema");
            modernize_in(scope, inner);
        }
    }
    if hides_contains && node.contains_key("contains") {
        // What is evaluated inside `not` does not count outside.
        let group = ["contains", "minContains", "maxContains"];
        let group = group.into_iter().filter_map(|word| Some((word, node.remove(word)?)));
        let not = |schema| Value::Object(Map::from([("not", schema)]));
        let hidden = not(not(Value::Object(group.collect())));
        let all = node.remove("allOf").and_then(|all| all.as_array().map(<[Value]>::to_vec));
        let all = all.into_iter().flatten().chain([hidden]).collect();
        node.insert("allOf", Value::Array(all));
    }
}
