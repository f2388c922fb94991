//! Checks the tools of a project against the provider dialects that `toolwright.toml` names: projects each published schema,
//! and reports the losses that the project's policy does not allow.

mod place;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toolwright::Value;
use toolwright::issue::suggestion;
use toolwright::spec::Strictness;
use toolwright_dialect::{
    Dialect, DialectError, Level, Loss, LossKind, Policy, Projection, Projections, ReadSubject,
    Subject, place,
};

use crate::diagnostic::files::over_budget;
use crate::diagnostic::{Diagnostic, MAX_SUGGESTIONS, Severity, dialects as mistakes, shown};
use crate::json::{Json, Style};
use crate::model::{Agent, Project, Tool, ToolId};
use crate::schema::published;
use crate::source::{Span, Spanned};

/// The dialects of a project: its own ones, its targets, and which losses it allows.
#[derive(Debug, Default)]
pub struct Dialects {
    /// The project's own dialects.
    pub(crate) own: Vec<Dialect>,
    /// The targets of the project, by their dated ids.
    pub(crate) targets: Vec<String>,
    pub(crate) strict: Strict,
    /// True if the schemas that providers get are generated, too.
    pub(crate) emit: bool,
    pub(crate) policy: Policy,
    /// The policies of single tools, each with the place where `toolwright.toml` names the tool.
    pub(crate) exceptions: BTreeMap<String, Spanned<Policy>>,
}

/// Whether tools are sent in the strict form of a dialect, in which the provider enforces their schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strict {
    /// Never.
    Never,
    /// If the policy allows its losses.
    #[default]
    Prefer,
    /// Always.
    Require,
}

/// The most schemas of all tools that are projected to all targets together, or so many for each schema of a large project.
const MAX_PROJECTED: usize = 1_000_000;
const PROJECTED_PER_SCHEMA: usize = 64;

/// The bytes of a description that take about as long as one schema, if definitions are emitted.
const BYTES_OF_DESCRIPTION: usize = 64;

/// A tool as a dialect gets it.
pub(crate) struct Form<'a> {
    /// The dialect, or its plain sibling.
    pub(crate) row: &'a Dialect,
    pub(crate) projection: Projection,
    /// True if it must not be sent in the plain form.
    is_required: bool,
    policy: Policy,
    part: Part,
}

/// A target, and what is found for it.
struct Target<'a> {
    row: &'a Dialect,
    /// The strict row of its endpoint, if it has one.
    strict: Option<&'a Dialect>,
    /// The forms of the arguments of all tools, in their order, with summaries of projections.
    forms: Vec<Form<'a>>,
    findings: Vec<Diagnostic>,
}

/// The part of a tool that a provider gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The schema of the arguments, in the definition of the tool.
    Args,
    /// The schema of the result, in the definition of the final answer of the agent that implements the tool.
    Result,
}

impl Dialects {
    /// Finds a dialect of the project or a built-in one: the newest one of an id, or with `id@YYYY-MM` the one of that month.
    ///
    /// # Errors
    ///
    /// If there is none; the error names a similar one.
    pub fn find(&self, id: &str) -> Result<&Dialect, DialectError> {
        Dialect::newest(&self.own, id).map_or_else(|| Dialect::find(id), Ok)
    }

    /// Returns the project's own dialects, then the built-in ones.
    pub fn all(&self) -> impl Iterator<Item = &Dialect> {
        self.own.iter().chain(Dialect::all())
    }

    /// Returns the newest dialect of each id.
    pub fn newest(&self) -> impl Iterator<Item = &Dialect> {
        self.all().filter(|row| self.find(row.id()).is_ok_and(|newest| std::ptr::eq(newest, *row)))
    }

    /// Returns the targets of the project.
    pub fn targets(&self) -> impl Iterator<Item = &Dialect> {
        self.targets.iter().filter_map(|id| self.find(id).ok())
    }

    /// Returns the policy of a tool.
    pub fn policy(&self, tool: &str) -> Policy {
        match self.exceptions.get(tool) {
            Some(exception) => exception.value.clone().or(&self.policy),
            None => self.policy.clone(),
        }
    }

