//! The rule book, read on its own: what of a wire schema breaks its row. Shares no code with the projection.

use serde_json::{Value, json};
use toolwright_dialect::Dialect;

/// Returns each broken rule with its place.
pub(super) fn broken(dialect: &Dialect, wire: &Value) -> Vec<String> {
    let row = row(dialect.id());
    let mut faults = Vec::new();
    if wire["type"] != "object" {
        faults.push("the root is no object".to_owned());
    }
    for keyword in texts(&row, "root_forbid") {
        if wire.get(&keyword).is_some() {
            faults.push(format!("the root has `{keyword}`"));
        }
    }
    if flag(&row, "nonempty_root_properties")
        && wire["properties"].as_object().is_none_or(serde_json::Map::is_empty)
    {
        faults.push("the root has no properties".to_owned());
    }
    if flag(&row, "objects_have_properties_root") && wire.get("properties").is_none() {
        faults.push("the root lacks `properties`".to_owned());
    }
    node(&row, wire, wire, "", &mut faults);
    faults
}

/// `nullable` is no keyword of JSON Schema: `type` says it for a validator.
pub(super) fn without_nullable(wire: &Value) -> Value {
    match wire {
        Value::Object(entries) => {
            let mut all: serde_json::Map<String, Value> =
                entries.iter().map(|(key, value)| (key.clone(), without_nullable(value))).collect();
            if all.get("nullable") == Some(&json!(true)) {
                all.remove("nullable");
                return json!({ "anyOf": [all, { "type": "null" }] });
            }
            Value::Object(all)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nullable).collect()),
        other => other.clone(),
    }
}

type Row = toml::Table;

fn row(id: &str) -> Row {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects");
    let mut all = Vec::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file: toml::Table = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        all.extend(
            file["dialect"].as_array().unwrap().iter().map(|row| row.as_table().unwrap().clone()),
        );
    }
    resolved(id, &all)
}

fn resolved(id: &str, all: &[Row]) -> Row {
    let own = all.iter().find(|row| row["id"].as_str() == Some(id)).unwrap().clone();
    let Some(parent) = own.get("inherits").and_then(toml::Value::as_str) else { return own };
    let mut row = resolved(parent, all);
    row.extend(own);
    row
}

fn flag(row: &Row, key: &str) -> bool {
    row.get(key).and_then(toml::Value::as_bool).unwrap_or(false)
}

fn denies(row: &Row, key: &str) -> bool {
    row.get(key).and_then(toml::Value::as_bool) == Some(false)
}

