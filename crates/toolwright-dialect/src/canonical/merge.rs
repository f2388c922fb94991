//! Merges schemas that a value must all fit.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use toolwright::value::{Map, Number, Value};

use super::parts::holds_schemas;
use crate::guard::strings;

/// Keywords that say something together, which they do not say in different schemas.
const TOGETHER: [&[&str]; 3] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["prefixItems", "items"],
];

/// Returns whether a schema refuses what it does not evaluate itself, so that it cannot be merged with one that evaluates more.
pub(super) fn is_sealed_by_itself(entries: &Map<Value>) -> bool {
    ["unevaluatedProperties", "unevaluatedItems"]
        .iter()
        .filter_map(|keyword| entries.get(keyword))
        .any(|value| *value != Value::Boolean(true))
}

/// Returns whether a schema has a keyword that evaluates properties or items.
pub(super) fn evaluates(entries: &Map<Value>) -> bool {
    let words = ["contentSchema", "not", "propertyNames", "$defs", "definitions"];
    entries.keys().any(|key| (holds_schemas(key) && !words.contains(&key)) || key == "$ref")
}

/// Merges two schemas so that a value fits the result if it fits both. `None` where no single schema without `allOf` expresses
/// that.
pub(super) fn merge(mut one: Map<Value>, other: &Map<Value>) -> Option<Map<Value>> {
    // A closed object refuses the keys of the other, unless it names them too.
    let keys = |map: &Map<Value>| -> BTreeSet<String> {
        let properties = map.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().map(str::to_owned)).collect()
    };
    let says_more = |map: &Map<Value>| {
        map.get("additionalProperties").is_some_and(|value| *value != Value::Boolean(true))
            || map.contains_key("patternProperties")
    };
    if (says_more(&one) || says_more(other))
        && (keys(&one) != keys(other)
            || one.get("additionalProperties") != other.get("additionalProperties")
            || one.get("patternProperties") != other.get("patternProperties"))
    {
        let nothing = |map: &Map<Value>| !map.contains_key("properties") && !says_more(map);
        if !nothing(&one) && !nothing(other) {
            return None;
        }
    }
    if TOGETHER.iter().any(|group| are_torn(group, &one, other)) {
        return None;
    }
    for (key, value) in other {
        let Some(own) = one.get_mut(key) else {
            one.insert(key, value.clone());
            continue;
        };
        if own == value {
            continue;
        }
        *own = match key {
            "title" | "description" | "$comment" | "examples" | "default" | "$schema" | "$id"
            | "$anchor" | "deprecated" | "readOnly" | "writeOnly" | "$defs" | "definitions" => {
                continue;
            }
            "type" => kinds_in_both(own, value)?,
            "properties" => {
                let Value::Object(mut properties) = std::mem::take(own) else { return None };
                let known: HashMap<&str, &Value> = properties.iter().collect();
                let added =
                    value.as_object()?.iter().filter_map(|(name, schema)| match known.get(name) {
                        Some(known) if *known == schema => None,
                        Some(known) => Some((name, all_of(known, schema))),
                        None => Some((name, schema.clone())),
                    });
                let added: Vec<(&str, Value)> = added.collect();
                properties.extend(added);
                Value::Object(properties)
            }
            "required" => {
                let mut names: Vec<&str> = strings(Some(own)).collect();
                let known: BTreeSet<&str> = names.iter().copied().collect();
                names.extend(strings(Some(value)).filter(|name| !known.contains(name)));
                Value::Array(names.into_iter().map(Value::from).collect())
            }
            "enum" => {
                let values: BTreeSet<String> =
                    value.as_array()?.iter().map(Value::to_canonical).collect();
                let both = own.as_array()?.iter();
                let both = both.filter(|item| values.contains(&item.to_canonical()));
                Value::Array(both.cloned().collect())
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                limit(own, value, Ordering::Greater)?
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                limit(own, value, Ordering::Less)?
            }
            "uniqueItems" => Value::Boolean(true),
            "items" => all_of(own, value),
            _ => return None,
        };
    }
    Some(one)
}

fn all_of(one: &Value, other: &Value) -> Value {
    let both = Value::Array(vec![one.clone(), other.clone()]);
    Value::Object(Map::from([("allOf", both)]))
}

fn limit(one: &Value, other: &Value, wanted: Ordering) -> Option<Value> {
    let (one_number, other_number): (&Number, &Number) = (one.as_number()?, other.as_number()?);
    Some(if one_number.cmp(other_number) == wanted { one.clone() } else { other.clone() })
}

/// The kinds that both values of `type` name.
fn kinds_in_both(one: &Value, other: &Value) -> Option<Value> {
    let names = |value: &Value| -> Vec<String> {
        match value {
            Value::String(name) => vec![name.clone()],
            list => strings(Some(list)).map(str::to_owned).collect(),
        }
    };
    let (ours, theirs) = (names(one), names(other));
    let has = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    let mut both: Vec<String> = ours.iter().filter(|name| has(&theirs, name)).cloned().collect();
    for (list, peer) in [(&ours, &theirs), (&theirs, &ours)] {
        if has(list, "integer")
            && has(peer, "number")
            && !has(&both, "integer")
            && !has(&both, "number")
        {
            both.push("integer".to_owned());
        }
    }
    match both.as_slice() {
        [] => None,
        [one] => Some(Value::from(one.as_str())),
        _ => Some(Value::Array(both.into_iter().map(Value::from).collect())),
    }
}

/// Returns whether two schemas have keywords of a group, and not the same ones.
fn are_torn(group: &[&str], one: &Map<Value>, other: &Map<Value>) -> bool {
    let of = |map: &Map<Value>| group.iter().map(|word| map.contains_key(word)).collect::<Vec<_>>();
    let (ours, theirs) = (of(one), of(other));
    ours.contains(&true) && theirs.contains(&true) && ours != theirs
}
