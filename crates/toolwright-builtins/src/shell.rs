//! The toolset `shell`, which runs programs of a list. Despite its name it uses no shell, so that no argument can have a special
//! meaning.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::oneshot;
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::untrusted::line;
use toolwright::{FailureKind, Recovery, Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::{IntoSource, Json};
use toolwright_runtime::{FunctionTool, Source, Toolset};

use crate::{ended_after, rejected};

static SHELL: ToolsetInfo = ToolsetInfo {
    name: "shell",
    description: "Programs on this machine that may be run.",
    service: "toolwright",
};

/// The effects of a program are unknown.
const RUNS: ToolAnnotations = ToolAnnotations {
    read_only: Some(false),
    destructive: Some(true),
    idempotent: Some(false),
    open_world: Some(true),
};

/// How long to read output after a program has ended, if another process still has its pipes open.
const LATE_OUTPUT: Duration = Duration::from_millis(200);

/// How long to wait for a killed program to end.
const KILL_WAIT: Duration = Duration::from_secs(1);

type Rule = Arc<dyn Fn(&str, &[String]) -> Result<(), String> + Send + Sync>;

/// The tool `run_program`, which runs programs of a list in a folder.
///
/// A program gets the arguments of the call unchanged, only the environment variables that are set here, and no input. It runs
/// in its own process group, which is killed when the program ends, when the time limit ends, and when the call is cancelled.
///
/// A call can reach everything that the program can reach. Do not list programs that a tool can overwrite. List programs that
/// are harmless with any arguments, restrict the arguments of other programs with [`ShellBuilder::with_rule`], and require
/// approvals for the rest. Rules do not see symbolic links, which programs follow, so use a folder in which no one else can
/// create links.
///
/// ```
/// use toolwright::spec::Approval;
/// use toolwright_builtins::shell::Shell;
/// use toolwright_runtime::{Registry, Toolset};
///
/// let folder = tempfile::tempdir()?;
/// let shell = Shell::builder(folder.path())
///     .with_program("/bin/ls")
///     .with_program("/bin/cat")
///     .with_rule(|_, args| {
///         let leads_out = args.iter().any(|arg| arg.contains('/') || arg == "..");
///         if leads_out { Err("names in this folder".to_owned()) } else { Ok(()) }
///     })
///     .build()?;
/// let registry = Registry::new();
/// registry.register_toolset("shell", move |_| {
///     shell.toolset().requiring_approval(Approval::default(), |_| true)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Shell {
    folder: PathBuf,
    /// Keeps the folder open, whatever is at its path later.
    opened: Option<Arc<File>>,
    /// The programs, by name.
    programs: BTreeMap<String, Program>,
    environment: BTreeMap<OsString, OsString>,
    rules: Vec<Rule>,
    time_limit: Duration,
    output_limit: usize,
}

/// A listed program.
#[derive(Clone, Debug)]
struct Program {
    /// The path in the list.
    listed: PathBuf,
    /// The path with symbolic links resolved.
    file: PathBuf,
}

/// Builds a [`Shell`].
#[derive(Clone)]
pub struct ShellBuilder {
    shell: Shell,
    listed: Vec<PathBuf>,
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of the environment may be secrets.
        f.debug_struct("Shell")
            .field("folder", &self.folder)
            .field("programs", &self.programs)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ShellBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellBuilder")
            .field("shell", &self.shell)
            .field("listed", &self.listed)
            .finish()
    }
}

impl Shell {
    /// Returns a builder without programs. Programs run in the folder. On Linux, where `/proc` is needed, a later change of
    /// what its path leads to has no effect. On other systems the path is followed for each program.
    pub fn builder(folder: impl Into<PathBuf>) -> ShellBuilder {
        let shell = Self {
            folder: folder.into(),
            opened: None,
            programs: BTreeMap::new(),
            environment: BTreeMap::new(),
            rules: Vec::new(),
            time_limit: Duration::from_mins(1),
            output_limit: 50_000,
        };
        ShellBuilder { shell, listed: Vec::new() }
    }

