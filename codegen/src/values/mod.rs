//! Makes values near the limits of schemas: rows that hold codecs to them, and values that show the difference of two schemas.

mod pattern;
mod rows;
mod scalars;
mod view;

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::rc::Rc;
use std::sync::Arc;

use toolwright::pointer::escaped;
use toolwright::schema::Schema;
use toolwright::value::Kind;
use toolwright::{InvalidPayload, Value};

use crate::json::{Json, Style, quoted};
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

/// The longest schema whose judge is kept.
const MAX_KNOWN: usize = 256;

/// Compiling a schema takes as long as so many bytes of it take, regardless of its length.
const COMPILATION: usize = 100;

/// Making the values of a schema takes as long as so many bytes of them take, regardless of their length.
const MAKING: u64 = 200;

/// The most items of an array that is made to find a difference.
const MAX_ITEMS: u64 = 300;

/// The most items of an array that is made for a codec.
const MAX_CODEC_ITEMS: u64 = 2000;

/// The longest value that shows a difference, in bytes: people read it, and each of thousands of changes may have one.
const MAX_WITNESS: usize = 4 << 10;

/// The most steps of the check of one value.
const MAX_STEPS: u64 = 200_000;

/// A schema with its validator.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    validator: Option<Arc<Schema>>,
}

impl Judge {
    /// Returns the judge of a node; one without a node accepts everything.
    pub fn of(schemas: &Schemas, node: Option<NodeId>) -> Self {
        Self { validator: Schema::new(&text(schemas, node)).ok().map(Arc::new) }
    }

    /// Returns whether the schema accepts a value; `None` if its check is too costly. Its bytes and the steps of the check are
    /// subtracted from `work`.
    pub fn accepts(&self, value: &str, work: &mut u64) -> Option<bool> {
        check(self.validator.as_deref()?, value, work).map(|found| found.is_ok())
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
        values.extend(maker.node(*node, 0).iter().map(|made| made.text.clone()));
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
    /// The value as compact JSON.
    text: String,
    /// The part of the value that the reason is about, as a JSON Pointer (RFC 6901).
    at: String,
    /// The kind of this part, if the value has it.
    kind: Option<Kind>,
    reason: Cow<'static, str>,
}

impl Made {
    fn new(value: impl Into<Value>, reason: impl Into<Cow<'static, str>>) -> Self {
        let value = value.into();
        let kind = match &value {
            Value::Null => Kind::Null,
            Value::Boolean(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        };
        Self::of_text(value.to_string(), kind, reason)
    }

    fn of_text(text: String, kind: Kind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { text, at: String::new(), kind: Some(kind), reason: reason.into() }
    }

    /// Returns the bytes of its text.
    fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the value inside another one with this text, below a key or index of it.
    fn inside(&self, segment: &str, text: String) -> Self {
        let at = format!("/{}{}", escaped(segment), self.at);
        Self { text, at, kind: self.kind, reason: self.reason.clone() }
    }
}

/// Returns the text of an array.
fn array<'t>(items: impl IntoIterator<Item = &'t str>) -> String {
    let mut text = "[".to_owned();
    for (index, item) in items.into_iter().enumerate() {
        text.push_str(if index > 0 { "," } else { "" });
        text.push_str(item);
    }
    text + "]"
}

/// Returns the text of an object; the keys are plain, the values JSON.
fn object<'t>(entries: impl IntoIterator<Item = (&'t str, &'t str)>) -> String {
    let mut text = "{".to_owned();
    for (index, (key, value)) in entries.into_iter().enumerate() {
        text.push_str(if index > 0 { "," } else { "" });
        text.push_str(&quoted(key));
        text.push(':');
        text.push_str(value);
    }
    text + "}"
}

struct Maker<'a> {
    schemas: &'a Schemas,
    purpose: Purpose,
    /// The judge of a node that is known from the start.
    root: Option<(NodeId, Judge)>,
    /// The values of each node at a depth, which are needed more than once.
    known: BTreeMap<(NodeId, usize), Rc<[Made]>>,
    /// The number of values made so far.
    made: usize,
    /// The bytes of texts, and of the objects and arrays around values.
    bytes: usize,
    /// A valid value of each node for which one was looked for, if one was found.
    valid: BTreeMap<NodeId, Option<Rc<Made>>>,
    /// The bytes of the schemas that were compiled.
    compiled: usize,
    /// The judges of short schemas, by their text: many properties have the same.
    judges: BTreeMap<String, Judge>,
    /// The bytes of values and schemas, and the steps of checks, that are left.
    work: u64,
}

