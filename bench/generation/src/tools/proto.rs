//! Writes tools in proto3: objects become messages, toolsets services. Protocol Buffers have no limits in their types.

use std::fmt::Write as _;

use super::{Field, Kind, Object, Toolset, pascal};

pub(super) fn text(toolset: &Toolset) -> String {
    let number = toolset.number;
    let mut text = format!("syntax = \"proto3\";\npackage set{number};\n\n");
    for object in toolset.objects() {
        message(&mut text, object, &toolset.item.name);
    }
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "// Tools of service {number}.\nservice Svc{number} {{");
    for tool in &toolset.tools {
        let (payload, result) = (&tool.payload.name, &tool.result.name);
        let _ = writeln!(text, "  // {}", toolset.purpose(tool));
        let _ = writeln!(text, "  rpc Do{number}N{}({payload}) returns ({result});", tool.number);
    }
    text.push_str("}\n");
    text
}

fn message(text: &mut String, object: &Object, item: &str) {
    if let Some(description) = object.description {
        let _ = writeln!(text, "// {description}");
    }
    let _ = writeln!(text, "message {} {{", object.name);
    for (index, field) in object.fields.iter().enumerate() {
        if let Kind::Choice(values) = field.kind {
            choice(text, field.name, values);
        }
        if let Some(description) = field.description {
            let _ = writeln!(text, "  // {description}");
        }
        let _ = writeln!(text, "  {} {} = {};", kind(field, item), field.name, index + 1);
    }
    text.push_str("}\n\n");
}

fn choice(text: &mut String, field: &str, values: &[&str]) {
    let prefix = field.to_uppercase();
    let _ = writeln!(text, "  enum {} {{\n    {prefix}_UNSPECIFIED = 0;", pascal(field));
    for (index, value) in values.iter().enumerate() {
        let _ = writeln!(text, "    {prefix}_{} = {};", value.to_uppercase(), index + 1);
    }
    text.push_str("  }\n");
}

/// Returns the label and the type of a field. A list has no label for optional: it is empty if absent.
fn kind(field: &Field, item: &str) -> String {
    let name = match &field.kind {
        Kind::Text { .. } | Kind::NullableText | Kind::DateTime => "string",
        Kind::Integer { .. } => "int64",
        Kind::Number { .. } => "double",
        Kind::Flag => "bool",
        Kind::Choice(_) => &pascal(field.name),
        Kind::Texts { .. } => return "repeated string".to_owned(),
        Kind::Object(inner) => &inner.name,
        Kind::Item => item,
        Kind::Items { .. } => return format!("repeated {item}"),
    };
    let label = if field.is_required { "" } else { "optional " };
    format!("{label}{name}")
}
