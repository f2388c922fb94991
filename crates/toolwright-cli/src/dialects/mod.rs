//! `toolwright dialects`: shows which parts of the tools' schemas each provider accepts.

mod lines;
mod report;
mod tokens;

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use toolwright::Value;
use toolwright::issue::suggestion;
use toolwright_codegen::dialects::Dialects;
use toolwright_codegen::project::{Failure, Project, PublishedTool};
use toolwright_dialect::{Dialect, Projection, ReadSubject, Subject};

use crate::exit::Exit;
use crate::print;
use crate::usage_error;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the dialects: the endpoints of providers, in each mode.
    List,
    /// Show the rules, limits and sources of a dialect.
    Show {
        /// The dialect, such as openai-chat-strict or openai-chat-strict@2026-09.
        dialect: String,
    },
    /// Show how many tools each dialect takes without loss, and which it refuses.
    Report {
        #[command(flatten)]
        tools: Tools,
        /// Dialects to report on [default: the targets of the project, or all].
        #[arg(long, value_name = "DIALECT")]
        dialect: Vec<String>,
        /// A table for people, a JSON object on a line for each tool and dialect, or the findings of `check` as SARIF.
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// List each loss of a tool in a dialect, with the keyword in the schema and its replacement.
    Why(ToolInDialect),
    /// Print the schema of a tool as a dialect gets it.
    Schema(ToolInDialect),
    /// Estimate how many tokens the definitions of tools take in each request.
    Tokens {
        #[command(flatten)]
        tools: Tools,
        /// Dialects to estimate for [default: the targets of the project, or all].
        #[arg(long, value_name = "DIALECT")]
        dialect: Vec<String>,
    },
    /// Show what differs between two dialects, and which tools that changes.
    Diff {
        /// A dialect, such as openai-chat-strict@2026-09.
        before: String,
        /// Another dialect.
        after: String,
        #[command(flatten)]
        tools: Tools,
    },
    /// Read a JSON object on each line, `{"dialect", "tool", "schema"}`, and answer with the schema for the dialect and what is lost in
    /// it.
    Project,
    /// Read a JSON object on each line, `{"dialect", "tool", "schema", "op", "value"}` with the `op` `encode` or `decode`, and answer
    /// with the value.
    Codec,
}

/// A tool in a dialect.
#[derive(Args)]
pub(crate) struct ToolInDialect {
    /// The tool.
    tool: String,
    /// The dialect.
    dialect: String,
    /// Use the schema of the tool's result, which a model gets if an agent implements the tool.
    #[arg(long)]
    result: bool,
    #[command(flatten)]
    tools: Tools,
}

/// The tools that a command is about.
#[derive(Args)]
pub(crate) struct Tools {
    /// A saved answer to `tools/list` of an MCP server, instead of the tools of the project.
    #[arg(long, value_name = "FILE")]
    tools_json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
    Sarif,
}

/// Reads a tool for its projections.
fn read(tool: &PublishedTool) -> ReadSubject<'_> {
    Subject { name: &tool.name, description: &tool.description, args: &tool.args }.read()
}

/// Reads the result of a tool as the arguments of the final answer of the agent that implements it.
fn read_answer(tool: &PublishedTool) -> Option<ReadSubject<'_>> {
    tool.answer.as_deref().map(|result| Subject::final_answer(result).read())
}

/// The most schemas that a command projects, as [`Projection::schemas`] counts them, or so many for each byte of the tools' text.
const MOST_PROJECTED: usize = 2_000_000;
const PROJECTED_PER_BYTE: usize = 2;

/// Projects tools by the policies of the project.
struct Projector<'a> {
    dialects: &'a Dialects,
    /// How many schemas may be projected, and how many of them may still be.
    most: usize,
    left: usize,
}

impl<'a> Projector<'a> {
    /// For tools that were read from a text of some bytes.
    fn new(dialects: &'a Dialects, bytes: usize) -> Self {
        let most = MOST_PROJECTED.max(PROJECTED_PER_BYTE * bytes);
        Self { dialects, most, left: most }
    }

    /// Projects a tool or its result. Ends the command if too many schemas would have been projected.
    fn project(
        &mut self,
        tool: &PublishedTool,
        subject: &ReadSubject<'_>,
        dialect: &Dialect,
    ) -> Projection {
        let found = subject.project(dialect, &self.dialects.policy(&tool.name));
        self.left = self.left.checked_sub(1 + found.schemas).unwrap_or_else(|| {
            wrong(&format!(
                "projecting the tools for these dialects costs more than {} schemas; name fewer dialects, or split large types and values",
                self.most
            ))
        });
        found
    }
}

