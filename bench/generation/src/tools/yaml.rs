//! Writes tools in toolwright's YAML, with a method for each tool.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Tool, Toolset, json_schema};

pub(super) fn text(toolset: &Toolset) -> String {
    let Toolset { number, item, tools } = toolset;
    let mut text = format!(
        "toolwright: 1\nservice: {{ name: svc{number}, description: Service number {number}. }}\n\ntypes:\n  {}:\n",
        item.name
    );
    block(&mut text, 4, &json_schema::schema(item, &item.name));
    text.push_str("\nmethods:\n");
    for tool in tools {
        method(&mut text, toolset, tool);
    }
    line(&mut text, 0, format_args!("\ntoolsets:\n  set{number}:"));
    line(&mut text, 4, format_args!("description: Tools of service {number}.\n    tools:"));
    for tool in tools {
        bound(&mut text, toolset, tool);
    }
    text
}

fn method(text: &mut String, toolset: &Toolset, tool: &Tool) {
    let (set, number) = (toolset.number, tool.number);
    line(text, 2, format_args!("do_{set}_{number}:"));
    line(text, 4, format_args!("description: Does thing {number} of service {set}."));
    for (key, object) in [("payload", &tool.payload), ("result", &tool.result)] {
        line(text, 4, format_args!("{key}:"));
        block(text, 6, &json_schema::schema(object, &toolset.item.name));
    }
}

fn bound(text: &mut String, toolset: &Toolset, tool: &Tool) {
    let (set, number, purpose) = (toolset.number, tool.number, toolset.purpose(tool));
    line(
        text,
        6,
        format_args!(
            "tool_{set}_{number}: {{ title: Tool {number}, description: '{purpose}', bind: do_{set}_{number}, \
             annotations: {{ read_only: true }} }}"
        ),
    );
}

/// Writes an object with one key per line. Values without properties are on one line.
fn block(text: &mut String, indent: usize, value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let has_lines = key == "properties" || value.get("properties").is_some();
        if has_lines {
            line(text, indent, format_args!("{key}:"));
            block(text, indent + 2, value);
        } else {
            line(text, indent, format_args!("{key}: {}", flow(value)));
        }
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(entries) => format!("{{ {} }}", flow_entries(entries)),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if is_plain(text) => text.clone(),
        scalar => scalar.to_string(),
    }
}

fn flow_entries(entries: &Map<String, Value>) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{key}: {}", flow(value));
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// Returns whether a string needs no quotes in YAML.
fn is_plain(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || " _-.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_word)
        && text != "null"
}

fn line(text: &mut String, indent: usize, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:indent$}{words}", "");
}
