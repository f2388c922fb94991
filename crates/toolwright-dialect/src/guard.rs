//! Distinguishes values of different schemas by their kind and their outermost keys and constants.

use toolwright::value::{Kind, Value};

/// The most nodes of a schema that are read for its form, as references may multiply them.
const MOST_READ: usize = 500;

/// The outermost form of the values of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// `Integer` stands beside `Number`.
    kinds: Vec<Kind>,
    /// The only values there are.
    values: Option<Vec<Value>>,
    object: ObjectGuard,
}

#[derive(Clone, Debug, Default)]
struct ObjectGuard {
    required: Vec<String>,
    /// All keys there are, if the object is closed.
    known: Option<Vec<String>>,
    /// Keys with a list of values.
    constants: Vec<(String, Vec<Value>)>,
}

impl Guard {
    /// Reads the form of a schema; `target` resolves a reference.
    pub(crate) fn of<'a>(schema: &'a Value, target: &impl Fn(&str) -> Option<&'a Value>) -> Self {
        Self::within(schema, target, 0, &mut MOST_READ.clone())
    }

    /// Beyond 16 levels or without `unread` nodes left, a schema may have values of any form.
    fn within<'a>(
        schema: &'a Value,
        target: &impl Fn(&str) -> Option<&'a Value>,
        depth: usize,
        unread: &mut usize,
    ) -> Self {
        if depth > 16 || *unread == 0 {
            return Self { kinds: Kind::ALL.to_vec(), ..Self::default() };
        }
        *unread -= 1;
        if let Some(target_schema) = schema.get("$ref").and_then(Value::as_str).and_then(target) {
            return Self::within(target_schema, target, depth + 1, unread);
        }
        let alternatives =
            schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        if let Some(alternatives) = alternatives {
            let mut kinds: Vec<Kind> = Vec::new();
            for alternative in alternatives {
                for kind in Self::within(alternative, target, depth + 1, unread).kinds {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
            }
            return Self { kinds, ..Self::default() };
        }
        let values = values_of(schema);
        let mut kinds = kinds_of(schema);
        if let Some(values) = &values {
            kinds.retain(|kind| values.iter().any(|value| is_of(value, *kind)));
        }
        for member in schema.get("allOf").and_then(Value::as_array).unwrap_or_default() {
            let member = Self::within(member, target, depth + 1, unread);
            kinds.retain(|kind| member.kinds.contains(kind));
        }
        let object = if kinds.contains(&Kind::Object) {
            ObjectGuard::of(schema)
        } else {
            ObjectGuard::default()
        };
        Self { kinds, values, object }
    }

    /// Returns whether no value has both forms.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        if let (Some(ours), Some(theirs)) = (&self.values, &other.values) {
            return !ours.iter().any(|value| theirs.contains(value));
        }
        self.kinds
            .iter()
            .filter(|kind| other.kinds.contains(kind))
            .all(|kind| *kind == Kind::Object && self.object.is_disjoint(&other.object))
    }

    /// Returns whether a value has the form.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.resembles(value)
            && value.as_object().is_none_or(|entries| {
                self.object.required.iter().all(|key| entries.contains_key(key))
            })
    }

    /// Returns whether a value has the form, apart from missing keys.
    pub(crate) fn resembles(&self, value: &Value) -> bool {
        let listed = self.values.as_ref().is_none_or(|values| values.contains(value));
        listed
            && self.kinds.iter().any(|kind| is_of(value, *kind))
            && value.as_object().is_none_or(|entries| {
                let object = &self.object;
                let constants = object.constants.iter().all(|(key, values)| {
                    entries.get(key).is_none_or(|value| values.contains(value))
                });
                let known = object.known.as_ref().is_none_or(|known| {
                    entries.keys().all(|key| known.iter().any(|known| known == key))
                });
                constants && known
            })
    }
}

impl ObjectGuard {
    fn of(schema: &Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let keys =
            || properties.into_iter().flat_map(|properties| properties.keys().map(str::to_owned));
        let closed = schema.get("additionalProperties") == Some(&Value::Boolean(false))
            && schema.get("patternProperties").is_none();
        let constants = properties
            .into_iter()
            .flatten()
            .filter_map(|(key, property)| Some((key.to_owned(), values_of(property)?)));
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
            let theirs = other.constants.iter().find(|(theirs, _)| theirs == key);
            let required = self.required.contains(key) && other.required.contains(key);
            theirs.is_some_and(|(_, theirs)| {
                required && !ours.iter().any(|value| theirs.contains(value))
            })
        });
        lacks(self, other) || lacks(other, self) || told_apart
    }
}

/// The only values that a schema lists.
fn values_of(schema: &Value) -> Option<Vec<Value>> {
    match schema.get("const") {
        Some(value) => Some(vec![value.clone()]),
        None => Some(schema.get("enum")?.as_array()?.to_vec()),
    }
}

/// The kinds that `type` and `nullable` name; all where they say nothing.
fn kinds_of(schema: &Value) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = match schema.get("type") {
        Some(Value::String(name)) => Kind::from_name(name).into_iter().collect(),
        Some(names @ Value::Array(_)) => strings(Some(names)).filter_map(Kind::from_name).collect(),
        _ => Kind::ALL.to_vec(),
    };
    if kinds.contains(&Kind::Number) {
        kinds.push(Kind::Integer);
    }
    if schema.get("nullable") == Some(&Value::Boolean(true)) {
        kinds.push(Kind::Null);
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