fn texts(row: &Row, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(toml::Value::as_array);
    list.into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn has_type(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(name) => name == kind,
        Value::Array(names) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

fn node(row: &Row, root: &Value, schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Some(entries) = schema.as_object() else { return };
    let mut fault = |what: String| faults.push(format!("{at}: {what}"));
    let mode = row["mode"].as_str().unwrap();
    for keyword in entries.keys() {
        let denied =
            texts(row, "deny").contains(keyword) || texts(row, "deny_numbers").contains(keyword);
        if denied && mode != "any" {
            fault(format!("`{keyword}` is denied"));
        }
        if mode == "allow" && !texts(row, "keywords").contains(keyword) {
            fault(format!("`{keyword}` is not allowed"));
        }
    }
    let is_object = has_type(schema, "object");
    if is_object && flag(row, "objects_closed") && schema["additionalProperties"] != json!(false) {
        fault("an object is open".to_owned());
    }
    if is_object && flag(row, "objects_have_properties") && schema.get("properties").is_none() {
        fault("an object lacks `properties`".to_owned());
    }
    let names = |keyword: &str| -> Vec<String> {
        match &schema[keyword] {
            Value::Object(all) => all.keys().cloned().collect(),
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    if flag(row, "objects_all_required") && is_object {
        let required = names("required");
        if names("properties").iter().any(|name| !required.contains(name)) {
            fault("a property is not required".to_owned());
        }
    }
    if flag(row, "required_in_properties")
        && names("required").iter().any(|name| !names("properties").contains(name))
    {
        fault("a required key is no property".to_owned());
    }
    let applies = ["$ref", "anyOf", "allOf"].iter().any(|keyword| entries.contains_key(*keyword));
    if flag(row, "nodes_typed") && !entries.contains_key("type") && !applies {
        fault("has no type".to_owned());
    }
    let is_array = has_type(schema, "array");
    if is_array
        && (flag(row, "items_required") || flag(row, "items_typed"))
        && schema.get("items").is_none()
    {
        fault("an array lacks `items`".to_owned());
    }
    if denies(row, "type_lists") && schema["type"].is_array() {
        fault("`type` is a list".to_owned());
    }
    if denies(row, "null_type") && has_type(schema, "null") {
        fault("`type` is null".to_owned());
    }
    if let Some(values) = schema["enum"].as_array() {
        if flag(row, "enum_strings_only") && !values.iter().all(Value::is_string) {
            fault("an enum has other values than strings".to_owned());
        }
        let scalars = texts(row, "enum_scalars");
        let kind = |value: &Value| match value {
            Value::String(_) => "string",
            Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
            Value::Number(_) => "number",
            _ => "other",
        };
        if !scalars.is_empty()
            && !values.iter().all(|value| scalars.contains(&kind(value).to_owned()))
        {
            fault("an enum has a value of a kind that is not taken".to_owned());
        }
    }
    if flag(row, "any_of_alone") && entries.contains_key("anyOf") && entries.len() > 1 {
        fault("`anyOf` is not alone".to_owned());
    }
    if row.contains_key("formats")
        && mode != "any"
        && let Some(format) = schema["format"].as_str()
        && !texts(row, "formats").contains(&format.to_owned())
    {
        fault(format!("the format `{format}` is not taken"));
    }
    if let Some(most) = row.get("min_items_max").and_then(toml::Value::as_integer)
        && schema["minItems"].as_i64().is_some_and(|least| least > most)
    {
        fault("`minItems` is too large".to_owned());
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && mode != "any"
    {
        if denies(row, "pattern_lookaround")
            && ["(?=", "(?!", "(?<"].iter().any(|look| pattern.contains(look))
        {
            fault("a pattern looks around".to_owned());
        }
        if flag(row, "pattern_anchored") && !(pattern.starts_with('^') && pattern.ends_with('$')) {
            fault("a pattern has no anchors".to_owned());
        }
    }
    if entries.contains_key("$ref") && mode != "any" {
        let reference = schema["$ref"].as_str().unwrap();
        let kind = row.get("ref").and_then(toml::Value::as_str);
        if kind == Some("none") {
            fault("has a reference".to_owned());
        }
        if root.pointer(reference.trim_start_matches('#')).is_none() {
            fault(format!("{reference} leads nowhere"));
        }
        if row.contains_key("ref_siblings") {
            let allowed = texts(row, "ref_siblings");
            for keyword in
                entries.keys().filter(|keyword| *keyword != "$ref" && !allowed.contains(keyword))
            {
                fault(format!("`{keyword}` is beside a reference"));
            }
        }
    }
    let is_root = at.is_empty();
    if let Some(grammar) = row.get("property_key").and_then(toml::Value::as_str)
        && (is_root || row["property_key_scope"].as_str() == Some("all"))
    {
        let grammar = regex_lite::Regex::new(grammar).unwrap();
        for key in names("properties").iter().filter(|key| !grammar.is_match(key)) {
            fault(format!("the key `{key}` is not taken"));
        }
    }
    for (keyword, value) in entries {
        match keyword.as_str() {
            "properties" | "$defs" | "definitions" | "patternProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    node(row, root, inner, &format!("{at}/{keyword}/{name}"), faults);
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                    node(row, root, inner, &format!("{at}/{keyword}/{index}"), faults);
                }
            }
            "items" | "additionalProperties" | "not" | "contains" => {
                node(row, root, value, &format!("{at}/{keyword}"), faults);
            }
            _ => {}
        }
    }
}
