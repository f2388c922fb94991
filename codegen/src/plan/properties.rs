//! Limits of an object's keys, where its codec can check all that its type does not say.

use toolwright::pattern::translate;

use super::types::DependentKeys;
use crate::json::Json;
use crate::schema::{
    Assertion, Keyword, Node, NodeId, ObjectShape, Operand, Pattern, Schemas, Shape, StringRules,
};

/// The limits of an object's keys.
#[derive(Default)]
pub(super) struct KeyRules {
    /// The least count.
    pub(super) min: Option<u64>,
    /// The greatest count.
    pub(super) max: Option<u64>,
    /// The limits of the text of each key.
    pub(super) names: StringRules,
    /// Keys that need others.
    pub(super) dependent: Vec<DependentKeys>,
}

/// The rules of an object's keys; nothing where a validator has to check something too.
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

/// Returns the rules of a schema of names that codecs know.
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
                let translated = translate(ecma).ok()?;
                rules.pattern = Some(Box::new(Pattern { ecma: ecma.clone(), translated }));
            }
            _ => return None,
        }
    }
    Some(rules)
}

/// The keys that others need, without those that are required anyway.
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
