//! Makes values near the limits of two schemas, and finds the smallest that only one of them accepts.

use toolwright::Value;
use toolwright::schema::Schema;
use toolwright::value::{Map, Number};
use toolwright_codegen::internal::Style;
use toolwright_codegen::internal::schema::{NodeId, Schemas, published};

use crate::view::{Arrays, Numbers, Object, Objects, Part, Rest, Strings, View};

/// The deepest nesting of made values.
const MAX_DEPTH: usize = 4;

/// The most values for one schema.
const MAX_VALUES: usize = 1000;

/// The longest text and the longest array that is made.
const MAX_LENGTH: u64 = 300;

/// A schema with its validator.
pub(crate) struct Judge {
    validator: Option<Schema>,
}

impl Judge {
    /// Returns the judge of a node; one without a node accepts everything.
    pub(crate) fn of(schemas: &Schemas, node: Option<NodeId>) -> Self {
        let text =
            node.map_or_else(|| "{}".to_owned(), |node| published(schemas, node, Style::Compact));
        Self { validator: Schema::new(&text).ok() }
    }

    /// Returns whether the schema accepts a value; `None` if its check is too costly.
    pub(crate) fn accepts(&self, value: &str) -> Option<bool> {
        let mut steps = 200_000;
        let found = self.validator.as_ref()?.check_within(value.as_bytes(), &mut steps);
        (found.is_ok() || steps > 0).then_some(found.is_ok())
    }
}

/// Returns the smallest of some values that `has` accepts and `lacks` does not.
pub(crate) fn witness(values: &[String], has: &Judge, lacks: &Judge) -> Option<String> {
    let shows =
        |value: &&String| has.accepts(value) == Some(true) && lacks.accepts(value) == Some(false);
    values.iter().find(shows).cloned()
}

/// Makes values near the limits of schemas, the shortest first. They need not be valid.
pub(crate) fn values(schemas: &Schemas, nodes: &[Option<NodeId>]) -> Vec<String> {
    let mut maker = Maker { schemas, made: 0 };
    let mut values: Vec<String> = Vec::new();
    for node in nodes {
        values.extend(maker.node(*node, 0).iter().map(Value::to_string));
    }
    values.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    values.dedup();
    values
}

struct Maker<'a> {
    schemas: &'a Schemas,
    made: usize,
}

