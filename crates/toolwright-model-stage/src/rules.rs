//! Finds the rules of a dialect that a tool's definition breaks. Shares no code with the projection, so that tests can compare
//! the two.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::{Value, json};
use toolwright_dialect::Dialect;

type Row = toml::Table;

/// Returns each broken rule with its place.
pub fn broken(dialect: &Dialect, wire: &Value) -> Vec<String> {
    let row = &*row(dialect);
    let mut faults = Vec::new();
    if wire["type"] != "object" {
        faults.push("the root is not an object".to_owned());
    }
    for keyword in texts(row, "root_forbid") {
        if wire.get(keyword).is_some() {
            faults.push(format!("the root has `{keyword}`"));
        }
    }
    let has_none = wire["properties"].as_object().is_none_or(serde_json::Map::is_empty);
    if flag(row, "nonempty_root_properties") && has_none {
        faults.push("the root has no properties".to_owned());
    }
    if flag(row, "objects_have_properties_root") && wire.get("properties").is_none() {
        faults.push("the root lacks `properties`".to_owned());
    }
    node(row, wire, wire, "", &mut faults);
    let kind = row.get("recursion");
    let only_optional = kind.and_then(toml::Value::as_str) == Some("optional_only");
    if (only_optional || denies(row, "recursion"))
        && leads_back(wire, wire, only_optional, &mut BTreeMap::new())
    {
        faults.push("a reference leads back to itself".to_owned());
    }
    let limit = |key: &str| usize::try_from(row.get("limits")?.get(key)?.as_integer()?).ok();
    let mut counts = Counts::default();
    counts.add(wire, 0);
    for (key, found) in [
        ("properties", counts.properties),
        ("depth", counts.depth),
        ("enum_values", counts.enum_values),
        ("json_bytes", wire.to_string().len()),
    ] {
        if limit(key).is_some_and(|most| found > most) {
            faults.push(format!("{found} is more than the limit of `{key}`"));
        }
    }
    faults
}

/// Returns the rules that a tool's name and description break.
pub fn broken_words(dialect: &Dialect, name: &str, description: &str) -> Vec<String> {
    let row = &*row(dialect);
    let mut faults = Vec::new();
    if !is_match(text(row, "name"), name) {
        faults.push(format!("the name `{name}` is not accepted"));
    }
    if flag(row, "description_nonempty") && description.is_empty() {
        faults.push("the description is empty".to_owned());
    }
    faults
}

/// Returns the rule that the id of a call breaks.
pub fn broken_call_id(dialect: &Dialect, id: &str) -> Option<String> {
    let row = row(dialect);
    let grammar = text(&row, "call_id");
    let is_taken = grammar.is_empty() || is_match(grammar, id);
    (!is_taken).then(|| format!("the id `{id}` is not accepted"))
}

/// The rows by their dated ids.
static ROWS: LazyLock<Mutex<BTreeMap<String, Arc<Row>>>> = LazyLock::new(Mutex::default);

fn row(dialect: &Dialect) -> Arc<Row> {
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let row = rows.entry(dialect.dated_id());
    Arc::clone(row.or_insert_with(|| dialect.to_toml().parse().map(Arc::new).unwrap_or_default()))
}

fn flag(row: &Row, key: &str) -> bool {
    row.get(key).and_then(toml::Value::as_bool).unwrap_or(false)
}

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(toml::Value::as_str).unwrap_or_default()
}

/// Returns whether a text matches a pattern of a row. All patterns are compiled when rows are read.
fn is_match(pattern: &str, text: &str) -> bool {
    regex_lite::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

fn denies(row: &Row, key: &str) -> bool {
    row.get(key).and_then(toml::Value::as_bool) == Some(false)
}

fn number(row: &Row, key: &str) -> Option<u64> {
    row.get(key).and_then(toml::Value::as_integer).and_then(|number| number.try_into().ok())
}

fn texts<'a>(row: &'a Row, key: &str) -> Vec<&'a str> {
    let list = row.get(key).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// Returns whether a list of a row has a word, or the row has no such list.
fn takes(row: &Row, key: &str, word: &str) -> bool {
    !row.contains_key(key) || texts(row, key).contains(&word)
}

/// Returns the types that a schema names.
pub fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The keys of an object, or the strings of an array.
fn names<'a>(schema: &'a Value, keyword: &str) -> Vec<&'a str> {
    match &schema[keyword] {
        Value::Object(all) => all.keys().map(String::as_str).collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the schemas within a schema, with their places below it.
pub fn inner(schema: &Value) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(members),
            ) => all.extend(
                members.iter().map(|(name, member)| (format!("/{keyword}/{name}"), member)),
            ),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(members)) => all.extend(
                members.iter().enumerate().map(|(at, member)| (format!("/{keyword}/{at}"), member)),
            ),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "contains"
                | "if"
                | "then"
                | "else"
                | "propertyNames",
                _,
            ) => all.push((format!("/{keyword}"), value)),
            _ => {}
        }
    }
    all
}

