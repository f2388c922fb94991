//! The toolset `files`, which reads, lists, searches and optionally writes files in a folder. `cap-std` resolves every path
//! relative to the open folder, so that no `..`, absolute path or symbolic link leads out of it, even if it is created later.

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

use crate::{rejected, shown};

static FILES: ToolsetInfo = ToolsetInfo {
    name: "files",
    description: "Files in one folder. Paths are relative to it, with `/` between their parts.",
    service: "toolwright",
};

/// Tools for the files in a folder: `read_file`, `list_files`, `search_files` and, with [`Files::with_writing`], `write_file`.
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
/// let results: Vec<_> = outcome.calls().map(|record| &record.result.outcome).collect();
/// assert_eq!(results[0].as_ref().unwrap().as_str(), r#"{"text":"buy milk","size":8}"#);
/// assert_eq!(
///     results[1].as_ref().unwrap_err().message,
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
    /// Opens a folder. It stays open, so that a later change of its path has no effect.
    ///
    /// # Errors
    ///
    /// The folder cannot be opened.
    pub fn below(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref();
        let opened = Dir::open_ambient_dir(root, ambient_authority());
        let opened = opened.map_err(|error| {
            let message = format!("cannot open the folder `{}`: {error}", root.display());
            io::Error::new(error.kind(), message)
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

    /// Sets the most bytes that a call may read. The default is 200,000.
    #[must_use]
    pub fn with_read_limit(mut self, bytes: usize) -> Self {
        self.read_limit = bytes;
        self
    }

    /// Sets the most bytes that a call may write. The default is 1,000,000.
    #[must_use]
    pub fn with_write_limit(mut self, bytes: usize) -> Self {
        self.write_limit = bytes;
        self
    }

    /// Sets the most entries, or matches of a search, that a call may return. The default is 1,000.
    #[must_use]
    pub fn with_listing_limit(mut self, entries: usize) -> Self {
        self.listing_limit = entries;
        self
    }

    /// Returns a source to register.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// Creates a toolset, for use in a factory that chooses the folder for each run.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let tools = Combined::new()
            .with("files", read::tool(self))
            .with("files", walk::tool(self))
            .with("files", search::tool(self));
        if self.writes { tools.with("files", write::tool(self)) } else { tools }
    }
}

/// Creates the spec of a tool of this toolset.
fn spec(name: &'static str, description: &'static str, annotations: ToolAnnotations) -> ToolSpec {
    ToolSpec::new(name)
        .with_description(description)
        .in_toolset(&FILES)
        .with_annotations(annotations)
}

/// The default path: the folder itself.
fn root() -> String {
    ".".to_owned()
}

/// Runs blocking work on a thread for it, of which the runtime uses only so many. If the call is cancelled, the work does not begin,
/// or its token is cancelled.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolFailure> + Send + 'static,
) -> Result<Json<T>, ToolFailure> {
    let token = CancellationToken::new();
    let _guard = token.clone().drop_guard();
    let work = move || if token.is_cancelled() { Err(cancelled()) } else { work(&token) };
    toolwright_runtime::execute::blocking(work).await.map(Json)
}

/// The failure of a cancelled call, which is not shown to anyone.
fn cancelled() -> ToolFailure {
    ToolFailure::new(FailureKind::Cancelled, "the call was cancelled", Recovery::Retry)
}

/// Opens a regular file for reading. Other files are refused after they are opened, since the path may change in between.
/// Opening a pipe does not wait for its other end.
fn open(folder: &Dir, path: &str) -> Result<(File, u64), ToolFailure> {
    let opened = folder.open_with(path, OpenOptions::new().read(true).nonblock(true));
    let opened = opened.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let (file, metadata) = opened.map_err(|error| refused(path, &error))?;
    if metadata.is_file() {
        return Ok((file, metadata.len()));
    }
    let path = shown(path);
    Err(rejected(if metadata.is_dir() {
        format!("`{path}` is a folder, expected a file; `list_files` shows what is in it")
    } else {
        format!("`{path}` is a pipe, a socket or a device, expected a file")
    }))
}

/// Converts a file system error into a failure for the model. `path` is the path in the call.
fn refused(path: &str, error: &io::Error) -> ToolFailure {
    let path = shown(path);
    match error.kind() {
        io::ErrorKind::NotFound => {
            rejected(format!("there is nothing at `{path}`; `list_files` shows what there is"))
        }
        // The error of `cap-std` has no error number, unlike one of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            let message =
                format!("`{path}` leads out of the folder, expected a path that stays below it");
            ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        }
        _ => rejected(format!("`{path}` cannot be used: {error}")),
    }
}
