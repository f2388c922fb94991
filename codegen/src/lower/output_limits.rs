//! Limits how much is generated from a project: few lines can ask for more output than any disk holds. It counts what
//! would be written, not time, so that what is refused depends on the input alone. Reading limits the input.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::schema::Schema;

use crate::diagnostic::{Report, files, schemas as mistakes};
use crate::json::Style;
use crate::model::{Project, ToolsetId};
use crate::schema::{NodeId, parts, published};
use crate::source::Span;
use crate::syntax::Document;

/// How many bytes the published schemas of all tools, and those for validators, may have together, whatever the input.
const MAX_PUBLISHED: usize = 16 << 20;

/// The same for each byte of input: thousands of tools say a lot, and each is published with what it refers to.
const PUBLISHED_PER_BYTE: usize = 8;

/// How many tools all agents and MCP servers may name together, each as often as it is named.
const MAX_USES: usize = 200_000;

/// How many properties of payloads all bound tools may take over together.
pub(super) const MAX_BOUND: usize = 500_000;

/// The number of validator keywords, for the arguments or the results of a tool, above which `check` warns. Each keyword takes
/// one or two steps for each value, so at this number a payload of one or two thousand values can use up all steps.
const MAX_PRICE: usize = 10_000;

/// Refuses a project from which more would be generated than anybody can want.
pub(super) fn check_output(project: &Project, documents: &[Document], report: &mut Report) {
    check_uses(project, report);
    let schemas = &project.schemas;
    let tools = project.tools.iter();
    let of_tools = tools
        .flat_map(|tool| [(tool.args, tool.name.span), (tool.result, tool.name.span)])
        .map(|(node, span)| (node, span, false));
    // What only a validator can check stands in generated code as a schema of its own.
    let checked = schemas.ids().filter(|&id| !schemas[id].assertions.is_empty());
    let checked = checked.map(|id| (id, schemas[id].span, true));
    let input: usize = documents.iter().map(|document| document.span.end as usize).sum();
    let most = MAX_PUBLISHED.max(PUBLISHED_PER_BYTE.saturating_mul(input));
    let (mut bytes, mut validators) = (0, Vec::new());
    for (node, span, is_checked) in of_tools.chain(checked) {
        let text = published(schemas, node, Style::Compact);
        bytes += text.len();
        if bytes > most {
            let total = most >> 20;
            let message =
                format!("the schemas in generated code have more than {total} MiB in all");
            let advice =
                "each repeats all it refers to; take fewer tools, or split what they take and give";
            report.add(files::over_budget(span, message, advice));
            return;
        }
        if is_checked {
            validators.push((node, span, text));
        }
    }
    let mut prices = BTreeMap::new();
    for (node, span, text) in validators {
        match Schema::new(&text) {
            Ok(schema) => {
                prices.insert(node, schema.size());
            }
            Err(error) => {
                let message = format!("nothing can check values by this schema: {error}");
                let advice = "make types of what is nested deep inside";
                report.add(files::over_budget(span, message, advice));
            }
        }
    }
    check_prices(project, &prices, report);
}

/// Warns of tools that can make much of a small payload: a validator holds the rules of all types inside its own, so nested
/// types that need one each are looked at as often as they are nested.
fn check_prices(project: &Project, prices: &BTreeMap<NodeId, usize>, report: &mut Report) {
    if prices.values().sum::<usize>() <= MAX_PRICE {
        return;
    }
    for tool in &project.tools {
        for (what, root) in [("arguments", tool.args), ("results", tool.result)] {
            let (mut known, mut waiting) = (BTreeSet::from([root]), vec![root]);
            while let Some(node) = waiting.pop() {
                waiting.extend(
                    parts(&project.schemas, node).into_iter().filter(|&part| known.insert(part)),
                );
            }
            let checked = || known.iter().filter_map(|node| Some((prices.get(node)?, node)));
            let price: usize = checked().map(|(price, _)| price).sum();
            if let Some((_, &costliest)) = checked().max_by_key(|(price, _)| **price)
                && price > MAX_PRICE
            {
                let place = project.schemas[costliest].span;
                report.add(mistakes::costly_schema(tool.name.span, what, price, MAX_PRICE, place));
            }
        }
    }
}

fn check_uses(project: &Project, report: &mut Report) {
    let sizes =
        |sets: &[ToolsetId]| -> usize { sets.iter().map(|&set| project[set].tools.len()).sum() };
    let agents = project.agents.iter().map(|agent| {
        let used = sizes(&agent.toolsets) + sizes(&agent.exports) + agent.tools.len();
        (agent.name.span, used)
    });
    let servers = project.servers.iter().map(|server| (server.name.span, sizes(&server.toolsets)));
    let mut total = 0;
    let excess = agents.chain(servers).find(|(_, used)| {
        total += used;
        total > MAX_USES
    });
    if let Some((span, _)) = excess {
        let message =
            format!("agents and MCP servers name tools more than {MAX_USES} times in all");
        report.add(files::over_budget(span, message, "give each the toolsets it needs"));
    }
}

/// Reports the tool at which bound tools have taken over more than [`MAX_BOUND`] properties.
pub(super) fn report_bound(span: Span, report: &mut Report) {
    let message = format!("bound tools take over more than {MAX_BOUND} properties in all");
    report.add(files::over_budget(span, message, "bind fewer tools to large payloads"));
}
