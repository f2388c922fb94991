//! Pairs of schemas: those of tests/cases, and those of real tools with one change.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolwright_lock::{Change, Finding, LockedServer, diff, diff_listings};

use crate::cases::{files, versions};

/// Who wrote a value, and who reads it: the role in the words of jsoncompat, and ours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Old arguments, which the new tool gets.
    Deserializer,
    /// New results, which code with the old types gets.
    Serializer,
}

/// Two versions of a schema.
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) old: Value,
    pub(crate) new: Value,
    /// Our findings about them, with places in the schema.
    pub(crate) findings: Vec<Finding>,
}

impl Pair {
    /// Our findings that are major for the user of the other version.
    pub(crate) fn breaking(&self) -> Vec<&Finding> {
        let is_breaking = |finding: &&Finding| match self.role {
            Role::Deserializer => finding.classes.caller == Change::Major,
            Role::Serializer => finding.classes.reader == Change::Major,
        };
        self.findings.iter().filter(is_breaking).collect()
    }
}

/// The findings with a place in one member of a tool; the places are returned without it.
fn within(findings: &[Finding], tool: &str, member: &str) -> Vec<Finding> {
    let inside = |place: &Option<String>| Some(place.as_ref()?.strip_prefix(member)?.to_owned());
    let within = findings.iter().filter(|finding| finding.tool == tool).filter_map(|finding| {
        let mut finding = finding.clone();
        (finding.at.old, finding.at.new) = (inside(&finding.at.old), inside(&finding.at.new));
        (finding.at.old.is_some() || finding.at.new.is_some()).then_some(finding)
    });
    within.collect()
}

pub(crate) fn pairs_of_cases() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("readable");
        let (old, new, _) = versions(&file, &text);
        let findings = diff(&old, &new).expect("the schemas can be read").findings;
        for (tool, was) in &old.tools {
            let Some(is) = new.tools.get(tool) else { continue };
            for (role, member, old, new) in [
                (Role::Deserializer, "/args", &was.args, &is.args),
                (Role::Serializer, "/result", &was.result, &is.result),
            ] {
                let read = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
                let (old, new) = (read(old.get()), read(new.get()));
                if old == new {
                    continue;
                }
                pairs.push(Pair {
                    name: format!(
                        "{} {tool}{member}",
                        file.file_stem().unwrap_or_default().display()
                    ),
                    role,
                    old,
                    new,
                    findings: within(&findings, tool, member),
                });
            }
        }
    }
    pairs
}

/// The arguments of real tools, each with each change of a property, as arguments and as results.
pub(crate) fn pairs_of_listings() -> Vec<Pair> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolwright-import/tests/lists/real");
    let mut pairs = Vec::new();
    let mut lists: Vec<_> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .collect();
    lists.sort();
    for list in lists {
        let text = fs::read_to_string(&list).expect("readable");
        let list: Value = serde_json::from_str(&text).expect("JSON");
        let list = list.get("result").unwrap_or(&list);
        for tool in list["tools"].as_array().expect("tools") {
            let mut old = tool["inputSchema"].clone();
            // jsoncompat knows one draft only.
            old.as_object_mut().expect("an object").remove("$schema");
            for (change, new) in changed(&old) {
                let name = format!("{} {change}", tool["name"]);
                for role in [Role::Deserializer, Role::Serializer] {
                    pairs.push(listed(&name, role, &old, &new));
                }
            }
        }
    }
    pairs
}

pub(crate) fn listed(name: &str, role: Role, old: &Value, new: &Value) -> Pair {
    let member = if role == Role::Deserializer { "inputSchema" } else { "outputSchema" };
    let server = |schema: &Value| {
        let list = json!([{ "name": "tool", member: schema }]).to_string();
        LockedServer::of(&list, None).expect("a list")
    };
    let findings = diff_listings("server", &server(old), &server(new)).findings;
    Pair {
        name: format!("{name}, {member}"),
        role,
        old: old.clone(),
        new: new.clone(),
        findings: within(&findings, "server/tool", &format!("/{member}")),
    }
}

/// Returns a schema with one change each, and the names of the changes.
fn changed(schema: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let mut change = |name: &str, edit: &dyn Fn(&mut Map<String, Value>)| {
        let mut new = schema.clone();
        edit(new.as_object_mut().expect("an object"));
        if new != *schema {
            all.push((name.to_owned(), new));
        }
    };
    change("closed", &|root| drop(root.insert("additionalProperties".into(), json!(false))));
    change("opened", &|root| drop(root.insert("additionalProperties".into(), json!(true))));
    change("one more", &|root| {
        entry(root, "properties", json!({}))["added"] = json!({ "type": "string" });
    });
    change("one more, required", &|root| {
        entry(root, "properties", json!({}))["added"] = json!({ "type": "string" });
        let required = entry(root, "required", json!([]));
        required.as_array_mut().expect("names").push(json!("added"));
    });
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (key, property) in properties {
        let is_required = |name: &Value| name == key;
        change(&format!("without {key}"), &|root| {
            entry(root, "properties", json!({})).as_object_mut().expect("properties").remove(key);
            let required = entry(root, "required", json!([])).as_array_mut().expect("names");
            required.retain(|name| !is_required(name));
        });
        change(&format!("{key} required or optional"), &|root| {
            let required = entry(root, "required", json!([])).as_array_mut().expect("names");
            let count = required.len();
            required.retain(|name| !is_required(name));
            if required.len() == count {
                required.push(json!(key));
            }
        });
        for (edit, edited) in edits(property) {
            change(&format!("{key} {edit}"), &|root| {
                entry(root, "properties", json!({}))[key] = edited.clone();
            });
        }
    }
    all
}

fn entry<'a>(root: &'a mut Map<String, Value>, key: &str, default: Value) -> &'a mut Value {
    root.entry(key).or_insert(default)
}

/// Returns changes of the schema of a property.
fn edits(property: &Value) -> Vec<(&'static str, Value)> {
    let with = |key: &str, value: Value| {
        let mut property = property.clone();
        property[key] = value;
        property
    };
    let mut all = vec![
        ("or null", json!({ "anyOf": [property, { "type": "null" }] })),
        ("described anew", with("description", json!("Something else."))),
    ];
    if let Some(values) = property["enum"].as_array() {
        all.push(("one value less", with("enum", values[1..].into())));
        all.push((
            "one value more",
            with("enum", [&values[..], &[json!("added")]].concat().into()),
        ));
    }
    match property["type"].as_str() {
        Some("string") => all.extend([
            ("an integer", with("type", json!("integer"))),
            ("of ten characters", with("maxLength", json!(10))),
            ("with a pattern", with("pattern", json!("^[a-z]+$"))),
            ("with a format", with("format", json!("date"))),
        ]),
        Some("integer") => all.extend([
            ("any number", with("type", json!("number"))),
            ("at most ten", with("maximum", json!(10))),
        ]),
        Some("number") => all.extend([
            ("an integer", with("type", json!("integer"))),
            ("at most ten", with("maximum", json!(10))),
        ]),
        Some("array") => all.extend([
            ("of one item", with("maxItems", json!(1))),
            ("of any items", with("items", json!({}))),
        ]),
        _ => {}
    }
    all
}
