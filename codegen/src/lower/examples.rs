//! Checks examples and defaults against their schemas.

use super::toolsets::WrittenTool;
use crate::diagnostic::{Diagnostic, Report, files, schemas as mistakes, templates};
use crate::json::Json;
use crate::model::Tool;
use crate::schema::{Accepted, Budget, NodeId, Schemas, violations};
use crate::source::Span;
use crate::syntax::Literal;

/// Reports examples that break their tool's schemas. For defaults and examples inside a schema this is only a warning: they
/// do not change which values are accepted, and `default: null` on a schema without null is common. Returns which of these are
/// accepted.
pub(super) fn check(
    schemas: &Schemas,
    tools: &[Tool],
    texts: &[WrittenTool<'_>],
    mut budget: Budget,
    report: &mut Report,
) -> Accepted {
    let mut check_example = |node: NodeId, what: &str, text: &Literal| {
        let span = text.0.span;
        let broken = violations(schemas, node, &text.0.to_json(), &mut budget);
        if budget.take_exhausted() {
            report.add(exhausted(span));
        }
        for violation in broken {
            let place = at(&violation.pointer);
            report.add(templates::example_breaks_schema(span, what, &place, &violation.message));
        }
    };
    for (tool, written) in tools.iter().zip(texts) {
        for example in written.details.examples.iter().flatten() {
            check_example(tool.args, "`args`", &example.args);
            if let Some(result) = &example.result {
                check_example(tool.result, "the result", result);
            }
        }
    }
    let mut accepted = Accepted::default();
    for id in schemas.ids() {
        let node = &schemas[id];
        let default = node.annotations.default.iter().map(|value| (None, value));
        let examples = node.annotations.examples.iter().enumerate();
        let examples = examples.map(|(index, value)| (Some(index), value));
        for (example, value) in default.chain(examples) {
            let broken = violations(schemas, id, value, &mut budget);
            if let Some(violation) = broken.into_iter().next() {
                let what = if example.is_some() { "example" } else { "default" };
                let message = format!(
                    "the {what} {} breaks its own schema{}: {}",
                    shortened(value),
                    at(&violation.pointer),
                    violation.message
                );
                report.add(mistakes::default_breaks_schema(node.span, message));
            } else if let Some(index) = example {
                accepted.examples.entry(id).or_insert(index);
            } else {
                accepted.defaults.insert(id);
            }
            if budget.take_exhausted() {
                report.add(exhausted(node.span));
            }
        }
    }
    accepted
}

fn exhausted(span: Span) -> Diagnostic {
    let message =
        "the examples and defaults up to here are too long to be checked against their patterns";
    files::over_budget(span, message.to_owned(), "shorten them, or simplify the patterns")
}

/// Returns the beginning of a value, for a message.
fn shortened(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") }
}
