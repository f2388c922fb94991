//! Puts the tools of one request together: their names, which of them are strict, and the limits of the request.

use std::collections::BTreeMap;

use toolwright::outcome::Correction;
use toolwright::spec::Strictness;
use toolwright::{FailureKind, InvalidPayload, Recovery, ToolCall, ToolFailure, ToolResult};

use crate::loss::Class;
use crate::project::Projection;
use crate::row::Dialect;

/// One tool in both modes of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Projections<'a> {
    /// The canonical name.
    pub name: &'a str,
    /// The tool in the strict dialect.
    pub strict: &'a Projection,
    /// The tool in its plain sibling.
    pub plain: &'a Projection,
    /// How much the tool needs enforcement.
    pub strictness: Strictness,
    /// True if the model sees the tool only after the provider's own search has found it. No effect in a dialect without
    /// [`tool_search`](Dialect::tool_search).
    pub is_deferred: bool,
}

/// A tool of a request.
#[derive(Debug)]
pub struct PlacedTool<'a> {
    /// The canonical name.
    pub name: &'a str,
    /// The form that is sent.
    pub projection: &'a Projection,
    /// True if the provider is asked to enforce the schema.
    pub is_strict: bool,
    /// True if the model sees the tool only after the provider's own search has found it.
    pub is_deferred: bool,
}

/// The tools of a request, and the findings about them.
#[derive(Debug)]
pub struct Request<'a> {
    /// The tools that are sent, in the order they were given.
    pub tools: Vec<PlacedTool<'a>>,
    /// Tools that are left out, budgets that are full and names that clash.
    pub findings: Vec<Finding>,
}

impl Request<'_> {
    /// Returns the finding for which the request cannot be sent, if there is one.
    pub fn error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.is_error)
    }

    /// Turns a call as a model wrote it, with the name and the arguments on the wire, into one for the tool. A call of a tool that is
    /// not in the request is refused, although a runtime may have one of that name: the host did not offer it.
    ///
    /// # Errors
    ///
    /// The result of a call of another tool, or whose arguments cannot be decoded: a failure that tells the model what is wrong.
    pub fn decode_call(&self, call: ToolCall) -> Result<ToolCall, Box<ToolResult>> {
        let Some(tool) = self.tools.iter().find(|tool| tool.projection.wire_name == call.tool())
        else {
            let known = self.tools.iter().map(|tool| tool.projection.wire_name.as_str());
            let failure = ToolFailure::not_found(call.tool(), known);
            return Err(Box::new(ToolResult::new(&call, Err(failure))));
        };
        let issues = match tool.projection.decode(call.args().as_str()) {
            Ok(decoded) => return Ok(call.with_tool(tool.name).with_args(decoded.canonical)),
            Err(issues) => issues,
        };
        let message = format!("the arguments of `{}` are not valid: {issues}", call.tool());
        let issues = issues.issues.into_iter().map(|issue| issue.issue).collect();
        let recovery = Recovery::CorrectCall(Box::new(Correction {
            issues: Some(InvalidPayload::new(issues)),
            prior_input: call.args().clone(),
            example: None,
        }));
        let failure = ToolFailure::new(FailureKind::InvalidCall, message, recovery);
        Err(Box::new(ToolResult::new(&call, Err(failure))))
    }
}

/// A finding about a request. It displays as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its code: `TWD1…` for losses, `TWD2…` for budgets, `TWD3…` for names.
    pub code: &'static str,
    /// True if the request cannot be sent.
    pub is_error: bool,
    /// The canonical name of the tool it is about; empty for all of them.
    pub tool: String,
    /// The sentence.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

/// Names the tools of a request and decides which of them are strict: those that always are, then the cheapest, until a budget
/// of the dialect is full. A tool that is refused strictly is sent plainly; one that is refused plainly too is left out. No tool
/// makes the request fail for the others, except for two names that are equal on the wire, and for more tools or bytes than a request may
/// have.
pub fn place<'a>(tools: &[Projections<'a>], dialect: &Dialect) -> Request<'a> {
    let mut findings = Vec::new();
    let is_strict = strict_tools(tools, dialect, &mut findings);
    let mut placed = Vec::new();
    for (tool, is_strict) in tools.iter().zip(is_strict) {
        let projection = if is_strict { tool.strict } else { tool.plain };
        if projection.class == Class::Refused {
            let reason =
                projection.losses.iter().find(|loss| loss.kind == crate::loss::LossKind::Refused);
            let (at, reason) =
                reason.map_or(("", ""), |loss| (loss.at.as_str(), loss.now.as_str()));
            let place = if at.is_empty() { "its schema".to_owned() } else { format!("`{at}`") };
            let message = format!("`{}` is left out: {place} {reason}", tool.name);
            findings.push(Finding {
                code: "TWD101",
                is_error: false,
                tool: tool.name.to_owned(),
                message,
            });
            continue;
        }
        let is_deferred = tool.is_deferred && dialect.tool_search().is_some();
        placed.push(PlacedTool { name: tool.name, projection, is_strict, is_deferred });
    }
    clashes(&placed, &mut findings);
    limits(&placed, dialect, &mut findings);
    Request { tools: placed, findings }
}

