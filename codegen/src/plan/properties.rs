//! The limits of an object's keys that a codec can check without a validator.

use super::limits::DependentKeys;
use crate::json::Json;
use crate::schema::{
    Assertion, Keyword, Node, NodeId, ObjectShape, Operand, Schemas, Shape, StringRules,
};

/// The limits of an object's keys.
#[derive(Default)]
pub(super) struct KeyRules {
    /// The minimal number of keys.
    pub(super) min: Option<u64>,
    /// The maximal number of keys.
    pub(super) max: Option<u64>,
    /// The limits of each key as a string.
    pub(super) names: StringRules,
    /// Keys that require other keys.
    pub(super) dependent: Vec<DependentKeys>,
}

/// Returns the limits of an object's keys, or `None` if the object has assertions that need a validator.
pub(super) fn key_rules(schemas: &Schemas, node: NodeId) -> Option<KeyRules> {
    let Node { shape: Shape::Object(object), assertions, .. } = &schemas[node] else { return None };
    let mut rules = KeyRules::default();
    for Assertion { keyword, operand } in assertions {
        match (keyword, operand) {
            (Keyword::MinProperties, Operand::Plain(least)) => rules.min = Some(count(least)?),
            (Keyword::MaxProperties, Operand::Plain(most)) => rules.max = Some(count(most)?),
            (Keyword::PropertyNames, Operand::Schema(schema)) => {
                rules.names = string(schemas, *schema)?;
            }
            (Keyword::DependentRequired, Operand::Plain(Json::Object(entries))) => {
                rules.dependent = dependent(object, entries);
            }
            _ => return None,
        }
    }
    Some(rules)
}

fn count(json: &Json) -> Option<u64> {
    match json {
        Json::Number(count) => count.parse().ok(),
        _ => None,
    }
}

/// Returns the rules of a `propertyNames` schema, or `None` if codecs cannot check all of it.
fn string(schemas: &Schemas, node: NodeId) -> Option<StringRules> {
    let Node { shape, assertions, .. } = &schemas[node];
    let mut rules = match shape {
        Shape::Any => StringRules::default(),
        Shape::String(rules) if rules.format.is_none() => rules.clone(),
        _ => return None,
    };
    for Assertion { keyword, operand } in assertions {
        match (shape, keyword, operand) {
            (Shape::Any, Keyword::MinLength, Operand::Plain(least)) => {
                rules.min_length = Some(count(least)?);
            }
            (Shape::Any, Keyword::MaxLength, Operand::Plain(most)) => {
                rules.max_length = Some(count(most)?);
            }
            (Shape::Any, Keyword::Pattern, Operand::Plain(Json::String(ecma))) => {
                rules.pattern = Some(Box::new(schemas.pattern(ecma)?.clone()));
            }
            _ => return None,
        }
    }
    Some(rules)
}

/// Returns the entries of `dependentRequired`, without keys that are always required.
fn dependent(object: &ObjectShape, entries: &[(String, Json)]) -> Vec<DependentKeys> {
    let is_required = |key: &str| {
        object.properties.iter().any(|property| property.required && property.name.value == key)
    };
    let needed = |needed: &Json| -> Vec<String> {
        let Json::Array(needed) = needed else { return Vec::new() };
        let keys = needed.iter().filter_map(|key| match key {
            Json::String(key) if !is_required(key) => Some(key.clone()),
            _ => None,
        });
        keys.collect()
    };
    let entries =
        entries.iter().map(|(key, keys)| DependentKeys { key: key.clone(), needed: needed(keys) });
    entries.filter(|keys| !keys.needed.is_empty()).collect()
}
