//! Random values of a wire schema. Some are wrong: whoever asks validates them.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Returns so many values, the same each time.
pub(super) fn of(schema: &Value, count: usize) -> Vec<Value> {
    let mut random = Rng::with_seed(7);
    (0..count).map(|_| value(schema, schema, &mut random, 0)).collect()
}

fn value(root: &Value, schema: &Value, random: &mut Rng, depth: usize) -> Value {
    if depth > 12 {
        return Value::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
        return value(root, target, random, depth + 1);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[keyword].as_array() {
            return value(root, &branches[random.usize(..branches.len())], random, depth + 1);
        }
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[random.usize(..values.len())].clone();
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string", "integer", "object", "array", "null", "boolean"],
    };
    match kinds[random.usize(..kinds.len())] {
        "object" => object(root, schema, random, depth),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            let most = schema["maxItems"].as_u64().unwrap_or(least + 3).min(least + 3);
            let first = schema["prefixItems"].as_array();
            let items = (0..random.u64(least..=most.max(least))).map(|index| {
                let index = usize::try_from(index).unwrap();
                let own = first.and_then(|first| first.get(index)).unwrap_or(&schema["items"]);
                value(root, own, random, depth + 1)
            });
            Value::Array(items.collect())
        }
        "integer" => {
            let least = schema["minimum"].as_i64().unwrap_or(-5);
            let most = schema["maximum"].as_i64().unwrap_or(least.saturating_add(20));
            json!(random.i64(least.min(most)..=most.max(least)))
        }
        "number" => {
            let least = schema["minimum"].as_f64().unwrap_or(-5.0);
            json!(least + f64::from(random.u8(..)) / 16.0)
        }
        "boolean" => json!(random.bool()),
        "null" => Value::Null,
        _ => string(schema, random),
    }
}

fn object(root: &Value, schema: &Value, random: &mut Rng, depth: usize) -> Value {
    let mut entries = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&key.as_str()) || random.bool() {
            entries.insert(key.clone(), value(root, property, random, depth + 1));
        }
    }
    for key in required {
        if !entries.contains_key(key) {
            entries.insert(key.to_owned(), json!("required"));
        }
    }
    if schema["additionalProperties"] != json!(false) && random.u8(..4) == 0 {
        let other = schema["additionalProperties"]
            .as_object()
            .map_or(json!(true), |schema| Value::Object(schema.clone()));
        entries.insert(format!("other_{}", random.u8(..9)), value(root, &other, random, depth + 1));
    }
    Value::Object(entries)
}

fn string(schema: &Value, random: &mut Rng) -> Value {
    match schema["format"].as_str() {
        Some("date-time") => return json!("2026-01-02T03:04:05Z"),
        Some("date") => return json!("2026-01-02"),
        Some("uri") => return json!("https://example.org/a"),
        Some("email") => return json!("a@example.org"),
        Some("uuid") => return json!("7b0a4c1e-2f3d-4a5b-8c6d-0123456789ab"),
        _ => {}
    }
    let least = schema["minLength"].as_u64().unwrap_or(0);
    let length = usize::try_from(least).unwrap() + random.usize(..6);
    let letters = ["a", "b", "7", " ", "é", "\"", "null", "{", "-", "x"];
    json!((0..length).map(|_| letters[random.usize(..letters.len())]).collect::<String>())
}
