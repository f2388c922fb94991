//! `toolwright dialects`: what each provider accepts of the tools' schemas.

mod lines;
mod report;

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use toolwright::Value;
use toolwright::issue::suggestion;
use toolwright_codegen::project::Project;
use toolwright_dialect::{Dialect, Policy, Projection, Subject, project};

use crate::exit::Exit;
use crate::print;

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
        /// Dialects to report on; all unless given.
        #[arg(long, value_name = "DIALECT")]
        dialect: Vec<String>,
        /// A table for people, or a JSON object a line for each tool and dialect.
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// List each loss of a tool in a dialect, with what stood in the schema and what stands there now.
    Why {
        /// The tool.
        tool: String,
        /// The dialect.
        dialect: String,
        #[command(flatten)]
        tools: Tools,
    },
    /// Print the schema of a tool as a dialect gets it.
    Schema {
        /// The tool.
        tool: String,
        /// The dialect.
        dialect: String,
        #[command(flatten)]
        tools: Tools,
    },
    /// Read tools as JSON lines, and answer each with its projection.
    Project,
    /// Read values as JSON lines, and answer each with the value encoded or decoded.
    Codec,
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
}

/// A tool, wherever it is from.
struct Tool {
    name: String,
    description: String,
    args: String,
}

impl Tool {
    fn project(&self, dialect: &Dialect) -> Projection {
        let subject =
            Subject { name: &self.name, description: &self.description, args: &self.args };
        project(&subject, dialect, &Policy::default())
    }
}

pub(crate) fn run(command: Command) -> Exit {
    match command {
        Command::List => report::list(),
        Command::Show { dialect } => report::show(named(&dialect)),
        Command::Report { tools, dialect, format } => with(&tools, |tools| {
            let all: Vec<&Dialect> = if dialect.is_empty() {
                Dialect::all().collect()
            } else {
                dialect.iter().map(|id| named(id)).collect()
            };
            report::report(tools, &all, format)
        }),
        Command::Why { tool, dialect, tools } => {
            with(&tools, |tools| report::why(find(tools, &tool), named(&dialect)))
        }
        Command::Schema { tool, dialect, tools } => {
            with(&tools, |tools| report::schema(find(tools, &tool), named(&dialect)))
        }
        Command::Project => lines::project_lines(),
        Command::Codec => lines::codec_lines(),
    }
}

/// The dialect of an id. Another one is a wrong command line.
fn named(id: &str) -> &'static Dialect {
    Dialect::find(id).unwrap_or_else(|error| wrong(&error.to_string()))
}

fn find<'a>(tools: &'a [Tool], name: &str) -> &'a Tool {
    tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| {
        let help = suggestion(name, tools.iter().map(|tool| tool.name.as_str()), "there is");
        wrong(&format!("there is no tool `{name}`; {help}"))
    })
}

fn wrong(message: &str) -> ! {
    clap::Error::raw(ErrorKind::InvalidValue, format!("{message}\n")).exit()
}

/// Reads the tools and does something with them.
fn with(tools: &Tools, f: impl FnOnce(&[Tool]) -> Exit) -> Exit {
    match &tools.tools_json {
        Some(path) => match listed(path) {
            Ok(tools) => f(&tools),
            Err((end, message)) => {
                print::err_line(&format!("dialects: {}: {message}", path.display()));
                end
            }
        },
        None => match Project::open(Path::new(".")).and_then(|project| project.published_tools()) {
            Ok(tools) => {
                let tool = |tool: toolwright_codegen::project::PublishedTool| Tool {
                    name: tool.name,
                    description: tool.description,
                    args: tool.args,
                };
                f(&tools.into_iter().map(tool).collect::<Vec<_>>())
            }
            Err(failure) => {
                print::err(&failure.render(crate::ReportFormat::Human.into()));
                print::err_line(&format!("dialects: {failure}"));
                Exit::from(&failure)
            }
        },
    }
}

/// The tools of a saved answer to `tools/list`: an object with `tools`, its JSON-RPC envelope, or the array alone.
fn listed(path: &Path) -> Result<Vec<Tool>, (Exit, String)> {
    let text = toolwright_codegen::disk::read_writable(path)
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
        tools.push(Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            args: schema.to_string(),
        });
    }
    Ok(tools)
}