    /// Returns a source to register.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// Creates a toolset, for use in a factory.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let names: Vec<_> = self.programs.keys().map(String::as_str).collect();
        let longest = self.time_limit.saturating_add(LATE_OUTPUT + KILL_WAIT);
        let mut spec = ToolSpec::new("run_program")
            .in_toolset(&SHELL)
            .with_annotations(RUNS)
            .with_limits(ended_after(longest));
        spec.set_description(format!(
            "Run a program without a shell: no pipes, globs, variables or input. It may take {} seconds. The programs are: {}.",
            self.time_limit.as_secs_f64(),
            names.join(", ")
        ));
        let shell = Arc::new(self.clone());
        FunctionTool::new(spec, move |args: RunArgs| {
            let shell = Arc::clone(&shell);
            async move { shell.run(&args).await.map(Json) }
        })
    }
}

impl ShellBuilder {
    /// Adds a program by its absolute path. Its name in calls is the last part of the path. Symbolic links are resolved once, when
    /// the shell is built.
    #[must_use]
    pub fn with_program(mut self, path: impl Into<PathBuf>) -> Self {
        self.listed.push(path.into());
        self
    }

    /// Adds a rule, which is called with the name of a program and its arguments. An error refuses the call and should say what
    /// was expected.
    #[must_use]
    pub fn with_rule(
        mut self,
        rule: impl Fn(&str, &[String]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.shell.rules.push(Arc::new(rule));
        self
    }

    /// Sets an environment variable for all programs. By default the environment is empty.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.shell.environment.insert(name.into(), value.into());
        self
    }

