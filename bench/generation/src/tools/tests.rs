//! Tests that the texts in all four languages declare the same fields, by parsing each with a parser of its language.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use toolwright_codegen::diagnostic::Report;
use toolwright_codegen::internal::yaml;
use toolwright_codegen::{Source, Sources};

use super::{Kind, Language, Object, toolset};

const SET: usize = 3;

/// `<tool> <payload or result>.<path> <required or optional> <kind>`.
type Fields = BTreeSet<String>;

/// The fields of each type by its name.
type Types = BTreeMap<String, Vec<ParsedField>>;

#[derive(Clone)]
struct ParsedField {
    name: String,
    is_required: bool,
    /// `text`, `integer`, `number`, `flag`, `choice of …`, or the name of another type.
    kind: String,
    is_list: bool,
}

/// Returns the fields of every tool's payload and result, with those of inner objects. `name_of` names the two types.
fn flattened(types: &Types, name_of: impl Fn(usize, &str) -> String) -> Fields {
    let mut fields = Fields::new();
    for tool in 0..super::TOOLS_PER_TOOLSET {
        for side in ["Payload", "Result"] {
            flatten(types, &name_of(tool, side), &format!("{tool} {side}"), &mut fields);
        }
    }
    fields
}

fn flatten(types: &Types, object: &str, path: &str, fields: &mut Fields) {
    for ParsedField { name, is_required, kind, is_list } in &types[object] {
        let path = format!("{path}.{name}");
        let presence = if *is_required { "required" } else { "optional" };
        let list = if *is_list { "list of " } else { "" };
        let is_object = types.contains_key(kind);
        let kind = if is_object {
            flatten(types, kind, &path, fields);
            "object"
        } else {
            kind
        };
        fields.insert(format!("{path} {presence} {list}{kind}"));
    }
}

fn choice<'a>(values: impl Iterator<Item = &'a str>) -> String {
    format!("choice of {}", values.map(str::to_lowercase).collect::<Vec<_>>().join(" "))
}

fn base_name(tool: usize, side: &str) -> String {
    format!("Do{SET}N{tool}{side}")
}

/// Returns the fields from the data itself.
fn described() -> Fields {
    let set = toolset(SET);
    let parsed = |object: &Object| {
        let fields = object.fields.iter().map(|field| {
            let (kind, is_list) = match &field.kind {
                Kind::Text { .. } | Kind::NullableText | Kind::DateTime => {
                    ("text".to_owned(), false)
                }
                Kind::Integer { .. } => ("integer".to_owned(), false),
                Kind::Number { .. } => ("number".to_owned(), false),
                Kind::Flag => ("flag".to_owned(), false),
                Kind::Choice(values) => (choice(values.iter().copied()), false),
                Kind::Texts { .. } => ("text".to_owned(), true),
                Kind::Object(inner) => (inner.name.clone(), false),
                Kind::Item => (set.item.name.clone(), false),
                Kind::Items { .. } => (set.item.name.clone(), true),
            };
            ParsedField {
                name: field.name.to_owned(),
                is_required: field.is_required,
                kind,
                is_list,
            }
        });
        (object.name.clone(), fields.collect())
    };
    flattened(&set.objects().into_iter().map(parsed).collect(), base_name)
}

/// Adds the types of a JSON Schema and of the objects inside it.
fn read_schema(name: &str, schema: &Value, types: &mut Types) {
    let required = schema["required"].as_array().expect("a list");
    let properties = schema["properties"].as_object().expect("properties");
    let mut fields = Vec::new();
    for (key, property) in properties {
        let is_list = property["type"] == "array";
        let inner = if is_list { &property["items"] } else { property };
        let kind = kind_of(name, key, inner, types);
        let is_required = required.iter().any(|name| name == key);
        fields.push(ParsedField { name: key.clone(), is_required, kind, is_list });
    }
    types.insert(name.to_owned(), fields);
}

fn kind_of(owner: &str, key: &str, schema: &Value, types: &mut Types) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        return target.rsplit('/').next().expect("a name").to_owned();
    }
    if let Some(values) = schema["enum"].as_array() {
        return choice(values.iter().filter_map(Value::as_str));
    }
    let name = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match name.expect("a type") {
        "string" => "text".to_owned(),
        "boolean" => "flag".to_owned(),
        "object" => {
            let name = format!("{owner}.{key}");
            read_schema(&name, schema, types);
            name
        }
        other => other.to_owned(),
    }
}

fn json_schema() -> Fields {
    let document: Value = serde_json::from_str(&Language::JsonSchema.text(&toolset(SET))).unwrap();
    let mut types = Types::new();
    for (name, schema) in document["definitions"].as_object().expect("definitions") {
        read_schema(name, schema, &mut types);
    }
    flattened(&types, base_name)
}

