//! Distinguishes values of different schemas by their kind and their outermost keys and constants.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::value::{Kind, Map, Value};

use crate::listed::Listed;
use crate::wire::Wire;

/// The most nodes of a schema that are read for its form, as references may multiply them.
const MOST_READ: usize = 500;

/// The depth to which references and alternatives are followed.
const MOST_NESTED: usize = 16;

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds(u8);

impl Kinds {
    const ALL: Self = Self(u8::MAX);

    fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    fn has_that_of(self, wire: Wire<'_>) -> bool {
        let kind = wire.kind();
        self.has(kind) || (kind == Kind::Number && self.has(Kind::Integer) && wire.is_integer())
    }
}

/// The outermost form of the values of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// With `Number`, `Integer` is in the set, too.
    kinds: Kinds,
    /// All values, if the schema lists them.
    values: Option<Listed>,
    object: ObjectGuard,
    /// The number of keys and of values in constants of the schemas from which the guard was made.
    pub(crate) entries: usize,
}

/// Counts the parts of schemas that a search visits.
#[derive(Default)]
struct Visited {
    nodes: usize,
    /// The number of listed values, with those in them.
    values: usize,
}

#[derive(Clone, Debug, Default)]
struct ObjectGuard {
    required: BTreeSet<String>,
    /// All keys, if the object is closed.
    known: Option<BTreeSet<String>>,
    /// Keys with a list of values.
    constants: BTreeMap<String, Listed>,
}

impl Guard {
    /// Reads the form of a schema; `target` resolves a reference. A schema that is not an object has values of any
    /// form.
    pub(crate) fn of<'a>(
        schema: Option<&'a Map<Value>>,
        target: &impl Fn(&str) -> Option<&'a Value>,
    ) -> Self {
        let mut schema = schema;
        for _ in 0..=MOST_NESTED {
            let Some(entries) = schema else { break };
            let reference = entries.get("$ref").and_then(Value::as_str);
            if let Some(next) = reference.and_then(target) {
                schema = next.as_object();
                continue;
            }
            let mut visited = Visited::default();
            let kinds = kinds(schema, target, 0, &mut visited);
            if alternatives(entries).is_some() {
                return Self { kinds, entries: visited.values, ..Self::default() };
            }
            let object = if kinds.has(Kind::Object) {
                ObjectGuard::of(entries)
            } else {
                ObjectGuard::default()
            };
            let properties = entries.get("properties").and_then(Value::as_object);
            let keys = object.required.len() + properties.map_or(0, Map::len);
            let constants = object.constants.values();
            let constants = constants.flat_map(Listed::values).map(Value::size).sum::<usize>();
            return Self {
                kinds,
                values: listed(entries),
                object,
                entries: visited.values + keys + constants,
            };
        }
        Self { kinds: Kinds::ALL, ..Self::default() }
    }

    /// Returns whether no value has both forms.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        if let (Some(ours), Some(theirs)) = (&self.values, &other.values) {
            return have_none_in_common(ours, theirs);
        }
        Kind::ALL
            .into_iter()
            .filter(|kind| self.kinds.has(*kind) && other.kinds.has(*kind))
            .all(|kind| kind == Kind::Object && self.object.is_disjoint(&other.object))
    }

    /// Returns whether a value has the form.
    pub(crate) fn accepts(&self, wire: Wire<'_>) -> bool {
        let required = &self.object.required;
        // Keys are unique, and one pass over them is cheaper than a search for each required key.
        let has_required =
            || wire.entries().filter(|(key, _)| required.contains(*key)).count() == required.len();
        self.resembles(wire) && (wire.kind() != Kind::Object || has_required())
    }

    /// Returns whether a value has the form, apart from missing keys.
    pub(crate) fn resembles(&self, wire: Wire<'_>) -> bool {
        let is_one_of = |wire: Wire<'_>, values: &Listed| values.position_of(wire).is_some();
        if !self.kinds.has_that_of(wire)
            || self.values.as_ref().is_some_and(|values| !is_one_of(wire, values))
        {
            return false;
        }
        if wire.kind() != Kind::Object {
            return true;
        }
        let ObjectGuard { known, constants, .. } = &self.object;
        wire.entries().all(|(key, value)| {
            known.as_ref().is_none_or(|known| known.contains(key))
                && constants.get(key).is_none_or(|values| is_one_of(value, values))
        })
    }
}

/// Returns whether null may be a value of a schema, judging by its outermost form only, and the number of constants that were
/// searched for it.
pub(crate) fn accepts_null<'a>(
    schema: Option<&'a Map<Value>>,
    target: &impl Fn(&str) -> Option<&'a Value>,
) -> (bool, usize) {
    let mut visited = Visited::default();
    let kinds = kinds(schema, target, 0, &mut visited);
    (kinds.has(Kind::Null), visited.values)
}

