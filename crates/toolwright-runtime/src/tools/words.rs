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
    let tool = context! { name => spec.name(), title => spec.title(), toolset => spec.toolset() };
    Environment::new().render_str(template, context! { args, result, tool }).unwrap_or_else(
        |error| {
            tracing::debug!(tool = spec.name(), %error, "a template could not be filled in");
            template.to_owned()
        },
    )
}
