//! Measures a wire schema and compares it with the limits of a dialect.

use toolwright::value::{Map, Value};

use crate::canonical::visit;
use crate::row::Limits;

/// The sizes of a wire schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Properties of all objects.
    pub properties: usize,
    /// The deepest nesting of objects and arrays.
    pub depth: usize,
    /// Properties that are not required.
    pub optional: usize,
    /// Nodes with `anyOf`, `oneOf` or several types.
    pub unions: usize,
    /// Values of all enums.
    pub enum_values: usize,
    /// Characters in names of properties and definitions, and in values of enums and constants.
    pub characters: usize,
    /// Bytes of the compact JSON text.
    pub bytes: usize,
    /// Characters of the values of the enum with the most of them, and how many values it has.
    largest_enum: (usize, usize),
}

impl Numbers {
    /// The sizes of a schema whose text has this many bytes.
    pub(crate) fn of(schema: &Value, bytes: usize) -> Self {
        let mut numbers = Self { bytes, ..Self::default() };
        let count = |schema: &Map<Value>, keyword: &str| {
            schema.get(keyword).and_then(Value::as_array).map_or(0, <[Value]>::len)
        };
        visit(schema, &mut |node, _| {
            if let Some(properties) = node.get("properties").and_then(Value::as_object) {
                numbers.properties += properties.len();
                numbers.characters +=
                    properties.keys().map(|key| key.chars().count()).sum::<usize>();
                numbers.optional += properties.len().saturating_sub(count(node, "required"));
            }
            if let Some(definitions) = node.get("$defs").and_then(Value::as_object) {
                numbers.characters +=
                    definitions.keys().map(|key| key.chars().count()).sum::<usize>();
            }
            let union = node.get("anyOf").is_some()
                || node.get("oneOf").is_some()
                || count(node, "type") > 1;
            numbers.unions += usize::from(union);
            let values = node.get("enum").and_then(Value::as_array).unwrap_or_default();
            let constants = values.iter().chain(node.get("const"));
            let characters: usize =
                constants.map(|value| value.as_str().map_or(0, |text| text.chars().count())).sum();
            numbers.enum_values += values.len();
            numbers.characters += characters;
            numbers.largest_enum = numbers.largest_enum.max((characters, values.len()));
        });
        numbers.depth = schema.as_object().map_or(0, |entries| depth(entries, 0));
        numbers
    }

    /// Returns the first limit of a single definition that is exceeded, as a sentence.
    pub(crate) fn over(&self, limits: &Limits) -> Option<String> {
        let over = |found: usize, most: Option<usize>, what: &str| {
            most.filter(|most| found > *most)
                .map(|most| format!("has {found} {what}, and the dialect takes {most}"))
        };
        over(self.properties, limits.properties, "properties")
            .or_else(|| over(self.depth, limits.depth, "levels"))
            .or_else(|| over(self.enum_values, limits.enum_values, "values of enums"))
            .or_else(|| over(self.characters, limits.string_chars, "characters in names and enums"))
            .or_else(|| over(self.bytes, limits.json_bytes, "bytes"))
            .or_else(|| {
                let is_large =
                    limits.enum_large_from.is_some_and(|from| self.largest_enum.1 >= from);
                is_large
                    .then(|| {
                        over(
                            self.largest_enum.0,
                            limits.enum_large_chars,
                            "characters in a large enum",
                        )
                    })
                    .flatten()
            })
    }

    /// Returns the numbers as data.
    pub fn to_value(&self) -> Value {
        Value::Object(Map::from([
            ("properties", Value::from(self.properties)),
            ("depth", Value::from(self.depth)),
            ("optional", Value::from(self.optional)),
            ("unions", Value::from(self.unions)),
            ("enum_values", Value::from(self.enum_values)),
            ("characters", Value::from(self.characters)),
            ("bytes", Value::from(self.bytes)),
        ]))
    }
}

/// The nesting of objects and arrays, with those outside the node; references are not followed.
pub(crate) fn depth(entries: &Map<Value>, outer: usize) -> usize {
    let is = |kind: &str| match entries.get("type") {
        Some(Value::String(name)) => name == kind,
        names => crate::guard::strings(names).any(|name| name == kind),
    };
    let own = outer + usize::from(is("object") || is("array"));
    let mut deepest = own;
    for (key, value) in entries {
        let from = if key == "$defs" { outer } else { own };
        let mut add = |schema: &Value| {
            let found = schema.as_object().map_or(from, |entries| depth(entries, from));
            deepest = deepest.max(found);
        };
        match key {
            "properties" | "$defs" => {
                value.as_object().into_iter().flat_map(Map::values).for_each(add);
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                value.as_array().unwrap_or_default().iter().for_each(add);
            }
            "items" | "additionalProperties" => add(value),
            _ => {}
        }
    }
    deepest
}
