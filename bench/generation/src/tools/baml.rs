//! Writes tools in BAML: objects become classes, choices enums, tools functions. BAML has no limits in its types.

use std::fmt::Write as _;

use super::{Field, Kind, Object, Toolset, pascal};

/// The file that a project has once, with the generator for Rust and the model that functions call.
pub(super) const MAIN: &str = "generator target {
  output_type \"rust\"
  output_dir \"../out\"
  version \"0.226.2\"
}

client<llm> Model {
  provider openai
  options {
    model \"a-model\"
    api_key \"a-key\"
  }
}
";

pub(super) fn text(toolset: &Toolset) -> String {
    let mut text = String::new();
    for object in toolset.objects() {
        choices(&mut text, object);
        class(&mut text, object, &toolset.item.name);
    }
    for tool in &toolset.tools {
        let (set, number, purpose) = (toolset.number, tool.number, toolset.purpose(tool));
        let (payload, result) = (&tool.payload.name, &tool.result.name);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "function Do{set}N{number}(payload: {payload}) -> {result} {{\n  client Model\n  prompt #\"\n    {purpose}\n    \
             {{{{ payload }}}}\n    {{{{ ctx.output_format }}}}\n  \"#\n}}\n"
        );
    }
    text
}

fn choices(text: &mut String, object: &Object) {
    for field in &object.fields {
        if let Kind::Choice(values) = field.kind {
            let _ = writeln!(text, "enum {} {{", choice(object, field));
            for value in values {
                let _ = writeln!(text, "  {} @alias(\"{value}\")", value.to_uppercase());
            }
            text.push_str("}\n\n");
        }
    }
}

fn choice(object: &Object, field: &Field) -> String {
    object.name.clone() + &pascal(field.name)
}

fn class(text: &mut String, object: &Object, item: &str) {
    let _ = writeln!(text, "class {} {{", object.name);
    for field in &object.fields {
        let mark = if field.is_required { "" } else { "?" };
        let _ = write!(text, "  {} {}{mark}", field.name, kind(object, field, item));
        if let Some(description) = field.description {
            let _ = write!(text, " @description(\"{description}\")");
        }
        text.push('\n');
    }
    text.push_str("}\n\n");
}

/// Returns the type of a field. The caller adds `?` for null or an absent field.
fn kind(object: &Object, field: &Field, item: &str) -> String {
    match &field.kind {
        Kind::Text { .. } | Kind::NullableText | Kind::DateTime => "string".to_owned(),
        Kind::Integer { .. } => "int".to_owned(),
        Kind::Number { .. } => "float".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Choice(_) => choice(object, field),
        Kind::Texts { .. } => "string[]".to_owned(),
        Kind::Object(inner) => inner.name.clone(),
        Kind::Item => item.to_owned(),
        Kind::Items { .. } => format!("{item}[]"),
    }
}