/// The kinds of the values of a schema. Beyond some levels, or if many nodes were visited, they are of any kind.
fn kinds<'a>(
    schema: Option<&'a Map<Value>>,
    target: &impl Fn(&str) -> Option<&'a Value>,
    depth: usize,
    visited: &mut Visited,
) -> Kinds {
    let Some(entries) = schema.filter(|_| depth <= MOST_NESTED && visited.nodes < MOST_READ) else {
        return Kinds::ALL;
    };
    visited.nodes += 1;
    if let Some(next) = entries.get("$ref").and_then(Value::as_str).and_then(target) {
        return kinds(next.as_object(), target, depth + 1, visited);
    }
    let mut all = Kinds::default();
    if let Some(alternatives) = alternatives(entries) {
        for alternative in alternatives {
            all.0 |= kinds(alternative.as_object(), target, depth + 1, visited).0;
        }
        return all;
    }
    all = kinds_of(entries);
    if let Some(values) = values_of(entries) {
        let mut listed = Kinds::default();
        if is_nullable(entries) {
            listed.add(Kind::Null);
        }
        visited.values += values.iter().map(Value::size).sum::<usize>();
        for value in values {
            Kind::ALL
                .into_iter()
                .filter(|kind| is_of(value, *kind))
                .for_each(|kind| listed.add(kind));
        }
        all.0 &= listed.0;
    }
    for member in entries.get("allOf").and_then(Value::as_array).unwrap_or_default() {
        all.0 &= kinds(member.as_object(), target, depth + 1, visited).0;
    }
    all
}

fn alternatives(entries: &Map<Value>) -> Option<&[Value]> {
    entries.get("anyOf").or_else(|| entries.get("oneOf"))?.as_array()
}

impl ObjectGuard {
    fn of(schema: &Map<Value>) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let keys =
            || properties.into_iter().flat_map(|properties| properties.keys().map(str::to_owned));
        let closed = schema.get("additionalProperties") == Some(&Value::Boolean(false))
            && !schema.contains_key("patternProperties");
        let constants = properties
            .into_iter()
            .flatten()
            .filter_map(|(key, property)| Some((key.to_owned(), listed(property.as_object()?)?)));
        Self {
            required: strings(schema.get("required")).map(str::to_owned).collect(),
            known: closed.then(|| keys().collect()),
            constants: constants.collect(),
        }
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        let lacks = |one: &Self, other: &Self| {
            one.required
                .iter()
                .any(|key| other.known.as_ref().is_some_and(|known| !known.contains(key)))
        };
        let told_apart = self.constants.iter().any(|(key, ours)| {
            let theirs = other.constants.get(key);
            let required = self.required.contains(key) && other.required.contains(key);
            theirs.is_some_and(|theirs| required && have_none_in_common(ours, theirs))
        });
        lacks(self, other) || lacks(other, self) || told_apart
    }
}

fn have_none_in_common(ours: &Listed, theirs: &Listed) -> bool {
    !ours.values().iter().any(|value| theirs.position(value).is_some())
}

/// The only values that a schema lists.
fn values_of(schema: &Map<Value>) -> Option<&[Value]> {
    match schema.get("const") {
        Some(value) => Some(std::slice::from_ref(value)),
        None => schema.get("enum")?.as_array(),
    }
}

/// The only values that a schema lists, and null if it is nullable, too.
fn listed(schema: &Map<Value>) -> Option<Listed> {
    let mut values = values_of(schema)?.to_vec();
    values.extend(is_nullable(schema).then_some(Value::Null));
    Some(Listed::new(values))
}

/// Returns whether a wire schema takes null beside its values, in the way of OpenAPI 3.0.
fn is_nullable(schema: &Map<Value>) -> bool {
    schema.contains_key("type") && schema.get("nullable") == Some(&Value::Boolean(true))
}

/// The kinds that `type` and `nullable` name; all where they say nothing.
fn kinds_of(schema: &Map<Value>) -> Kinds {
    let mut kinds = Kinds::default();
    match schema.get("type") {
        Some(names @ (Value::String(_) | Value::Array(_))) => {
            type_names(names).filter_map(Kind::from_name).for_each(|kind| kinds.add(kind));
        }
        _ => return Kinds::ALL,
    }
    if kinds.has(Kind::Number) {
        kinds.add(Kind::Integer);
    }
    if is_nullable(schema) {
        kinds.add(Kind::Null);
    }
    kinds
}

/// The types that a value of `type` names.
pub(crate) fn type_names(value: &Value) -> impl Iterator<Item = &str> {
    value.as_str().into_iter().chain(strings(Some(value)))
}

/// The strings of an array.
pub(crate) fn strings(array: Option<&Value>) -> impl Iterator<Item = &str> {
    array.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str)
}

fn is_of(value: &Value, kind: Kind) -> bool {
    match value {
        Value::Null => kind == Kind::Null,
        Value::Boolean(_) => kind == Kind::Boolean,
        Value::String(_) => kind == Kind::String,
        Value::Array(_) => kind == Kind::Array,
        Value::Object(_) => kind == Kind::Object,
        Value::Number(number) => {
            kind == Kind::Number || (kind == Kind::Integer && number.is_integer())
        }
    }
}
