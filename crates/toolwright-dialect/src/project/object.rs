//! Objects and maps.

use std::collections::BTreeSet;

use toolwright::pointer::escaped;
use toolwright::value::{Kind, Map, Value};

use super::free_names::FreeNames;
use super::{Depth, Node, Projector};
use crate::guard::{strings, type_names};
use crate::loss::LossKind;
use crate::numbers;
use crate::plan::{AbsentForm, ObjectStep, Property, Rest, SAME, Step};
use crate::sentence;

/// The rule of a schema for keys that it does not name.
pub(super) enum Others<'a> {
    /// Nothing.
    Silent,
    Closed,
    /// They may be there, with values of a schema.
    Open(&'a Value),
    /// Those that match a pattern may be there.
    Pattern(&'a str, &'a Value),
}

/// Keywords that every object handles.
const HANDLED: [&str; 4] =
    ["properties", "required", "additionalProperties", "unevaluatedProperties"];

/// The keywords of an object that are not left to the codec. In pairs, the names of keys have a schema; and a single pattern
/// is that of all other keys.
fn handled(others: &Others<'_>, are_pairs: bool) -> Vec<&'static str> {
    let mut all = HANDLED.to_vec();
    all.extend(are_pairs.then_some("propertyNames"));
    all.extend((!matches!(others, Others::Open(_))).then_some("patternProperties"));
    all
}

impl Projector<'_> {
    pub(super) fn object(&mut self, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        let empty = Map::new();
        let properties = entries.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = strings(entries.get("required")).collect();
        let others = others(entries);
        let patterns = entries.get("patternProperties").and_then(Value::as_object);
        if patterns.is_some_and(|all| !all.is_empty()) && matches!(others, Others::Open(_)) {
            self.lose_rules_of_others(entries, at);
        }
        let named = !properties.is_empty() || !required.is_empty();
        let takes_others =
            !self.dialect.objects_closed && self.dialect.takes("additionalProperties");
        if !named && !takes_others {
            match others {
                Others::Closed => {}
                _ => return self.map(&others, entries, at, depth),
            }
        }
        self.named(properties, &required, &others, entries, at, depth)
    }

    /// Leaves rules of the keys that no pattern matches to the codec. The sentence for the patterns has them.
    fn lose_rules_of_others(&mut self, entries: &Map<Value>, at: &str) {
        let mut keywords = ["additionalProperties", "unevaluatedProperties"].into_iter();
        let rule = keywords.find_map(|keyword| Some((keyword, entries.get(keyword)?)));
        if let Some((keyword, value)) = rule.filter(|(_, value)| **value != Value::Boolean(true)) {
            self.lose(LossKind::Enforcement, at, keyword, value.clone(), "", "T20");
        }
    }

    /// Returns the number of levels of objects and arrays that an object takes on the wire, without its values.
    pub(super) fn levels(&self, entries: &Map<Value>) -> usize {
        let properties = entries
            .get("properties")
            .and_then(Value::as_object)
            .filter(|properties| !properties.is_empty());
        match others(entries) {
            _ if !self.dialect.objects_closed => 1,
            Others::Closed => 1,
            Others::Silent if properties.is_some() => 1,
            Others::Silent => 2,
            Others::Open(_) | Others::Pattern(..) => {
                if properties.is_some() {
                    3
                } else {
                    2
                }
            }
        }
    }

    /// Returns the keys that get a property on the wire, each with its schema.
    fn named_keys<'p>(
        &mut self,
        properties: &'p Map<Value>,
        required: &[&'p str],
        is_required: &BTreeSet<&str>,
        others: &Others<'p>,
        is_open: bool,
        at: &str,
    ) -> Vec<(&'p str, &'p Value)> {
        let mut all: Vec<(&str, &Value)> = properties.iter().collect();
        if self.dialect.objects_closed || self.dialect.required_in_properties {
            // A required key without a schema of its own has that of the other keys.
            let named: BTreeSet<&str> = properties.keys().collect();
            for key in required.iter().filter(|key| !named.contains(*key)) {
                let schema = match others {
                    Others::Open(values) => values,
                    Others::Closed => &Value::Boolean(false),
                    _ => &Value::Boolean(true),
                };
                all.push((key, schema));
            }
        }
        all.retain(|(key, schema)| {
            let is_forbidden = **schema == Value::Boolean(false) && !is_required.contains(key);
            // In pairs, any key may be sent.
            let are_pairs = matches!(others, Others::Open(_) | Others::Pattern(..));
            if is_forbidden && (is_open || are_pairs) {
                let pointer = format!("{at}/properties/{}", escaped(key));
                self.lose(LossKind::Enforcement, &pointer, "", (*schema).clone(), "", "T20");
            }
            !is_forbidden
        });
        all
    }

    /// An object whose schema names keys.
    pub(super) fn named(
        &mut self,
        properties: &Map<Value>,
        required: &[&str],
        others: &Others<'_>,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Node {
        let is_root = depth.0 == 1 && at.is_empty();
        let is_open = !self.dialect.objects_closed && !matches!(others, Others::Closed);
        let all_required: BTreeSet<&str> = required.iter().copied().collect();
        let all = self.named_keys(properties, required, &all_required, others, is_open, at);
        let mut wire_properties = Vec::new();
        let mut wire_required = Vec::new();
        let mut steps = Vec::new();
        let mut free = FreeNames::default();
        for (key, _) in all.iter().filter(|(key, _)| self.dialect.takes_key(key, is_root)) {
            free.take((*key).to_owned());
        }
        for (key, schema) in &all {
            let pointer = format!("{at}/properties/{}", escaped(key));
            let wire_key = if self.dialect.takes_key(key, is_root) {
                (*key).to_owned()
            } else {
                free.take(fitted(key))
            };
            let node = self.node(schema, &pointer, Depth(depth.0 + 1));
            let is_required = all_required.contains(key);
            let (mut wire, step, absent) =
                self.optional(node, schema, is_required, &pointer, Depth(depth.0 + 1));
            let lets_go = is_required && self.leads_back(schema);
            if is_required && lets_go {
                self.lose(LossKind::Enforcement, at, "required", Value::from(*key), "", "T6");
            }
            if (is_required && !lets_go) || self.dialect.objects_all_required {
                wire_required.push(Value::from(wire_key.as_str()));
            }
            if wire_key != *key && !wire.contains_key("description") {
                let words = Map::from([("description", Value::from(format!("`{key}`")))]);
                self.describe(&mut wire, &words, at);
            }
            wire_properties.push((wire_key.clone(), Value::Object(wire)));
            steps.push(Property { key: (*key).to_owned(), wire_key, step, absent });
        }
        let named: BTreeSet<&str> = all.iter().map(|(key, _)| *key).collect();
        let unnamed = required.iter().filter(|key| !named.contains(*key));
        wire_required.extend(unnamed.map(|key| Value::from(*key)));
        let is_renamed = steps.iter().any(|property| property.key != property.wire_key);
        if is_renamed && is_open {
            // A key that equals the new name of another cannot be sent.
            self.lose(LossKind::Narrowing, at, "unnamed_keys", Value::Null, "renamed keys", "T19");
        }
        let mut wire = Map::from([("type", Value::from("object"))]);
        // Inserting each of them would search through all of them.
        let mut wire_properties: Map<Value> = wire_properties.into_iter().collect();
        let (rest, additional) =
            self.others(others, &mut wire_properties, &mut wire_required, free, entries, at, depth);
        let has_properties = !wire_properties.is_empty();
        if !has_properties && self.dialect.objects_nonempty && !is_root {
            return self.text(entries, at, "T2");
        }
        if has_properties
            || self.dialect.objects_have_properties
            || (is_root && self.dialect.objects_have_properties_root)
        {
            wire.insert("properties", Value::Object(wire_properties));
        }
        if !wire_required.is_empty() || self.dialect.objects_all_required {
            wire.insert("required", Value::Array(wire_required));
        }
        wire.extend(additional.map(|value| ("additionalProperties", value)));
        let are_pairs = matches!(rest, Rest::Pairs { .. });
        let other_keys = self.dialect.objects_all_required || are_pairs || is_renamed;
        let handled = handled(others, are_pairs);
        let step = self.step(Step::Object(ObjectStep::new(steps, rest)));
        let step = if self.changes(step) { step } else { SAME };
        if other_keys {
            // Rules about keys and their number do not hold for those of the wire.
            self.finish_in_words(&mut wire, entries, at, &handled, Kind::Object, step);
        } else {
            self.finish(&mut wire, entries, at, &handled, &[Kind::Object], step);
        }
        Node { wire, step }
    }

    /// Returns whether a reference is part of a cycle in a dialect that accepts cycles only through optional properties.
    fn leads_back(&self, schema: &Value) -> bool {
        if self.dialect.recursion != crate::row::Recursion::OptionalOnly {
            return false;
        }
        let mut found = false;
        crate::canonical::visit(schema, &mut |node, _| {
            let target = node
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| self.canonical.target(reference));
            found |= target.is_some_and(|(pointer, _)| self.canonical.is_recursive(&pointer));
        });
        found
    }

    /// Decides how the absence of a property is sent.
    fn optional(
        &mut self,
        node: Node,
        schema: &Value,
        is_required: bool,
        at: &str,
        depth: Depth,
    ) -> (Map<Value>, usize, AbsentForm) {
        let Node { wire, step } = node;
        if is_required || !self.dialect.objects_all_required {
            return (wire, step, AbsentForm::Absent);
        }
        // The definition of a reference that leads back here is not made yet, so the canonical schema is read, too.
        if !self.has_null(schema, at) || !self.accepts_null(&wire, at) {
            return (self.with_null(wire), step, AbsentForm::Null);
        }
        let fits = |most| numbers::depth(&wire, depth.0) <= most;
        if self.policy.wraps_absent() && self.dialect.limits.depth.is_none_or(fits) {
            let inner = Map::from([("value", Value::Object(wire))]);
            let object = Map::from([
                ("type", Value::from("object")),
                ("properties", Value::Object(inner)),
                ("required", Value::Array(vec![Value::from("value")])),
                ("additionalProperties", Value::Boolean(false)),
            ]);
            return (null_or(object), step, AbsentForm::Wrapped);
        }
        let is_null = schema.get("default") == Some(&Value::Null);
        if is_null && !self.canonical.tells_absent_from_null {
            self.lose(LossKind::Annotation, at, "absent", Value::Null, "null", "T12");
            return (wire, step, AbsentForm::SameAsNull);
        }
        self.lose(LossKind::Narrowing, at, "absent", Value::Null, "", "T12");
        (wire, step, AbsentForm::NoForm)
    }

    /// Decides how keys without a property are sent: returns the plan, and `additionalProperties` of the wire schema.
    fn others(
        &mut self,
        others: &Others<'_>,
        wire_properties: &mut Map<Value>,
        wire_required: &mut Vec<Value>,
        mut free: FreeNames,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> (Rest, Option<Value>) {
        let takes_schema = self.dialect.takes("additionalProperties");
        if self.dialect.objects_closed {
            let closed = Some(Value::Boolean(false));
            match others {
                Others::Closed => return (Rest::Keep(SAME), closed),
                Others::Silent => {
                    self.lose(
                        LossKind::Narrowing,
                        at,
                        "unnamed_keys",
                        Value::Null,
                        "additionalProperties: false",
                        "T16",
                    );
                    return (Rest::NoForm, closed);
                }
                Others::Open(_) | Others::Pattern(..) => {}
            }
            let (pairs, step) = self.pairs(others, entries, at, Depth(depth.0 + 1), "T14");
            let wire_key = free.take("more".to_owned());
            wire_properties.insert(wire_key.as_str(), Value::Object(pairs));
            wire_required.push(Value::from(wire_key.as_str()));
            return (Rest::Pairs { wire_key, step }, closed);
        }
        match others {
            Others::Silent => (Rest::Keep(SAME), None),
            Others::Closed if takes_schema => (Rest::Keep(SAME), Some(Value::Boolean(false))),
            Others::Closed => {
                let words = "No other keys.";
                self.lose(
                    LossKind::Enforcement,
                    at,
                    "additionalProperties",
                    Value::Boolean(false),
                    words,
                    "T20",
                );
                (Rest::Keep(SAME), None)
            }
            Others::Open(Value::Boolean(true)) => {
                (Rest::Keep(SAME), takes_schema.then_some(Value::Boolean(true)))
            }
            Others::Open(values) if takes_schema => {
                let node =
                    self.node(values, &format!("{at}/additionalProperties"), Depth(depth.0 + 1));
                (Rest::Keep(node.step), Some(Value::Object(node.wire)))
            }
            Others::Open(values) => {
                self.lose(
                    LossKind::Enforcement,
                    at,
                    "additionalProperties",
                    (*values).clone(),
                    "",
                    "T20",
                );
                (Rest::Keep(SAME), None)
            }
            Others::Pattern(pattern, values) => {
                let was = Value::Object(Map::from([(*pattern, (*values).clone())]));
                self.lose(LossKind::Enforcement, at, "patternProperties", was, "", "T20");
                (Rest::Keep(SAME), None)
            }
        }
    }

    /// An object that names no keys: an array of pairs.
    fn map(&mut self, others: &Others<'_>, entries: &Map<Value>, at: &str, depth: Depth) -> Node {
        let (mut wire, step) = self.pairs(others, entries, at, depth, "T13");
        let step = self.step(Step::Pairs(step));
        let mut rules = entries.clone();
        for (count, items) in [("minProperties", "minItems"), ("maxProperties", "maxItems")] {
            if let Some(value) = entries.get(count)
                && self.dialect.takes(items)
                && self.dialect.min_items_max.is_none()
            {
                wire.insert(items, value.clone());
                rules.remove(count);
            }
        }
        let own_description = wire.remove("description");
        let handled = handled(others, true);
        self.finish_in_words(&mut wire, &rules, at, &handled, Kind::Object, step);
        if let (Some(words), None) = (own_description, wire.get("description")) {
            wire.insert("description", words);
        }
        Node { wire, step }
    }

    /// An array of objects with `key` and `value`, and the step of the values.
    fn pairs(
        &mut self,
        others: &Others<'_>,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
        by: &'static str,
    ) -> (Map<Value>, usize) {
        let (values, keyword, pointer) = match others {
            Others::Silent | Others::Closed => (&Value::Boolean(true), "", at.to_owned()),
            Others::Open(values) => {
                (*values, "additionalProperties", format!("{at}/additionalProperties"))
            }
            Others::Pattern(pattern, values) => {
                let pointer = format!("{at}/patternProperties/{}", escaped(pattern));
                (*values, "patternProperties", pointer)
            }
        };
        // Pairs with the same key are not an object.
        self.lose(LossKind::Widening, at, keyword, Value::Null, "an array of pairs", by);
        let value = if values.as_object().is_some() {
            self.node(values, &pointer, Depth(depth.0 + 2))
        } else {
            self.any(&Map::new(), &pointer)
        };
        let key = self.key_of_pairs(others, entries, at, Depth(depth.0 + 2));
        let pair = Map::from([("key", Value::Object(key)), ("value", Value::Object(value.wire))]);
        let mut item = Map::from([
            ("type", Value::from("object")),
            ("properties", Value::Object(pair)),
            ("required", Value::Array(vec![Value::from("key"), Value::from("value")])),
        ]);
        if self.dialect.takes("additionalProperties") {
            item.insert("additionalProperties", Value::Boolean(false));
        }
        let wire = Map::from([("type", Value::from("array")), ("items", Value::Object(item))]);
        (wire, value.step)
    }

    /// The key of a pair: a string with the rules for names of keys.
    fn key_of_pairs(
        &mut self,
        others: &Others<'_>,
        entries: &Map<Value>,
        at: &str,
        depth: Depth,
    ) -> Map<Value> {
        let text = || Map::from([("type", Value::from("string"))]);
        let pattern = match others {
            Others::Pattern(pattern, _) => Some(Value::from(*pattern)),
            _ => None,
        };
        let names = entries.get("propertyNames").filter(|names| **names != Value::Boolean(true));
        let place = format!("{at}/propertyNames");
        let mut rules = names.and_then(Value::as_object).cloned().unwrap_or_default();
        if names.is_none_or(|names| names.as_object().is_some())
            && !matches!((rules.get("pattern"), &pattern), (Some(own), Some(other)) if own != other)
            && rules.get("type").is_none_or(|kinds| type_names(kinds).any(|kind| kind == "string"))
        {
            rules.insert("type", Value::from("string"));
            rules.extend(pattern.clone().map(|pattern| ("pattern", pattern)));
            let losses = self.losses.len();
            let node = self.entries(&rules, &place, depth);
            if node.step == SAME {
                return node.wire;
            }
            self.take_back(losses);
        }
        // A key with all these rules is no string, or has more rules than fit into one schema.
        let mut key = text();
        let mut rules = text();
        rules.extend(pattern.map(|pattern| ("pattern", pattern)));
        if let Some(names) = names {
            let words = sentence::of("propertyNames", names, entries).unwrap_or_default();
            self.lose(LossKind::Enforcement, at, "propertyNames", names.clone(), &words, "T20");
            rules.insert("description", Value::from(words));
        }
        self.finish(&mut key, &rules, &place, &[], &[Kind::String], SAME);
        key
    }

    /// Returns whether the step of an object has any effect, including refusing values.
    fn changes(&self, step: usize) -> bool {
        let Step::Object(object) = &self.steps[step] else { return true };
        let changed = object.properties.iter().any(|property| {
            property.key != property.wire_key
                || property.absent != AbsentForm::Absent
                || property.step != SAME
        });
        changed || !matches!(object.rest, Rest::Keep(SAME))
    }
}