    /// Returns the strict row of an endpoint, if it has one; `row` may be either of its rows.
    fn strict_row<'a>(&'a self, row: &'a Dialect) -> Option<&'a Dialect> {
        if row.is_strict() {
            return Some(row);
        }
        let strict = self.all().filter(|other| other.is_strict() && other.plain().id() == row.id());
        strict.max_by_key(|row| row.as_of())
    }

    /// Projects a tool to each target. `args` is the published schema of its arguments.
    pub(crate) fn forms<'a>(&'a self, tool: &Tool, args: &str) -> Vec<Form<'a>> {
        let subject = read(tool, args);
        let form = |target| self.form(target, self.strict_row(target), tool, Part::Args, &subject);
        self.targets().map(form).collect()
    }

    /// Projects a part of a tool to a target, in the strict or the plain form. `strict` is the strict row of the target.
    fn form<'a>(
        &'a self,
        target: &'a Dialect,
        strict: Option<&'a Dialect>,
        tool: &Tool,
        part: Part,
        subject: &ReadSubject<'_>,
    ) -> Form<'a> {
        let policy = self.policy(&tool.name.value);
        let strictness = if part == Part::Args { tool.strictness } else { Strictness::default() };
        let is_required = match strictness {
            Strictness::Always => true,
            Strictness::Prefer => self.strict == Strict::Require || target.is_strict(),
            Strictness::Never => target.is_strict(),
        };
        let is_plain = self.strict == Strict::Never || strictness == Strictness::Never;
        // Those of a strict form that is given up are counted, too.
        let mut given_up = 0;
        if let Some(strict) = strict.filter(|_| is_required || !is_plain) {
            let projection = subject.project(strict, &policy);
            if is_required || policy.worst(&projection.losses) < Level::Deny {
                return Form { row: strict, projection, is_required, policy, part };
            }
            given_up = projection.schemas;
        }
        let row = target.plain();
        let mut projection = subject.project(row, &policy);
        projection.schemas += given_up;
        Form { row, projection, is_required, policy, part }
    }

    /// Returns the mistakes in exceptions for tools that the project does not have.
    pub(crate) fn unknown_tools(&self, project: &Project) -> Vec<Diagnostic> {
        let names: BTreeSet<&str> =
            project.tools.iter().map(|tool| tool.name.value.as_str()).collect();
        let unknown = self.exceptions.iter().filter(|(tool, _)| !names.contains(tool.as_str()));
        let mistake = |(index, (tool, exception)): (usize, (&String, &Spanned<Policy>))| {
            let mistake = mistakes::unknown_tool(exception.span, tool);
            if index < MAX_SUGGESTIONS {
                mistake.help(suggestion(tool, names.iter().copied(), "there is"))
            } else {
                mistake
            }
        };
        unknown.enumerate().map(mistake).collect()
    }

    /// Checks every tool for every target.
    pub(crate) fn findings(&self, project: &Project) -> Vec<Diagnostic> {
        let most = MAX_PROJECTED.max(PROJECTED_PER_SCHEMA * project.schemas.ids().count());
        let target = |row| Target {
            row,
            strict: self.strict_row(row),
            forms: Vec::new(),
            findings: Vec::new(),
        };
        let targets: Vec<Target<'_>> = self.targets().map(target).collect();
        let mut left = most;
        let mut spend = |schemas: usize, span: Span| {
            left = left.checked_sub(schemas).ok_or(span)?;
            Ok(())
        };
        let mut findings = Vec::new();
        if let Err(span) = self.judge(project, targets, &mut spend, &mut findings) {
            let message =
                format!("projecting the tools for the targets costs more than {most} schemas");
            let advice = "a type and its values count for each tool that uses them and each target; name fewer targets, or split large types";
            findings.push(over_budget(span, message, advice));
        }
        shown(findings)
    }

    /// Adds what is found. Fails with a place if `spend` does.
    fn judge<'a>(
        &'a self,
        project: &Project,
        mut targets: Vec<Target<'a>>,
        spend: &mut impl FnMut(usize, Span) -> Result<(), Span>,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Span> {
        let projected = self.project(project, &mut targets, spend);
        let ids = ToolId::first(project.tools.len());
        let ids = ids.map(|id| (project[id].name.value.as_str(), id)).collect();
        for mut target in targets {
            findings.append(&mut target.findings);
            if projected.is_err() {
                continue;
            }
            findings.extend(name_clashes(project, &target));
            for agent in &project.agents {
                spend(project.tools_of(agent).count(), agent.name.span)?;
                findings.extend(limits(project, &ids, &target, agent));
            }
        }
        projected
    }

    /// Projects each tool to each target, and adds what is found to the targets. A tool is read and dropped before the next, because
    /// values take many times the memory of their text.
    fn project<'a>(
        &'a self,
        project: &Project,
        targets: &mut [Target<'a>],
        spend: &mut impl FnMut(usize, Span) -> Result<(), Span>,
    ) -> Result<(), Span> {
        if targets.is_empty() {
            return Ok(());
        }
        let args = project.tools.iter().map(|tool| (Part::Args, tool));
        let answered = project.tools.iter().filter(|tool| project.is_answered(tool));
        for (part, tool) in args.chain(answered.map(|tool| (Part::Result, tool))) {
            let node = if part == Part::Args { tool.args } else { tool.result };
            let text = published(&project.schemas, node, Style::Compact);
            let subject = match part {
                Part::Args => read(tool, &text),
                Part::Result => Subject::final_answer(&text).read(),
            };
            for target in &mut *targets {
                let form = self.form(target.row, target.strict, tool, part, &subject);
                let schemas = form.projection.schemas;
                let emitted = if self.emit { form.projection.description.len() } else { 0 };
                spend(1 + schemas + emitted / BYTES_OF_DESCRIPTION, tool.name.span)?;
                target.findings.extend(form.findings(project, tool));
                if part == Part::Args {
                    target.forms.push(Form { projection: form.projection.summary(), ..form });
                }
            }
        }
        Ok(())
    }
}