fn node(row: &Row, root: &Value, schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Some(entries) = schema.as_object() else {
        // A boolean may allow or refuse other keys.
        let is_closing = schema.is_boolean() && at.ends_with("/additionalProperties");
        if flag(row, "nodes_typed") && !is_closing {
            faults.push(format!("{at}: {schema} has no type"));
        }
        return;
    };
    let mut fault = |what: String| faults.push(format!("{at}: {what}"));
    let mode = text(row, "mode");
    for keyword in entries.keys().map(String::as_str) {
        let denied =
            texts(row, "deny").contains(&keyword) || texts(row, "deny_numbers").contains(&keyword);
        if denied && mode != "any" {
            fault(format!("`{keyword}` is denied"));
        }
        if mode == "allow" && !texts(row, "keywords").contains(&keyword) {
            fault(format!("`{keyword}` is not allowed"));
        }
    }
    object(row, schema, at, &mut fault);
    let applies = ["$ref", "anyOf", "allOf"].iter().any(|keyword| entries.contains_key(*keyword));
    if flag(row, "nodes_typed") && !entries.contains_key("type") && !applies {
        fault("has no type".to_owned());
    }
    let needs_items = flag(row, "items_required") || flag(row, "items_typed");
    if kinds(schema).contains(&"array") && needs_items && schema.get("items").is_none() {
        fault("an array lacks `items`".to_owned());
    }
    if schema["type"].is_array() {
        if denies(row, "type_lists") {
            fault("`type` is a list".to_owned());
        }
        for kind in kinds(schema).into_iter().filter(|kind| !takes(row, "type_list_kinds", kind)) {
            fault(format!("a list of types has `{kind}`"));
        }
    }
    if denies(row, "null_type") && kinds(schema).contains(&"null") {
        fault("`type` is null".to_owned());
    }
    constants(row, schema, &mut fault);
    if entries.contains_key("anyOf") {
        for keyword in entries.keys().filter(|keyword| *keyword != "anyOf") {
            if !takes(row, "any_of_siblings", keyword) {
                fault(format!("`{keyword}` is beside `anyOf`"));
            }
        }
    }
    if mode != "any"
        && let Some(format) = schema["format"].as_str()
        && !takes(row, "formats", format)
    {
        fault(format!("the format `{format}` is not accepted"));
    }
    if number(row, "min_items_max")
        .is_some_and(|most| schema["minItems"].as_u64().is_some_and(|least| least > most))
    {
        fault("`minItems` is too large".to_owned());
    }
    repetitions(row, schema, &mut fault);
    reference(row, root, schema, mode, &mut fault);
    if flag(row, "id_is_uri_reference")
        && schema["$id"].as_str().is_some_and(|id| id.contains([' ', '<', '>', '"']))
    {
        fault("`$id` is not a URI reference".to_owned());
    }
    for (place, inner) in inner(schema) {
        node(row, root, inner, &format!("{at}{place}"), faults);
    }
}

fn object(row: &Row, schema: &Value, at: &str, fault: &mut impl FnMut(String)) {
    let properties = names(schema, "properties");
    if kinds(schema).contains(&"object") {
        if flag(row, "objects_closed") && schema["additionalProperties"] != json!(false) {
            fault("an object is open".to_owned());
        }
        if flag(row, "objects_have_properties") && schema.get("properties").is_none() {
            fault("an object lacks `properties`".to_owned());
        }
        if flag(row, "objects_nonempty") && properties.is_empty() {
            fault("an object has no properties".to_owned());
        }
        let required = names(schema, "required");
        if flag(row, "objects_all_required")
            && properties.iter().any(|name| !required.contains(name))
        {
            fault("a property is not required".to_owned());
        }
    }
    if flag(row, "required_in_properties")
        && names(schema, "required").iter().any(|name| !properties.contains(name))
    {
        fault("a required key is not a property".to_owned());
    }
    let grammar = text(row, "property_key");
    if !grammar.is_empty() && (at.is_empty() || text(row, "property_key_scope") == "all") {
        for key in properties.iter().filter(|key| !is_match(grammar, key)) {
            fault(format!("the key `{key}` is not accepted"));
        }
    }
}