fn yaml() -> Fields {
    let text = Language::Yaml.text(&toolset(SET));
    let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text }]);
    let (id, source) = sources.iter().next().expect("one file");
    let document = yaml::parse(id, &source.text, &mut Report::default()).expect("it is YAML");
    let document: Value = serde_json::from_str(&document.to_json().to_string()).unwrap();
    let mut types = Types::new();
    for (name, schema) in document["types"].as_object().expect("types") {
        read_schema(name, schema, &mut types);
    }
    let bound = &document["toolsets"][format!("set{SET}")]["tools"];
    for (tool, entry) in bound.as_object().expect("tools").values().enumerate() {
        let method = &document["methods"][entry["bind"].as_str().expect("a method")];
        read_schema(&base_name(tool, "Payload"), &method["payload"], &mut types);
        read_schema(&base_name(tool, "Result"), &method["result"], &mut types);
    }
    flattened(&types, base_name)
}

fn baml() -> Fields {
    let text = Language::Baml.text(&toolset(SET));
    let (mut enums, mut types) = (BTreeMap::<&str, Vec<&str>>::new(), Types::new());
    let mut block = ("", "");
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(keyword @ ("enum" | "class" | "function")), Some(name)) => {
                block = (keyword, name);
            }
            (Some(value), Some(_)) if block.0 == "enum" => {
                enums.entry(block.1).or_default().push(value);
            }
            (Some(name), Some(kind)) if block.0 == "class" => {
                types.entry(block.1.to_owned()).or_default().push(baml_field(name, kind, &enums));
            }
            _ => {}
        }
    }
    flattened(&types, base_name)
}

fn baml_field(name: &str, kind: &str, enums: &BTreeMap<&str, Vec<&str>>) -> ParsedField {
    let (bare, is_list) = match kind.trim_end_matches('?').strip_suffix("[]") {
        Some(inner) => (inner, true),
        None => (kind.trim_end_matches('?'), false),
    };
    let kind_name = match bare {
        "string" => "text".to_owned(),
        "int" => "integer".to_owned(),
        "float" => "number".to_owned(),
        "bool" => "flag".to_owned(),
        named => enums.get(named).map_or_else(|| named.to_owned(), |v| choice(v.iter().copied())),
    };
    ParsedField {
        name: name.to_owned(),
        is_required: !kind.ends_with('?'),
        kind: kind_name,
        is_list,
    }
}

/// Parses with protox. In proto3 a list has no presence, so for lists this takes the presence of the data.
fn proto(described: &Fields) -> Fields {
    let folder = tempfile::tempdir().unwrap();
    Language::Proto.write(10 * (SET + 1), folder.path()).unwrap();
    let file = folder.path().join(Language::Proto.file(SET));
    let files = protox::compile([file], [folder.path()]).unwrap();
    let mut types = Types::new();
    for message in &files.file[0].message_type {
        let fields = message.field.iter().map(|field| {
            let name = field.type_name().rsplit('.').next().expect("a name");
            let values = message.enum_type.iter().find(|choice| choice.name() == name);
            let kind = match (format!("{:?}", field.r#type()).as_str(), values) {
                ("String", _) => "text".to_owned(),
                ("Int64", _) => "integer".to_owned(),
                ("Double", _) => "number".to_owned(),
                ("Bool", _) => "flag".to_owned(),
                (_, Some(values)) => {
                    let prefix = format!("{}_", field.name().to_uppercase());
                    choice(values.value[1..].iter().map(|value| &value.name()[prefix.len()..]))
                }
                _ => name.to_owned(),
            };
            let is_list = format!("{:?}", field.label()) == "Repeated";
            ParsedField {
                name: field.name().to_owned(),
                is_required: !field.proto3_optional(),
                kind,
                is_list,
            }
        });
        types.insert(message.name().to_owned(), fields.collect());
    }
    let fields = flattened(&types, base_name);
    let absent = |field: &String| field.replace(" required list", " optional list");
    fields
        .into_iter()
        .map(|field| if described.contains(&field) { field } else { absent(&field) })
        .collect()
}

#[test]
fn all_languages_declare_the_same_fields() {
    let described = described();
    // A payload has seven fields, three of its filter and five of its item; a result has three, and five of its items.
    assert_eq!(described.len(), 10 * (7 + 3 + 5 + 3 + 5));
    for (language, fields) in [
        ("JSON Schema", json_schema()),
        ("YAML", yaml()),
        ("BAML", baml()),
        ("proto3", proto(&described)),
    ] {
        let differing: Vec<&String> = fields.symmetric_difference(&described).collect();
        assert!(differing.is_empty(), "{language}: {differing:#?}");
    }
}

#[test]
fn a_folder_has_a_file_for_each_toolset() {
    let folder = tempfile::tempdir().unwrap();
    for (language, files) in [(Language::Yaml, 3), (Language::Baml, 4)] {
        let folder = folder.path().join(format!("{language:?}"));
        language.write(21, &folder).unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), files);
    }
}