/// Checks the tools of an agent, which are in one request, against the limits of a target. `ids` are those of all tools.
fn limits(
    project: &Project,
    ids: &BTreeMap<&str, ToolId>,
    target: &Target<'_>,
    agent: &Agent,
) -> Vec<Diagnostic> {
    let forms = &target.forms;
    let tools: Vec<ToolId> =
        project.tools_of(agent).filter(|tool| !project[*tool].is_deferred).collect();
    let projections = |tool: &ToolId| {
        let form = &forms[tool.position()];
        Projections {
            name: &project[*tool].name.value,
            strict: &form.projection,
            plain: &form.projection,
            strictness: match form.row.is_strict() {
                true if form.is_required => Strictness::Always,
                true => Strictness::Prefer,
                false => Strictness::Never,
            },
            is_deferred: false,
        }
    };
    let sent: Vec<Projections<'_>> = tools.iter().map(projections).collect();
    let row = target.strict.unwrap_or(target.row);
    let found = place(&sent, row).findings.into_iter().filter_map(|finding| {
        let is_required =
            |name: &str| ids.get(name).is_some_and(|tool| forms[tool.position()].is_required);
        let message = format!("the agent `{}` in {}: {finding}", agent.name.value, row.dated_id());
        match finding.code {
            // Other tools become plain, which is what `prefer` means.
            "TWD201" if is_required(&finding.tool) => {
                Some(mistakes::strict_budget(agent.name.span, message))
            }
            "TWD202" => Some(mistakes::too_many_tools(agent.name.span, message)),
            "TWD203" => Some(mistakes::too_many_bytes(agent.name.span, message)),
            _ => None,
        }
    });
    found.collect()
}