/// Null beside the values of an object.
fn null_or(object: Map<Value>) -> Map<Value> {
    let null = Value::Object(Map::from([("type", Value::from("null"))]));
    Map::from([("anyOf", Value::Array(vec![Value::Object(object), null]))])
}

/// Returns whether `unevaluatedProperties` restricts keys.
pub(super) fn restricts_unevaluated(entries: &Map<Value>) -> bool {
    let others = entries.get("unevaluatedProperties");
    !entries.contains_key("additionalProperties")
        && others.is_some_and(|others| *others != Value::Boolean(true))
}

/// Returns whether the keys that an object may have depend on its values.
pub(super) fn evaluates_by_value(entries: &Map<Value>) -> bool {
    let conditions = ["if", "dependentSchemas"];
    restricts_unevaluated(entries) && conditions.iter().any(|keyword| entries.contains_key(keyword))
}

pub(super) fn others(entries: &Map<Value>) -> Others<'_> {
    let additional =
        entries.get("additionalProperties").or_else(|| entries.get("unevaluatedProperties"));
    let patterns = entries
        .get("patternProperties")
        .and_then(Value::as_object)
        .filter(|patterns| !patterns.is_empty());
    match (patterns, additional) {
        (None, None) => Others::Silent,
        (None, Some(Value::Boolean(false))) => Others::Closed,
        (None, Some(values)) => Others::Open(values),
        (Some(patterns), Some(Value::Boolean(false))) if patterns.len() == 1 => {
            match patterns.iter().next() {
                Some((pattern, values)) => Others::Pattern(pattern, values),
                None => Others::Closed,
            }
        }
        // Several patterns, or a pattern beside other keys: the codec distinguishes them.
        (Some(_), _) => Others::Open(&Value::Boolean(true)),
    }
}

/// A property name that fits the grammar.
pub(super) fn fitted(key: &str) -> String {
    const LONGEST: usize = 56;
    let allowed =
        |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    let mut name: String = key.chars().map(allowed).take(LONGEST).collect();
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}
