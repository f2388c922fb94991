//! Fills the templates of a tool's words: approval prompts, denials, progress hints. Never decides who reads them.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use toolwright::{Payload, ToolSpec};

/// A template with a call's arguments and, where there is one, its result filled in. What cannot be filled in is
/// given as it was written: words are never a reason to fail.
pub(crate) fn fill(
    template: &str,
    spec: &ToolSpec,
    args: &Payload,
    result: Option<&Payload>,
) -> String {
    let value = |payload: &Payload| {
        let json: serde_json::Value = serde_json::from_str(payload.as_str()).unwrap_or_default();
        Value::from(Serde(json))
    };
    let (args, result) = (value(args), result.map(value).unwrap_or_default());
    let tool = context! {
        name => spec.name(),
        title => spec.title(),
        description => spec.description(),
        toolset => spec.toolset(),
        service => spec.service(),
    };
    Environment::new().render_str(template, context! { args, result, tool }).unwrap_or_else(
        |error| {
            tracing::debug!(tool = spec.name(), %error, "a template could not be filled in");
            template.to_owned()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler lets templates ask for these.
    #[test]
    fn h6_words_may_hold_all_that_a_schema_file_may_ask_of_a_tool() {
        let spec = ToolSpec::new("wipe")
            .with_title("Wipe")
            .with_description("Wipes a disk.")
            .with_toolset("disks")
            .with_service("lab");
        let template = "{{ tool.name }} {{ tool.title }} {{ tool.description }} {{ tool.toolset }} {{ tool.service }}";
        let filled = fill(template, &spec, &Payload::new("{}"), None);
        assert_eq!(filled, "wipe Wipe Wipes a disk. disks lab");
    }
}
