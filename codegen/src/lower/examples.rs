//! Checks examples and defaults against their schemas.

use std::collections::BTreeSet;

use super::toolsets::WrittenTool;
use crate::diagnostic::{Diagnostic, Report, files, schemas as mistakes, templates};
use crate::json::Json;
use crate::model::Tool;
use crate::schema::{Budget, NodeId, Schemas, violations};
use crate::source::Span;
use crate::syntax::Literal;

/// Reports examples that break their tool's schemas. For defaults and examples inside a schema this is only a warning: they
/// do not change which values are accepted, and `default: null` on a schema without null is common. Returns the schemas
/// that accept their own default.
pub(super) fn check(
    schemas: &Schemas,
    tools: &[Tool],
    texts: &[WrittenTool<'_>],
    report: &mut Report,
) -> BTreeSet<NodeId> {
    let mut budget = Budget::default();
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
    let mut accepted = BTreeSet::new();
    for id in schemas.ids() {
        let node = &schemas[id];
        let defaults = node.annotations.default.iter().map(|value| ("default", value));
        let examples = node.annotations.examples.iter().map(|value| ("example", value));
        for (what, value) in defaults.chain(examples) {
            let broken = violations(schemas, id, value, &mut budget);
            if let Some(violation) = broken.into_iter().next() {
                let message = format!(
                    "the {what} {} breaks its own schema{}: {}",
                    shortened(value),
                    at(&violation.pointer),
                    violation.message
                );
                report.add(mistakes::default_breaks_schema(node.span, message));
            } else if what == "default" {
                accepted.insert(id);
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
