//! Projects arrays and tuples.

use toolwright::value::{Kind, Map, Value};

use super::{Depth, Node, Projector};
use crate::loss::LossKind;
use crate::plan::{SAME, Step};

impl Projector<'_> {
    pub(super) fn array(&mut self, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        if let Some(first) = entries.get("prefixItems").and_then(Value::as_array)
            && !first.is_empty()
        {
            return self.tuple(first, entries, at, depth);
        }
        let mut wire = Map::from([("type", Value::from("array"))]);
        let step = match entries.get("items") {
            Some(Value::Boolean(false)) => {
                // Only the empty array fits.
                let words = "No items.";
                self.lose(LossKind::Enforcement, at, "items", Value::Boolean(false), words, "T20");
                self.any_items(&mut wire, at)
            }
            Some(items @ Value::Object(_)) => {
                let node = self.node(items, &format!("{at}/items"), Depth(depth.0 + 1));
                wire.insert("items", Value::Object(node.wire));
                if node.step == SAME { SAME } else { self.step(Step::Array(node.step)) }
            }
            _ => self.any_items(&mut wire, at),
        };
        self.finish(&mut wire, entries, at, &["items", "prefixItems"], &[Kind::Array], step);
        Node { wire, step }
    }

    /// Returns the number of levels of objects and arrays that an array takes on the wire, without its items.
    pub(super) fn levels_of_array(&self, entries: &Map<Value>) -> usize {
        let is_tuple = prefix(entries) > 0 && !self.dialect.takes("prefixItems");
        if is_tuple && has_rest(entries) { 2 } else { 1 }
    }

    /// Items without a schema.
    fn any_items(&mut self, wire: &mut Map<Value>, at: &str) -> usize {
        if self.dialect.items_typed || self.dialect.nodes_typed {
            let node = self.text(&Map::new(), &format!("{at}/items"), "T15");
            wire.insert("items", Value::Object(node.wire));
            return self.step(Step::Array(node.step));
        }
        if self.dialect.items_required {
            wire.insert("items", Value::Object(Map::new()));
        }
        SAME
    }

    fn tuple(&mut self, first: &[Value], entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        let count = |keyword: &str| entries.get(keyword).and_then(Value::as_u64);
        let length = first.len() as u64;
        if self.dialect.takes("prefixItems") {
            return self.tuple_as_it_is(first, entries, at, depth);
        }
        // With a required key for each item, fewer items cannot be sent.
        if count("minItems").unwrap_or(0) < length {
            return self.text(entries, at, "T15");
        }
        let mut properties = Vec::new();
        let mut items = Vec::new();
        for (index, schema) in first.iter().enumerate() {
            let node = self.node(schema, &format!("{at}/prefixItems/{index}"), Depth(depth.0 + 1));
            let key = format!("item_{}", index + 1);
            properties.push((key.clone(), Value::Object(node.wire)));
            items.push((key, node.step));
        }
        let rest = has_rest(entries).then(|| {
            let node = match entries.get("items") {
                Some(schema @ Value::Object(_)) => {
                    self.node(schema, &format!("{at}/items"), Depth(depth.0 + 2))
                }
                _ => self.any(&Map::new(), &format!("{at}/items")),
            };
            let list =
                Map::from([("type", Value::from("array")), ("items", Value::Object(node.wire))]);
            properties.push(("rest".to_owned(), Value::Object(list)));
            ("rest".to_owned(), node.step)
        });
        let required = properties.iter().map(|(key, _)| Value::from(key.as_str())).collect();
        let mut wire = Map::from([("type", Value::from("object"))]);
        wire.insert("properties", Value::Object(properties.into_iter().collect()));
        wire.insert("required", Value::Array(required));
        if self.dialect.takes("additionalProperties") {
            wire.insert("additionalProperties", Value::Boolean(false));
        } else {
            self.lose(
                LossKind::Widening,
                at,
                "prefixItems",
                Value::Null,
                "an object with a key for each item",
                "T17",
            );
        }
        let step = self.step(Step::Tuple { items, rest });
        let mut rules = entries.clone();
        // The keys already express them.
        for keyword in ["minItems", "maxItems"] {
            if count(keyword) == Some(length) {
                rules.remove(keyword);
            }
        }
        self.finish_in_words(&mut wire, &rules, at, &["items", "prefixItems"], Kind::Array, step);
        Node { wire, step }
    }

    fn tuple_as_it_is(
        &mut self,
        first: &[Value],
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        let losses = self.losses.len();
        let mut nodes = Vec::new();
        for (index, schema) in first.iter().enumerate() {
            nodes.push(self.node(schema, &format!("{at}/prefixItems/{index}"), Depth(depth.0 + 1)));
        }
        let rest = match entries.get("items") {
            Some(schema @ Value::Object(_)) => {
                Some(self.node(schema, &format!("{at}/items"), Depth(depth.0 + 1)))
            }
            _ => None,
        };
        if nodes.iter().chain(&rest).any(|node| node.step != SAME) {
            self.take_back(losses);
            return self.text(entries, at, "T15");
        }
        let mut wire = Map::from([("type", Value::from("array"))]);
        wire.insert(
            "prefixItems",
            Value::Array(nodes.into_iter().map(|node| Value::Object(node.wire)).collect()),
        );
        match (rest, entries.get("items")) {
            (Some(node), _) => {
                wire.insert("items", Value::Object(node.wire));
            }
            (None, Some(Value::Boolean(false))) => {
                wire.insert("items", Value::Boolean(false));
            }
            (None, _) => {}
        }
        self.finish(&mut wire, entries, at, &["items", "prefixItems"], &[Kind::Array], SAME);
        Node::same(wire)
    }

    /// As `finish`, where the wire value is of another kind than the canonical one: rules only become sentences.
    pub(super) fn finish_in_words(
        &mut self,
        wire: &mut Map<Value>,
        entries: &Map<Value>,
        at: &str,
        handled: &[&str],
        kind: Kind,
        step: usize,
    ) {
        let mut words = Map::new();
        let mut sentences = Vec::new();
        for (keyword, value) in entries {
            let is_rule = crate::sentence::kinds_of_keyword(keyword).contains(&kind)
                || super::leaf::is_schema(keyword);
            if !is_rule {
                words.insert(keyword, value.clone());
                continue;
            }
            if handled.contains(&keyword) || super::leaf::says_nothing(keyword, value) {
                continue;
            }
            let sentence = crate::sentence::of(keyword, value, entries);
            self.lose(
                LossKind::Enforcement,
                at,
                keyword,
                value.clone(),
                sentence.as_deref().unwrap_or_default(),
                "T20",
            );
            sentences.extend(sentence);
        }
        let own = entries.get("description").and_then(Value::as_str);
        if let Some(text) = crate::sentence::behind(own, &sentences) {
            words.insert("description", Value::from(text));
        }
        self.finish(wire, &words, at, handled, &[], step);
    }
}

/// The number of items with schemas of their own.
fn prefix(entries: &Map<Value>) -> u64 {
    entries.get("prefixItems").and_then(Value::as_array).map_or(0, |items| items.len() as u64)
}

/// Returns whether a tuple may have more items.
fn has_rest(entries: &Map<Value>) -> bool {
    let most = entries.get("maxItems").and_then(Value::as_u64);
    entries.get("items") != Some(&Value::Boolean(false))
        && most.is_none_or(|most| most > prefix(entries))
}