impl<'a> Maker<'a> {
    fn new(schemas: &'a Schemas, purpose: Purpose, work: u64) -> Self {
        Self {
            schemas,
            purpose,
            root: None,
            known: BTreeMap::new(),
            made: 0,
            bytes: 0,
            valid: BTreeMap::new(),
            compiled: 0,
            judges: BTreeMap::new(),
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
        if let Some((root, judge)) = &self.root
            && node == Some(*root)
        {
            return judge.clone();
        }
        if self.compiled > MAX_COMPILED || self.work == 0 {
            return Judge::default();
        }
        let text = text(self.schemas, node);
        if let Some(judge) = self.judges.get(&text) {
            return judge.clone();
        }
        let bytes = text.len();
        self.compiled += bytes;
        self.work = self.work.saturating_sub((bytes + COMPILATION) as u64);
        let judge = Judge { validator: Schema::new(&text).ok().map(Arc::new) };
        if bytes <= MAX_KNOWN {
            self.judges.insert(text, judge.clone());
        }
        judge
    }

    /// Makes values of a node, or of any type without one.
    fn node(&mut self, node: Option<NodeId>, depth: usize) -> Rc<[Made]> {
        let Some(node) = node.and_then(|node| aliased(self.schemas, node).last()) else {
            return ["null", "true", "0", "\"\"", "[]", "{}"]
                .map(|text| Made::new(json(text), "any value"))
                .into();
        };
        let most = if self.is_for_codec() { 3 * MAX_VALUES } else { MAX_VALUES };
        if depth > MAX_DEPTH || self.made > most || !self.has_room(0) {
            return Rc::default();
        }
        if let Some(known) = self.known.get(&(node, depth)) {
            return Rc::clone(known);
        }
        self.work = self.work.saturating_sub(MAKING);
        let view = View::of_parts(self.schemas, node);
        let mut found = Vec::new();
        if view.null {
            found.push(Made::new(Value::Null, "null"));
        }
        match &view.boolean {
            Some(Part::Values(values)) => self.add(&mut found, values, "a constant"),
            Some(Part::Rules(())) => {
                found.extend([false, true].map(|value| Made::new(value, "a boolean")));
            }
            None => {}
        }
        match &view.number {
            Some(Part::Values(values)) => self.add(&mut found, values, "a constant"),
            Some(Part::Rules(rules)) => found.extend(numbers(rules, self.purpose)),
            None => {}
        }
        match &view.string {
            Some(Part::Values(values)) => self.add(&mut found, values, "a constant"),
            Some(Part::Rules(rules)) => {
                let made = strings(rules, self.purpose).into_iter();
                found.extend(made.filter(|made| self.has_room(made.size())));
            }
            None => {}
        }
        match &view.array {
            Some(Part::Values(values)) => self.add(&mut found, values, "a constant"),
            Some(Part::Rules(rules)) => found.extend(self.arrays(rules, depth)),
            None => {}
        }
        match &view.object {
            Some(Part::Values(values)) => self.add(&mut found, values, "a constant"),
            Some(Part::Rules(Objects::Object(object))) => found.extend(self.objects(object, depth)),
            Some(Part::Rules(Objects::Union(tag, variants))) => {
                for (_, variant) in variants {
                    let made = self.node(Some(*variant), depth + 1);
                    let made = made.iter().filter(|made| self.has_room(made.size()));
                    found.extend(made.cloned());
                }
                if self.is_for_codec()
                    && let Some((_, variant)) = variants.first()
                    && let Some(made) = self.valid(Some(*variant), depth + 1)
                    && let Value::Object(mut entries) = json(&made.text)
                {
                    entries.insert(tag.as_str(), Value::from("another"));
                    found.push(Made::new(Value::Object(entries), "another tag"));
                }
            }
            None => {}
        }
        if self.is_for_codec() {
            add_near_constants(&view, &mut found);
            let annotations = &self.schemas[node].annotations;
            let examples = annotations.examples.iter().map(Json::to_value);
            self.add(&mut found, examples, "an example");
            let default = annotations.default.iter().map(Json::to_value);
            self.add(&mut found, default, "the default");
            add_mistakes(&view, &mut found);
            found.retain(|made| made.size() <= LARGEST);
        }
        self.made += found.len();
        let found: Rc<[Made]> = found.into();
        self.known.insert((node, depth), Rc::clone(&found));
        found
    }

    /// Adds the values for which there is room.
    fn add<V: Borrow<Value>>(
        &mut self,
        found: &mut Vec<Made>,
        values: impl IntoIterator<Item = V>,
        reason: &'static str,
    ) {
        let made = values.into_iter().map(|value| Made::new(value.borrow().clone(), reason));
        found.extend(made.filter(|made| self.has_room(made.size())));
    }

    /// Returns a value of a node that the node accepts, if one is found.
    fn valid(&mut self, node: Option<NodeId>, depth: usize) -> Option<Rc<Made>> {
        let node = node.and_then(|node| aliased(self.schemas, node).last());
        if let Some(value) = node.and_then(|node| self.valid.get(&node)) {
            return value.clone();
        }
        let judge = self.judge(node);
        let made = self.node(node, depth);
        let work = &mut self.work;
        let accepted = |made: &&Made| *work > 0 && judge.accepts(&made.text, work) == Some(true);
        let found = made.iter().find(accepted).cloned();
        let found = found.or_else(|| {
            let sample = sample(self.schemas, node?, judge.validator.as_deref()?)?;
            let made = Made::new(sample.to_value(), "a valid value");
            Some(made).filter(|made| !self.is_for_codec() || made.size() <= LARGEST)
        });
        let found = found.map(Rc::new);
        if let Some(node) = node {
            self.valid.insert(node, found.clone());
        }
        found
    }

    /// Returns a value for a part that every value has, if there is room for it: a valid one if one is found.
    fn part(&mut self, node: NodeId, depth: usize) -> Option<Rc<Made>> {
        let made = self.valid(Some(node), depth + 1);
        let made = made.unwrap_or_else(|| Rc::new(Made::new(Value::Null, "no valid value")));
        self.has_room(made.size()).then_some(made)
    }

    fn arrays(&mut self, rules: &Arrays, depth: usize) -> Vec<Made> {
        let rest = rules.rest.node();
        let (mut places, mut bytes_of_places) = (Vec::new(), 0);
        for place in &rules.places {
            let Some(made) = self.part(*place, depth) else { return Vec::new() };
            bytes_of_places += made.size();
            places.push(made);
        }
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
        let of_places = || places.iter().map(|made| made.text.as_str());
        let filled = |count: u64| {
            let others = items.iter().map(String::as_str).cycle().chain(iter::repeat("null"));
            of_places().chain(others).take(usize::try_from(count).unwrap_or_default())
        };
        let longest_item = items.iter().map(String::len).max().unwrap_or_default();
        let mut found = Vec::new();
        for (count, reason) in counts {
            let others = usize::try_from(count.saturating_sub(first)).unwrap_or(usize::MAX);
            let bytes = bytes_of_places.saturating_add(longest_item.saturating_mul(others));
            if self.has_room(bytes) {
                found.push(Made::of_text(array(filled(count)), Kind::Array, reason));
            }
        }
        if let Some(item) = items.first().filter(|_| rules.is_unique) {
            let twice = array(of_places().chain([&**item, item]));
            found.push(Made::of_text(twice, Kind::Array, "two equal items"));
        }
        // Each possible item, behind the least number of others.
        let before = least.unwrap_or(0).max(first + 1) - 1;
        if before < MAX_ITEMS {
            let bytes: usize = filled(before).map(str::len).sum();
            for last in further.iter() {
                if !self.has_room(bytes + last.size()) {
                    break;
                }
                let text = array(filled(before).chain([&*last.text]));
                found.push(last.inside(&before.to_string(), text));
            }
        }
        for (index, place) in rules.places.iter().enumerate() {
            for item in self.node(Some(*place), depth + 1).iter() {
                if !self.has_room(bytes_of_places + item.size()) {
                    break;
                }
                let others = of_places().enumerate();
                let items = others.map(|(at, other)| if at == index { &item.text } else { other });
                found.push(item.inside(&index.to_string(), array(items)));
            }
        }
        found
    }

    /// Returns the shortest of some values that a node accepts; if items have to differ, all of them and more.
    fn items(&mut self, node: Option<NodeId>, made: &[Made], is_unique: bool) -> Vec<String> {
        let judge = self.judge(node);
        let mut items: Vec<String> = made.iter().map(|made| made.text.clone()).collect();
        if is_unique {
            let numbers = (2..MAX_ITEMS).map(|number| number.to_string());
            items.extend(numbers.clone().chain(numbers.map(|number| quoted(&number))));
        }
        let work = &mut self.work;
        items.retain(|item| judge.accepts(item, work) == Some(true));
        items.sort_by_key(String::len);
        if is_unique {
            let mut seen = BTreeSet::new();
            items.retain(|item| seen.insert(sorted(&json(item))));
        } else {
            items.truncate(1);
        }
        items
    }

    fn objects(&mut self, rules: &Object, depth: usize) -> Vec<Made> {
        let mut least: Vec<(&str, Rc<Made>)> = Vec::new();
        for (name, node, is_required) in &rules.properties {
            if *is_required {
                let Some(made) = self.part(*node, depth) else { return Vec::new() };
                least.push((name, made));
            }
        }
        let entries = || least.iter().map(|(name, made)| (*name, made.text.as_str()));
        let with = |key: &str, text: &str| {
            let is_new = entries().all(|(name, _)| name != key);
            let old = entries().map(|(name, old)| (name, if name == key { text } else { old }));
            object(old.chain(is_new.then_some((key, text))))
        };
        let smallest = object(entries());
        let bytes = smallest.len();
        let mut found = vec![Made::of_text(smallest, Kind::Object, "every optional key is absent")];
        for (name, node, is_required) in &rules.properties {
            if !self.has_room(0) {
                break;
            }
            for made in self.node(Some(*node), depth + 1).iter() {
                if !self.has_room(bytes + made.size()) {
                    break;
                }
                found.push(made.inside(name, with(name, &made.text)));
            }
            if *is_required && self.has_room(bytes) {
                let text = object(entries().filter(|(key, _)| key != name));
                let without = Made::of_text(text.clone(), Kind::Object, "a key is absent");
                found.push(Made { kind: None, ..without.inside(name, text) });
            }
        }
        let key = further_key(rules);
        // A key without a description has a meaning only if the schema speaks of it.
        let further = match rules.rest {
            Rest::Typed(node) => self.node(Some(node), depth + 1),
            Rest::Declared => self.node(None, depth + 1),
            Rest::Closed | Rest::Silent if self.is_for_codec() => {
                [Made::new(Value::Null, "a key that the schema does not describe")].into()
            }
            Rest::Closed | Rest::Silent => Rc::default(),
        };
        for made in further.iter() {
            if self.has_room(bytes + made.size()) {
                found.push(made.inside(&key, with(&key, &made.text)));
            }
        }
        if self.is_for_codec() {
            let (mut others, mut bytes) = (Vec::new(), bytes);
            for (name, node, is_required) in &rules.properties {
                if bytes > LARGEST {
                    break;
                }
                if !is_required && let Some(made) = self.valid(Some(*node), depth + 1) {
                    bytes += name.len() + made.size();
                    others.push((name, made));
                }
            }
            // Otherwise it is not complete.
            if bytes <= LARGEST {
                let others = others.iter().map(|(name, made)| (name.as_str(), &*made.text));
                let all = object(entries().chain(others));
                found.insert(1, Made::of_text(all, Kind::Object, "every key is present"));
            }
        }
        found
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
    let first = array(found.first().map(|made| &*made.text));
    let reason = "a value of another type";
    let wrong = [
        (view.string.is_some(), Made::new(text, reason)),
        (view.null, Made::new(Value::Null, reason)),
        (view.number.is_some(), Made::new(1, reason)),
        (view.boolean.is_some(), Made::new(true, reason)),
        (view.object.is_some(), Made::of_text(object([]), Kind::Object, reason)),
        (view.array.is_some(), Made::of_text(first, Kind::Array, reason)),
    ];
    let wrong = wrong.into_iter().filter(|(is_accepted, _)| !is_accepted);
    let mut wrong = wrong.map(|(_, made)| made);
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

/// Parses a JSON text that is known to be one.
fn json(text: &str) -> Value {
    text.parse().unwrap_or_default()
}

const LEAST_ITEMS: [&str; 3] =
    ["one item less than the minimum", "the minimum of items", "one item more than the minimum"];

const MOST_ITEMS: [&str; 3] =
    ["one item less than the maximum", "the maximum of items", "one item more than the maximum"];
