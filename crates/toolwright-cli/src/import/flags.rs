//! The flags of `import mcp` and what they say, as far as that shows without a server. Never reads or asks anything.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use toolwright_codegen::is_name;
use toolwright_import::{Provenance, Selection, is_date};

/// Where the list is from.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct List {
    /// A file with the server's answer to `tools/list`: the result, the whole response, or the bare list.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools_json: Option<PathBuf>,
    /// The address of a server on streamable HTTP, such as <http://127.0.0.1:3000/mcp>.
    #[arg(long, value_parser = url)]
    pub(crate) url: Option<String>,
    /// The command that starts a server on its standard streams.
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// How a server is asked.
#[derive(Args)]
#[command(next_help_heading = "Asking a server")]
pub(crate) struct Asking {
    /// A header to send with every request, such as 'X-Team: tools'; may be repeated.
    #[arg(long, value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
    /// The environment variable that holds a bearer token; a token on the command line would be seen by others.
    #[arg(long, value_name = "VAR", requires = "url")]
    pub(crate) bearer_env: Option<String>,
    /// How long the server may take, start included: 30s, 500ms, 2m.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = toolwright::spec::parse_period)]
    pub(crate) timeout: Duration,
}

/// Which tools are taken, and their names.
#[derive(Args)]
#[command(next_help_heading = "Tools and their names")]
pub(crate) struct Choice {
    /// Take these tools alone: names on the server, or patterns with * and ?. May be repeated.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1..)]
    only: Vec<String>,
    /// Take all but these.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1..)]
    except: Vec<String>,
    /// Call a tool otherwise than on the server, such as search-issues=find_issues.
    #[arg(long, value_name = "REMOTE=LOCAL", num_args = 1.., value_parser = rename)]
    rename: Vec<(String, String)>,
    /// Begin the names of tools so, such as git_, where --rename says nothing else: names of tools are unique in a project.
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    prefix: String,
}

/// What is known of the server.
#[derive(Args)]
#[command(next_help_heading = "Where the tools are from (kept in the file)")]
pub(crate) struct Origin {
    /// The day on which the server was asked, as YYYY-MM-DD; no clock is read.
    #[arg(long, value_name = "DATE", value_parser = date)]
    date: Option<String>,
    /// The server's name for itself, where the list does not say it.
    #[arg(long, value_name = "NAME", value_parser = words)]
    server_name: Option<String>,
    /// The server's version, where the list does not say it.
    #[arg(long, value_name = "VERSION", value_parser = words)]
    server_version: Option<String>,
    /// The revision of MCP that was spoken, such as 2025-11-25, where the list does not say it.
    #[arg(long, value_name = "REVISION", value_parser = words)]
    protocol: Option<String>,
}

/// What becomes of a file that is there.
#[derive(Args)]
#[command(next_help_heading = "When the file is there already")]
pub(crate) struct Again {
    /// Write nothing; show what would change and exit with 1 if anything would.
    #[arg(long, visible_alias = "dry-run", requires = "out")]
    pub(crate) check: bool,
    /// Take tools that the file left out before: names on the server, or patterns.
    #[arg(long, value_name = "NAME|GLOB", num_args = 1.., requires = "out")]
    add: Vec<String>,
    /// Take all tools that are new on the server; without it they are only named.
    #[arg(long, requires = "out")]
    add_new: bool,
    /// Remove tools that the server no longer has; without it they are an error.
    #[arg(long, requires = "out")]
    remove_gone: bool,
    /// Write the file anew, whatever it holds.
    #[arg(long, requires = "out", conflicts_with_all = ["add", "add_new", "remove_gone"])]
    pub(crate) force: bool,
}

impl Choice {
    /// The selection for a file that is written anew.
    pub(crate) fn fresh(&self) -> Selection {
        Selection {
            only: self.only.clone(),
            except: self.except.clone(),
            renames: self.rename.clone(),
            prefix: self.prefix.clone(),
            ..Selection::default()
        }
    }

    pub(crate) fn selection(&self, again: &Again) -> Selection {
        Selection {
            only: self.only.clone(),
            except: self.except.clone(),
            add: again.add.clone(),
            add_new: again.add_new,
            remove_gone: again.remove_gone,
            renames: self.rename.clone(),
            prefix: self.prefix.clone(),
        }
    }
}

impl Origin {
    pub(crate) fn provenance(&self) -> Provenance<String> {
        Provenance {
            name: self.server_name.clone(),
            version: self.server_version.clone(),
            protocol: self.protocol.clone(),
            date: self.date.clone(),
        }
    }
}

/// A name of the language.
pub(crate) fn name(text: &str) -> Result<String, String> {
    if is_name(text) {
        return Ok(text.to_owned());
    }
    Err("expected a name such as `git_hub`: small letters, digits, and single `_` between them"
        .to_owned())
}

fn url(text: &str) -> Result<String, String> {
    let is_http = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    is_http.then(|| text.to_owned()).ok_or_else(|| "expected an http or https address".to_owned())
}

fn rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((remote, local)) if !remote.is_empty() => Ok((remote.to_owned(), local.to_owned())),
        _ => Err("expected the name on the server, `=` and the name here".to_owned()),
    }
}

fn date(text: &str) -> Result<String, String> {
    let error = || "expected a day of the calendar as YYYY-MM-DD, such as 2026-11-22".to_owned();
    is_date(text).then(|| text.to_owned()).ok_or_else(error)
}

fn words(text: &str) -> Result<String, String> {
    let says = !text.trim().is_empty() && !text.chars().any(char::is_control);
    says.then(|| text.to_owned()).ok_or_else(|| "expected a text".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a header such as `X-Team: tools`".to_owned()),
    }
}