/// The share of the budgets that a strict tool takes.
fn cost(projection: &Projection) -> usize {
    projection.numbers.optional
        + 2 * projection.numbers.unions
        + projection.numbers.enum_values / 50
}

fn strict_tools(
    tools: &[Projections<'_>],
    dialect: &Dialect,
    findings: &mut Vec<Finding>,
) -> Vec<bool> {
    let mut is_strict = vec![false; tools.len()];
    if !dialect.is_strict() {
        return is_strict;
    }
    let mut order: Vec<usize> = (0..tools.len())
        .filter(|index| {
            tools[*index].strictness != Strictness::Never
                && tools[*index].strict.class != Class::Refused
        })
        .collect();
    order.sort_by_key(|index| (tools[*index].strictness, cost(tools[*index].strict), *index));
    let mut budget = Budget::default();
    for index in order {
        let tool = &tools[index];
        let with = budget.with(tool.strict);
        if let Some((what, most)) = with.over(dialect) {
            let message = format!(
                "`{}` is sent without enforcement: a request may have {most} {what}",
                tool.name
            );
            findings.push(Finding {
                code: "TWD201",
                is_error: false,
                tool: tool.name.to_owned(),
                message,
            });
        } else {
            (budget, is_strict[index]) = (with, true);
        }
    }
    if dialect.all_tools_strict_or_none && is_strict.contains(&false) {
        is_strict.fill(false);
    }
    is_strict
}

/// The sums of the strict tools so far.
#[derive(Clone, Copy, Default)]
struct Budget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Budget {
    fn with(self, projection: &Projection) -> Self {
        Self {
            tools: self.tools + 1,
            optional: self.optional + projection.numbers.optional,
            unions: self.unions + projection.numbers.unions,
        }
    }

    fn over(self, dialect: &Dialect) -> Option<(&'static str, usize)> {
        let limits = dialect.limits();
        [
            (self.tools, limits.strict_tools, "strict tools"),
            (self.optional, limits.optional_params, "optional parameters of strict tools"),
            (self.unions, limits.union_params, "parameters with unions of strict tools"),
        ]
        .into_iter()
        .find_map(|(found, most, what)| most.filter(|most| found > *most).map(|most| (what, most)))
    }
}

fn clashes(placed: &[PlacedTool<'_>], findings: &mut Vec<Finding>) {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for tool in placed {
        if let Some(other) = names.insert(&tool.projection.wire_name, tool.name) {
            let wire = &tool.projection.wire_name;
            let message = format!(
                "`{other}` and `{}` are both `{wire}` on the wire; rename one of them",
                tool.name
            );
            findings.push(Finding {
                code: "TWD301",
                is_error: true,
                tool: tool.name.to_owned(),
                message,
            });
        }
    }
}

fn limits(placed: &[PlacedTool<'_>], dialect: &Dialect, findings: &mut Vec<Finding>) {
    let limits = dialect.limits();
    let mut report = |code, message| {
        findings.push(Finding { code, is_error: true, tool: String::new(), message });
    };
    if let Some(most) = limits.tools.filter(|most| placed.len() > *most) {
        report(
            "TWD202",
            format!(
                "found {} tools, and a request may have {most}; leave some out or defer them",
                placed.len()
            ),
        );
    }
    let bytes: usize = placed.iter().map(|tool| tool.projection.numbers.bytes).sum();
    if let Some(most) = limits.json_bytes.filter(|most| bytes > *most) {
        let largest = placed
            .iter()
            .max_by_key(|tool| tool.projection.numbers.bytes)
            .map_or("", |tool| tool.name);
        report(
            "TWD203",
            format!(
                "found {bytes} bytes of definitions, and a request may have {most}; `{largest}` is the largest"
            ),
        );
    }
}
