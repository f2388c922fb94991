//! The reference of the language, docs/guide/language.md, is generated from the schema for editors. `UPDATE_EXPECT=1` writes
//! the page.

mod expect;

use std::path::Path;

use expect::expect;
use serde_json::{Map, Value};

/// The beginning of the page.
const HEAD: &str = "# The schema language

The `.yaml` files of the schema folder form one project, whatever their names and folders. A file names a service (one with only
toolsets may leave it out) and declares what belongs to it. `$ref: Issue` refers to a type of the same service, `$ref: issues.Issue` to one of another. Names of tools
and toolsets are unique in the whole project, all others in their service. Names are in `snake_case`, those of types in `PascalCase`.
Unknown keys are errors.

A test writes this page from the schema that `toolwright schema` prints for editors.
";

#[test]
fn the_page_of_the_language_lists_the_keys_of_the_editors_schema() {
    let schema: Value =
        serde_json::from_str(&toolwright_codegen::language_schema()).expect("it is JSON");
    let mut page = format!("{HEAD}\n## A file\n\n{}", table(&schema));
    for (name, definition) in object(&schema["definitions"]) {
        let description = words(definition);
        page.extend(["\n## ", name, "\n\n", &description, "\n\n", &table(definition)]);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    // The second one is in the package, for `toolwright explain language` and the docs of the crate.
    for path in ["../docs/guide/language.md", "src/language.md"] {
        expect(&folder.join(path), &page, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

/// Returns the description on one line.
fn words(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// Returns a table with a row for each key, required keys first.
fn table(schema: &Value) -> String {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_required = |key: &String| required.iter().any(|word| word == key.as_str());
    let mut keys: Vec<_> = object(&schema["properties"]).iter().collect();
    keys.sort_by_key(|(key, _)| !is_required(key));
    let row = |(key, value): (&String, &Value)| {
        let required = if is_required(key) { ", required" } else { "" };
        let words = words(value).replace('|', "\\|");
        format!("| `{key}` | {}{required} | {words} |\n", kind(value))
    };
    let rows: String = keys.into_iter().map(row).collect();
    format!("| key | value | meaning |\n|---|---|---|\n{rows}")
}

/// Returns the kind of value that a schema accepts, in a few words.
fn kind(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    // A reference beside a description is the only member of `allOf`.
    if let Some([target]) = schema["allOf"].as_array().map(Vec::as_slice) {
        return kind(target);
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(", ").replace('"', "");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(members) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        // The word `null` is listed; written without quotes, it is YAML's null.
        let members = members.iter().filter(|member| member.get("const") != Some(&Value::Null));
        // A member without rules allows any value of the type beside it.
        let kind_of = |member: &Value| match member.as_object() {
            Some(rules) if rules.is_empty() => {
                kind(&serde_json::json!({ "type": &schema["type"] }))
            }
            _ => kind(member),
        };
        let mut kinds: Vec<String> = members.map(kind_of).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    if let Some(words) = schema["type"].as_array() {
        let kinds: Vec<String> =
            words.iter().map(|word| kind(&serde_json::json!({ "type": word }))).collect();
        return kinds.join(" or ");
    }
    match schema["type"].as_str() {
        Some("array") if schema["items"].is_object() => {
            format!("list of {}", kind(&schema["items"]))
        }
        Some("array") => "list".to_owned(),
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("mapping of names to {}", kind(&schema["additionalProperties"]))
        }
        Some("object") => "mapping".to_owned(),
        Some("string") => "text".to_owned(),
        Some(kind) => kind.to_owned(),
        None => "any value".to_owned(),
    }
}