pub(crate) fn run(command: Command) -> Exit {
    let project = match Project::open(Path::new(".")) {
        Ok(project) => project,
        Err(failure) => return failed(&failure),
    };
    let dialects = project.dialects();
    let named = |id: &str| dialects.find(id).unwrap_or_else(|error| wrong(&error.to_string()));
    match command {
        Command::List => report::list(dialects),
        Command::Show { dialect } => report::show(named(&dialect)),
        Command::Report { tools, dialect, format: Format::Sarif } => {
            if tools.tools_json.is_some() {
                wrong("a saved list has no places in files; expected `--format json`");
            }
            let ids = if dialect.is_empty() {
                selected(dialects, &[]).map(Dialect::dated_id).collect()
            } else {
                dialect
            };
            match project.with_targets(&ids) {
                Ok(project) => crate::check::report(&project, crate::ReportFormat::Sarif, None),
                Err(error) => wrong(&error.to_string()),
            }
        }
        Command::Report { tools, dialect, format } => {
            let named: Vec<_> = dialect.iter().map(|id| named(id)).collect();
            let rows: Vec<_> = selected(dialects, &named).collect();
            with(&project, &tools, |tools, projector| {
                report::report(tools, projector, &rows, format)
            })
        }
        Command::Why(tool) => with(&project, &tool.tools, |tools, projector| {
            let dialect = named(&tool.dialect);
            report::why(&tool, dialect, &tool.projected(tools, dialect, projector))
        }),
        Command::Schema(tool) => with(&project, &tool.tools, |tools, projector| {
            let dialect = named(&tool.dialect);
            report::schema(&tool, dialect, &tool.projected(tools, dialect, projector))
        }),
        Command::Tokens { tools, dialect } => {
            let named: Vec<_> = dialect.iter().map(|id| named(id)).collect();
            let rows: Vec<_> = selected(dialects, &named).collect();
            with(&project, &tools, |tools, projector| tokens::report(tools, projector, &rows))
        }
        Command::Diff { before, after, tools } => with(&project, &tools, |tools, projector| {
            report::diff(tools, projector, [named(&before), named(&after)])
        }),
        Command::Project => lines::project_lines(dialects),
        Command::Codec => lines::codec_lines(dialects),
    }
}

/// Returns the dialects that are named; without any, the targets of the project; without any, all.
fn selected<'a>(
    dialects: &'a Dialects,
    named: &[&'a Dialect],
) -> impl Iterator<Item = &'a Dialect> {
    let targets: Vec<_> = dialects.targets().collect();
    let rows = match (named, targets.is_empty()) {
        ([], false) => targets,
        ([], true) => dialects.newest().collect(),
        (named, _) => named.to_vec(),
    };
    rows.into_iter()
}

impl ToolInDialect {
    /// Names the schema in a message: that of the tool, or that of its result.
    fn what(&self) -> String {
        if self.result {
            format!("the result of `{}`", self.tool)
        } else {
            format!("`{}`", self.tool)
        }
    }

    fn projected(
        &self,
        tools: &[PublishedTool],
        dialect: &Dialect,
        mut projector: Projector<'_>,
    ) -> Projection {
        let tool = find(tools, &self.tool);
        let subject = if self.result { read_answer(tool) } else { Some(read(tool)) };
        let Some(subject) = subject else {
            let why = "no agent implements it, so no provider gets the schema of its result";
            wrong(&format!("`{}` is not projected with `--result`: {why}", self.tool))
        };
        projector.project(tool, &subject, dialect)
    }
}

fn find<'a>(tools: &'a [PublishedTool], name: &str) -> &'a PublishedTool {
    tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| {
        let help = suggestion(name, tools.iter().map(|tool| tool.name.as_str()), "there is");
        wrong(&format!("there is no tool `{name}`; {help}"))
    })
}

fn wrong(message: &str) -> ! {
    usage_error::exit(ErrorKind::InvalidValue, message)
}

fn failed(failure: &Failure) -> Exit {
    print::err(&failure.render(crate::ReportFormat::Human.into()));
    print::err_line(&format!("dialects: {failure}"));
    Exit::from(failure)
}

/// Reads the tools and runs a command on them.
fn with(
    project: &Project,
    tools: &Tools,
    command: impl FnOnce(&[PublishedTool], Projector<'_>) -> Exit,
) -> Exit {
    let projector = |bytes| Projector::new(project.dialects(), bytes);
    let Some(path) = &tools.tools_json else {
        return match project.published_tools() {
            Ok((tools, bytes)) => command(&tools, projector(bytes)),
            Err(failure) => failed(&failure),
        };
    };
    match listed(path) {
        Ok((tools, bytes)) => command(&tools, projector(bytes)),
        Err((exit, message)) => {
            print::err_line(&format!("dialects: {}: {message}", path.display()));
            exit
        }
    }
}

/// The tools of a saved answer to `tools/list`, and the bytes of its text: an object with `tools`, its JSON-RPC envelope, or the
/// array alone.
fn listed(path: &Path) -> Result<(Vec<PublishedTool>, usize), (Exit, String)> {
    let text = toolwright_codegen::disk::read_text(path)
        .map_err(|failure| (Exit::Io, failure.to_string()))?;
    let text = text.ok_or_else(|| (Exit::Io, "there is no such file".to_owned()))?;
    let value: Value = text
        .parse()
        .map_err(|invalid: toolwright::InvalidPayload| (Exit::Rejected, invalid.to_string()))?;
    let found =
        ["/result/tools", "/tools", ""].iter().find_map(|place| value.pointer(place)?.as_array());
    let found = found.ok_or_else(|| {
        (Exit::Rejected, "found no array `tools`, expected an answer to `tools/list`".to_owned())
    })?;
    let mut tools = Vec::new();
    for (index, tool) in found.iter().enumerate() {
        let (Some(name), Some(schema)) =
            (tool.get("name").and_then(Value::as_str), tool.get("inputSchema"))
        else {
            return Err((Exit::Rejected, format!("tool {index} lacks `name` or `inputSchema`")));
        };
        let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
        tools.push(PublishedTool {
            name: name.to_owned(),
            toolset: String::new(),
            agents: Vec::new(),
            is_deferred: false,
            description: description.to_owned(),
            args: schema.to_string(),
            answer: None,
        });
    }
    Ok((tools, text.len()))
}
