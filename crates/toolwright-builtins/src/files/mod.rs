//! Files below a folder: reading, listing and searching, and writing where that was asked for. Every path is resolved by
//! the kernel below the open folder (`cap-std`), so no `..`, absolute path or symbolic link leads out of it, whenever it
//! was put there.

mod read;
mod search;
mod walk;
mod write;

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use tokio_util::sync::CancellationToken;
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::{FailureKind, Recovery, Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::{Combined, IntoSource, Json};
use toolwright_runtime::{Source, Toolset};

use crate::rejected;

static FILES: ToolsetInfo = ToolsetInfo {
    name: "files",
    description: "Files below one folder. Paths are relative to it, with `/` between their parts.",
    service: "toolwright",
};

/// The files below a folder, as tools: `read_file`, `list_files`, `search_files` and, with [`Files::with_writing`],
/// `write_file`.
///
/// ```
/// use toolwright::{Payload, ToolCall};
/// use toolwright_builtins::files::Files;
/// use toolwright_runtime::{Agent, Registry, RunRequest, Runtime, Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("notes.txt"), "buy milk")?;
/// let registry = Registry::new();
/// registry.register_toolset("files", Files::below(folder.path())?.source())?;
/// let agent = Agent::new("clerk", "office").with_toolsets(["files"]);
/// let read = ToolCall::new("read_file", Payload::new(r#"{"path":"notes.txt"}"#));
/// let escape = ToolCall::new("read_file", Payload::new(r#"{"path":"../../etc/passwd"}"#));
/// let planner = Script::new().call([read, escape]).finish(Payload::new("{}"));
/// registry.register_agent(agent, planner.into())?;
///
/// let request = RunRequest::new("clerk", Payload::new("{}"));
/// let outcome = Runtime::new(registry).run(request).await?;
/// let said: Vec<_> = outcome.exchanges().map(|exchange| &exchange.result.outcome).collect();
/// assert_eq!(said[0].as_ref().unwrap().as_str(), r#"{"text":"buy milk","size":8}"#);
/// assert_eq!(
///     said[1].as_ref().unwrap_err().message,
///     "`../../etc/passwd` leads out of the folder, expected a path that stays below it"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    root: Arc<Dir>,
    writes: bool,
    read_limit: usize,
    write_limit: usize,
    listing_limit: usize,
}

impl Files {
    /// The files below a folder. A later change of what its path leads to changes nothing: the folder is kept open.
    ///
    /// # Errors
    ///
    /// The folder cannot be opened.
    pub fn below(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref();
        let opened = Dir::open_ambient_dir(root, ambient_authority());
        let opened = opened.map_err(|error| {
            let words = format!("cannot open the folder `{}`: {error}", root.display());
            io::Error::new(error.kind(), words)
        })?;
        Ok(Self {
            root: Arc::new(opened),
            writes: false,
            read_limit: 200_000,
            write_limit: 1_000_000,
            listing_limit: 1_000,
        })
    }

    /// Adds the tool `write_file`.
    #[must_use]
    pub fn with_writing(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Sets how many bytes one call may read; 200,000 if not set.
    #[must_use]
    pub fn with_read_limit(mut self, bytes: usize) -> Self {
        self.read_limit = bytes;
        self
    }

    /// Sets how many bytes one call may write; a million if not set.
    #[must_use]
    pub fn with_write_limit(mut self, bytes: usize) -> Self {
        self.write_limit = bytes;
        self
    }

    /// Sets how many entries, or matches of a search, one call may return; a thousand if not set.
    #[must_use]
    pub fn with_listing_limit(mut self, entries: usize) -> Self {
        self.listing_limit = entries;
        self
    }

    /// A factory of toolsets, to be registered.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// A toolset, for factories that choose the folder by the run.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let tools = Combined::new()
            .with("files", read::tool(self))
            .with("files", walk::tool(self))
            .with("files", search::tool(self));
        if self.writes { tools.with("files", write::tool(self)) } else { tools }
    }
}

/// The spec of a tool over files.
fn spec(name: &'static str, description: &'static str, annotations: ToolAnnotations) -> ToolSpec {
    ToolSpec::new(name)
        .with_description(description)
        .in_toolset(&FILES)
        .with_annotations(annotations)
}

/// The path of the whole folder.
fn whole() -> String {
    ".".to_owned()
}

/// Does what may block on a thread for that. Given up, the work does not begin, or learns of it by its token.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolFailure> + Send + 'static,
) -> Result<Json<T>, ToolFailure> {
    let token = CancellationToken::new();
    let _given_up = token.clone().drop_guard();
    let work = move || if token.is_cancelled() { Err(given_up()) } else { work(&token) };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map(Json),
        Err(panic) => Err(ToolFailure::internal(&panic)),
    }
}

/// The failure of a call that was given up. Nobody reads it.
fn given_up() -> ToolFailure {
    ToolFailure::new(FailureKind::Cancelled, "the call was given up", Recovery::Retry)
}

/// Opens a regular file for reading. A pipe is opened without waiting for its other end, and refused like all that is no
/// regular file: what was opened is looked at, since a path may lead elsewhere a moment later.
fn open(folder: &Dir, path: &str) -> Result<(File, u64), ToolFailure> {
    let opened = folder.open_with(path, OpenOptions::new().read(true).nonblock(true));
    let opened = opened.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let (file, metadata) = opened.map_err(|error| refused(path, &error))?;
    if metadata.is_file() {
        return Ok((file, metadata.len()));
    }
    Err(rejected(if metadata.is_dir() {
        format!("`{path}` is a folder, expected a file; `list_files` shows what is in it")
    } else {
        format!("`{path}` is a pipe, a socket or a device, expected a file")
    }))
}

/// A file system error in words for the model. They hold no path.
fn refused(path: &str, error: &io::Error) -> ToolFailure {
    match error.kind() {
        io::ErrorKind::NotFound => {
            rejected(format!("there is nothing at `{path}`; `list_files` shows what there is"))
        }
        // That of `cap-std`: the system's own errors have a number.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            let message =
                format!("`{path}` leads out of the folder, expected a path that stays below it");
            ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        }
        _ => rejected(format!("`{path}` cannot be used: {error}")),
    }
}