fn constants(row: &Row, schema: &Value, fault: &mut impl FnMut(String)) {
    let Some(values) = schema["enum"].as_array() else { return };
    if flag(row, "enum_strings_only") && !values.iter().all(Value::is_string) {
        fault("an enum has other values than strings".to_owned());
    }
    if flag(row, "enum_strings_only") && !kinds(schema).contains(&"string") {
        fault("an enum is of another type than string".to_owned());
    }
    if flag(row, "enum_strings_nonempty") && values.contains(&json!("")) {
        fault("an enum has the empty string".to_owned());
    }
    let kind = |value: &Value| match value {
        Value::String(_) => "string",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        _ => "other",
    };
    if !values.iter().all(|value| takes(row, "enum_scalars", kind(value))) {
        fault("an enum has a value of a kind that is not accepted".to_owned());
    }
}

/// Patterns and counts.
fn repetitions(row: &Row, schema: &Value, fault: &mut impl FnMut(String)) {
    let most = number(row, "repetition_max").unwrap_or(u64::MAX);
    for keyword in ["minLength", "maxLength", "minItems", "maxItems"] {
        if schema[keyword].as_u64().is_some_and(|count| count > most) {
            fault(format!("`{keyword}` is too large"));
        }
    }
    let Some(pattern) = schema["pattern"].as_str() else { return };
    if denies(row, "pattern_lookaround")
        && ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look))
    {
        fault("a pattern looks around".to_owned());
    }
    let reference = r"^([^\\]|\\[^0-9])*\\[0-9]";
    if denies(row, "pattern_references") && is_match(reference, pattern) {
        fault("a pattern refers to a group".to_owned());
    }
    if flag(row, "pattern_anchored") && !(pattern.starts_with('^') && pattern.ends_with('$')) {
        fault("a pattern has no anchors".to_owned());
    }
    let classes = ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\p", "\\b"];
    if flag(row, "pattern_no_classes") && classes.iter().any(|class| pattern.contains(class)) {
        fault("a pattern has a class".to_owned());
    }
    let has_length = schema.get("minLength").is_some() || schema.get("maxLength").is_some();
    if denies(row, "pattern_with_lengths") && has_length {
        fault("a pattern is beside a length".to_owned());
    }
}

fn reference(row: &Row, root: &Value, schema: &Value, mode: &str, fault: &mut impl FnMut(String)) {
    let Some(reference) = schema["$ref"].as_str() else { return };
    let kind = row.get("ref").and_then(toml::Value::as_str);
    if kind == Some("none") {
        fault("has a reference".to_owned());
    }
    if kind == Some("defs")
        && !(reference == "#"
            || reference.starts_with("#/$defs/")
            || reference.starts_with("#/definitions/"))
    {
        fault(format!("{reference} leads to no definition"));
    }
    if mode != "any" && root.pointer(reference.trim_start_matches('#')).is_none() {
        fault(format!("{reference} leads nowhere"));
    }
    for keyword in schema.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if keyword != "$ref" && !takes(row, "ref_siblings", keyword) {
            fault(format!("`{keyword}` is beside a reference"));
        }
    }
}

/// Returns whether a reference leads back to itself; with `only_optional`, references in optional keys do not count. `open` has the
/// references that were followed: true for those whose target is not finished.
fn leads_back<'a>(
    root: &'a Value,
    schema: &'a Value,
    only_optional: bool,
    open: &mut BTreeMap<&'a str, bool>,
) -> bool {
    if let Some(reference) = schema["$ref"].as_str()
        && let Some(target) = root.pointer(reference.trim_start_matches('#'))
    {
        if let Some(is_open) = open.get(reference) {
            return *is_open;
        }
        open.insert(reference, true);
        let found = leads_back(root, target, only_optional, open);
        open.insert(reference, false);
        return found;
    }
    let required = names(schema, "required");
    inner(schema).into_iter().any(|(place, inner)| {
        let is_optional = place
            .strip_prefix("/properties/")
            .map_or(place == "/additionalProperties", |name| !required.contains(&name));
        let is_definition = place.starts_with("/$defs/") || place.starts_with("/definitions/");
        let is_skipped = is_definition || (is_optional && only_optional);
        !is_skipped && leads_back(root, inner, only_optional, open)
    })
}

#[derive(Default)]
struct Counts {
    properties: usize,
    depth: usize,
    enum_values: usize,
}

impl Counts {
    fn add(&mut self, schema: &Value, outer: usize) {
        let is_level = kinds(schema).iter().any(|kind| matches!(*kind, "object" | "array"));
        let depth = outer + usize::from(is_level);
        self.depth = self.depth.max(depth);
        self.properties += names(schema, "properties").len();
        self.enum_values += schema["enum"].as_array().map_or(0, Vec::len);
        for (place, inner) in inner(schema) {
            let is_definition = place.starts_with("/$defs/") || place.starts_with("/definitions/");
            self.add(inner, if is_definition { 0 } else { depth });
        }
    }
}
