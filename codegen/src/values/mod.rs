//! Makes values near the limits of schemas: rows that hold codecs to them, and values that show the difference of two schemas.

mod pattern;
mod rows;
mod scalars;
mod view;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use toolwright::pointer::escaped;
use toolwright::schema::Schema;
use toolwright::value::Map;
use toolwright::{InvalidPayload, Value};

use crate::json::Style;
use crate::schema::{NodeId, Schemas, aliased, published, sample};
pub use rows::rows;
use scalars::{add_near_constants, numbers, strings};
pub use view::{
    Arrays, End, Numbers, Object, Objects, Part, Rest, Strings, View, retained, sorted,
};

/// The deepest nesting of made values.
const MAX_DEPTH: usize = 4;

/// The most values for one schema.
const MAX_VALUES: usize = 1000;

/// The most bytes of the texts of objects and arrays that values are put into.
const MAX_BYTES: usize = 4 << 20;

/// The most bytes of a value for a codec.
const LARGEST: usize = 32 << 10;

/// The most bytes of schemas that are compiled to find valid values.
const MAX_COMPILED: usize = 4 << 20;

/// The most items of an array that is made to find a difference.
const MAX_ITEMS: u64 = 300;

/// The most items of an array that is made for a codec.
const MAX_CODEC_ITEMS: u64 = 2000;

/// The longest value that shows a difference, in bytes: people read it, and each of thousands of changes may have one.
const MAX_WITNESS: usize = 4 << 10;

/// The most steps of the check of one value.
const MAX_STEPS: u64 = 200_000;

/// A schema with its validator.
#[derive(Debug)]
pub struct Judge {
    validator: Option<Schema>,
}

impl Judge {
    /// Returns the judge of a node; one without a node accepts everything.
    pub fn of(schemas: &Schemas, node: Option<NodeId>) -> Self {
        Self { validator: Schema::new(&text(schemas, node)).ok() }
    }

    /// Returns whether the schema accepts a value; `None` if its check is too costly. Its bytes and the steps of the check are
    /// subtracted from `work`.
    pub fn accepts(&self, value: &str, work: &mut u64) -> Option<bool> {
        check(self.validator.as_ref()?, value, work).map(|found| found.is_ok())
    }
}

/// Checks a value, and subtracts its bytes and the steps from the work that is left; returns `None` if it takes too much.
fn check(schema: &Schema, value: &str, left: &mut u64) -> Option<Result<(), InvalidPayload>> {
    *left = left.saturating_sub(value.len() as u64);
    if *left == 0 {
        return None;
    }
    let most = MAX_STEPS.min(*left);
    let mut steps = most;
    let found = schema.check_within(value.as_bytes(), &mut steps);
    *left -= most - steps;
    (found.is_ok() || steps > 0).then_some(found)
}

fn text(schemas: &Schemas, node: Option<NodeId>) -> String {
    node.map_or_else(|| "{}".to_owned(), |node| published(schemas, node, Style::Compact))
}

/// Returns the smallest of some values that `has` accepts and `lacks` does not. The work of the checks is subtracted from `work`.
pub fn witness(values: &[String], has: &Judge, lacks: &Judge, work: &mut u64) -> Option<String> {
    let shows = |value: &&String| {
        has.accepts(value, work) == Some(true) && lacks.accepts(value, work) == Some(false)
    };
    values.iter().filter(|value| value.len() <= MAX_WITNESS).find(shows).cloned()
}

/// Makes values near the limits of schemas, the shortest first. They need not be valid. There are fewer if making them takes more
/// than `work`, from which their bytes and the steps of checks are subtracted.
pub fn values(schemas: &Schemas, nodes: &[Option<NodeId>], work: &mut u64) -> Vec<String> {
    let mut maker = Maker::new(schemas, Purpose::Difference, *work);
    let mut values: Vec<String> = Vec::new();
    for node in nodes {
        values.extend(maker.node(*node, 0).iter().map(|made| made.value.to_string()));
    }
    *work = maker.work;
    values.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    values.dedup();
    values
}

/// The use of made values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To find a value that only one of two schemas accepts.
    Difference,
    /// To find the mistakes of a codec, so that values of other types and spellings are made, too.
    Codec,
}

/// A value, and the reason why it was made.
#[derive(Clone, Debug)]
struct Made {
    value: Value,
    /// The part of the value that the reason is about, as a JSON Pointer (RFC 6901).
    at: String,
    reason: Cow<'static, str>,
}

impl Made {
    fn new(value: impl Into<Value>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { value: value.into(), at: String::new(), reason: reason.into() }
    }

    /// Returns the value inside another one, below a key or index of it.
    fn inside(self, segment: &str, outer: impl FnOnce(Value) -> Value) -> Self {
        let at = format!("/{}{}", escaped(segment), self.at);
        Self { value: outer(self.value), at, reason: self.reason }
    }
}

