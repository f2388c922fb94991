//! How much may come of a project: few lines can ask for more output than any disk holds. Counts what would be
//! written, never time, so that what is refused depends on the input alone. Never how large the input is: reading sees to
//! that.

use toolwright::schema::Schema;

use super::Lowering;
use crate::diagnostic::files;
use crate::model::{ToolId, ToolsetId};
use crate::schema::{Style, published};
use crate::source::Span;

/// How many bytes the published schemas of all tools, and those for validators, may have together, whatever the input.
const MAX_PUBLISHED: usize = 16 << 20;

/// The same for each byte of input: thousands of tools say a lot, and each is published with what it refers to.
const PUBLISHED_PER_BYTE: usize = 8;

/// How many tools all agents and MCP servers may name together, each as often as it is named.
const MAX_USES: usize = 200_000;

/// How many properties of payloads all bound tools may take over together.
pub(super) const MAX_BOUND: usize = 500_000;

impl Lowering<'_> {
    /// Refuses a project of which more would come than anybody can want.
    pub(super) fn output(&mut self) {
        self.uses();
        let tools = ToolId::first(self.project.tools.len()).flat_map(|id| {
            let tool = &self.project[id];
            [(tool.args, tool.name.span), (tool.result, tool.name.span)]
        });
        // What only a validator can check stands in generated code as a schema of its own.
        let checked = self.project.schemas.ids().filter_map(|id| {
            let node = &self.project.schemas[id];
            (!node.assertions.is_empty()).then_some((id, node.span))
        });
        let input: usize = self.documents.iter().map(|document| document.span.end as usize).sum();
        let most = MAX_PUBLISHED.max(PUBLISHED_PER_BYTE.saturating_mul(input));
        let (mut bytes, mut validators) = (0, Vec::new());
        let checked = checked.map(|(node, span)| (node, span, true));
        for (node, span, is_checked) in tools.map(|(node, span)| (node, span, false)).chain(checked)
        {
            let text = published(&self.project.schemas, node, Style::Compact);
            bytes += text.len();
            if bytes > most {
                let total = most >> 20;
                let message =
                    format!("the schemas in generated code have more than {total} MiB in all");
                let advice = "each repeats all it refers to; take fewer tools, or split what they take and give";
                return self.over_budget(span, message, advice);
            }
            if is_checked {
                validators.push((span, text));
            }
        }
        for (span, text) in validators {
            if let Err(error) = Schema::new(&text) {
                let message = format!("nothing can check values by this schema: {error}");
                self.over_budget(span, message, "make types of what is nested deep inside");
            }
        }
    }

    fn uses(&mut self) {
        let sizes = |sets: &[ToolsetId]| -> usize {
            sets.iter().map(|&set| self.project[set].tools.len()).sum()
        };
        let agents = self.project.agents.iter().map(|agent| {
            let used = sizes(&agent.toolsets) + sizes(&agent.exports) + agent.tools.len();
            (agent.name.span, used)
        });
        let servers =
            self.project.servers.iter().map(|server| (server.name.span, sizes(&server.toolsets)));
        let mut total = 0;
        let excess = agents.chain(servers).find(|(_, used)| {
            total += used;
            total > MAX_USES
        });
        if let Some((span, _)) = excess {
            let message =
                format!("agents and MCP servers name tools more than {MAX_USES} times in all");
            self.over_budget(span, message, "give each the toolsets it needs");
        }
    }

    /// Counts the properties that a bound tool takes over; whether they are too many.
    pub(super) fn binds_too_much(&mut self, properties: usize, span: Span) -> bool {
        let before = self.bound_properties;
        self.bound_properties += properties;
        let is_over = self.bound_properties > MAX_BOUND;
        if is_over && before <= MAX_BOUND {
            let message = format!("bound tools take over more than {MAX_BOUND} properties in all");
            self.over_budget(span, message, "bind fewer tools to large payloads");
        }
        is_over
    }

    /// Whether bound tools have taken over too many properties: then nothing more is made of them.
    pub(super) fn has_bound_too_much(&self) -> bool {
        self.bound_properties > MAX_BOUND
    }

    fn over_budget(&mut self, span: Span, message: String, advice: &str) {
        self.report.add(files::over_budget(span, message, advice));
    }
}