impl Form<'_> {
    /// Returns a finding for each kind of loss that the policy does not allow, at its first place.
    fn findings(&self, project: &Project, tool: &Tool) -> Vec<Diagnostic> {
        let mut findings: Vec<(Diagnostic, usize)> = Vec::new();
        for loss in &self.projection.losses {
            let severity = match self.policy.level(loss) {
                Level::Allow => continue,
                Level::Warn => Severity::Warning,
                Level::Deny => Severity::Error,
            };
            let mut finding = self.finding(project, tool, loss);
            finding.severity = severity;
            match findings.iter_mut().find(|(known, _)| known.code == finding.code) {
                Some((_, more)) => *more += 1,
                None => findings.push((finding, 0)),
            }
        }
        let with_count = |(mut finding, more): (Diagnostic, usize)| {
            if more > 0 {
                finding.message = format!("{}, and {more} more", finding.message);
            }
            finding
        };
        findings.into_iter().map(with_count).collect()
    }

    fn finding(&self, project: &Project, tool: &Tool, loss: &Loss) -> Diagnostic {
        let name = &tool.name.value;
        let (node, what, flag) = match self.part {
            Part::Args => (tool.args, format!("`{name}`"), ""),
            Part::Result => (tool.result, format!("the result of `{name}`"), " --result"),
        };
        let span = place::span_of(&project.schemas, (node, tool.name.span), &loss.at);
        let row = self.row.dated_id();
        let why =
            format!("`toolwright dialects why {name} {}{flag}` lists all losses", self.row.id());
        let finding = match (loss.kind, loss.keyword.as_str()) {
            (LossKind::Refused, _) => mistakes::refused(span, &what, &row, &loss.at, &loss.now),
            (LossKind::Narrowing, "absent") => mistakes::absent(span, &what, &row, &loss.at),
            (LossKind::Narrowing, _) => mistakes::unnamed_keys(span, &what, &row, &loss.at),
            (kind, keyword) => mistakes::widened(span, &what, &row, &loss.at, keyword, kind),
        };
        finding.help(why)
    }

    /// Returns the definition of the tool as JSON text: its name, description and schema on the wire.
    pub(crate) fn definition(&self) -> String {
        let Projection { wire_name, description, wire_schema, losses, .. } = &self.projection;
        let mut entries = vec![
            ("dialect".to_owned(), Json::string(self.row.dated_id())),
            ("name".to_owned(), Json::string(wire_name)),
            ("description".to_owned(), Json::string(description)),
        ];
        let refusal = losses.iter().find(|loss| loss.kind == LossKind::Refused);
        match (wire_schema, refusal) {
            (Some(schema), _) => entries.push(("parameters".to_owned(), json(schema))),
            (None, Some(loss)) => {
                entries.push((
                    "refused".to_owned(),
                    Json::string(format!("{} {}", loss.at, loss.now)),
                ));
            }
            (None, None) => {}
        }
        Json::Object(entries).pretty()
    }
}

/// Reads a tool for its projections; `args` is the published schema of its arguments.
fn read<'a>(tool: &'a Tool, args: &'a str) -> ReadSubject<'a> {
    Subject { name: &tool.name.value, description: &tool.description, args }.read()
}

/// Parses the text of a wire schema, which is valid JSON.
fn json(text: &str) -> Json {
    fn of(value: Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Boolean(value) => Json::Boolean(value),
            Value::Number(number) => Json::Number(number.to_string()),
            Value::String(text) => Json::String(text),
            Value::Array(items) => Json::Array(items.into_iter().map(of).collect()),
            Value::Object(entries) => {
                let entry = |(name, value): (String, Value)| (name, of(value));
                Json::Object(entries.into_iter().map(entry).collect())
            }
        }
    }
    text.parse().map_or(Json::Null, of)
}

/// Returns a finding for each two tools that have one name in a target.
fn name_clashes(project: &Project, target: &Target<'_>) -> Vec<Diagnostic> {
    let mut names: BTreeMap<&str, &Tool> = BTreeMap::new();
    let mut findings = Vec::new();
    for (tool, form) in project.tools.iter().zip(&target.forms) {
        let wire_name = form.projection.wire_name.as_str();
        if let Some(other) = names.insert(wire_name, tool) {
            findings.push(mistakes::equal_names(
                [&other.name, &tool.name],
                wire_name,
                &target.row.dated_id(),
            ));
        }
    }
    findings
}
