//! The address of an MCP server: a command to start, or a URL.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright::http::RedactedUrl;
use toolwright::untrusted::Redactor;

/// The minimum length of a secret in characters. A shorter value may be a setting, and may occur in any result.
const MIN_SECRET: usize = 8;

/// The variables that a server gets unless it gets none or all: those that programs need to find their files and language, on all
/// systems. MCP's own SDKs pass on nearly the same.
pub(super) const PLAIN_VARIABLES: [&str; 27] = [
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The address of an MCP server.
#[derive(Clone, Debug)]
pub enum ServerAddress {
    /// A program to start, which communicates over its standard streams.
    Command(ServerCommand),
    /// A URL on streamable HTTP. Needs the feature `http-client`, and `tls` for `https`.
    Url(ServerUrl),
}

/// An MCP server that the client starts as a child process. Configured like [`std::process::Command`]. It is ended with
/// the client.
#[derive(Clone)]
pub struct ServerCommand {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) envs: Vec<(OsString, OsString)>,
    /// The values of variables that are secrets.
    pub(super) secrets: Vec<String>,
    pub(super) inherited: Inherited,
    pub(super) cwd: Option<PathBuf>,
    pub(super) roots: Vec<String>,
    pub(super) stderr: Stderr,
}

/// The environment variables of this process that a server gets.
#[derive(Clone, Copy)]
pub(super) enum Inherited {
    None,
    /// [`PLAIN_VARIABLES`].
    Plain,
    All,
}

/// Where the standard error of a server goes.
#[derive(Clone, Default)]
pub enum Stderr {
    /// Discards it.
    #[default]
    Null,
    /// Writes it to the standard error of this process.
    Inherit,
    /// Passes each line to a function. Lines are cut after 64 KiB, and invalid UTF-8 is replaced.
    Sink(Arc<dyn Fn(&str) + Send + Sync>),
}

/// An MCP server on streamable HTTP.
#[derive(Clone)]
pub struct ServerUrl {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) bearer: Option<String>,
    pub(super) roots: Vec<String>,
}

/// Creates a redactor for the values that a server gets and could repeat.
pub(super) fn redactor(values: &[String]) -> Redactor {
    Redactor::new(values.iter().filter(|value| value.chars().count() >= MIN_SECRET))
}

impl ServerAddress {
    /// The roots that the server may work in, as `file:` URIs.
    pub(super) fn roots(&self) -> &[String] {
        match self {
            Self::Command(command) => &command.roots,
            Self::Url(url) => &url.roots,
        }
    }
}

impl fmt::Display for ServerAddress {
    /// Writes the program or the URL, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "`{}`", command.program.to_string_lossy()),
            Self::Url(url) => write!(f, "`{}`", RedactedUrl::new(&url.url)),
        }
    }
}

impl From<ServerCommand> for ServerAddress {
    fn from(command: ServerCommand) -> Self {
        Self::Command(command)
    }
}

impl From<ServerUrl> for ServerAddress {
    fn from(url: ServerUrl) -> Self {
        Self::Url(url)
    }
}

impl ServerCommand {
    /// Creates the command for a program, which is searched in `PATH`. It has no arguments. It inherits the working directory of
    /// this process, and the variables of its environment that programs need to find their files and language, such as `PATH`,
    /// `HOME`, `TMPDIR` and `LANG`: the others may be secrets.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            envs: Vec::new(),
            secrets: Vec::new(),
            inherited: Inherited::Plain,
            cwd: None,
            roots: Vec::new(),
            stderr: Stderr::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable of the server.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.envs.push((name.into(), value.into()));
        self
    }

    /// Sets an environment variable of the server to a secret. A value of eight characters or more is replaced by `…`
    /// wherever the server repeats it, except in a standard error that is [inherited](Stderr::Inherit).
    #[must_use]
    pub fn secret_env(mut self, name: impl Into<OsString>, value: impl Into<String>) -> Self {
        let value = value.into();
        self.secrets.push(value.clone());
        self.env(name, value)
    }

    /// Inherits the whole environment of this process, with all secrets in it. The server can repeat them, and they are not removed
    /// from what it sends.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherited = Inherited::All;
        self
    }

    /// Does not inherit the environment of this process: the server gets only the variables set with
    /// [`ServerCommand::env`] and [`ServerCommand::secret_env`].
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inherited = Inherited::None;
        self
    }

    /// Sets the working directory of the server.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Adds a root, a folder that the server may work in, as a `file:` URI.
    #[must_use]
    pub fn with_root(mut self, uri: impl Into<String>) -> Self {
        self.roots.push(uri.into());
        self
    }

    /// Sets where the server's standard error goes. By default it is discarded.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }
}

impl ServerUrl {
    /// Creates the address for an `http` or `https` URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Vec::new(), bearer: None, roots: Vec::new() }
    }

    /// Adds a header to every request. A value of eight characters or more is treated as a secret: it is replaced by `…`
    /// wherever the server repeats it.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends a bearer token (RFC 6750) with every request. A token of eight characters or more is replaced by `…` wherever
    /// the server repeats it.
    #[must_use]
    pub fn with_bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer = Some(token.into());
        self
    }

    /// Adds a root, a folder that the server may work in, as a `file:` URI.
    #[must_use]
    pub fn with_root(mut self, uri: impl Into<String>) -> Self {
        self.roots.push(uri.into());
        self
    }
}

impl fmt::Debug for ServerCommand {
    /// Omits the values of environment variables, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.envs.iter().map(|(name, _)| name).collect();
        f.debug_struct("ServerCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("envs", &names)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerUrl {
    /// Omits the token, the values of headers, and secrets in the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ServerUrl")
            .field("url", &RedactedUrl::new(&self.url))
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "Null",
            Self::Inherit => "Inherit",
            Self::Sink(_) => "Sink",
        })
    }
}
