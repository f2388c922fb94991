//! Whether a JSON value is accepted by a node: for examples and defaults, at generation. What its shape says is checked
//! here, rules and formats by the contract.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use toolwright::Issue;
use toolwright::pointer::escaped;
use toolwright::schema::Schema;

use super::{
    Additional, ArrayShape, Assertion, Budget, Json, Kind, NodeId, NumberRules, ObjectShape,
    Property, Schemas, Shape, StringRules, Style, UnionShape, number, parts, published, resolved,
};

/// One way in which a value breaks a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What was expected and found there.
    pub message: String,
}

/// After so many mistakes in one value nobody reads on.
const MAX_VIOLATIONS: usize = 20;

/// How many values an enumeration is quoted with.
const MAX_QUOTED: usize = 40;

/// The ways in which a value breaks a schema, as many as anybody reads; none where it is valid.
pub fn violations(
    schemas: &Schemas,
    node: NodeId,
    value: &Json,
    budget: &mut Budget,
) -> Vec<Violation> {
    let mut validator = Validator { schemas, budget, found: Vec::new(), pointer: String::new() };
    validator.check(node, value);
    let found = validator.found;
    if found.is_empty() { broken_rules(schemas, node, value, budget) } else { found }
}

/// The ways in which a value that is of the right shape breaks what no shape says: rules and formats.
fn broken_rules(
    schemas: &Schemas,
    node: NodeId,
    value: &Json,
    budget: &mut Budget,
) -> Vec<Violation> {
    let reached = reached(schemas, node);
    let says_more = |id: &NodeId| {
        let has_format =
            matches!(&schemas[*id].shape, Shape::String(rules) if rules.format.is_some());
        has_format || !schemas[*id].assertions.is_empty()
    };
    let is_known = reached.iter().all(|id| schemas.is_valid(*id));
    if !is_known || !budget.spend(reached.len()) || !reached.iter().any(says_more) {
        return Vec::new();
    }
    // One that cannot be used is refused when it is counted what comes of the project.
    let Ok(schema) = Schema::new(&published(schemas, node, Style::Compact)) else {
        return Vec::new();
    };
    let Err(invalid) = budget.judge(&schema, &value.to_string()) else { return Vec::new() };
    let issues = invalid.issues().iter().take(MAX_VIOLATIONS);
    let violation =
        |issue: &Issue| Violation { pointer: issue.pointer().to_owned(), message: issue.message() };
    issues.map(violation).collect()
}

/// The nodes that a node leads to, itself included.
fn reached(schemas: &Schemas, node: NodeId) -> BTreeSet<NodeId> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![node]);
    while let Some(node) = waiting.pop() {
        if reached.insert(node) {
            waiting.extend(parts(schemas, node));
            waiting.extend(schemas[node].assertions.iter().flat_map(Assertion::schemas));
        }
    }
    reached
}

struct Validator<'a> {
    schemas: &'a Schemas,
    budget: &'a mut Budget,
    found: Vec<Violation>,
    pointer: String,
}

