//! The arguments of `import mcp`, most of which `import openapi` has too.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use toolwright_codegen::is_name;
use toolwright_import::{Provenance, Selection, is_date};

/// The source of the tool list.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ListArgs {
    /// A file with the server's response to `tools/list`: the whole response, its result, or the bare list.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools_json: Option<PathBuf>,
    /// The URL of a server on streamable HTTP, such as <http://127.0.0.1:3000/mcp>.
    #[arg(long, value_parser = url)]
    pub(crate) url: Option<String>,
    /// The command that starts a server on its standard streams.
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// The settings of a connection to a server.
#[derive(Args)]
#[command(next_help_heading = "Connecting to a server")]
pub(crate) struct ConnectionArgs {
    /// A header to send with every request, such as 'X-Team: tools'. May be repeated.
    #[arg(long, value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
    /// The environment variable that holds a bearer token. Other users could see a token on the command line.
    #[arg(long, value_name = "VAR", requires = "url")]
    pub(crate) bearer_env: Option<String>,
    /// An environment variable that a started server gets, besides the usual ones such as PATH and HOME. Its value is removed from
    /// what the server sends. May be repeated.
    #[arg(long, value_name = "VAR", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// The timeout for starting the server and listing its tools: 30s, 500ms, 2m.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = toolwright::spec::parse_period)]
    pub(crate) timeout: Duration,
}

/// The selection and the names of tools.
#[derive(Args)]
#[command(next_help_heading = "Tools and their names")]
pub(crate) struct SelectionArgs {
    /// Import only these tools: names in the source, or patterns with * and ?. May be repeated.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1..)]
    only: Vec<String>,
    /// Import all tools except these.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1..)]
    except: Vec<String>,
    /// Rename a tool, such as search-issues=find_issues.
    #[arg(long, value_name = "REMOTE=LOCAL", num_args = 1.., value_parser = rename)]
    rename: Vec<(String, String)>,
    /// A prefix for the names of tools, such as git_, because names are unique in a project. --rename takes precedence.
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    prefix: String,
}

/// The provenance of the tools.
#[derive(Args)]
#[command(next_help_heading = "Where the tools are from (kept in the file)")]
pub(crate) struct ProvenanceArgs {
    /// The date of the list, as YYYY-MM-DD. The clock is not read.
    #[arg(long, value_name = "DATE", value_parser = date)]
    date: Option<String>,
    /// The server's name, if the list does not have it.
    #[arg(long, value_name = "NAME", value_parser = text)]
    server_name: Option<String>,
    /// The server's version, if the list does not have it.
    #[arg(long, value_name = "VERSION", value_parser = text)]
    server_version: Option<String>,
    /// The revision of MCP, such as 2025-11-25, if the list does not have it.
    #[arg(long, value_name = "REVISION", value_parser = text)]
    protocol: Option<String>,
}

/// How an existing file is updated.
#[derive(Args)]
#[command(next_help_heading = "When the file exists")]
pub(crate) struct UpdateArgs {
    /// Write nothing; show the changes and exit with 1 if there are any.
    #[arg(long, visible_alias = "dry-run", requires = "out")]
    pub(crate) check: bool,
    /// Import tools that the file left out before: names in the source, or patterns.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1.., requires = "out")]
    add: Vec<String>,
    /// Import all tools that are new on the server. Without it they are only listed.
    #[arg(long, requires = "out")]
    add_new: bool,
    /// Remove tools that the server no longer has. Without it they are an error.
    #[arg(long, requires = "out")]
    remove_gone: bool,
    /// Replace the file, whatever it contains.
    #[arg(long, requires = "out", conflicts_with_all = ["add", "add_new", "remove_gone"])]
    pub(crate) force: bool,
}

impl SelectionArgs {
    /// Returns the selection for a new file.
    pub(crate) fn for_new_file(&self) -> Selection {
        Selection {
            only: self.only.clone(),
            except: self.except.clone(),
            renames: self.rename.clone(),
            prefix: self.prefix.clone(),
            ..Selection::default()
        }
    }

    /// Returns the selection for a file that may exist.
    pub(crate) fn for_update(&self, update: &UpdateArgs) -> Selection {
        Selection {
            only: self.only.clone(),
            except: self.except.clone(),
            add: update.add.clone(),
            add_new: update.add_new,
            remove_gone: update.remove_gone,
            renames: self.rename.clone(),
            prefix: self.prefix.clone(),
        }
    }
}

impl ProvenanceArgs {
    pub(crate) fn provenance(&self) -> Provenance<String> {
        Provenance {
            name: self.server_name.clone(),
            version: self.server_version.clone(),
            protocol: self.protocol.clone(),
            date: self.date.clone(),
        }
    }
}

/// Parses a name of the schema language.
pub(crate) fn name(text: &str) -> Result<String, String> {
    if is_name(text) {
        return Ok(text.to_owned());
    }
    Err("expected a name such as `git_hub`: lowercase letters, digits, and single `_` between them"
        .to_owned())
}

fn url(text: &str) -> Result<String, String> {
    let is_http = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    is_http.then(|| text.to_owned()).ok_or_else(|| "expected an http or https URL".to_owned())
}

fn rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((remote, local)) if !remote.is_empty() => Ok((remote.to_owned(), local.to_owned())),
        _ => Err("expected the name on the server, `=` and the new name".to_owned()),
    }
}

fn date(text: &str) -> Result<String, String> {
    let error = || "expected a date as YYYY-MM-DD, such as 2026-11-22".to_owned();
    is_date(text).then(|| text.to_owned()).ok_or_else(error)
}

fn text(text: &str) -> Result<String, String> {
    let is_valid = !text.trim().is_empty() && !text.chars().any(char::is_control);
    let error = || "expected a text without control characters".to_owned();
    is_valid.then(|| text.to_owned()).ok_or_else(error)
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a header such as `X-Team: tools`".to_owned()),
    }
}
