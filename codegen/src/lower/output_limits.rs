//! Limits the size of the output, because a few lines of schema could produce more than a disk holds. The limits count
//! output, not time, so that the result depends on the input alone.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::schema::Schema;

use crate::diagnostic::{Report, files, schemas as mistakes};
use crate::json::Style;
use crate::model::{Project, ToolsetId};
use crate::naming::{self, TypeNames};
use crate::schema::{NodeId, Property, Schemas, Shape, parts, published_within, reached};
use crate::source::Span;
use crate::syntax::Document;

/// The most bytes of the published schemas of all tools and of the schemas for validators, unless the input is large.
const MAX_PUBLISHED: usize = 16 << 20;

/// The most such bytes for each byte of input: each tool is published with all types that it refers to.
const PUBLISHED_PER_BYTE: usize = 8;

/// The most schemas that all toolsets together use, directly or indirectly, unless the input is large.
const MAX_REACHED: usize = 500_000;

/// The bytes of a large input for each such schema.
const BYTES_PER_REACHED: usize = 4;

/// The greatest [weight](crate::json::Json::weight_within) of the defaults that properties have from types, added up for all
/// properties, unless the input is large: the code of each property has a copy.
const MAX_DEFAULTS: usize = 500_000;

/// The bytes of a large input for each unit of that weight.
const BYTES_PER_DEFAULT: usize = 4;

/// The most uses of tools by all agents and MCP servers together.
const MAX_USES: usize = 200_000;

/// The most properties of payloads and errors of methods that all bound tools have together: the lock has both for each tool.
pub(super) const MAX_BOUND: usize = 500_000;

/// The number of validator keywords, for the arguments or the results of a tool, above which `check` warns. Each keyword takes
/// one or two steps for each value, so at this number a payload of one or two thousand values can use up all steps.
const MAX_PRICE: usize = 10_000;

/// Returns whether the toolsets use more schemas than may be followed for each of them, and reports that. Names are checked in
/// each crate, so this comes before them.
pub(super) fn reach_too_much(
    project: &Project,
    documents: &[Document],
    report: &mut Report,
) -> bool {
    let most = MAX_REACHED.max(size(documents) / BYTES_PER_REACHED);
    let mut total = 0;
    let excess = ToolsetId::first(project.toolsets.len()).find(|&toolset| {
        total += reached(&project.schemas, project.payloads(toolset)).len();
        total > most
    });
    if let Some(toolset) = excess {
        let message = format!("the toolsets use more than {most} schemas in total");
        let advice = "a type counts in each toolset whose tools use it; use fewer toolsets, or split their types";
        report.add(files::over_budget(project[toolset].name.span, message, advice));
    }
    excess.is_some()
}

/// Returns the bytes of the input.
pub(super) fn size(documents: &[Document]) -> usize {
    documents.iter().map(|document| document.span.end as usize).sum()
}

/// Reports a project whose output would be too large.
pub(super) fn check_output(
    project: &Project,
    types: &TypeNames,
    documents: &[Document],
    report: &mut Report,
) {
    check_uses(project, report);
    let schemas = &project.schemas;
    check_defaults(schemas, documents, report);
    let tools = project.tools.iter();
    let of_tools = tools
        .flat_map(|tool| [(tool.args, tool.name.span), (tool.result, tool.name.span)])
        .map(|(node, span)| (node, span, false));
    // A node with assertions has a validator, whose schema is in the generated code.
    let has_assertions = |id: &NodeId| !schemas[*id].assertions.is_empty();
    let checked = schemas.ids().filter(has_assertions);
    let unchecked = unchecked(project, types).into_iter().filter(|id| !has_assertions(id));
    let checked = checked.chain(unchecked).map(|id| (id, schemas[id].span, true));
    let most = MAX_PUBLISHED.max(PUBLISHED_PER_BYTE.saturating_mul(size(documents)));
    let (mut bytes, mut validators) = (0, Vec::new());
    for (node, span, is_checked) in of_tools.chain(checked) {
        // Those of tools are written on several lines.
        let style = if is_checked { Style::Compact } else { Style::Pretty };
        let text = published_within(schemas, node, style, most - bytes);
        bytes += text.len();
        if bytes > most {
            let total = most >> 20;
            let message =
                format!("the schemas in generated code have more than {total} MiB in total");
            let advice = "each contains all types that it refers to; use fewer tools, or split their arguments and results";
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
                let message = format!("this schema cannot be used to check values: {error}");
                let advice = "move deeply nested parts into named types";
                report.add(files::over_budget(span, message, advice));
            }
        }
    }
    check_prices(project, &prices, report);
}

/// Returns the nodes without assertions that have a validator nevertheless, once for each crate.
fn unchecked(project: &Project, types: &TypeNames) -> Vec<NodeId> {
    let schemas = &project.schemas;
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for name in types.all() {
        let mut open = parts(schemas, name.node);
        while let Some(node) = open.pop() {
            if types.get(node).is_some() || !seen.insert((name.scope, node)) {
                continue;
            }
            if naming::is_unchecked(schemas, types, node) {
                found.push(node);
            } else {
                open.extend(parts(schemas, node));
            }
        }
    }
    found
}

/// Warns of tools whose small payloads may be costly to check: the validator of a type also has the rules of all types inside
/// it, so a value is checked once for each enclosing type that has a validator.
fn check_prices(project: &Project, prices: &BTreeMap<NodeId, usize>, report: &mut Report) {
    if prices.values().sum::<usize>() <= MAX_PRICE {
        return;
    }
    for tool in &project.tools {
        for (what, root) in [("arguments", tool.args), ("results", tool.result)] {
            let known = reached(&project.schemas, [root]);
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

fn check_defaults(schemas: &Schemas, documents: &[Document], report: &mut Report) {
    let most = MAX_DEFAULTS.max(size(documents) / BYTES_PER_DEFAULT);
    let mut left = most;
    let properties = schemas.ids().filter_map(|id| match &schemas[id].shape {
        Shape::Object(object) => Some(&object.properties),
        _ => None,
    });
    let is_excess = |property: &&Property| {
        let own = schemas.default_of(property.schema);
        let default = schemas.default_within(property.schema).filter(|_| own.is_none());
        let rest = default.map_or(Some(left), |default| default.weight_within(left));
        left = rest.unwrap_or_default();
        rest.is_none()
    };
    let mut absent = properties.flatten().filter(|property| !property.required);
    if let Some(property) = absent.find(is_excess) {
        let message = format!(
            "the defaults that properties have from types take more than {most} values in total"
        );
        let advice = "each 64 bytes of a text count as one; shorten the default of the type, or leave it out";
        report.add(files::over_budget(property.name.span, message, advice));
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
        let message = format!("agents and MCP servers use more than {MAX_USES} tools in total");
        report.add(files::over_budget(span, message, "give each the toolsets it needs"));
    }
}

/// Reports the tool with which bound tools exceed [`MAX_BOUND`].
pub(super) fn report_bound(span: Span, report: &mut Report) {
    let message = format!(
        "the methods of bound tools have more than {MAX_BOUND} properties of payloads and errors in total"
    );
    let advice = "bind fewer tools to methods with large payloads or many errors";
    report.add(files::over_budget(span, message, advice));
}
