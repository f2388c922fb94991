//! The sentences in descriptions that replace rules which a dialect does not accept. Prompts depend on their exact words.

use toolwright::value::{Kind, Map, Value};

/// Returns the sentence for a keyword of a node, or `None` if it has no meaning for a model.
pub(crate) fn of(keyword: &str, value: &Value, node: &Map<Value>) -> Option<String> {
    let text = value.as_str();
    let count = value.as_u64();
    Some(match keyword {
        "minLength" => format!("At least {}.", counted(count?, "character")),
        "maxLength" => format!("At most {}.", counted(count?, "character")),
        "minItems" => format!("At least {}.", counted(count?, "item")),
        "maxItems" => format!("At most {}.", counted(count?, "item")),
        "minProperties" => format!("At least {} named.", keys(count?)),
        "maxProperties" => format!("At most {} named.", keys(count?)),
        "minimum" => match node.get("maximum") {
            Some(maximum) => format!("Between {value} and {maximum}."),
            None => format!("At least {value}."),
        },
        "maximum" if node.contains_key("minimum") => return None,
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "pattern" => format!("Matches `{}`.", text?),
        // Each number in JSON can be read as one.
        "format" if matches!(text, Some("double" | "float")) => return None,
        "format" => format!("{}.", format_in_words(text?)),
        "uniqueItems" if *value == Value::Boolean(true) => "No two items are equal.".to_owned(),
        "default" => format!("Default: {value}."),
        "const" => format!("Always {value}."),
        "enum" => format!("One of {}.", list(value.as_array()?)),
        "required" => format!("Needs {}.", list(value.as_array()?)),
        "additionalProperties" => "No other keys.".to_owned(),
        "contains"
        | "not"
        | "if"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "propertyNames"
        | "patternProperties"
        | "anyOf"
        | "oneOf"
        | "allOf" => rule(keyword, value, node),
        _ => return None,
    })
}

/// A rule that is a schema, as it is written.
fn rule(keyword: &str, value: &Value, node: &Map<Value>) -> String {
    let others = beside(keyword).iter().filter_map(|other| Some((*other, node.get(other)?)));
    let parts = std::iter::once((keyword, value)).chain(others);
    let parts: Vec<String> = parts.map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("Follows `{{{}}}`.", parts.join(","))
}

/// The keywords whose meaning depends on another one, whose sentence has them, too.
pub(crate) fn beside(keyword: &str) -> &'static [&'static str] {
    match keyword {
        "if" => &["then", "else"],
        "contains" => &["minContains", "maxContains"],
        "patternProperties" => &["additionalProperties"],
        _ => &[],
    }
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn keys(count: u64) -> String {
    if count == 1 { "1 key is".to_owned() } else { format!("{count} keys are") }
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn format_in_words(format: &str) -> String {
    match format {
        "date-time" => "A date and time as in RFC 3339".to_owned(),
        "date" => "A date as in RFC 3339".to_owned(),
        "time" => "A time as in RFC 3339".to_owned(),
        "duration" => "A duration as in ISO 8601".to_owned(),
        "email" => "An email address".to_owned(),
        "hostname" => "A host name".to_owned(),
        "ipv4" => "An IPv4 address".to_owned(),
        "ipv6" => "An IPv6 address".to_owned(),
        "uri" => "A URI".to_owned(),
        "uri-reference" => "A URI reference".to_owned(),
        "uuid" => "A UUID".to_owned(),
        "json-pointer" => "A JSON Pointer".to_owned(),
        "regex" => "A regular expression".to_owned(),
        "int32" => "A 32-bit integer".to_owned(),
        "int64" => "A 64-bit integer".to_owned(),
        "uint32" => "A 32-bit integer without sign".to_owned(),
        "uint64" => "A 64-bit integer without sign".to_owned(),
        other => format!("Of the format {other}"),
    }
}

/// Appends sentences to a description.
pub(crate) fn behind(description: Option<&str>, sentences: &[String]) -> Option<String> {
    let description = description.map(str::trim_end).filter(|text| !text.is_empty());
    let parts: Vec<&str> =
        description.into_iter().chain(sentences.iter().map(String::as_str)).collect();
    if parts.is_empty() { None } else { Some(parts.join(" ")) }
}

/// The kinds to which a keyword applies; empty for any kind.
pub(crate) fn kinds_of_keyword(keyword: &str) -> &'static [Kind] {
    match keyword {
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType"
        | "contentSchema" => &[Kind::String],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &[Kind::Integer, Kind::Number]
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "minContains" | "maxContains" | "unevaluatedItems" => &[Kind::Array],
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => &[Kind::Object],
        _ => &[],
    }
}