impl Maker<'_> {
    fn node(&mut self, node: Option<NodeId>, depth: usize) -> Vec<Value> {
        let Some(node) = node else {
            return ["null", "true", "0", "\"\"", "[]", "{}"]
                .map(|text| text.parse().unwrap_or_default())
                .to_vec();
        };
        if depth > MAX_DEPTH || self.made > MAX_VALUES {
            return Vec::new();
        }
        let view = View::of(self.schemas, node);
        let mut found = Vec::new();
        if view.null {
            found.push(Value::Null);
        }
        match &view.boolean {
            Some(Part::Values(values)) => found.extend(values.iter().cloned()),
            Some(Part::Rules(())) => found.extend([Value::Boolean(false), Value::Boolean(true)]),
            None => {}
        }
        match &view.number {
            Some(Part::Values(values)) => found.extend(values.iter().cloned()),
            Some(Part::Rules(rules)) => found.extend(numbers(rules)),
            None => {}
        }
        match &view.string {
            Some(Part::Values(values)) => found.extend(values.iter().cloned()),
            Some(Part::Rules(rules)) => found.extend(strings(rules)),
            None => {}
        }
        match &view.array {
            Some(Part::Values(values)) => found.extend(values.iter().cloned()),
            Some(Part::Rules(rules)) => found.extend(self.arrays(rules, depth)),
            None => {}
        }
        match &view.object {
            Some(Part::Values(values)) => found.extend(values.iter().cloned()),
            Some(Part::Rules(Objects::Object(object))) => found.extend(self.objects(object, depth)),
            Some(Part::Rules(Objects::Union(_, variants))) => {
                for (_, variant) in variants {
                    found.extend(self.node(Some(*variant), depth + 1));
                }
            }
            None => {}
        }
        self.made += found.len();
        found
    }

    /// Returns one value of a node, if one was made that the node accepts.
    fn one(&mut self, node: Option<NodeId>, depth: usize) -> Option<Value> {
        let judge = Judge::of(self.schemas, node);
        let values = self.node(node, depth);
        values.into_iter().find(|value| judge.accepts(&value.to_string()) == Some(true))
    }

    fn arrays(&mut self, rules: &Arrays, depth: usize) -> Vec<Value> {
        let rest = match rules.rest {
            Rest::Typed(node) => Some(node),
            _ => None,
        };
        let places: Vec<Value> = rules
            .places
            .iter()
            .map(|place| self.one(Some(*place), depth + 1).unwrap_or_default())
            .collect();
        let further = self.node(rest, depth + 1);
        let [least, most] = rules.counts;
        let mut counts = vec![0, 1, 2, rules.places.len() as u64];
        for limit in [least, most].into_iter().flatten() {
            counts.extend([limit.saturating_sub(1), limit, limit.saturating_add(1)]);
        }
        let mut found = Vec::new();
        for count in counts.into_iter().filter(|count| *count <= MAX_LENGTH) {
            let item = |index: u64| {
                let index = usize::try_from(index).unwrap_or_default();
                let place = places.get(index).or_else(|| further.get(index % further.len().max(1)));
                place.cloned().unwrap_or_default()
            };
            found.push(Value::Array((0..count).map(item).collect()));
        }
        // Each possible item, behind the least number of others.
        let before = least.unwrap_or(0).max(rules.places.len() as u64 + 1) - 1;
        if before < MAX_LENGTH && !further.is_empty() {
            for last in further.clone() {
                let mut items = places.clone();
                items.resize(usize::try_from(before).unwrap_or_default(), further[0].clone());
                items.push(last);
                found.push(Value::Array(items));
            }
        }
        for (index, place) in rules.places.iter().enumerate() {
            for value in self.node(Some(*place), depth + 1) {
                let mut items = places.clone();
                items[index] = value;
                found.push(Value::Array(items));
            }
        }
        found
    }

    fn objects(&mut self, object: &Object, depth: usize) -> Vec<Value> {
        let mut least = Map::default();
        for (name, node, required) in &object.properties {
            if *required {
                least.insert(name.as_str(), self.one(Some(*node), depth + 1).unwrap_or_default());
            }
        }
        let mut found = vec![Value::Object(least.clone())];
        for (name, node, required) in &object.properties {
            for value in self.node(Some(*node), depth + 1) {
                let mut entries = least.clone();
                entries.insert(name.as_str(), value);
                found.push(Value::Object(entries));
            }
            if *required {
                let mut entries = least.clone();
                entries.remove(name);
                found.push(Value::Object(entries));
            }
        }
        // A key without a description has a meaning only if the schema speaks of it.
        let further = match object.rest {
            Rest::Closed | Rest::Silent => Vec::new(),
            Rest::Declared => self.node(None, depth + 1),
            Rest::Typed(node) => self.node(Some(node), depth + 1),
        };
        for value in further {
            let mut entries = least.clone();
            entries.insert("further", value);
            found.push(Value::Object(entries));
        }
        found
    }
}

fn numbers(rules: &Numbers) -> Vec<Value> {
    let mut found: Vec<Value> =
        ["0", "1", "-1", "0.5"].map(|text| text.parse().unwrap_or_default()).to_vec();
    for (number, _) in rules.ends.iter().flatten() {
        found.push(Value::Number(number.clone()));
        if let Some(whole) = number.to_integer().and_then(|whole| whole.to_i128()) {
            let near = [whole.saturating_sub(1), whole.saturating_add(1)];
            found.extend(near.map(|near| Value::Number(Number::from(near))));
        } else {
            let near = [number.as_f64() - 1.0, number.as_f64() + 1.0];
            found.extend(near.iter().filter_map(|near| near.to_string().parse().ok()));
        }
    }
    if rules.is_integer {
        found.retain(crate::view::is_integer);
    }
    found
}

fn strings(rules: &Strings) -> Vec<Value> {
    let mut lengths = vec![0, 1, 3];
    for limit in rules.lengths.into_iter().flatten() {
        lengths.extend([limit.saturating_sub(1), limit, limit.saturating_add(1)]);
    }
    let lengths = lengths.into_iter().filter(|length| *length <= MAX_LENGTH);
    let mut found: Vec<Value> = lengths
        .flat_map(|length| {
            ["a", "A", "0", "-"]
                .map(|letter| letter.repeat(usize::try_from(length).unwrap_or_default()))
        })
        .map(Value::from)
        .collect();
    found.extend(FORMATS.map(Value::from));
    if let Some(pattern) = &rules.pattern {
        // The pattern without its signs often matches itself.
        found.push(Value::from(pattern.trim_start_matches('^').trim_end_matches('$')));
    }
    found
}

/// Texts of many formats.
const FORMATS: [&str; 9] = [
    "2024-01-31",
    "2024-01-31T12:00:00Z",
    "12:00:00Z",
    "P1D",
    "a@b.de",
    "https://example.com/a",
    "127.0.0.1",
    "::1",
    "123e4567-e89b-12d3-a456-426614174000",
];
