//! Examples and defaults against the schemas they illustrate. Never templates.

use super::Lowering;
use crate::diagnostic::{Diagnostic, files, schemas, words};
use crate::model::ToolId;
use crate::schema::{Json, NodeId, violations};
use crate::source::Span;

impl Lowering<'_> {
    /// Reports examples that break their tool's schemas.
    pub(super) fn examples(&mut self) {
        let declared = self.toolsets.iter().flat_map(|toolset| &toolset.tools).copied();
        let declared: Vec<_> = declared.collect();
        for (id, tool) in ToolId::first(self.project.tools.len()).zip(declared) {
            let (args, result) = (self.project[id].args, self.project[id].result);
            for example in tool.details.examples.iter().flatten() {
                self.check_example(args, "`args`", example.args.0.span, &example.args.0.to_json());
                if let Some(shown) = &example.result {
                    self.check_example(result, "the result", shown.0.span, &shown.0.to_json());
                }
            }
        }
    }

    fn check_example(&mut self, node: NodeId, what: &str, span: Span, value: &Json) {
        let broken = violations(&self.project.schemas, node, value, &mut self.effort);
        self.check_effort(span);
        for violation in broken {
            let place = at(&violation.pointer);
            self.report.add(words::example_breaks_schema(span, what, &place, &violation.message));
        }
    }

    /// Warns of defaults and schema examples that break their own schema. They change nothing in what
    /// is accepted, and `default: null` on a schema without null is common.
    pub(super) fn defaults(&mut self) {
        for id in self.project.schemas.ids() {
            let node = &self.project.schemas[id];
            let shown = node.annotations.default.iter().map(|value| ("default", value));
            let shown =
                shown.chain(node.annotations.examples.iter().map(|value| ("example", value)));
            for (what, value) in shown {
                let broken = violations(&self.project.schemas, id, value, &mut self.effort);
                if let Some(violation) = broken.into_iter().next() {
                    let message = format!(
                        "the {what} {} breaks its own schema{}: {}",
                        shortened(value),
                        at(&violation.pointer),
                        violation.message
                    );
                    self.report.add(schemas::default_breaks_schema(node.span, message));
                }
                if self.effort.take_exhausted() {
                    self.report.add(exhausted(node.span));
                }
            }
        }
    }

    fn check_effort(&mut self, span: Span) {
        if self.effort.take_exhausted() {
            self.report.add(exhausted(span));
        }
    }
}

fn exhausted(span: Span) -> Diagnostic {
    let message =
        "the examples and defaults so far are too long for the patterns they have to match";
    files::over_budget(span, message.to_owned(), "shorten them, or simplify the patterns")
}

/// A value as far as it is worth quoting.
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