impl<'a> Validator<'a> {
    fn check(&mut self, node: NodeId, value: &Json) {
        if self.found.len() >= MAX_VIOLATIONS {
            return;
        }
        let schemas: &'a Schemas = self.schemas;
        if !schemas.is_valid(node) {
            return;
        }
        let node = settled(schemas, node, value);
        match (&schemas[node].shape, value) {
            (Shape::Any, _)
            | (Shape::Null | Shape::Nullable(_), Json::Null)
            | (Shape::Boolean, Json::Boolean(_)) => {}
            (Shape::String(rules), Json::String(text)) => self.string(rules, text),
            (Shape::Integer(rules), Json::Number(text)) if number::is_whole(text) => {
                self.number(rules, text);
            }
            (Shape::Number(rules), Json::Number(text)) => self.number(rules, text),
            (Shape::Const(expected), _) => {
                if !equal(expected, value) {
                    self.expected(&expected.to_string(), value);
                }
            }
            (Shape::Enum(values), Json::String(text)) => {
                if !values.iter().any(|known| known.value.value == *text) {
                    let known = one_of(values.iter().map(|known| known.value.value.as_str()));
                    self.expected(&known, value);
                }
            }
            (Shape::IntegerEnum(values), Json::Number(text)) => {
                let is_value =
                    |value: &i64| number::compare(text, &value.to_string()) == Ordering::Equal;
                if !values.iter().any(|known| is_value(&known.value)) {
                    let known = one_of(values.iter().map(|known| known.value.to_string()));
                    self.expected(&known, value);
                }
            }
            (Shape::Mixed(variants), _) => {
                match variants.iter().find(|variant| is_kind(variant.kind, value)) {
                    Some(variant) => self.check(variant.schema, value),
                    None => self.expected("a value of another kind", value),
                }
            }
            (Shape::Overlapping(members), _) => {
                let mut members = members.iter();
                if !members
                    .any(|&member| violations(schemas, member, value, self.budget).is_empty())
                {
                    self.expected("a value that fits one of the choices", value);
                }
            }
            (Shape::Array(array), Json::Array(items)) => self.array(array, items),
            (Shape::Tuple(places), Json::Array(items)) => self.tuple(places, items),
            (Shape::Object(object), Json::Object(entries)) => self.object(object, entries),
            (Shape::Union(union), Json::Object(_)) => self.union(union, value),
            (shape, _) => self.expected(kind(shape), value),
        }
    }

    fn string(&mut self, rules: &StringRules, text: &str) {
        let length = text.chars().count() as u64;
        self.range(length, rules.min_length, rules.max_length, "characters");
        if let Some(pattern) = &rules.pattern
            && !self.budget.matches(pattern, text)
        {
            self.found(format!("does not match the pattern {}", pattern.ecma));
        }
    }

    fn range(&mut self, length: u64, least: Option<u64>, greatest: Option<u64>, what: &str) {
        if let Some(least) = least.filter(|&least| length < least) {
            self.found(format!("expected at least {least} {what}, found {length}"));
        }
        if let Some(greatest) = greatest.filter(|&greatest| length > greatest) {
            self.found(format!("expected at most {greatest} {what}, found {length}"));
        }
    }

    fn number(&mut self, rules: &NumberRules, text: &str) {
        let sides =
            [(&rules.lower, Ordering::Less, "above"), (&rules.upper, Ordering::Greater, "below")];
        for (bound, outside, word) in sides {
            let Some(bound) = bound else { continue };
            let order = number::compare(text, &bound.number);
            if order == outside || (bound.exclusive && order == Ordering::Equal) {
                let or_equal = if bound.exclusive { "" } else { " or equal to" };
                self.found(format!(
                    "expected a number {word}{or_equal} {}, found {text}",
                    bound.number
                ));
            }
        }
    }

    fn array(&mut self, array: &ArrayShape, items: &[Json]) {
        self.range(items.len() as u64, array.min_items, array.max_items, "items");
        for (index, item) in items.iter().enumerate() {
            self.within(&index.to_string(), |validator| validator.check(array.items, item));
        }
        if array.unique && has_equal(items) {
            self.found("expected items that all differ".to_owned());
        }
    }

    fn tuple(&mut self, places: &[NodeId], items: &[Json]) {
        let count = Some(places.len() as u64);
        self.range(items.len() as u64, count, count, "items");
        for (index, (&place, item)) in places.iter().zip(items).enumerate() {
            self.within(&index.to_string(), |validator| validator.check(place, item));
        }
    }

    fn object(&mut self, object: &ObjectShape, entries: &[(String, Json)]) {
        let keys: BTreeSet<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        let is_missing = |property: &&Property| {
            property.required && !keys.contains(property.name.value.as_str())
        };
        for property in object.properties.iter().filter(is_missing).take(MAX_VIOLATIONS) {
            self.found(format!("`{}` is missing", property.name.value));
        }
        for (key, value) in entries {
            let property = object.properties.iter().find(|property| property.name.value == *key);
            let schema = match (property, object.additional) {
                (Some(property), _) => property.schema,
                (None, Additional::Typed(node)) => node,
                (None, Additional::Open | Additional::Declared) => continue,
                (None, Additional::Closed) => {
                    self.found(format!("`{key}` is not allowed"));
                    continue;
                }
            };
            self.within(key, |validator| validator.check(schema, value));
        }
    }