struct Maker<'a> {
    schemas: &'a Schemas,
    purpose: Purpose,
    /// The values of each node at a depth, which are needed more than once.
    known: BTreeMap<(NodeId, usize), Vec<Made>>,
    /// The number of values made so far.
    made: usize,
    /// The bytes of texts, and of the objects and arrays around values.
    bytes: usize,
    /// A valid value of each node for which one was looked for, if one was found.
    valid: BTreeMap<NodeId, Option<Value>>,
    /// The bytes of the schemas that were compiled.
    compiled: usize,
    /// The bytes of values and schemas, and the steps of checks, that are left.
    work: u64,
}

impl<'a> Maker<'a> {
    fn new(schemas: &'a Schemas, purpose: Purpose, work: u64) -> Self {
        Self {
            schemas,
            purpose,
            known: BTreeMap::new(),
            made: 0,
            bytes: 0,
            valid: BTreeMap::new(),
            compiled: 0,
            work,
        }
    }

    fn is_for_codec(&self) -> bool {
        self.purpose == Purpose::Codec
    }

    /// Counts the bytes of a text, or of another copy of an object or array; returns whether there are not too many. For codecs,
    /// no value takes more than a quarter of the work that is left, so that others follow.
    fn has_room(&mut self, bytes: usize) -> bool {
        if self.is_for_codec() && bytes as u64 > self.work / 4 {
            return false;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.work = self.work.saturating_sub(bytes as u64);
        self.bytes <= MAX_BYTES && self.work > 0
    }

    /// Returns the judge of a node; one that knows nothing if too much was compiled before.
    fn judge(&mut self, node: Option<NodeId>) -> Judge {
        if self.compiled > MAX_COMPILED || self.work == 0 {
            return Judge { validator: None };
        }
        let text = text(self.schemas, node);
        self.compiled += text.len();
        self.work = self.work.saturating_sub(text.len() as u64);
        Judge { validator: Schema::new(&text).ok() }
    }

    /// Makes values of a node, or of any type without one.
    fn node(&mut self, node: Option<NodeId>, depth: usize) -> Vec<Made> {
        let Some(node) = node.and_then(|node| aliased(self.schemas, node).last()) else {
            return ["null", "true", "0", "\"\"", "[]", "{}"]
                .map(|text| Made::new(json(text), "any value"))
                .to_vec();
        };
        let most = if self.is_for_codec() { 3 * MAX_VALUES } else { MAX_VALUES };
        if depth > MAX_DEPTH || self.made > most {
            return Vec::new();
        }
        if let Some(known) = self.known.get(&(node, depth)) {
            return known.clone();
        }
        let view = View::of(self.schemas, node);
        let mut found = Vec::new();
        if view.null {
            found.push(Made::new(Value::Null, "null"));
        }
        let constants = |values: &[Value]| -> Vec<Made> {
            values.iter().map(|value| Made::new(value.clone(), "a constant")).collect()
        };
        match &view.boolean {
            Some(Part::Values(values)) => found.extend(constants(values)),
            Some(Part::Rules(())) => {
                found.extend([false, true].map(|value| Made::new(value, "a boolean")));
            }
            None => {}
        }
        match &view.number {
            Some(Part::Values(values)) => found.extend(constants(values)),
            Some(Part::Rules(rules)) => found.extend(numbers(rules, self.purpose)),
            None => {}
        }
        match &view.string {
            Some(Part::Values(values)) => found.extend(constants(values)),
            Some(Part::Rules(rules)) => {
                let made = strings(rules, self.purpose).into_iter();
                found.extend(made.filter(|made| self.has_room(size(&made.value))));
            }
            None => {}
        }
        match &view.array {
            Some(Part::Values(values)) => found.extend(constants(values)),
            Some(Part::Rules(rules)) => found.extend(self.arrays(rules, depth)),
            None => {}
        }
        match &view.object {
            Some(Part::Values(values)) => found.extend(constants(values)),
            Some(Part::Rules(Objects::Object(object))) => found.extend(self.objects(object, depth)),
            Some(Part::Rules(Objects::Union(tag, variants))) => {
                for (_, variant) in variants {
                    found.extend(self.node(Some(*variant), depth + 1));
                }
                if self.is_for_codec()
                    && let Some((_, variant)) = variants.first()
                    && let Some(Value::Object(mut entries)) = self.valid(Some(*variant), depth + 1)
                {
                    entries.insert(tag.as_str(), Value::from("another"));
                    found.push(Made::new(Value::Object(entries), "another tag"));
                }
            }
            None => {}
        }
        if self.is_for_codec() {
            add_near_constants(&view, &mut found);
            self.add_examples(node, &mut found);
            add_mistakes(&view, &mut found);
        }
        if self.is_for_codec() {
            found.retain(|made| size(&made.value) <= LARGEST);
        }
        self.made += found.len();
        self.known.insert((node, depth), found.clone());
        found
    }

    /// Returns a value of a node that the node accepts, if one is found.
    fn valid(&mut self, node: Option<NodeId>, depth: usize) -> Option<Value> {
        let node = node.and_then(|node| aliased(self.schemas, node).last());
        if let Some(value) = node.and_then(|node| self.valid.get(&node)) {
            return value.clone();
        }
        let judge = self.judge(node);
        let mut values = self.node(node, depth).into_iter().map(|made| made.value);
        let work = &mut self.work;
        let accepted =
            |value: &Value| *work > 0 && judge.accepts(&value.to_string(), work) == Some(true);
        let found = values.find(accepted).or_else(|| {
            let sampled = node.and_then(|node| sample(self.schemas, node));
            let value = sampled.map(|value| value.to_value());
            value.filter(|value| !self.is_for_codec() || size(value) <= LARGEST)
        });
        if let Some(node) = node {
            self.valid.insert(node, found.clone());
        }
        found
    }

    fn arrays(&mut self, rules: &Arrays, depth: usize) -> Vec<Made> {
        let rest = rules.rest.node();
        let places: Vec<Value> = rules
            .places
            .iter()
            .map(|place| self.valid(Some(*place), depth + 1).unwrap_or_default())
            .collect();
        let further = self.node(rest, depth + 1);
        let [least, most] = rules.counts;
        let first = places.len() as u64;
        let mut counts =
            vec![(0, "no items"), (1, "one item"), (2, "two items"), (first, "the first items")];
        for (limit, reasons) in [(least, LEAST_ITEMS), (most, MOST_ITEMS)] {
            let Some(limit) = limit else { continue };
            let near = [limit.saturating_sub(1), limit, limit.saturating_add(1)];
            counts.extend(near.into_iter().zip(reasons));
        }
        if self.is_for_codec() {
            counts.retain(|(_, reason)| ![LEAST_ITEMS[2], MOST_ITEMS[0]].contains(reason));
        }
        let longest = if self.is_for_codec() { MAX_CODEC_ITEMS } else { MAX_ITEMS };
        counts.retain(|(count, _)| *count <= longest);
        let items = self.items(rest, &further, rules.is_unique);
        let filled = |count: u64| -> Vec<Value> {
            let others = items.iter().cycle().chain(std::iter::repeat(&Value::Null));
            let count = usize::try_from(count).unwrap_or_default();
            places.iter().chain(others).take(count).cloned().collect()
        };
        let bytes: usize = items.iter().map(size).max().unwrap_or_default();
        let mut found = Vec::new();
        for (count, reason) in counts {
            if self.has_room(bytes.saturating_mul(usize::try_from(count).unwrap_or(usize::MAX))) {
                found.push(Made::new(filled(count), reason));
            }
        }
        if let Some(item) = items.first().filter(|_| rules.is_unique) {
            let twice = places.iter().chain([item, item]).cloned();
            found.push(Made::new(twice.collect::<Vec<_>>(), "two equal items"));
        }
        // Each possible item, behind the least number of others.
        let before = least.unwrap_or(0).max(first + 1) - 1;
        if before < MAX_ITEMS {
            let bytes = size(&Value::Array(filled(before)));
            for last in further {
                if !self.has_room(bytes + size(&last.value)) {
                    break;
                }
                found.push(last.inside(&before.to_string(), |last| {
                    let mut items = filled(before);
                    items.push(last);
                    items.into()
                }));
            }
        }
        let bytes: usize = places.iter().map(size).sum();
        for (index, place) in rules.places.iter().enumerate() {
            for item in self.node(Some(*place), depth + 1) {
                if !self.has_room(bytes + size(&item.value)) {
                    break;
                }
                found.push(item.inside(&index.to_string(), |item| {
                    let mut items = places.clone();
                    items[index] = item;
                    items.into()
                }));
            }
        }
        found
    }

    /// Returns the shortest of some values that a node accepts; if items have to differ, all of them and more.
    fn items(&mut self, node: Option<NodeId>, made: &[Made], is_unique: bool) -> Vec<Value> {
        let judge = self.judge(node);
        let mut items: Vec<Value> = made.iter().map(|made| made.value.clone()).collect();
        if is_unique {
            let more = (2..MAX_ITEMS).map(|number| Value::from(number.to_string()));
            items.extend((2..MAX_ITEMS).map(Value::from).chain(more));
        }
        let work = &mut self.work;
        items.retain(|item| judge.accepts(&item.to_string(), work) == Some(true));
        items.sort_by_cached_key(|item| item.to_string().len());
        if is_unique {
            let mut seen = BTreeSet::new();
            items.retain(|item| seen.insert(sorted(item)));
        } else {
            items.truncate(1);
        }
        items
    }

    fn objects(&mut self, object: &Object, depth: usize) -> Vec<Made> {
        let mut least = Map::default();
        for (name, node, is_required) in &object.properties {
            if *is_required {
                let value = self.valid(Some(*node), depth + 1).unwrap_or_default();
                least.insert(name.as_str(), value);
            }
        }
        let mut found =
            vec![Made::new(Value::Object(least.clone()), "every optional key is absent")];
        let with = |name: &str, value: Value| {
            let mut entries = least.clone();
            entries.insert(name, value);
            Value::Object(entries)
        };
        let bytes = size(&Value::Object(least.clone()));
        for (name, node, is_required) in &object.properties {
            if !self.has_room(0) {
                break;
            }
            for made in self.node(Some(*node), depth + 1) {
                if !self.has_room(bytes + size(&made.value)) {
                    break;
                }
                found.push(made.inside(name, |value| with(name, value)));
            }
            if *is_required && self.has_room(bytes) {
                let mut entries = least.clone();
                entries.remove(name);
                let without = Made::new(Value::Null, "a key is absent");
                found.push(without.inside(name, |_| Value::Object(entries)));
            }
        }
        let key = further_key(object);
        // A key without a description has a meaning only if the schema speaks of it.
        let further = match object.rest {
            Rest::Typed(node) => self.node(Some(node), depth + 1),
            Rest::Declared => self.node(None, depth + 1),
            Rest::Closed | Rest::Silent if self.is_for_codec() => {
                vec![Made::new(Value::Null, "a key that the schema does not describe")]
            }
            Rest::Closed | Rest::Silent => Vec::new(),
        };
        for made in further {
            if self.has_room(bytes + size(&made.value)) {
                found.push(made.inside(&key, |value| with(&key, value)));
            }
        }
        if self.is_for_codec() {
            let (mut all, mut bytes) = (least.clone(), bytes);
            for (name, node, is_required) in &object.properties {
                if bytes > LARGEST {
                    break;
                }
                if !is_required && let Some(value) = self.valid(Some(*node), depth + 1) {
                    bytes += name.len() + size(&value);
                    all.insert(name.as_str(), value);
                }
            }
            // Otherwise it is not complete.
            if bytes <= LARGEST {
                found.insert(1, Made::new(Value::Object(all), "every key is present"));
            }
        }
        found
    }

    /// Adds the examples and the default of a node.
    fn add_examples(&self, node: NodeId, found: &mut Vec<Made>) {
        let annotations = &self.schemas[node].annotations;
        let examples = annotations.examples.iter();
        found.extend(examples.map(|value| Made::new(value.to_value(), "an example")));
        let default = annotations.default.as_ref();
        found.extend(default.map(|value| Made::new(value.to_value(), "the default")));
    }
}

/// Adds values of the types that a view has not, those that are easily mistaken for its values first. Two of them stand at the
/// front, since not all of many values are kept.
fn add_mistakes(view: &View, found: &mut Vec<Made>) {
    let text = match (&view.number, &view.boolean) {
        (Some(_), _) => "1",
        (None, Some(_)) => "true",
        (None, None) => "",
    };
    let wrong = [
        (view.string.is_some(), Value::from(text)),
        (view.null, Value::Null),
        (view.number.is_some(), Value::from(1)),
        (view.boolean.is_some(), Value::from(true)),
        (view.object.is_some(), Value::Object(Map::default())),
        (
            view.array.is_some(),
            Value::Array(found.first().map(|made| made.value.clone()).into_iter().collect()),
        ),
    ];
    let wrong = wrong.into_iter().filter(|(is_accepted, _)| !is_accepted);
    let mut wrong = wrong.map(|(_, value)| Made::new(value, "a value of another type"));
    let front = found.len().min(1);
    found.splice(front..front, wrong.by_ref().take(2).collect::<Vec<_>>());
    found.extend(wrong);
}

/// Returns a key that an object does not describe.
fn further_key(object: &Object) -> String {
    let mut key = "further".to_owned();
    while object.properties.iter().any(|(name, ..)| *name == key) {
        key.push('_');
    }
    key
}

/// Returns the bytes of a value's text.
fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Parses a JSON text that is known to be one.
fn json(text: &str) -> Value {
    text.parse().unwrap_or_default()
}

const LEAST_ITEMS: [&str; 3] =
    ["one item less than the minimum", "the minimum of items", "one item more than the minimum"];

const MOST_ITEMS: [&str; 3] =
    ["one item less than the maximum", "the maximum of items", "one item more than the maximum"];