    /// Sets how long a program may run. The default is 60 seconds.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.shell.time_limit = limit;
        self
    }

    /// Sets the most bytes to return of the output and of the error output, each. The default is 50,000.
    #[must_use]
    pub fn with_output_limit(mut self, bytes: usize) -> Self {
        self.shell.output_limit = bytes;
        self
    }

    /// Builds the shell.
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be read; the path of a program is not absolute, is not that of a file, or is in the
    /// folder, where calls could replace it; or two programs have one name.
    pub fn build(self) -> io::Result<Shell> {
        let mut shell = self.shell;
        let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
        let Some(folder) = shell.folder.canonicalize().ok().filter(|folder| folder.is_dir()) else {
            return Err(invalid(format!("`{}` is not a folder", shell.folder.display())));
        };
        let opened = File::open(&folder)
            .map_err(|error| invalid(format!("cannot open `{}`: {error}", folder.display())))?;
        (shell.folder, shell.opened) = (folder, Some(Arc::new(opened)));
        for listed in self.listed {
            let name = listed.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            let file = listed.canonicalize().ok().filter(|file| file.is_file());
            let (Some(name), Some(file), true) = (name, file, listed.is_absolute()) else {
                let path = listed.display();
                return Err(invalid(format!(
                    "`{path}` is not a program, expected an absolute path of a file"
                )));
            };
            let path = listed.display().to_string();
            if [&listed, &file].iter().any(|path| path.starts_with(&shell.folder)) {
                let folder = shell.folder.display();
                return Err(invalid(format!(
                    "`{path}` is in the folder `{folder}`, where a call could replace it; expected a program outside of it"
                )));
            }
            if let Some(other) = shell.programs.insert(name, Program { listed, file }) {
                let (one, other) = (other.listed.display(), path);
                return Err(invalid(format!(
                    "`{one}` and `{other}` have the same name; leave one out"
                )));
            }
        }
        Ok(shell)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunArgs {
    /// The name of the program.
    #[schemars(length(min = 1, max = 255))]
    program: String,
    /// Its arguments, unquoted.
    #[serde(default)]
    #[schemars(length(max = 1000), inner(length(max = 100_000)))]
    args: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct RunResult {
    /// The exit status of the program; 0 means success. Null if a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout: String,
    stderr: String,
    /// The number of bytes that were cut off at the end of `stdout` and `stderr`, together.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Shell {
    async fn run(&self, args: &RunArgs) -> Result<RunResult, ToolFailure> {
        let RunArgs { program, args } = args;
        let found = self.find(program, args)?;
        let child_signals =
            unix::signal(SignalKind::child()).map_err(|error| ToolFailure::internal(&error))?;
        let mut child = self.command(found, args).spawn().map_err(|error| {
            rejected(format!("`{program}` cannot be started: {error}"))
                .with_detail(found.file.display().to_string())
        })?;
        let mut output = Output::new(self.output_limit);
        let mut errors = Output::new(self.output_limit);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let group = Group::of(&child);
        let (ending, ended) = oneshot::channel::<()>();
        let running = async {
            let ended = tokio::time::timeout(self.time_limit, exited(group.0, child_signals)).await;
            // Kills the processes that the program has left running. This also happens if the future is dropped.
            drop((group, ending));
            ended.is_ok()
        };
        let reading = async {
            let all = async { tokio::join!(output.fill(stdout), errors.fill(stderr)) };
            let late = async {
                // The sender is dropped when the program has ended, which makes this an error.
                let _ = ended.await;
                tokio::time::sleep(LATE_OUTPUT).await;
            };
            tokio::select! { _ = all => {}, () = late => {} }
        };
        let (in_time, ()) = tokio::join!(running, reading);
        // There is a time limit, as a program that runs as another user cannot be killed.
        let status = tokio::time::timeout(KILL_WAIT, child.wait()).await;
        let left_out = output.left_out + errors.left_out;
        let (stdout, stderr) = (output.into_text(), errors.into_text());
        let Some(status) = status.as_ref().ok().filter(|_| in_time) else {
            let seconds = self.time_limit.as_secs_f64();
            let end = match status {
                Ok(_) => "was killed with its child processes",
                Err(_) => "cannot be killed",
            };
            return Err(ToolFailure::new(
                FailureKind::Timeout,
                format!(
                    "`{program}` took longer than {seconds} seconds and {end}; its output so far: {}{}",
                    excerpt(&stdout),
                    excerpt(&stderr)
                ),
                Recovery::Replan,
            ));
        };
        let status = status.as_ref().map_err(|error| ToolFailure::internal(error))?;
        Ok(RunResult {
            exit_code: status.code(),
            signal: status.signal(),
            stdout,
            stderr,
            left_out,
        })
    }

    /// Returns a listed program, if the rules accept the arguments.
    fn find(&self, program: &str, args: &[String]) -> Result<&Program, ToolFailure> {
        let denied = |message| ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
        let Some(found) = self.programs.get(program) else {
            let names: Vec<_> = self.programs.keys().map(String::as_str).collect();
            return Err(denied(format!(
                "`{}` may not be run, expected one of: {}",
                line(program, 100),
                names.join(", ")
            )));
        };
        if args.iter().any(|arg| arg.contains('\0')) {
            return Err(rejected(
                "an argument has a NUL character, which cannot be passed to a program; leave it out",
            ));
        }
        for rule in &self.rules {
            rule(program, args).map_err(|expected| {
                denied(format!(
                    "these arguments of `{program}` are not allowed, expected {expected}"
                ))
            })?;
        }
        Ok(found)
    }

    /// Returns the path of the open folder in a child, which has the open files of this process until it runs its program.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn place(&self) -> PathBuf {
        let opened = self.opened.as_ref().map(AsRawFd::as_raw_fd);
        opened.map_or_else(|| self.folder.clone(), |fd| format!("/proc/self/fd/{fd}").into())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn place(&self) -> PathBuf {
        self.folder.clone()
    }

    fn command(&self, program: &Program, args: &[String]) -> Command {
        let mut command = Command::new(&program.file);
        command
            // Some programs behave differently depending on this name.
            .arg0(&program.listed)
            .args(args)
            .current_dir(self.place())
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

/// The process group of a child, which is killed when this is dropped. The child must be waited for after that, so that its
/// id, which is that of the group, is not reused before.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // An error means that the group has no processes any more.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Waits until a child has exited, without reaping it and without blocking a thread. `child_signals` must be created before the
/// child is started.
async fn exited(pid: Option<Pid>, mut child_signals: unix::Signal) {
    let Some(pid) = pid else { return };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while let Ok(None) = rustix::process::waitid(WaitId::Pid(pid), options) {
        child_signals.recv().await;
    }
}

/// The output of a program, up to a limit.
struct Output {
    kept: Vec<u8>,
    limit: usize,
    left_out: u64,
}

impl Output {
    fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, left_out: 0 }
    }

    /// Reads to the end. Otherwise a program that fills the pipe would block.
    async fn fill(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = vec![0; 8192];
        // An error ends the output, too.
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            let kept = read.min(self.limit - self.kept.len());
            self.kept.extend_from_slice(&buffer[..kept]);
            self.left_out += (read - kept) as u64;
        }
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// Returns the end of a text, short enough for a message.
fn excerpt(text: &str) -> &str {
    let start = text.len().saturating_sub(1000);
    &text[text.ceil_char_boundary(start)..]
}