    fn union(&mut self, union: &UnionShape, value: &Json) {
        let tag = value.get(&union.tag);
        let variant = union
            .variants
            .iter()
            .find(|variant| matches!(tag, Some(Json::String(text)) if *text == variant.tag.value));
        if let Some(variant) = variant {
            self.check(variant.schema, value);
            return;
        }
        let tags = one_of(union.variants.iter().map(|variant| variant.tag.value.as_str()));
        self.found(format!("`{}` has to be {tags}", union.tag));
    }

    fn within(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&escaped(key));
        check(self);
        self.pointer.truncate(length);
    }

    fn expected(&mut self, expected: &str, value: &Json) {
        let found = value.to_string();
        let shown: String = found.chars().take(60).collect();
        let dots = if shown.len() < found.len() { "…" } else { "" };
        self.found(format!("expected {expected}, found {shown}{dots}"));
    }

    fn found(&mut self, message: String) {
        if self.found.len() >= MAX_VIOLATIONS {
            return;
        }
        self.found.push(Violation { pointer: self.pointer.clone(), message });
    }
}

/// The node that says what a value may be, step by step: a chain of references and choices of null may be long.
fn settled(schemas: &Schemas, node: NodeId, value: &Json) -> NodeId {
    let mut node = node;
    loop {
        node = resolved(schemas, node);
        match schemas[node].shape {
            Shape::Nullable(inner) if *value != Json::Null => node = inner,
            _ => return node,
        }
    }
}

/// The first of many values, and how many there are besides.
fn one_of<T: AsRef<str>>(values: impl ExactSizeIterator<Item = T>) -> String {
    let more = values.len().saturating_sub(MAX_QUOTED);
    let shown: Vec<T> = values.take(MAX_QUOTED).collect();
    let words: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {}{rest}", words.join(", "))
}

/// A text that equal values share, and hardly any others: numbers by their nearest `f64`, keys in order.
pub(crate) fn sort_key(value: &Json) -> String {
    match value {
        Json::Number(text) => format!("{:x}", number::as_f64(text).to_bits()),
        Json::Array(items) => {
            let keys: Vec<String> = items.iter().map(sort_key).collect();
            format!("[{}]", keys.join(","))
        }
        Json::Object(entries) => {
            let mut keys: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key:?}:{}", sort_key(value))).collect();
            keys.sort();
            format!("{{{}}}", keys.join(","))
        }
        plain => plain.to_string(),
    }
}

/// Whether two items of a list are equal.
fn has_equal(items: &[Json]) -> bool {
    let mut known: BTreeMap<String, Vec<&Json>> = BTreeMap::new();
    items.iter().any(|item| {
        let alike = known.entry(sort_key(item)).or_default();
        alike.push(item);
        alike[..alike.len() - 1].iter().any(|other| equal(item, other))
    })
}

/// Equality of JSON Schema (2020-12 core, 4.2.2): numbers by value, objects whatever their order.
pub(crate) fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => number::compare(a, b) == Ordering::Equal,
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Json::Object(entries), Json::Object(others)) => {
            entries.len() == others.len()
                && entries.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

fn is_kind(kind: Kind, value: &Json) -> bool {
    match value {
        Json::Null => kind == Kind::Null,
        Json::Boolean(_) => kind == Kind::Boolean,
        Json::Number(text) => {
            kind == Kind::Number || (kind == Kind::Integer && number::is_whole(text))
        }
        Json::String(_) => kind == Kind::String,
        Json::Array(_) => kind == Kind::Array,
        Json::Object(_) => kind == Kind::Object,
    }
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Null => "null",
        Shape::Boolean => "a boolean",
        Shape::String(_) | Shape::Enum(_) => "a string",
        Shape::Integer(_) | Shape::IntegerEnum(_) => "an integer",
        Shape::Number(_) => "a number",
        Shape::Array(_) | Shape::Tuple(_) => "an array",
        Shape::Object(_) | Shape::Union(_) => "an object",
        Shape::Any
        | Shape::Const(_)
        | Shape::Nullable(_)
        | Shape::Mixed(_)
        | Shape::Overlapping(_)
        | Shape::Named(_)
        | Shape::Local(_) => "another value",
    }
}
